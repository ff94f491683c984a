"""How well the selected nodes match a known explanation.

Both measures count within the computational graph: `selected` and `truth` are hard masks over
its nodes. With `nodes` its node ids, `torch.isin(nodes, house)` is the truth of a motif.
"""

from __future__ import annotations

from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.mask import checked_hard_mask


def ground_truth_accuracy(selected: Tensor, *, truth: Tensor) -> float:
    """Share of the computational graph's nodes that are rightly selected or rightly left out.

    (TP + TN) / n (Section 6.3.1). Most nodes are no part of the truth, so that even an empty
    selection scores high: read it beside the precision.

    Args:
        selected: (n,), the explanation's nodes.
        truth: (n,), the nodes of the known explanation.

    Example:
        >>> import torch
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
        >>> truth = torch.tensor([True, True, False, False])
        >>> ground_truth_precision(torch.tensor([True, False, False, True]), truth=truth)
        0.5

    """
    selected, truth = _checked_pair(selected, truth)
    return int((selected & truth).sum()) / max(1, int(selected.sum()))


def _checked_pair(selected: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    selected = checked_hard_mask(selected, name="selected")
    if selected.numel() == 0:
        raise InputError("selected: expected a mask over at least one node, got an empty tensor")
    truth = checked_hard_mask(truth, name="truth", length=selected.numel())
    return selected, truth.to(selected.device)
