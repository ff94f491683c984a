"""Parts of one graph, as a model takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.graph.edge_index import Edges, EdgesBothWays, EdgesByReceiver, Neighbours, contains
from zorro.graph.graph import Graph
from zorro.graph.model_inputs import ModelInputs

# A part that is grown has at most so many nodes, and a pass over it handles so many numbers.
_NODES = 1 << 12
_NUMBERS = 1 << 22
_BACKWARDS = {
    "source_to_target": "target_to_source",
    "target_to_source": "source_to_target",
}


@dataclass(frozen=True)
class Part:
    """Some nodes and edges of a graph, with everything that a model takes."""

    nodes: Tensor  # (m,) ids, in the order of the rows
    x: Tensor  # (m, d)
    edge_index: Tensor  # (2, e), rows of x
    model_inputs: ModelInputs

    def places(self, ids: Sequence[int]) -> list[int]:
        """Return the rows of some nodes."""
        return [int((self.nodes == node).nonzero()[0]) for node in ids]


class GraphParts:
    """A graph from which parts are taken, at the cost of the parts.

    Args:
        graph: the whole of it.
        flow: in which direction the model's layers send messages.
    """

    def __init__(self, graph: Graph, *, flow: str) -> None:
        self.features = graph.features
        self.edges = edges = graph.edges
        self.model_inputs = graph.model_inputs
        self.num_nodes = graph.num_nodes
        self.device = self.features.device
        # All that passes over all edges is done here, once.
        self.incoming = EdgesByReceiver(edges, flow=flow)
        self.outgoing = EdgesByReceiver(edges, flow=_BACKWARDS[flow])
        self.both_ways = EdgesBothWays(self.incoming, self.outgoing)
        self._is_sorted = _is_sorted(edges)

    def ways(self, *, both: bool) -> Neighbours:
        """Return who is next to whom: by the messages that a node gets, or by any edge."""
        return self.both_ways if both else self.incoming

    @property
    def numbers(self) -> int:
        """What a pass over the whole graph handles, roughly: a row per node and per edge."""
        return (self.num_nodes + self.edges.num_edges) * self.features.shape[1]

    def whole(self) -> Part:
        """Return all of the graph, in its own order; what is in memory is not copied."""
        every = torch.arange(self.num_nodes, device=self.device)
        x, edge_index = self.features.in_memory, self.edges.in_memory
        if x is None or x.layout != torch.strided:
            x = self.features.rows(every)
        if edge_index is None:
            edge_index = self.ends(torch.arange(self.edges.num_edges, device=self.device))
        return Part(every, x, edge_index, self.model_inputs)

    def grown(self, start: Tensor) -> Part:
        """Return a part with much around some nodes: ring by ring, in both directions.

        Of a ring that would make it too large, some nodes are taken.

        Args:
            start: (s,) ascending ids.
        """
        share = _NUMBERS / max(1, self.numbers)
        most = max(2 * start.numel(), min(_NODES, int(share * self.num_nodes)))
        nodes = start
        while nodes.numel() < most:
            wider = self.both_ways.neighbourhood(nodes, 1)
            ring = wider[~contains(nodes, wider)]
            if ring.numel() == 0:
                break
            left = most - nodes.numel()
            if ring.numel() > left:
                even = torch.arange(left, device=self.device) * ring.numel() // left
                ring = ring[even]
            nodes = torch.cat([nodes, ring]).sort().values
        return self.part(nodes[:0], nodes, self.incoming.induced(nodes))

    def part(self, first: Tensor, nodes: Tensor, edges: Tensor) -> Part:
        """Return the part of some nodes and edges.

        Args:
            first: (n,) ascending ids of nodes whose rows come first.
            nodes: (m,) ascending ids of all nodes, the first ones among them.
            edges: (e,) ids.
        """
        edges = edges.sort().values
        ordered = torch.cat([first, nodes[~contains(first, nodes)]])
        row = torch.empty_like(ordered)
        row[torch.searchsorted(nodes, ordered)] = torch.arange(ordered.numel(), device=self.device)
        edge_index = row[torch.searchsorted(nodes, self.ends(edges))]
        if self._is_sorted:  # layers may rely on it, and rows have other numbers here
            order = edge_index[1].sort(stable=True).indices
            edges, edge_index = edges[order], edge_index[:, order]
        return Part(
            ordered,
            self.features.rows(ordered),
            edge_index,
            self.model_inputs.subgraph(ordered, edges),
        )

    def ends(self, edges: Tensor) -> Tensor:
        """Return the nodes (2, e) between which edges (e,) lead."""
        return torch.stack([self.edges.nodes(row, edges) for row in (0, 1)])


def _is_sorted(edges: Edges) -> bool:
    """Whether edges stand in the order of the nodes that they lead to."""
    if edges.in_memory is None:
        return edges.grouped_by(1).ordered is None
    receivers = edges.in_memory[1]
    return bool((receivers[1:] >= receivers[:-1]).all())
