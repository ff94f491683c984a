"""Numbers as they are written: halves away from zero, whatever a language makes of them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from zorro.evaluation import FidelityEstimate
from zorro.explanation.written import hundredths, interval, percent, rounded, times


@pytest.mark.parametrize(
    ("share", "text"),
    [(13 / 16, "81.3"), (9 / 16, "56.3"), (0.85503, "85.5"), (1, "100"), (0, "0"), (1e-9, "0")],
)
def test_shares_in_percent(share, text):
    assert percent(share) == f"{text}\N{NO-BREAK SPACE}%"


@pytest.mark.parametrize(
    ("value", "text"), [(0.125, "0.13"), (-0.625, "-0.63"), (0.855, "0.86"), (-0.001, "0.00")]
)
def test_two_decimals(value, text):
    assert hundredths(value) == text


def test_a_sign_is_shown_if_asked_for():
    assert [hundredths(value, signed=True) for value in (0.1, -0.1)] == ["+0.10", "-0.10"]
    assert interval(FidelityEstimate(25, 200)) == "0.13 [0.08, 0.18]"


@pytest.mark.parametrize(
    ("lift", "text"), [(123.4, "123"), (64.5, "65"), (9.96, "10"), (0.375, "0.38"), (0, "0")]
)
def test_how_many_times_as_often(lift, text):
    assert times(lift) == text


def test_what_is_rounded_is_the_nearest():
    for value in np.random.default_rng(0).normal(size=500).tolist():
        for digits in (0, 1, 2):
            exact = round(Fraction(value) * 10**digits)
            assert rounded(value, digits) == pytest.approx(exact / 10**digits)
    assert math.isnan(rounded(math.nan, 2))
