"""Whether nodes, links or graphs are asked about: told by several options, which must agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zorro.errors import InputError
from zorro.question import Level

# Options that only links have, as they are called at the command line.
_OF_LINKS = {"carries_messages": "--carries-messages", "among": "--among", "top": "--top"}


@dataclass(frozen=True)
class Told:
    """A level, and what tells it.

    Args:
        option: by which the user gave it.
        value: of the option, if it has one.
        level: that follows from it.
        noun: what was given, `{}` standing for nodes, links or graphs.
        also: other levels that it leaves open: in one graph nodes or links can be asked about.
    """

    option: str
    value: str
    level: Level
    noun: str = "{}"
    also: tuple[Level, ...] = ()

    @property
    def possible(self) -> tuple[Level, ...]:
        """The levels that it allows, the likeliest first."""
        return (self.level, *self.also)

    def __str__(self) -> str:
        return f"{self.option} {self.value}".strip()


def agreed(told: Sequence[Told]) -> Level:
    """Return the level that all of them allow, or raise `InputError` if one contradicts another.

    >>> agreed([Told("--dataset", "cora", "node", also=("link",)), Told("--links", "3-7", "link")])
    'link'
    """
    left = told[0].possible
    for place, other in enumerate(told):
        common = tuple(level for level in left if level in other.possible)
        if not common:
            first = next(one for one in told[:place] if not {*one.possible} & {*other.possible})
            expected = other.noun.format(" or ".join(f"{level}s" for level in left))
            came = other.noun.format(f"{other.level}s")
            raise InputError(
                f"{other.option}: expected {expected}, as with {first}, got {came}"
                + (f" ({other.value})" if other.value else "")
            )
        left = common
    return left[0]


def without_those_of_links(options: Mapping[str, Any], level: Level) -> dict[str, Any]:
    """Return options without those that only links have, or raise `InputError` if one is set."""
    for name, option in _OF_LINKS.items():
        if options.get(name):
            raise InputError(f"{option}: expected links, which alone have it, got {level}s")
    return {name: value for name, value in options.items() if name not in _OF_LINKS}
