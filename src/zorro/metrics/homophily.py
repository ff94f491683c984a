"""How far a query agrees with the nodes that its explanation selects."""

from __future__ import annotations

import math

from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.mask import checked_hard_mask


def homophily(selected: Tensor, *, query: int, labels: Tensor) -> float:
    """Share of the selected nodes, the query aside, that have the query's label.

    `|{v ∈ V_s ∖ q : label(v) = label(q)}| / |V_s ∖ q|` (Section 8). The true labels give the
    paper's true homophily, the model's predicted ones its predicted homophily. NaN where no node
    but the query is selected: leave such queries out of a mean, for instance with
    `torch.nanmean`.

    Args:
        selected: (n,), hard; the explanation's nodes.
        query: the query's position among the n nodes.
        labels: (n,), true or predicted classes of the nodes.

    Example:
        >>> import torch
        >>> from zorro.metrics import homophily
        >>> selected = torch.tensor([True, True, True, False])
        >>> homophily(selected, query=0, labels=torch.tensor([2, 2, 1, 2]))
        0.5

    """
    selected = checked_hard_mask(selected, name="selected")
    if labels.shape != selected.shape:
        raise InputError(
            f"labels: expected one class a node, {tuple(selected.shape)}, got {tuple(labels.shape)}"
        )
    if not 0 <= query < selected.numel():
        raise InputError(
            f"query: expected a position from 0 to {selected.numel() - 1}, got {query}"
        )
    others = selected.to(labels.device).clone()
    others[query] = False
    if not bool(others.any()):
        return math.nan
    return float((labels[others] == labels[query]).double().mean())
