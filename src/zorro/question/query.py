"""Which of a model's outputs is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Level = Literal["node", "graph"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Query:
    """The output at a node of one graph, or for one graph of several.

    >>> str(Query("graph", 5))
    'graph 5'
    """

    level: Level
    index: int

    @property
    def key(self) -> int:
        """By which its noise is addressed, and what is kept of it is found again."""
        return self.index

    def __str__(self) -> str:
        return f"{self.level} {self.index}"
