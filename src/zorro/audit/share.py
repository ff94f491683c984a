"""Shares, medians and what is more often than chance, each with how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc
from scipy.stats import false_discovery_control

from zorro.evaluation.evidence import clopper_pearson

Numbers = NDArray[np.float64]
SURE = 0.05  # the false discovery rate of an audit
# Features, nodes and training nodes of classes, contrasts, features of errors, confident errors:
# each family of tests has this part of the error, so that all of them together keep to it.
FAMILIES = 6


@dataclass(frozen=True)
class Share:
    """How many of some are so, with Clopper and Pearson's exact interval.

    The interval takes the counted ones for independent draws.

    >>> from zorro.audit import Share
    >>> Share(8, 10)
    Share(0.80 [0.44, 0.97], 8/10)
    >>> Share(80, 100).lower > Share(8, 10).lower
    True
    >>> Share(0, 0).value
    0.0

    Args:
        count: how many are so.
        total: of how many.
        confidence: of the interval.
    """

    count: int
    total: int
    confidence: float = 0.95

    @property
    def value(self) -> float:
        """The share; that of none is 0."""
        return self.count / self.total if self.total else 0.0

    @property
    def lower(self) -> float:
        """Lower end of the interval."""
        return clopper_pearson(self.count, self.total, (1 - self.confidence) / 2)[0]

    @property
    def upper(self) -> float:
        """Upper end of the interval."""
        return clopper_pearson(self.count, self.total, (1 - self.confidence) / 2)[1]

    def __repr__(self) -> str:
        ends = f"[{self.lower:.2f}, {self.upper:.2f}]"
        return f"Share({self.value:.2f} {ends}, {self.count}/{self.total})"


@dataclass(frozen=True)
class Median:
    """The median of some numbers, with an exact interval whatever their distribution.

    Its ends are two of the numbers themselves: those between which the median lies unless too many
    of them, by a binomial distribution, fell on one side of it. Without enough numbers it is open.

    >>> from zorro.audit import Median
    >>> Median.of([3.0, 1.0, 2.0])  # of three numbers it could be any
    Median(value=2.0, lower=-inf, upper=inf, count=3)
    >>> Median.of(range(1, 11))
    Median(value=5.5, lower=2.0, upper=9.0, count=10)

    Args:
        value: NaN of none.
        lower: −∞ where the numbers are too few.
        upper: ∞ where they are.
        count: of the numbers.
    """

    value: float
    lower: float
    upper: float
    count: int

    @classmethod
    def of(cls, numbers: Sequence[float], *, confidence: float = 0.95) -> Median:
        """Return the median of some numbers.

        >>> from zorro.audit import Median
        >>> Median.of(range(1, 11))
        Median(value=5.5, lower=2.0, upper=9.0, count=10)

        Args:
            numbers: in any order.
            confidence: of the interval.
        """
        ordered = np.sort(np.asarray(numbers, dtype=np.float64))
        count = len(ordered)
        if not count:
            return cls(math.nan, -math.inf, math.inf, 0)
        # The most ranks that can be left out at each end: P(Bin(n, ½) < r) ≤ tail.
        chances = bdtr(np.arange(count), count, 0.5)
        left_out = int((chances <= (1 - confidence) / 2).sum())
        lower = float(ordered[left_out - 1]) if left_out else -math.inf
        upper = float(ordered[count - left_out]) if left_out else math.inf
        return cls(float(np.median(ordered)), lower, upper, count)


def more_than_chance(count: Numbers, total: int, expected: Numbers) -> Numbers:
    """Return the probability that chance alone gives so many, or an upper bound of it.

    Of `total` independent events with chances of their own, whose mean is `expected`. A binomial
    distribution of the mean chance has the heavier tail above its mean (Hoeffding 1956), so that
    its tail is an upper bound wherever more than the mean is observed.

    Args:
        count: (k,), how many events happened.
        total: how many could.
        expected: (k,), the mean chance.
    """
    mean = np.clip(expected, 0.0, 1.0)
    tail = bdtrc(np.maximum(count - 1, 0), total, mean)
    return np.where((count >= 1) & (count - 1 >= total * mean), tail, 1.0)


def adjusted(
    p_values: Sequence[float] | Numbers, *, tests: int | None = None, families: int = 1
) -> Numbers:
    """Return p-values by which the false discovery rate is controlled, however they depend.

    Benjamini and Yekutieli's: of all that are called discoveries at a level, at most that share is
    expected to be none.

    Args:
        p_values: (k,), of the tests.
        tests: how many were made, if more than those: the others gave 1.
        families: how many families of tests share the error.
    """
    values = np.asarray(p_values, dtype=np.float64)
    more = max(0, (tests or 0) - len(values))
    if not len(values):
        return values
    found = false_discovery_control(np.append(values, np.ones(more)), method="by")[: len(values)]
    return np.minimum(1.0, families * found)
