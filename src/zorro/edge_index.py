"""The edges of a graph, indexed once so that a neighbourhood costs what it holds."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.grouping import Grouping


class EdgesByReceiver:
    """Edges grouped by the node that receives their message.

    Building it passes over all edges once; after that every method costs what it returns,
    whatever the size of the graph.

    Args:
        edge_index: (2, E).
        num_nodes: N.
        flow: PyG's message direction; `"source_to_target"` sends from row 0 to row 1.
    """

    def __init__(
        self, edge_index: Tensor, num_nodes: int, *, flow: str = "source_to_target"
    ) -> None:
        sender, receiver = (0, 1) if flow == "source_to_target" else (1, 0)
        self._senders = edge_index[sender]
        self._by_receiver = Grouping(edge_index[receiver], num_nodes)

    def incoming(self, nodes: Tensor, *, most: int | None = None) -> Tensor:
        """Ids of the edges whose receiver is in `nodes`, `most` of each node at most."""
        return self._by_receiver.members(nodes, most=most)

    def neighbourhood(self, seeds: Tensor, hops: int) -> Tensor:
        """Ascending ids of `seeds` and of every node at most `hops` messages away from them."""
        reached = ascending(seeds)
        frontier = reached
        for _ in range(hops):
            senders = ascending(self._senders[self.incoming(frontier)])
            frontier = senders[~contains(reached, senders)]
            if frontier.numel() == 0:
                break
            reached = torch.cat([reached, frontier]).sort().values
        return reached

    def with_senders(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Ascending ids of `nodes` and of those that send along `edges`."""
        return ascending(torch.cat([nodes, self._senders[edges]]))

    def induced(self, nodes: Tensor) -> Tensor:
        """Ascending ids of the edges between `nodes` (ascending)."""
        edges = self.incoming(nodes)
        return edges[contains(nodes, self._senders[edges])].sort().values


def ascending(ids: Tensor) -> Tensor:
    """Return each of `ids` once, in ascending order."""
    in_order = ids.sort().values
    first = torch.ones_like(in_order, dtype=torch.bool)
    first[1:] = in_order[1:] != in_order[:-1]
    return in_order[first]


def contains(ascending: Tensor, values: Tensor) -> Tensor:
    """For each of `values`, whether it is among `ascending`."""
    if ascending.numel() == 0:
        return torch.zeros_like(values, dtype=torch.bool)
    at = torch.searchsorted(ascending, values).clamp_(max=ascending.numel() - 1)
    return ascending[at] == values
