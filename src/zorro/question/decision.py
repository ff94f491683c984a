"""What counts as the same answer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, SupportsIndex, get_args

from torch import Tensor

from zorro.arguments import check_choice, whole_number
from zorro.errors import InputError
from zorro.question.event import (
    Beats,
    Event,
    IsAmongTheFirst,
    Predicts,
    PredictsOtherThan,
    StaysBetween,
)
from zorro.question.query import Query

Contrast = Literal["beats", "not"]
CONTRASTS: tuple[Contrast, ...] = get_args(Contrast)
Side = Literal["both", "up", "down"]
SIDES: tuple[Side, ...] = get_args(Side)


class Decision(Protocol):
    """What a user wants to know of an output: which event an explanation is to keep happening."""

    def event(self, scores: Tensor, query: Query) -> Event:
        """Return the event for a query at which the model's scores are (C,).

        Raises `InputError` where it makes no sense for them.
        """
        ...


@dataclass(frozen=True)
class SameClass:
    """The model predicts what it predicts now."""

    def event(self, scores: Tensor, query: Query) -> Event:
        """Return that the class with the highest score has it."""
        return Predicts(int(scores.argmax()))


@dataclass(frozen=True)
class Versus:
    """The class that the explanation is against, and in what sense.

    `"beats"`: the predicted class is preferred to the other. `"not"`: the other is not predicted.
    """

    other: int
    contrast: Contrast

    def event(self, scores: Tensor, query: Query) -> Event:
        """Return that the predicted class beats the other, or that the other is not predicted."""
        predicted = int(scores.argmax())
        if self.other == predicted:
            raise InputError(
                f"why_not: expected another class than the prediction of {query}, got {predicted}, "
                "which is predicted"
            )
        if self.contrast == "beats":
            return Beats(predicted, self.other)
        return PredictsOtherThan(self.other)


@dataclass(frozen=True)
class StaysWithin:
    """A value stays about what it is.

    `side` says what may not happen: `"both"`, that it moves by more than the tolerance; `"up"`, a
    value that is to stay up, that it falls by more; `"down"`, that it rises by more. A value v that
    was v₀ stays if |v − v₀| ≤ tolerance in double precision, so that both ends belong to the band.
    """

    tolerance: float
    side: Side

    def event(self, scores: Tensor, query: Query) -> Event:
        """Return that the value stays in the band around what it is now."""
        return StaysBetween(
            value=float(scores[0]),
            low=-math.inf if self.side == "down" else -self.tolerance,
            high=math.inf if self.side == "up" else self.tolerance,
            softness=self.tolerance / 2,
        )


@dataclass(frozen=True)
class StaysAhead:
    """A link stays among the first of those that it is compared with."""

    top: int

    def event(self, scores: Tensor, query: Query) -> Event:
        """Return that the first of scores (k,) is among the highest ones, if it is now."""
        event = IsAmongTheFirst(self.top)
        if not bool(event.happens(scores)):
            ahead = int((scores[1:] >= scores[0]).sum())
            raise InputError(
                f"why_not: expected links that {query} is ahead of, got some of which {ahead} "
                f"score as high or higher (top={self.top})"
            )
        return event


@dataclass(frozen=True)
class Comparison:
    """With what an answer is compared, as a user says it.

    Args:
        why_not: another class; of a link another link, or its end.
        contrast: in what sense a class is compared.
        among: of a link: the ends with which its own is compared.
        top: among how many of the first of them it is to stay.
    """

    why_not: Any = None
    contrast: Contrast = "beats"
    among: Iterable[SupportsIndex] | None = None
    top: int = 1

    def refuse_links(self) -> None:
        """Raise `InputError` if something was said that only links have."""
        if self.among is not None or self.top != 1:
            name, came = ("among", self.among) if self.among is not None else ("top", self.top)
            raise InputError(
                f"{name}: expected it for links, which alone are compared with others, got "
                f"{came!r:.40}"
            )


def decision_of(comparison: Comparison, *, classes: int) -> Decision:
    """Return what is asked: that the prediction stays, or that it is not another class.

    Args:
        comparison: as a user says it.
        classes: how many there are.
    """
    check_choice("contrast", comparison.contrast, CONTRASTS)
    if comparison.why_not is None:
        return SameClass()
    other = whole_number("why_not", comparison.why_not, classes, what="a class")
    return Versus(other, comparison.contrast)
