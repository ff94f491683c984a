"""What can be asked about in one graph: its nodes, or links between them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol

from torch import Tensor

from zorro.arguments import node_id, whole_number, whole_numbers
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

    def ranges(self, num_nodes: int) -> tuple[range, ...]:
        """Return the numbers of nodes that can be asked about, or be ends of what is."""
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

    def ranges(self, num_nodes: int) -> tuple[range, ...]:
        """Return those of all nodes."""
        return (range(num_nodes),)


@dataclass(frozen=True)
class AboutNodesOf:
    """A query is a node of one type.

    Args:
        name: of the type.
        first: the number of its first node among all.
        count: how many nodes it has.
    """

    name: str
    first: int
    count: int
    all_at_once = True

    def query(self, asked: Any, num_nodes: int) -> Query:
        """Return the query about a node, given by its number among those of its type."""
        index = whole_number(self.name, asked, self.count, what=f"a node of {self.name!r}")
        return self._query(self.first + index)

    def probes(self, nodes: Sequence[int]) -> list[Query]:
        """Return a query for each node."""
        return [self._query(node) for node in nodes]

    def ranges(self, num_nodes: int) -> tuple[range, ...]:
        """Return those of the type."""
        return (range(self.first, self.first + self.count),)

    def _query(self, node: int) -> Query:
        return Query("node", node, types=(self.name,), firsts=(self.first,))


@dataclass(frozen=True)
class AboutLinks:
    """A query is a link: a pair of nodes, and those that the second is compared with, if any."""

    all_at_once = False

    def query(self, asked: Any, num_nodes: int, *, name: str = "link") -> Query:
        """Return the query about a pair of nodes, in an argument of this name."""
        if isinstance(asked, Query):
            return asked
        ends = self._ends(name, asked, num_nodes)
        if len(ends) != 2:
            raise InputError(f"{name}: expected two nodes (u, v), got {asked!r:.60}")
        return self._link(*ends)

    def _ends(self, name: str, pair: Any, num_nodes: int) -> list[int]:
        """Return the nodes that a user's pair (u, v) names."""
        return whole_numbers(name, pair, num_nodes)

    def _others(self, ends: Any, num_nodes: int) -> list[int]:
        """Return the nodes that a user names as other ends."""
        return whole_numbers("among", ends, num_nodes)

    def _link(self, u: int, v: int) -> Query:
        return Query("link", u, v)

    def compared(self, query: Query, comparison: Comparison, num_nodes: int) -> Query:
        """Return a query with the other ends that its link is compared with."""
        rivals: list[int] = []
        if comparison.why_not is not None:
            rivals = [self._other_end(query, comparison.why_not, num_nodes)]
        if comparison.among is not None:
            if rivals:
                raise InputError(
                    f"among: expected None where why_not is given, got {comparison.among!r:.60}"
                )
            given = self._others(comparison.among, num_nodes)
            rivals = [end for end in dict.fromkeys(given) if end != query.to]
        top = comparison.top
        if rivals and not (isinstance(top, int) and 1 <= top <= len(rivals)):
            raise InputError(f"top: expected a number from 1 to {len(rivals)}, got {top!r}")
        if not rivals and (comparison.among is not None or top != 1):
            raise InputError("among: expected other ends to compare the link with, got none")
        return replace(query, rivals=tuple(rivals))

    def _other_end(self, query: Query, why_not: Any, num_nodes: int) -> int:
        """Return the end of another link from the same node, given as a pair."""
        expected = (
            f"why_not: expected another link ({query.numbers['source']}, w) from the same node"
        )
        ends = self._ends("why_not", why_not, num_nodes) if _is_pair(why_not) else []
        if len(ends) != 2 or ends[0] != query.index or ends[1] == query.to:
            raise InputError(f"{expected}, got {why_not!r:.60}")
        return ends[1]

    def probes(self, nodes: Sequence[int]) -> list[Query]:
        """Return links from each node to the next."""
        following = [*nodes[1:], nodes[0]]
        return [self._link(u, v) for u, v in zip(nodes, following, strict=True)]

    def ranges(self, num_nodes: int) -> tuple[range, ...]:
        """Return those of all nodes."""
        return (range(num_nodes),)


@dataclass(frozen=True)
class AboutLinksOf(AboutLinks):
    """A query is a link from a node of one type to one of another, or of the same.

    Args:
        source: the type that links lead from.
        target: the type that they lead to.
    """

    source: AboutNodesOf
    target: AboutNodesOf

    def probes(self, nodes: Sequence[int]) -> list[Query]:
        """Return a link from each node that one can lead from."""
        firsts = [node for node in nodes if _is_of(self.source, node)]
        lasts = [node for node in nodes if _is_of(self.target, node)]
        sources = firsts or [self.source.first]
        targets = lasts or [self.target.first]
        count = max(len(sources), len(targets))
        turned = targets[1:] + targets[:1]  # of one type to another node than itself
        return [
            self._link(sources[i % len(sources)], turned[i % len(turned)]) for i in range(count)
        ]

    def ranges(self, num_nodes: int) -> tuple[range, ...]:
        """Return those of both types."""
        both = dict.fromkeys((self.source, self.target))
        return tuple(each for one in both for each in one.ranges(num_nodes))

    def _ends(self, name: str, pair: Any, num_nodes: int) -> list[int]:
        if not _is_pair(pair):
            raise InputError(
                f"{name}: expected a node of {self.source.name!r} and one of "
                f"{self.target.name!r}, got {pair!r:.60}"
            )
        each = zip((self.source, self.target), pair, strict=True)
        return [one.query(number, num_nodes).index for one, number in each]

    def _others(self, ends: Any, num_nodes: int) -> list[int]:
        return [self.target.first + i for i in whole_numbers("among", ends, self.target.count)]

    def _link(self, u: int, v: int) -> Query:
        ends = (self.source, self.target)
        types, firsts = tuple(end.name for end in ends), tuple(end.first for end in ends)
        return Query("link", u, v, types=types, firsts=firsts)


def _is_of(type_: AboutNodesOf, node: int) -> bool:
    return type_.first <= node < type_.first + type_.count


def _is_pair(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes) and len(value) == 2


ABOUT_NODES, ABOUT_LINKS = AboutNodes(), AboutLinks()


def askable(asking: Asking, nodes: Tensor, num_nodes: int) -> Tensor | slice:
    """Return which of some nodes (n,) of a graph can be asked about, as an index."""
    ranges = asking.ranges(num_nodes)
    if ranges == (range(num_nodes),):
        return slice(None)
    within = [(nodes >= each.start) & (nodes < each.stop) for each in ranges]
    return reduce(operator.or_, within)
