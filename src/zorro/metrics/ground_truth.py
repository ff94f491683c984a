"""How well the selected nodes, or scores of all, match a known explanation.

All measures count within the computational graph: `selected` and `truth` are hard masks over
its nodes. With `nodes` its node ids, `torch.isin(nodes, house)` is the truth of a motif. They
serve for edges as well, each undirected one being an element: see `UndirectedEdges`.
"""

from __future__ import annotations

import torch
from scipy.stats import rankdata
from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.mask import checked_hard_mask, checked_mask


def ground_truth_accuracy(selected: Tensor, *, truth: Tensor) -> float:
    """Share of the computational graph's nodes that are rightly selected or rightly left out.

    (TP + TN) / n (Section 6.3.1). Most nodes are no part of the truth, so that even an empty
    selection scores high: read it beside the precision.

    Args:
        selected: (n,), the explanation's nodes.
        truth: (n,), the nodes of the known explanation.

    Example:
        >>> import torch
        >>> from zorro.metrics import ground_truth_accuracy
        >>> truth = torch.tensor([True, True, False, False])
        >>> ground_truth_accuracy(torch.tensor([True, False, False, False]), truth=truth)
        0.75

    """
    selected, truth = _checked_pair(selected, truth)
    return int((selected == truth).sum()) / selected.numel()


def ground_truth_precision(selected: Tensor, *, truth: Tensor) -> float:
    """Share of the selected nodes that belong to the truth; 0 for an empty selection.

    TP / (TP + FP) (Section 6.3.1).

    Args:
        selected: (n,), the explanation's nodes.
        truth: (n,), the nodes of the known explanation.

    Example:
        >>> import torch
        >>> from zorro.metrics import ground_truth_precision
        >>> truth = torch.tensor([True, True, False, False])
        >>> ground_truth_precision(torch.tensor([True, False, False, True]), truth=truth)
        0.5

    """
    selected, truth = _checked_pair(selected, truth)
    return int((selected & truth).sum()) / max(1, int(selected.sum()))


def ground_truth_recall(selected: Tensor, *, truth: Tensor) -> float:
    """Share of the truth that is selected, TP / (TP + FN); 1 where the truth is empty.

    Args:
        selected: (n,), the explanation's nodes.
        truth: (n,), the nodes of the known explanation.

    Example:
        >>> import torch
        >>> from zorro.metrics import ground_truth_recall
        >>> truth = torch.tensor([True, True, False, False])
        >>> ground_truth_recall(torch.tensor([True, False, False, True]), truth=truth)
        0.5

    """
    selected, truth = _checked_pair(selected, truth)
    there = int(truth.sum())
    return int((selected & truth).sum()) / there if there else 1.0


def ground_truth_jaccard(selected: Tensor, *, truth: Tensor) -> float:
    """What the selection and the truth share of what is in either, TP / (TP + FP + FN).

    It is 1 where both are empty.

    Args:
        selected: (n,), the explanation's nodes.
        truth: (n,), the nodes of the known explanation.

    Example:
        >>> import torch
        >>> from zorro.metrics import ground_truth_jaccard
        >>> truth = torch.tensor([True, True, False, False])
        >>> ground_truth_jaccard(torch.tensor([True, False, False, False]), truth=truth)
        0.5

    """
    selected, truth = _checked_pair(selected, truth)
    either = int((selected | truth).sum())
    return int((selected & truth).sum()) / either if either else 1.0


def ground_truth_auroc(scores: Tensor, *, truth: Tensor) -> float:
    """How often a node of the truth has a higher score than another node; ties count half.

    The area under the ROC curve: (R − t (t + 1) / 2) / (t (n − t)) with R the sum of the ranks of
    the t nodes of the truth.

    Args:
        scores: (n,), how important each node is said to be.
        truth: (n,), the nodes of the known explanation: some and not all.

    Example:
        >>> import torch
        >>> from zorro.metrics import ground_truth_auroc
        >>> truth = torch.tensor([True, True, False, False])
        >>> ground_truth_auroc(torch.tensor([0.9, 0.4, 0.4, 0.1]), truth=truth)
        0.875

    """
    scores = checked_mask(scores, name="scores")
    truth = checked_hard_mask(truth, name="truth", length=scores.numel()).to(scores.device)
    there = int(truth.sum())
    others = truth.numel() - there
    if there == 0 or others == 0:
        raise InputError(
            f"truth: expected some of the {truth.numel()} elements and not all, got {there}"
        )
    ranks = torch.from_numpy(rankdata(scores.double().cpu().numpy()))
    above = float(ranks[truth.cpu()].sum()) - there * (there + 1) / 2
    return above / (there * others)


def _checked_pair(selected: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    selected = checked_hard_mask(selected, name="selected")
    if selected.numel() == 0:
        raise InputError("selected: expected a mask over at least one element, got an empty tensor")
    truth = checked_hard_mask(truth, name="truth", length=selected.numel())
    return selected, truth.to(selected.device)
