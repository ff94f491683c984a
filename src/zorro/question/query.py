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
    """

    level: Level
    index: int
    to: int | None = None
    rivals: tuple[int, ...] = ()

    @property
    def key(self) -> int:
        """By which its noise is addressed, and what is kept of it is found again."""
        if self.to is None:
            return self.index
        return (self.index + 1) * _ENDS + self.to  # above all nodes' numbers

    @classmethod
    def of_key(cls, level: Level, key: int) -> Query:
        """Return the query that has a key; what it is compared with, a key does not tell.

        >>> Query.of_key("link", Query("link", 3, 7).key)
        Query(level='link', index=3, to=7, rivals=())
        """
        if len(NUMBERS[level]) == 1:
            return cls(level, key)
        first, to = divmod(key, _ENDS)
        if first < 1:
            raise ValueError(f"expected the key of a {level}, got {key}")
        return cls(level, first - 1, to)

    @property
    def asked(self) -> int | tuple[int, int]:
        """The query as `zorro.Zorro.explain` takes it: a number, or the ends of a link."""
        return self.index if self.to is None else (self.index, self.to)

    @property
    def numbers(self) -> dict[str, int]:
        """What tells it, by names: a column of a table each.

        >>> Query("node", 5).numbers, Query("link", 3, 7).numbers
        ({'node': 5}, {'source': 3, 'target': 7})
        """
        ends = (self.index,) if self.to is None else (self.index, self.to)
        return dict(zip(NUMBERS[self.level], ends, strict=True))

    @property
    def label(self) -> str:
        """What it is called among others of its level."""
        return str(self.index) if self.to is None else f"{self.index}–{self.to}"

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

    def __str__(self) -> str:
        return f"{self.level} {self.label}"
