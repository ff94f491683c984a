"""What the columns of a model's output mean, and so what can be asked about them."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, SupportsIndex, TypeAlias

import torch
from torch import Tensor

from zorro.arguments import check_choice, whole_number
from zorro.errors import InputError, ModelError
from zorro.question.agreement import tolerance, unseen
from zorro.question.decision import (
    SIDES,
    Comparison,
    Decision,
    SameClass,
    Side,
    StaysWithin,
    decision_of,
)

logger = logging.getLogger(__name__)

# A column of a value; or a function of what the model returns, or the name of a part of it.
Output: TypeAlias = SupportsIndex | Callable[[Any], Any] | str
_FEW_ROWS = 8  # scores that happen to lie between 0 and 1 on fewer nodes say little


class Reading(Protocol):
    """Turns a model's output into scores, and a user's question into a decision about them."""

    @property
    def needs_outputs(self) -> bool:
        """Whether nothing can be decided before the outputs of all queries are known."""
        ...

    def scores(self, output: Tensor) -> Tensor:
        """Return scores (N, C) of an output (N, K)."""
        ...

    def settled(self, scores: Tensor) -> Reading:
        """Return the reading once the scores (N, C) of many queries are known.

        Raises `ModelError` if they are not what they are taken for.
        """
        ...

    def spread(self, scores: Tensor) -> Tensor | None:
        """Return the distance (…) on which scores (…, C) decide; None: that of their columns."""
        ...

    def is_decided(self, scores: Tensor) -> bool:
        """Whether scores (C,) that are not all finite still say something."""
        ...

    def decision(self, scores: Tensor, comparison: Comparison) -> Decision:
        """Return what is asked about a query at which the scores are (C,).

        Args:
            scores: of the query.
            comparison: with another class, if it is asked against one.
        """
        ...


@dataclass(frozen=True)
class Classes:
    """One class a query: a column each, or one column for two.

    Args:
        threshold: where a single column separates class 0 from class 1: .5 for the probability of
            class 1, anything else for a logit. Such an output is refused without it.
    """

    threshold: float | None = None
    needs_outputs = False

    def scores(self, output: Tensor) -> Tensor:
        """Return scores with at least two columns."""
        if output.size(1) > 1:
            return output
        if self.threshold is None:
            raise ModelError(
                "threshold: the model returns one number per node, which may mean several "
                "things: pass threshold=0.0 if it is the logit of class 1, threshold=0.5 if "
                "it is its probability, tolerance=… if it is a value (regression)"
            )
        return two_columns(output, self.threshold)

    def settled(self, scores: Tensor) -> Reading:
        """Refuse scores (N, C) that do not fit the threshold, or look like labels."""
        if scores.size(1) == 2 and self._is_one_column(scores):
            assert self.threshold is not None
            refuse_misread_column(scores[:, 1], self.threshold)
        elif _look_independent(scores):
            raise ModelError(
                "the model's outputs all lie between 0 and 1 and do not add up to 1, so they seem "
                "to be independent labels (a sigmoid each), of which a node may have several: "
                "explain one label at a time, with label=… and threshold=0.5; or, "
                "if a node's class is the highest of them, with a model that returns their "
                "logarithms, `lambda x, edge_index: model(x, edge_index).log()`"
            )
        return self

    def spread(self, scores: Tensor) -> Tensor | None:
        """Return None: what decides is the distance between the classes."""
        return None

    def is_decided(self, scores: Tensor) -> bool:
        """Whether one class has the highest score, as where log-probabilities are −∞."""
        return not bool(scores.isnan().any()) and int((scores == scores.max()).sum()) == 1

    def decision(self, scores: Tensor, comparison: Comparison) -> Decision:
        """Return that the prediction stays, or that it is not another class."""
        return decision_of(comparison, classes=scores.numel())

    def _is_one_column(self, scores: Tensor) -> bool:
        """Whether scores (N, 2) were made of one column."""
        if self.threshold is None:
            return False
        return bool(torch.equal(self.scores(scores[:, 1:]), scores))


@dataclass(frozen=True)
class Label:
    """One of several labels, of which a query may have any number.

    Args:
        label: its column.
        threshold: above which a query has it: 0 for logits, .5 for probabilities.
    """

    label: int
    threshold: float
    needs_outputs = False

    def scores(self, output: Tensor) -> Tensor:
        """Return two columns: that the label is not there, that it is."""
        if not 0 <= self.label < output.size(1):
            raise InputError(
                f"label: expected a column of the model's output from 0 to {output.size(1) - 1}, "
                f"got {self.label}"
            )
        return two_columns(output[:, self.label : self.label + 1], self.threshold)

    def settled(self, scores: Tensor) -> Reading:
        """Refuse a column that does not fit the threshold."""
        refuse_misread_column(scores[:, 1], self.threshold)
        return self

    def spread(self, scores: Tensor) -> Tensor | None:
        """Return None: what decides is the distance from the threshold."""
        return None

    def is_decided(self, scores: Tensor) -> bool:
        """Whether one of the two scores is higher."""
        return not bool(scores.isnan().any()) and bool(scores[0] != scores[1])

    def decision(self, scores: Tensor, comparison: Comparison) -> Decision:
        """Return that the label stays, or stays away."""
        if comparison.why_not is not None:
            raise InputError(
                f"why_not: expected None for a label, which is there or not, got "
                f"{comparison.why_not!r}"
            )
        return SameClass()


@dataclass(frozen=True)
class Value:
    """A number that is to stay about what it is.

    Args:
        output: its column.
        tolerance: how far it may move; None if `share` says so.
        share: of the standard deviation of the model's outputs over all queries.
        side: in which direction it may not move further.
    """

    output: int = 0
    tolerance: float | None = None
    share: float | None = None
    side: Side = "both"

    def scores(self, output: Tensor) -> Tensor:
        """Return the one column."""
        if not 0 <= self.output < output.size(1):
            raise InputError(
                f"output: expected a column of the model's output from 0 to {output.size(1) - 1}, "
                f"got {self.output}"
            )
        return output[:, self.output : self.output + 1]

    @property
    def needs_outputs(self) -> bool:
        """Whether the tolerance is a share of a spread that is to be measured."""
        return self.tolerance is None

    def settled(self, scores: Tensor) -> Reading:
        """Take the tolerance from the spread of the values (N, 1), if it is a share of that."""
        if self.tolerance is not None:
            return self
        assert self.share is not None
        if scores.size(0) == 1:
            raise ModelError(
                "tolerance_share: one value has no spread of which a share could be taken: pass "
                "tolerance"
            )
        measured = self.share * float(scores.double().std())
        if not measured > 0:
            raise ModelError(
                "tolerance_share: the model gives the same value everywhere, so a share of the "
                "spread is nothing: pass tolerance"
            )
        return replace(self, tolerance=measured)

    def spread(self, scores: Tensor) -> Tensor | None:
        """Return the tolerance for each of scores (…, 1), as far as it is known."""
        if self.tolerance is None:
            return None
        return torch.full_like(scores[..., 0], self.tolerance)

    def is_decided(self, scores: Tensor) -> bool:
        """Whether it is a number."""
        return bool(scores.isfinite().all())

    def decision(self, scores: Tensor, comparison: Comparison) -> Decision:
        """Return that the value stays within the tolerance."""
        if comparison.why_not is not None:
            raise InputError(
                f"why_not: expected None for a value, which has no other class, got "
                f"{comparison.why_not!r}"
            )
        assert self.tolerance is not None, "settled before anything is asked"
        least = unseen(scores[0])
        if self.tolerance <= least:
            raise InputError(
                f"tolerance: expected more than {least:.2g}, by which roundings of "
                f"{scores.dtype} may move an output of {float(scores[0]):.6g}, got "
                f"{self.tolerance:.4g}: pass x.double() and model.double(), or let the model "
                "return the distance from a usual value"
            )
        return StaysWithin(self.tolerance, self.side)


# By these names they are options of `zorro.Zorro`.
READINGS = ("threshold", "label", "tolerance", "tolerance_share", "side", "output")


def reading_of(
    *,
    threshold: float | None = None,
    label: SupportsIndex | None = None,
    tolerance: float | None = None,
    tolerance_share: float | None = None,
    side: Side = "both",
    output: Output | None = None,
) -> Reading:
    """Return what a user says that the columns mean, or refuse what contradicts itself.

    Args:
        threshold: of a single column, or of a label.
        label: the column of a label.
        tolerance: how far a value may move.
        tolerance_share: how far a value may move, as a share of the spread of the values.
        side: in which direction it may not.
        output: the column of the value; the first when None. A function or a name picks a part of
            what the model returns, before it is read.
    """
    if isinstance(output, str) or callable(output):
        output = None
    check_choice("side", side, SIDES)
    given = {"tolerance": tolerance, "tolerance_share": tolerance_share}
    for name, number in given.items():
        if number is not None and not (_is_number(number) and 0 < number < math.inf):
            raise InputError(f"{name}: expected a number above 0, got {number!r}")
    if tolerance is not None and tolerance_share is not None:
        raise InputError(
            f"tolerance_share: expected None where tolerance is given, got {tolerance_share}"
        )
    if threshold is not None and not (_is_number(threshold) and math.isfinite(threshold)):
        raise InputError(f"threshold: expected a number, got {threshold!r}")
    if tolerance is not None or tolerance_share is not None:
        for name, of_classes in (("threshold", threshold), ("label", label)):
            if of_classes is not None:
                raise InputError(
                    f"{name}: expected None where a tolerance says that it is a value, got "
                    f"{of_classes!r}"
                )
        column = 0 if output is None else whole_number("output", output, what="a column")
        return Value(column, tolerance, tolerance_share, side)
    if output is not None or side != "both":
        name, got = ("output", output) if output is not None else ("side", side)
        part = f", or output=lambda out: out[{got}] for a part" if output is not None else ""
        raise InputError(
            f"{name}: expected a value to be explained, got {got!r} without tolerance: pass "
            f"tolerance or tolerance_share with it{part}"
        )
    if label is None:
        return Classes(threshold)
    if threshold is None:
        raise InputError(
            "threshold: expected a number with label, got None: pass 0.0 if the model returns "
            "logits, 0.5 if it returns probabilities"
        )
    return Label(whole_number("label", label, what="a column"), threshold)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def two_columns(column: Tensor, threshold: float) -> Tensor:
    """Return scores (N, 2) of a column (N, 1): class 1 wins above the threshold.

    Of any column's type, a number is above the threshold, as Python's floats are compared, if it
    is above the highest number of this type that is not.
    """
    if threshold == 0.5:
        return torch.cat([1 - column, column], dim=1)
    other = torch.full_like(column, _rounded_down(threshold, column.dtype))
    return torch.cat([other, column], dim=1)


def _rounded_down(number: float, dtype: torch.dtype) -> float:
    """Return the highest number of a type that is not above another."""
    if not dtype.is_floating_point:
        return math.floor(number)
    info = torch.finfo(dtype)
    step = info.eps * max(info.tiny, 2.0 ** (math.frexp(number)[1] - 1))  # from one to the next
    return math.floor(number / step) * step


def refuse_misread_column(column: Tensor, threshold: float) -> None:
    """Raise `ModelError` unless numbers (N,) can be what a threshold says that they are."""
    inside = bool(((column >= 0) & (column <= 1)).all())
    if threshold == 0.5 and not inside:
        raise ModelError(
            "threshold: 0.5 is for a probability, and the model returns numbers from "
            f"{float(column.min()):.4g} to {float(column.max()):.4g}: pass threshold=0.0 if "
            "they are logits"
        )
    if threshold == 0 and inside and column.numel() >= _FEW_ROWS:
        logger.warning(
            "threshold: 0.0 is for a logit, and all of the model's outputs lie between 0 and "
            "1, as probabilities do: with these, pass threshold=0.5"
        )


def _look_independent(scores: Tensor) -> bool:
    """Whether scores (N, C) look like several probabilities each."""
    if scores.size(0) < _FEW_ROWS or not bool(((scores >= 0) & (scores <= 1)).all()):
        return False
    apart = (scores.double().sum(dim=1) - 1).abs()  # (N,)
    return bool((apart > scores.size(1) * tolerance(scores.dtype)).any())
