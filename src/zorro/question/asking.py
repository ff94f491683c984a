"""What can be asked about in one graph: its nodes, or links between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from zorro.arguments import node_id, whole_numbers
from zorro.errors import InputError
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

    def query(self, asked: Any, num_nodes: int) -> Query:
        """Return the query about a pair of nodes."""
        if isinstance(asked, Query):
            return asked
        ends = whole_numbers("link", asked, num_nodes)
        if len(ends) != 2:
            raise InputError(f"link: expected two nodes (u, v), got {asked!r:.60}")
        return Query("link", ends[0], ends[1])

    def probes(self, nodes: Sequence[int]) -> list[Query]:
        """Return links from each node to the next."""
        following = [*nodes[1:], nodes[0]]
        return [Query("link", u, v) for u, v in zip(nodes, following, strict=True)]


ABOUT_NODES, ABOUT_LINKS = AboutNodes(), AboutLinks()
