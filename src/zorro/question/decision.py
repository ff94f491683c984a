"""What counts as the same answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, SupportsIndex, get_args

from torch import Tensor

from zorro.arguments import check_choice, whole_number
from zorro.errors import InputError
from zorro.question.event import Beats, Event, Predicts, PredictsOtherThan
from zorro.question.query import Query

Contrast = Literal["beats", "not"]
CONTRASTS: tuple[Contrast, ...] = get_args(Contrast)


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
                f"why_not: expected another class than the prediction of {query}, which is "
                f"{predicted}"
            )
        if self.contrast == "beats":
            return Beats(predicted, self.other)
        return PredictsOtherThan(self.other)


def decision_of(why_not: SupportsIndex | None, contrast: Contrast, *, classes: int) -> Decision:
    """Return what is asked: that the prediction stays, or that it is not another class.

    Args:
        why_not: the other class, as a user gives it.
        contrast: in what sense.
        classes: how many there are.
    """
    check_choice("contrast", contrast, CONTRASTS)
    if why_not is None:
        return SameClass()
    return Versus(whole_number("why_not", why_not, classes, what="a class"), contrast)
