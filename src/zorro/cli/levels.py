"""Whether nodes or graphs are asked about: told by several options, which must agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zorro.errors import InputError
from zorro.question import Level

NAMED_LEVELS: tuple[Level, ...] = ("node", "graph")  # links are asked about in Python alone


@dataclass(frozen=True)
class Told:
    """A level, and what tells it.

    Args:
        option: by which the user gave it.
        value: of the option, if it has one.
        level: that follows from it.
        noun: what was given, `{}` standing for nodes or graphs.
    """

    option: str
    value: str
    level: Level
    noun: str = "{}"

    def __str__(self) -> str:
        return f"{self.option} {self.value}".strip()


def agreed(told: Sequence[Told]) -> Told:
    """Return the first of them, or raise `InputError` if another one contradicts it.

    >>> agreed([Told("--dataset", "mutag", "graph"), Told("--graphs", "5", "graph")]).level
    'graph'
    """
    first = told[0]
    for other in told[1:]:
        if other.level != first.level:
            expected, came = (other.noun.format(f"{one.level}s") for one in (first, other))
            raise InputError(
                f"{other.option}: expected {expected}, as with {first}, got {came}"
                + (f" ({other.value})" if other.value else "")
            )
    return first
