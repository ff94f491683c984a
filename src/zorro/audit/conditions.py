"""Conditions on which a pipeline is to fail: `changed-grounds>.2`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from zorro.errors import InputError

_COMPARES: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
}
_WRITTEN = re.compile(r"\s*([a-z-]+)\s*(>=|>)\s*(\d*\.?\d+)\s*(%?)\s*")


@dataclass(frozen=True)
class Condition:
    """That a figure is above a limit.

    >>> from zorro.audit import Condition
    >>> Condition.read("changed-grounds>20%", ["changed-grounds"]).holds({"changed-grounds": .3})
    True

    Args:
        figure: its name.
        sign: `>` or `>=`.
        limit: above which it is too much.
    """

    figure: str
    sign: str
    limit: float

    @classmethod
    def read(cls, text: str, figures: Mapping[str, float] | list[str]) -> Condition:
        """Return what a text means, or raise `InputError` that says what could be meant.

        Args:
            text: such as `changed-grounds>20%`.
            figures: the names that are known.
        """
        found = _WRITTEN.fullmatch(text)
        if found is None or found[1] not in figures:
            raise InputError(
                f"--fail-on: expected FIGURE>LIMIT with one of {', '.join(figures)}, got {text!r}"
            )
        limit = float(found[3]) / (100 if found[4] else 1)
        return cls(found[1], found[2], limit)

    def holds(self, figures: Mapping[str, float]) -> bool:
        """Whether the figure is above the limit; one that was not measured is refused."""
        value = figures[self.figure]
        if math.isnan(value):
            raise InputError(
                f"--fail-on: expected a figure that was measured, got {self.figure}, which takes "
                "both models and an answer that both give: name the models, or ask for another "
                "figure"
            )
        return _COMPARES[self.sign](value, self.limit)

    def __str__(self) -> str:
        return f"{self.figure}{self.sign}{self.limit:g}"
