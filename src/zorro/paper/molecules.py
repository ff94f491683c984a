"""Molecules of which it is known which atoms decide: a trained model, and how answers fare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from zorro import models
from zorro.data import load_graphs
from zorro.explanation import Importance
from zorro.metrics import (
    ground_truth_auroc,
    ground_truth_jaccard,
    ground_truth_precision,
    ground_truth_recall,
)
from zorro.models import checkpoint
from zorro.models.graph_training import usual_settings
from zorro.paper.cells import Cell
from zorro.paper.jobs import loaded

EDGES = {"edge_attr": "edge_attr"}  # what the model takes besides atoms and bonds


@dataclass(frozen=True)
class MoleculeCell(Cell):
    """A model of our own training on molecules; `weights` is where it is kept."""

    def load(self) -> tuple[nn.Module, Data]:
        """Return the trained model and the molecules, as one graph that falls apart into them."""
        graphs = load_graphs(self.dataset).graphs
        record = self.record
        model = models.build(
            record["architecture"],
            record["in_channels"],
            record["out_channels"],
            level="graph",
            **record["options"],
        )
        checkpoint.load(model, str(self.weights))
        return model.eval(), Batch.from_data_list(list(graphs))

    @property
    def record(self) -> dict[str, Any]:
        """How the model was trained, and how well it does."""
        return checkpoint.read_record(str(self.weights))


def trained(dataset: str, model: str, folder: Path, *, seed: int) -> MoleculeCell:
    """Return a cell whose weights are kept in a folder; the model is trained if need be."""
    path = folder / f"{dataset}-{model}-{seed}.safetensors"
    if not path.exists():
        graphs, settings = load_graphs(dataset), usual_settings(dataset, seed=seed)
        network = models.train_graphs(model, graphs, settings)
        record = checkpoint.describe_graphs(network, model, graphs, settings=settings)
        checkpoint.save(path, network, record)
    return MoleculeCell(dataset, model, weights=str(path.absolute()))


@cache
def molecules_of(cell: MoleculeCell, device: str = "cpu") -> Sequence[Data]:
    """Return a cell's molecules on a device, one by one."""
    _, whole = loaded(cell, device)
    graphs: Sequence[Data] = whole.to_data_list()
    return graphs


def balanced(dataset: str, count: int, *, seed: int) -> tuple[int, ...]:
    """Return the numbers of random test molecules, one of each class in turn, class 1 first.

    Args:
        dataset: by its name.
        count: how many, half of either class.
        seed: of the order.
    """
    graphs = load_graphs(dataset)
    generator = torch.Generator().manual_seed(seed)
    members = graphs.test[torch.randperm(graphs.test.numel(), generator=generator)]
    of_class = [members[graphs.targets[members] == label].tolist() for label in (1, 0)]
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
