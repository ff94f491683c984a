"""How an explanation in a graph of several types is laid out: lines know their relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zorro.elements.edges import EdgeElements, EdgeLabel, TypedEdges
from zorro.elements.types import EDGE_TYPE, Types
from zorro.graph.edge_index import EdgesByReceiver
from zorro.graph.graph import Graph
from zorro.show.kept_edges import KeptEdges
from zorro.show.scene import Scene, scene_of


@dataclass(frozen=True)
class TypedEdgeIndex:
    """The edges of a graph of several types, as drawings need them.

    Args:
        graph: all types as one graph.
    """

    graph: Graph

    @property
    def types(self) -> Types:
        """Of nodes, and the relations between them."""
        assert self.graph.types is not None, "a graph of several types has some"
        return self.graph.types

    @property
    def kinds(self) -> list[int]:
        """The type's number of each node."""
        counts = [one.count for one in self.types.nodes]
        return [number for number, count in enumerate(counts) for _ in range(count)]

    @cached_property
    def by_receiver(self) -> EdgesByReceiver:
        """The edges of all relations."""
        return EdgesByReceiver(self.graph.edges)

    @cached_property
    def _elements(self) -> tuple[NDArray[np.int64], NDArray[np.int64], EdgeElements]:
        """The pairs of nodes with edges between them, ascending; their order; the elements."""
        edge_index = self.graph.edges.in_memory
        assert edge_index is not None, "a graph of several types is in memory"
        typed = TypedEdges.of(self.graph.model_kwargs[EDGE_TYPE].to(edge_index.device), self.types)
        nodes = self.types.num_nodes
        elements = EdgeElements.of(edge_index, {}, nodes=nodes, directed=False, typed=typed)
        ends = elements.ends.cpu().numpy()
        keys = ends.min(axis=1) * nodes + ends.max(axis=1)
        order = np.argsort(keys, kind="stable")
        return keys[order], order, elements

    def between(self, lines: Sequence[tuple[int, int]]) -> tuple[tuple[EdgeLabel, ...], ...]:
        """Return the edges between the two nodes of each line, those of every relation."""
        keys, order, elements = self._elements
        found = []
        for one, other in lines:
            key = min(one, other) * self.types.num_nodes + max(one, other)
            first, end = np.searchsorted(keys, [key, key + 1])
            found.append(tuple(elements.labels[place] for place in order[first:end]))
        return tuple(found)


def type_scene(
    query: int,
    selected: Sequence[int],
    edges: TypedEdgeIndex,
    *,
    hops: int,
    most_context: int,
    kept: KeptEdges | None = None,
) -> Scene:
    """Lay out selected nodes around the query, and tell which edges each line stands for.

    Args:
        query: the node in the centre, by its number among all.
        selected: numbers of the nodes that matter.
        edges: of the graph.
        hops: how far the neighbourhood reaches.
        most_context: how many nodes that are not selected are shown.
        kept: edges that are kept, where sets are of edges.
    """
    scene = scene_of(
        query, selected, edges.by_receiver, hops=hops, most_context=most_context, edges=kept
    )
    ids = [node.id for node in scene.nodes]
    return replace(scene, elements=edges.between([(ids[i], ids[j]) for i, j in scene.edges]))
