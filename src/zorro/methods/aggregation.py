"""Importances of single entries, or of edges, turned into those of nodes and of features."""

from __future__ import annotations

from torch import Tensor

from zorro.methods.masks import Masks
from zorro.methods.subject import Subject
from zorro.metrics import node_mask_from_edges


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


def masks_of_edges(subject: Subject, edges: Tensor) -> Masks:
    """Return importances (e,) of edges as masks: half of each goes to either end (Section 6.1)."""
    graph = subject.graph
    nodes = node_mask_from_edges(edges, edge_index=graph.edge_index, num_nodes=graph.x.size(0))
    return Masks(nodes=nodes[: subject.candidates], edges=edges)
