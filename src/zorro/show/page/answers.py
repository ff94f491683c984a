"""What a model says of a query: all that differs on the pages between classes, labels and values.

The front end has the same variants in `answers.js`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from torch import Tensor

from zorro.explanation import Explanation
from zorro.graph.names import Labels, Names
from zorro.question.reading import READINGS, Classes, Label, Reading, Value, reading_of

Plain = dict[str, Any]
Kind = Literal["class", "label", "value", "ahead"]
Truth = int | float
Judged = Sequence[tuple[Explanation, Truth | None]]  # explanations, and what is true of each

_MOST_CLASSES = 4  # of which the probability is given
_DIGITS = 5  # of values


class Answers(Protocol):
    """What the answers of a run are."""

    kind: ClassVar[Kind]
    has_classes: ClassVar[bool]

    @property
    def reading(self) -> Reading:
        """What the columns of the model's output mean."""
        ...

    def class_names(self, names: Names) -> Labels:
        """Return what the classes that are told are called."""
        ...

    def truth(self, target: Tensor) -> Truth | None:
        """Return what is right for a query of some target, None if that cannot be compared."""
        ...

    def summary(self, judged: Judged) -> Plain:
        """Return how right the answers are, of those of which it is known, and what they share."""
        ...

    def outputs(self, scores: Tensor) -> list[float] | None:
        """Return where scores (S, C) lie, ascending; None if that is only one class or another."""
        ...


@dataclass(frozen=True)
class ClassAnswers:
    """One class a query.

    Args:
        threshold: where a single column separates two classes.
    """

    threshold: float | None = None
    kind: ClassVar[Kind] = "class"
    has_classes: ClassVar[bool] = True

    @property
    def reading(self) -> Reading:
        """A column per class, or one for two."""
        return Classes(self.threshold)

    def class_names(self, names: Names) -> Labels:
        """Return the names of the classes."""
        return names.classes

    def truth(self, target: Tensor) -> Truth | None:
        """Return the true class, if the target is one."""
        return _whole(target, 0) if target.numel() == 1 else None

    def summary(self, judged: Judged) -> Plain:
        """Return how many answers are right."""
        return _right(judged)

    def outputs(self, scores: Tensor) -> list[float] | None:
        """Return None: a class is kept or not."""
        return None


@dataclass(frozen=True)
class LabelAnswers:
    """One of several labels: class 1 where it is there, class 0 where it is not.

    Args:
        label: its column.
        threshold: above which it is there.
    """

    label: int
    threshold: float
    kind: ClassVar[Kind] = "label"
    has_classes: ClassVar[bool] = True

    @property
    def reading(self) -> Reading:
        """The column of the label."""
        return Label(self.label, self.threshold)

    def class_names(self, names: Names) -> Labels:
        """Return what it is called to have the label, and not to have it."""
        return (f"not {names.of_label(self.label)}", names.of_label(self.label))

    def truth(self, target: Tensor) -> Truth | None:
        """Return whether the label is there, of a target of all labels."""
        return _whole(target, self.label) if target.numel() > self.label else None

    def summary(self, judged: Judged) -> Plain:
        """Return how many answers are right."""
        return _right(judged)

    def outputs(self, scores: Tensor) -> list[float] | None:
        """Return None: a label is there or not."""
        return None


@dataclass(frozen=True)
class ValueAnswers:
    """A number that is to stay about what it is.

    Args:
        output: the column of the value.
        share: the tolerance as a share of the spread of all outputs, if it was given so.
    """

    output: int = 0
    share: float | None = None
    kind: ClassVar[Kind] = "value"
    has_classes: ClassVar[bool] = False

    @property
    def reading(self) -> Reading:
        """The column of the value."""
        return Value(self.output)

    def class_names(self, names: Names) -> Labels:
        """Return none: there are no classes."""
        return {}

    def truth(self, target: Tensor) -> Truth | None:
        """Return the true value, of a target of as many real numbers as the model has columns."""
        if not target.is_floating_point() or target.numel() <= self.output:
            return None
        value = float(target.reshape(-1)[self.output])
        return _significant(value) if math.isfinite(value) else None

    def summary(self, judged: Judged) -> Plain:
        """Return by how much answers are off at the median, and the tolerance of all of them."""
        values = [e.value for e, _ in judged if e.value is not None]
        off = [abs(e.value.value - truth) for e, truth in judged if e.value and truth is not None]
        return {
            "known": len(off),
            "error": _significant(statistics.median(off)) if off else None,
            "tolerance": _significant(values[0].tolerance) if values else None,
            "share": self.share,
            "side": values[0].side if values else None,
        }

    def outputs(self, scores: Tensor) -> list[float] | None:
        """Return the values, without what is no number."""
        values: list[float] = scores[:, 0].double().sort().values.tolist()
        return [_significant(value) for value in values if math.isfinite(value)]


