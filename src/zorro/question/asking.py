"""What can be asked about in one graph: its nodes, or links between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from zorro.arguments import node_id, whole_numbers
from zorro.errors import InputError
from zorro.question.decision import Comparison
from zorro.question.query import Query


class Asking(Protocol):
    """Turns what a user asks into a query."""

    @property
    def all_at_once(self) -> bool:
        """Whether one pass over a graph gives the outputs of all queries."""
        ...

    def query(self, asked: Any, num_nodes: int) -> Query:
        """Return the query, or refuse what is none in a graph of so many nodes."""
        ...

    def probes(self, nodes: Sequence[int]) -> list[Query]:
        """Return queries about some nodes, at which it is found how far a model sees."""
        ...


@dataclass(frozen=True)
class AboutNodes:
    """A query is a node."""

    all_at_once = True

    def query(self, asked: Any, num_nodes: int) -> Query:
        """Return the query about a node, given by its number."""
        return Query("node", node_id(asked, num_nodes))

    def probes(self, nodes: Sequence[int]) -> list[Query]:
        """Return a query for each node."""
        return [Query("node", node) for node in nodes]


@dataclass(frozen=True)
class AboutLinks:
    """A query is a link: a pair of nodes, and those that the second is compared with, if any."""

    all_at_once = False

    def query(self, asked: Any, num_nodes: int, *, name: str = "link") -> Query:
        """Return the query about a pair of nodes, in an argument of this name."""
        if isinstance(asked, Query):
            return asked
        ends = whole_numbers(name, asked, num_nodes)
        if len(ends) != 2:
            raise InputError(f"{name}: expected two nodes (u, v), got {asked!r:.60}")
        return Query("link", ends[0], ends[1])

    def compared(self, query: Query, comparison: Comparison, num_nodes: int) -> Query:
        """Return a query with the other ends that its link is compared with."""
        rivals: list[int] = []
        if comparison.why_not is not None:
            rivals = [self._other_end(query, comparison.why_not, num_nodes)]
        if comparison.among is not None:
            if rivals:
                raise InputError("among: expected None where why_not is given")
            given = whole_numbers("among", comparison.among, num_nodes)
            rivals = [end for end in dict.fromkeys(given) if end != query.to]
        top = comparison.top
        if rivals and not (isinstance(top, int) and 1 <= top <= len(rivals)):
            raise InputError(f"top: expected a number from 1 to {len(rivals)}, got {top!r}")
        if not rivals and (comparison.among is not None or top != 1):
            raise InputError("among: expected other ends to compare the link with, got none")
        return replace(query, rivals=tuple(rivals))

    @staticmethod
    def _other_end(query: Query, why_not: Any, num_nodes: int) -> int:
        """Return the end of another link from the same node, given as a pair."""
        expected = f"why_not: expected another link ({query.index}, w) from the same node"
        ends = whole_numbers("why_not", why_not, num_nodes) if _is_pair(why_not) else []
        if len(ends) != 2 or ends[0] != query.index or ends[1] == query.to:
            raise InputError(f"{expected}, got {why_not!r:.60}")
        return ends[1]

    def probes(self, nodes: Sequence[int]) -> list[Query]:
        """Return links from each node to the next."""
        following = [*nodes[1:], nodes[0]]
        return [Query("link", u, v) for u, v in zip(nodes, following, strict=True)]


def _is_pair(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes) and len(value) == 2


ABOUT_NODES, ABOUT_LINKS = AboutNodes(), AboutLinks()
