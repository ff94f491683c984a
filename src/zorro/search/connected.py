"""Sets of edges that hang together, and reach the query."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph


class Connected:
    """Tells which edges may join or leave a set so that all of it hangs together.

    Every edge is to be joined to the query by others of the set: to the node, or to an end of the
    link. Of a whole graph, which has no such place, to all others.

    Args:
        graph: of the query.
    """

    def __init__(self, graph: ComputationalGraph) -> None:
        self._ends: list[tuple[int, int]] = [(u, v) for u, v in graph.edges.ends.tolist()]
        self._seeds = frozenset(graph.asked.seeds)
        self._at: dict[int, list[int]] = {}
        for edge, ends in enumerate(self._ends):
            for node in dict.fromkeys(ends):
                self._at.setdefault(node, []).append(edge)

    def holds(self, kept: Tensor) -> bool:
        """Whether a set (m,) hangs together."""
        return self._is_joined(kept.nonzero().flatten().tolist())

    def removable(self, kept: Tensor) -> Tensor:
        """Return which edges (m,) of a set can be taken out, one alone."""
        members = kept.nonzero().flatten().tolist()
        found = torch.zeros_like(kept)
        for place, edge in enumerate(members):
            found[edge] = self._is_joined(members[:place] + members[place + 1 :])
        return found

    def joining(self, kept: Tensor, allowed: Tensor, edges: Iterable[int]) -> list[list[int]]:
        """Return, for each edge, those that must join a set (m,) with it, itself the last.

        These are the fewest among the allowed ones (m,); an edge that cannot be joined is left out.
        """
        members = kept.nonzero().flatten().tolist()
        reached = self._seeds | {node for edge in members for node in self._ends[edge]}
        if not reached:
            return [[edge] for edge in edges]
        came_by = self._ways(reached, set(allowed.nonzero().flatten().tolist()) | set(members))
        found = []
        for edge in edges:
            near = [node for node in self._ends[edge] if node in came_by]
            if near:
                ways = [[way for way in self._way(came_by, node) if way != edge] for node in near]
                path = min(ways, key=len)
                found.append([*(way for way in path if not bool(kept[way])), edge])
        return found

    def _ways(self, start: Iterable[int], allowed: set[int]) -> dict[int, int | None]:
        """Return by which edge each node is reached first, None where the way begins."""
        came_by: dict[int, int | None] = dict.fromkeys(sorted(start))
        queue = deque(came_by)
        while queue:
            node = queue.popleft()
            for edge in self._at.get(node, ()):
                for other in self._ends[edge]:
                    if edge in allowed and other not in came_by:
                        came_by[other] = edge
                        queue.append(other)
        return came_by

    def _way(self, came_by: dict[int, int | None], node: int) -> list[int]:
        """Return the edges from where the ways begin to a node."""
        way: list[int] = []
        edge = came_by[node]
        while edge is not None:
            way.append(edge)
            u, v = self._ends[edge]
            node = u if node == v else v
            edge = came_by[node]
        return way[::-1]

    def _is_joined(self, members: Sequence[int]) -> bool:
        if not members:
            return True
        start = self._seeds or {self._ends[members[0]][0]}
        came_by = self._ways(start, set(members))
        return all(self._ends[edge][0] in came_by for edge in members)
