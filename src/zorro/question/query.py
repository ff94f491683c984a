"""Which of a model's outputs is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Level = Literal["node", "graph", "link"]
LEVELS: tuple[Level, ...] = get_args(Level)
# What the numbers that tell a query are called.
NUMBERS: dict[Level, tuple[str, ...]] = {
    "node": ("node",),
    "graph": ("graph",),
    "link": ("source", "target"),
}
_ENDS = 1 << 32  # more than any graph here has nodes


@dataclass(frozen=True)
class Query:
    """The output at a node of one graph, for one graph of several, or for a link between nodes.

    >>> str(Query("graph", 5)), str(Query("link", 3, 7))
    ('graph 5', 'link 3–7')

    Args:
        level: of the output.
        index: the node, the graph, or the node that a link leads from.
        to: the node that a link leads to.
        rivals: other ends, to which the link is compared.
        types: where there are several, that of the node, or of each end of a link.
        firsts: the number of the first node of each of these among all.
    """

    level: Level
    index: int
    to: int | None = None
    rivals: tuple[int, ...] = ()
    types: tuple[str, ...] = ()
    firsts: tuple[int, ...] = ()

    @property
    def key(self) -> int:
        """By which its noise is addressed, and what is kept of it is found again."""
        if self.to is None:
            return self.index
        return (self.index + 1) * _ENDS + self.to  # above all nodes' numbers

    @property
    def asked(self) -> int | tuple[int, int]:
        """The query as `zorro.Zorro.explain` takes it: a number, or the ends of a link."""
        first, *ends = self._own
        return (first, ends[0]) if ends else first

    @property
    def _own(self) -> tuple[int, ...]:
        """The numbers of the node, or of the link's ends, among those of their types."""
        ends = (self.index,) if self.to is None else (self.index, self.to)
        firsts = self.firsts or (0,) * len(ends)
        return tuple(end - first for end, first in zip(ends, firsts, strict=True))

    @property
    def numbers(self) -> dict[str, int]:
        """What tells it, by names: a column of a table each.

        >>> Query("node", 5).numbers, Query("link", 3, 7).numbers
        ({'node': 5}, {'source': 3, 'target': 7})
        """
        return dict(zip(NUMBERS[self.level], self._own, strict=True))

    @property
    def label(self) -> str:
        """What it is called among others of its level."""
        return "–".join(map(str, self._own))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The nodes around which lies what it can see; none of a graph, which is seen whole."""
        if self.level == "graph":
            return ()
        return (self.index, *self.ends)

    @property
    def ends(self) -> tuple[int, ...]:
        """The nodes that its links lead to, that which is asked about first."""
        return () if self.to is None else (self.to, *self.rivals)

    @property
    def kind(self) -> str:
        """What is asked about: a node, a graph, a link, or what the type is called."""
        return "–".join(self.types) or self.level

    def __str__(self) -> str:
        return f"{self.kind} {self.label}"


@dataclass(frozen=True)
class About:
    """What queries have in common that are asked together.

    >>> about = About("node", ("paper",), (30,))
    >>> about.query(2).key, str(about.of_key(32)), about.nouns
    (32, 'paper 2', 'papers')

    Args:
        level: of all of them.
        types: where there are several, that of the nodes, or of each end of the links.
        firsts: the number of the first node of each of these among all.
    """

    level: Level
    types: tuple[str, ...] = ()
    firsts: tuple[int, ...] = ()

    def query(self, *numbers: int) -> Query:
        """Return the query that is told by its number, or its ends', among those of their types."""
        firsts = self.firsts or (0,) * len(numbers)
        index, *to = (first + number for first, number in zip(firsts, numbers, strict=True))
        return self._query(index, to[0] if to else None)

    def of_key(self, key: int) -> Query:
        """Return the query that has a key; what it is compared with, a key does not tell.

        >>> str(About("link").of_key(Query("link", 3, 7).key))
        'link 3–7'
        """
        if len(NUMBERS[self.level]) == 1:
            return self._query(key, None)
        first, to = divmod(key, _ENDS)
        if first < 1:
            raise ValueError(f"key: expected that of a {self.level}, got {key}")
        return self._query(first - 1, to)

    @property
    def kind(self) -> str:
        """What each is: a node, a graph, a link, or what the type is called."""
        return "–".join(self.types) or self.level

    @property
    def nouns(self) -> str:
        """What they are called together: nodes, graphs, links, or by the type of the nodes."""
        return f"{self.kind if len(self.types) == 1 else self.level}s"

    def _query(self, index: int, to: int | None) -> Query:
        return Query(self.level, index, to, types=self.types, firsts=self.firsts)
