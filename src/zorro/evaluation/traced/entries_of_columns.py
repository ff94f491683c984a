"""Reading columns of many samples, (c, n, S), where few of their entries matter."""

from __future__ import annotations

import torch
from torch import Tensor


def is_set(values: Tensor, nodes: Tensor) -> Tensor:
    """Return where any of some nodes (i,) has a value that is not zero, (c, S) bool."""
    if values.is_cuda:
        return (values[:, nodes] != 0).any(1)
    # Node by node: several times as fast as reducing over them.
    found = torch.zeros_like(values[:, 0], dtype=torch.bool)
    for node in nodes.tolist():
        found |= values[:, node] != 0
    return found


def picked(values: Tensor, column: Tensor, nodes: Tensor, sample: Tensor) -> Tensor:
    """Return the values of nodes (i,) at some columns and samples (g,), (i, g)."""
    if values.is_cuda or not values.is_contiguous():
        return values[column, nodes.unsqueeze(1), sample]
    # Node by node, from where it begins: several times as fast as indices of all.
    _, count, samples = values.shape
    at = column * (count * samples) + sample
    flat = values.view(-1)
    found = values.new_empty(nodes.numel(), at.numel())
    for place, node in enumerate(nodes.tolist()):
        torch.index_select(flat[node * samples :], 0, at, out=found[place])
    return found
