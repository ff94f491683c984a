"""Importances of single entries turned into importances of nodes and of features."""

from __future__ import annotations

from torch import Tensor

from zorro.methods.masks import Masks


def rows_and_columns(entries: Tensor) -> Masks:
    """Sum the absolute importances (n, d) of a feature matrix's entries by row and by column.

    nodes(i) = Σ_j |A_ij| and features(j) = Σ_i |A_ij|, with A as it is, not scaled.

    >>> import torch
    >>> masks = rows_and_columns(torch.tensor([[1.0, -2.0], [0.0, 0.5]]))
    >>> masks.nodes, masks.features
    (tensor([3.0000, 0.5000]), tensor([1.0000, 2.5000]))
    """
    magnitude = entries.detach().abs()
    return Masks(nodes=magnitude.sum(1), features=magnitude.sum(0))
