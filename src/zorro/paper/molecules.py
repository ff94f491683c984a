"""Molecules of which it is known which atoms decide, and how sets and scores of atoms fare."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from zorro.data import GraphDataset
from zorro.explanation import Importance
from zorro.metrics import (
    ground_truth_auroc,
    ground_truth_jaccard,
    ground_truth_precision,
    ground_truth_recall,
)


def balanced(molecules: GraphDataset, count: int, *, seed: int) -> tuple[int, ...]:
    """Return the numbers of random test molecules, one of each class in turn, class 1 first.

    Args:
        molecules: of two classes.
        count: how many, half of either class.
        seed: of the order.
    """
    generator = torch.Generator().manual_seed(seed)
    members = molecules.test[torch.randperm(molecules.test.numel(), generator=generator)]
    of_class = [members[molecules.targets[members] == label].tolist() for label in (1, 0)]
    return tuple(
        number
        for pair in zip(*(some[: count // 2] for some in of_class), strict=True)
        for number in pair
    )


def truths_of(molecule: Data) -> Tensor:
    """Return the acceptable truths (t, n) that are some of a molecule's atoms and not all."""
    columns: Tensor = molecule.attribution.t()  # (k, n), NaN where there is no further truth
    every = columns[~columns.isnan().any(1)] > 0
    return every[every.any(1) & ~every.all(1)]


def ranks_of(importance: Importance, nodes: int) -> Tensor:
    """Return a score per node (n,) with the order of `importance`.

    Equal scores mean that neither fidelity nor probability tells two nodes apart.
    """
    values = sorted({(it.fidelity, it.probability) for it in importance.ranked})
    place = {value: number for number, value in enumerate(values)}
    scores = torch.zeros(nodes)
    for it in importance.ranked:
        scores[list(it.members)] = float(place[it.fidelity, it.probability])
    return scores


def best_auroc(scores: Tensor, truths: Tensor) -> float | None:
    """Return the AUROC of scores (n,) with the truth (t, n) that they fit best; None without."""
    return max((ground_truth_auroc(scores, truth=truth) for truth in truths), default=None)


def best_match(selected: Tensor, truths: Tensor) -> dict[str, float]:
    """Return precision, recall and Jaccard index of a set (n,) with the truth that is nearest.

    That is the one of the greatest Jaccard index, of equal ones the first. Nothing is returned
    where there is no truth.
    """
    if not len(truths):
        return {}
    nearest = max(truths, key=lambda truth: ground_truth_jaccard(selected, truth=truth))
    return {
        "precision": ground_truth_precision(selected, truth=nearest),
        "recall": ground_truth_recall(selected, truth=nearest),
        "jaccard": ground_truth_jaccard(selected, truth=nearest),
    }