@dataclass(frozen=True)
class AheadAnswers:
    """A link is ahead of others, or among the first of them.

    Args:
        alone: what is said of a link that is not compared.
    """

    alone: Answers
    kind: ClassVar[Kind] = "ahead"
    has_classes: ClassVar[bool] = False

    @property
    def reading(self) -> Reading:
        """As of a link alone."""
        return self.alone.reading

    def class_names(self, names: Names) -> Labels:
        """Return the names of the classes that a link alone may have."""
        return self.alone.class_names(names)

    def truth(self, target: Tensor) -> Truth | None:
        """Return None: a link that is there need not be ahead."""
        return None

    def summary(self, judged: Judged) -> Plain:
        """Return nothing."""
        return {}

    def outputs(self, scores: Tensor) -> list[float] | None:
        """Return None: a link is ahead or not."""
        return None


def answers_of(parameters: Mapping[str, Any]) -> Answers:
    """Return what the answers of a run with some parameters are."""
    # A class is told by its number, another link by its ends.
    if "among" in parameters or isinstance(parameters.get("why_not"), list):
        return AheadAnswers(_alone(parameters))
    return _alone(parameters)


def _alone(parameters: Mapping[str, Any]) -> Answers:
    given = {name: parameters[name] for name in READINGS if name in parameters}
    reading = reading_of(**given)
    if isinstance(reading, Value):
        return ValueAnswers(reading.output, reading.share)
    if isinstance(reading, Label):
        return LabelAnswers(reading.label, reading.threshold)
    return ClassAnswers(given.get("threshold"))


def row(explanation: Explanation) -> Plain:
    """Return what a table shows of an explanation's answer: its kind, and what such answers have.

    An answer need not be of the kind that its run's are: a link can be asked about alone, or
    compared with others.
    """
    e = explanation
    if e.value is not None:
        least = e.least_tolerance
        return {
            "answer": "value",
            "value": _significant(e.value.value),
            "tolerance": _significant(e.value.tolerance),
            "low": _end(e.value.low),
            "high": _end(e.value.high),
            "least": None if least is None else _significant(least),
        }
    if e.ahead is not None:
        return {"answer": "ahead", "rivals": list(e.query.rivals), "top": e.ahead.top}
    return {
        "answer": "class" if e.label is None else "label",
        "class": e.predicted_class,
        "probability": precise(e.probability),
    }


def likeliest(probabilities: Sequence[float], *, against: int | None = None) -> list[list[Any]]:
    """Return [class, probability] of the likeliest classes, and of the one it was asked against."""
    order = sorted(range(len(probabilities)), key=lambda number: -probabilities[number])
    shown = order[:_MOST_CLASSES]
    if against is not None and against not in shown:
        shown.append(against)
    return [[number, precise(probabilities[number])] for number in shown]


def precise(value: float) -> float:
    """Return a share as a page holds it: with more digits than anybody shows.

    It is rounded once, where it is shown, so that terminal, page and figure agree.
    """
    return round(value, 9)


def _right(judged: Judged) -> Plain:
    known = [(e.predicted_class, truth) for e, truth in judged if truth is not None]
    right = sum(predicted == truth for predicted, truth in known) if known else None
    return {"known": len(known), "right": right}


def _whole(target: Tensor, place: int) -> int | None:
    """Return a number of a target if it is a whole one; what is not known is often none."""
    value = float(target.reshape(-1)[place])
    return int(value) if value.is_integer() else None


def _end(value: float) -> float | None:
    """Return the end of a band, None if it is open there."""
    return _significant(value) if math.isfinite(value) else None


def _significant(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
