"""Edge masks turned into node masks, for methods that rank edges."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.mask import checked_mask


def node_mask_from_edges(edge_mask: Tensor, *, edge_index: Tensor, num_nodes: int) -> Tensor:
    """Give half of each edge's value to either endpoint and sum up at the nodes.

    node(v) = ½ Σ over edges (u, w) of edge(u, w) · ([u = v] + [w = v]) (Section 6.1). A self-loop
    gives its whole value to its node.

    Args:
        edge_mask: (e,), hard or soft.
        edge_index: (2, e), the edges' endpoints.
        num_nodes: n, the length of the node mask.

    Example:
        >>> import torch
        >>> from zorro.metrics import node_mask_from_edges
        >>> edge_index = torch.tensor([[0, 1], [1, 2]])
        >>> node_mask_from_edges(torch.tensor([0.5, 1.0]), edge_index=edge_index, num_nodes=4)
        tensor([0.2500, 0.7500, 0.5000, 0.0000])

    """
    edge_mask = _checked_edges(edge_mask, edge_index=edge_index, num_nodes=num_nodes)
    if not edge_mask.is_floating_point():
        edge_mask = edge_mask.to(torch.get_default_dtype())
    endpoints = edge_index.to(edge_mask.device).flatten()  # (2e,)
    halves = edge_mask.repeat(2) / 2  # (2e,)
    return edge_mask.new_zeros(num_nodes).index_add(0, endpoints, halves)  # (n,)


def nodes_of_top_edges(
    edge_mask: Tensor, *, edge_index: Tensor, num_nodes: int, at_least: int = 5
) -> Tensor:
    """Select both endpoints of the highest-ranked edges until enough nodes are selected.

    The hard node mask that the paper derives from edge masks (Appendix A, experiments on the
    synthetic data set). The last edge may bring one node more than asked for; where all edges
    together touch fewer nodes, those are selected. Among equal edges the lower index comes first.

    Args:
        edge_mask: (e,), hard or soft.
        edge_index: (2, e), the edges' endpoints.
        num_nodes: n, the length of the node mask.
        at_least: how many nodes end the selection.

    Example:
        >>> import torch
        >>> from zorro.metrics import nodes_of_top_edges
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> ranked = torch.tensor([0.1, 0.9, 0.4])
        >>> nodes_of_top_edges(ranked, edge_index=edge_index, num_nodes=4, at_least=3)
        tensor([False,  True,  True,  True])

    """
    edge_mask = _checked_edges(edge_mask, edge_index=edge_index, num_nodes=num_nodes)
    if at_least < 1:
        raise InputError(f"at_least: expected at least 1 node to select, got {at_least}")
    ranking = torch.argsort(edge_mask, descending=True, stable=True).to(edge_index.device)
    chosen: set[int] = set()
    for pair in edge_index[:, ranking].T.tolist():
        chosen.update(pair)
        if len(chosen) >= at_least:
            break
    nodes = torch.zeros(num_nodes, dtype=torch.bool, device=edge_mask.device)
    nodes[list(chosen)] = True
    return nodes


def _checked_edges(edge_mask: Tensor, *, edge_index: Tensor, num_nodes: int) -> Tensor:
    integers = (torch.int32, torch.int64)
    if edge_index.dim() != 2 or edge_index.size(0) != 2 or edge_index.dtype not in integers:
        raise InputError(
            f"edge_index: expected integers of shape (2, e), got {edge_index.dtype} of shape "
            f"{tuple(edge_index.shape)}"
        )
    if (
        edge_index.numel() > 0
        and not 0 <= int(edge_index.min()) <= int(edge_index.max()) < num_nodes
    ):
        raise InputError(
            f"edge_index: expected nodes from 0 to {num_nodes - 1}, got "
            f"{int(edge_index.min())} to {int(edge_index.max())}"
        )
    return checked_mask(edge_mask, name="edge_mask", length=edge_index.size(1))
