"""Which of a model's outputs is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Level = Literal["node", "graph", "link"]
LEVELS: tuple[Level, ...] = get_args(Level)


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
        return (self.index + 1 << 32) + self.to  # above all nodes' numbers

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
        if self.to is None:
            return f"{self.level} {self.index}"
        return f"{self.level} {self.index}–{self.to}"
