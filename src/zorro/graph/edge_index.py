"""The edges of a graph, indexed once so that a neighbourhood costs what it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from zorro.graph.grouping import Grouping


@runtime_checkable
class Edges(Protocol):
    """The edges 0 … E−1 of a graph, read in parts, wherever they lie.

    As in PyG's edge index, row 0 holds the node that an edge comes from, row 1 the one it leads to.
    """

    @property
    def num_nodes(self) -> int:
        """N."""
        ...

    @property
    def num_edges(self) -> int:
        """E."""
        ...

    @property
    def in_memory(self) -> Tensor | None:
        """The whole edge index (2, E), None where it is not to be loaded."""
        ...

    def nodes(self, row: int, edges: Tensor) -> Tensor:
        """Return the nodes that `edges` (e,) have in a row of the edge index, (e,)."""
        ...

    def grouped_by(self, row: int) -> Grouping:
        """Return the edges grouped by their node in a row of the edge index."""
        ...


class TensorEdges:
    """Edges given as an edge index (2, E).

    Grouping them passes over all edges once.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int) -> None:
        self.in_memory: Tensor | None = edge_index
        self.num_nodes = num_nodes
        self.num_edges = edge_index.size(1)
        self._row = (edge_index[0], edge_index[1])

    def nodes(self, row: int, edges: Tensor) -> Tensor:
        """Return the nodes that `edges` have in a row of the edge index."""
        return self._row[row][edges]

    def grouped_by(self, row: int) -> Grouping:
        """Return the edges grouped by their node in a row of the edge index."""
        return Grouping.by_key(self._row[row], self.num_nodes)


def edges_of(edge_index: Tensor | Edges, num_nodes: int) -> Edges:
    """Return the edges that an edge index, or what stands for it, holds."""
    return TensorEdges(edge_index, num_nodes) if isinstance(edge_index, Tensor) else edge_index


class Neighbours(Protocol):
    """Which nodes are next to which, by edges that are followed in some way."""

    def incoming(self, nodes: Tensor, *, most: int | None = None) -> Tensor:
        """Ids of the edges that lead to `nodes`, `most` of each node at most."""
        ...

    def neighbourhood(self, seeds: Tensor, hops: int) -> Tensor:
        """Ascending ids of `seeds` and of every node at most `hops` steps away from them."""
        ...

    def with_senders(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Ascending ids of `nodes` and of those from which `edges` lead to them."""
        ...

    def induced(self, nodes: Tensor) -> Tensor:
        """Ascending ids of the edges between `nodes` (ascending)."""
        ...


class EdgesByReceiver:
    """Edges grouped by the node that receives their message.

    Once it is built every method costs what it returns, whatever the size of the graph.

    Args:
        edges: of the graph.
        flow: PyG's message direction; `"source_to_target"` sends from row 0 to row 1.
    """

    def __init__(self, edges: Edges, *, flow: str = "source_to_target") -> None:
        self._sender, receiver = (0, 1) if flow == "source_to_target" else (1, 0)
        self._edges = edges
        self._by_receiver = edges.grouped_by(receiver)

    @property
    def num_nodes(self) -> int:
        """N."""
        return self._edges.num_nodes

    @property
    def device(self) -> torch.device:
        """Where ids are taken and returned."""
        return self._by_receiver.start.device

    def incoming(self, nodes: Tensor, *, most: int | None = None) -> Tensor:
        """Ids of the edges whose receiver is in `nodes`, `most` of each node at most."""
        return self._by_receiver.members(nodes, most=most)

    def neighbourhood(self, seeds: Tensor, hops: int) -> Tensor:
        """Ascending ids of `seeds` and of every node at most `hops` messages away from them."""
        return _neighbourhood(seeds, hops, lambda nodes: self._senders(self.incoming(nodes)))

    def with_senders(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Ascending ids of `nodes` and of those that send along `edges`."""
        return sorted_unique(torch.cat([nodes, self._senders(edges)]))

    def induced(self, nodes: Tensor) -> Tensor:
        """Ascending ids of the edges between `nodes` (ascending)."""
        edges = self.incoming(nodes)
        return edges[contains(nodes, self._senders(edges))].sort().values

    def degree(self, nodes: Tensor) -> Tensor:
        """How many edges have each of `nodes` for their receiver."""
        start = self._by_receiver.start
        return start[nodes + 1] - start[nodes]

    def ends(self, edges: Tensor) -> tuple[Tensor, Tensor]:
        """Return the nodes that send along `edges` (e,) and those that receive, (e,) each."""
        return self._senders(edges), self._edges.nodes(1 - self._sender, edges)

    def _senders(self, edges: Tensor) -> Tensor:
        return self._edges.nodes(self._sender, edges)


class EdgesBothWays:
    """Edges by either of their nodes, whatever the direction of messages.

    Args:
        incoming: edges by the node that receives their message.
        outgoing: the same edges by the node that sends it.
    """

    def __init__(self, incoming: EdgesByReceiver, outgoing: EdgesByReceiver) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def incoming(self, nodes: Tensor, *, most: int | None = None) -> Tensor:
        """Ids of the edges at `nodes`, `most` of each node and direction at most."""
        ways = (self._incoming, self._outgoing)
        return sorted_unique(torch.cat([way.incoming(nodes, most=most) for way in ways]))

    def neighbourhood(self, seeds: Tensor, hops: int) -> Tensor:
        """Ascending ids of `seeds` and of every node at most `hops` edges away from them."""
        return _neighbourhood(seeds, hops, lambda nodes: self._ends(self.incoming(nodes)))

    def with_senders(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Ascending ids of `nodes` and of all nodes of `edges`."""
        return sorted_unique(torch.cat([nodes, self._ends(edges)]))

    def induced(self, nodes: Tensor) -> Tensor:
        """Ascending ids of the edges between `nodes` (ascending)."""
        return self._incoming.induced(nodes)

    def _ends(self, edges: Tensor) -> Tensor:
        return torch.cat(self._incoming.ends(edges))


def _neighbourhood(seeds: Tensor, hops: int, next_to: Callable[[Tensor], Tensor]) -> Tensor:
    reached = sorted_unique(seeds)
    frontier = reached
    for _ in range(hops):
        found = sorted_unique(next_to(frontier))
        frontier = found[~contains(reached, found)]
        if frontier.numel() == 0:
            break
        reached = torch.cat([reached, frontier]).sort().values
    return reached


def sorted_unique(ids: Tensor) -> Tensor:
    """Return each of `ids` once, in ascending order."""
    each: Tensor = torch.unique(ids)
    return each


def contains(ids: Tensor, values: Tensor) -> Tensor:
    """For each of `values`, whether it is among `ids` (ascending)."""
    if ids.numel() == 0:
        return torch.zeros_like(values, dtype=torch.bool)
    at = torch.searchsorted(ids, values).clamp_(max=ids.numel() - 1)
    return ids[at] == values
