"""Intervals against scipy's, tails against the exact distribution, adjustment against a loop."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from zorro.audit.share import Median, Share, adjusted, more_than_chance


@pytest.mark.parametrize(("count", "total"), [(0, 7), (7, 7), (3, 20), (199, 200)])
def test_a_share_has_clopper_and_pearsons_interval(count, total):
    share = Share(count, total, 0.9)
    expected = binomtest(count, total).proportion_ci(0.9, method="exact")
    assert (share.lower, share.upper) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_share_of_none_leaves_everything_open():
    assert (Share(0, 0).lower, Share(0, 0).upper, Share(0, 0).value) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("count", [4, 5, 6, 15, 40])
def test_the_interval_of_a_median_holds_it_often_enough(count):
    rng = np.random.default_rng(count)
    held = 0
    for _ in range(2000):
        median = Median.of(rng.exponential(size=count))
        held += median.lower <= math.log(2) <= median.upper
    assert held >= 0.94 * 2000  # 95 % at least, less three standard errors
    if count < 6:  # 2 · ½⁵ is more than 5 %
        assert (median.lower, median.upper) == (-math.inf, math.inf)


def test_the_interval_of_a_median_is_the_narrowest_of_its_kind():
    numbers = list(range(1, 21))
    # By tables of the sign test, n = 20: the 6th and the 15th.
    assert (Median.of(numbers).lower, Median.of(numbers).upper) == (6, 15)


def exact_tail(chances, count):
    """P(at least so many), by adding one event after the other."""
    distribution = np.array([1.0])
    for chance in chances:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return float(distribution[count:].sum())


def test_chance_is_bounded_from_above():
    rng = np.random.default_rng(0)
    for _ in range(200):
        chances = rng.random(rng.integers(2, 40)) ** 3
        for count in range(len(chances) + 1):
            bound = more_than_chance(np.array([count]), len(chances), np.array([chances.mean()]))
            assert bound[0] >= exact_tail(chances, count) - 1e-12


def test_chance_is_exact_where_all_chances_are_equal():
    bound = more_than_chance(np.array([9.0]), 12, np.array([0.3]))
    assert bound[0] == pytest.approx(exact_tail([0.3] * 12, 9))


def by_hand(p_values):
    """Benjamini and Yekutieli's steps, spelled out."""
    tests = len(p_values)
    harmonic = sum(1 / rank for rank in range(1, tests + 1))
    order = sorted(range(tests), key=lambda at: p_values[at])
    found, smallest = [0.0] * tests, 1.0
    for rank in range(tests, 0, -1):
        at = order[rank - 1]
        smallest = min(smallest, p_values[at] * tests * harmonic / rank)
        found[at] = smallest
    return found


def test_false_discoveries_are_controlled_by_benjamini_and_yekutieli():
    p_values = np.random.default_rng(1).random(30) ** 4
    assert adjusted(p_values).tolist() == pytest.approx(by_hand(p_values.tolist()))
    padded = [*p_values.tolist(), *[1.0] * 70]
    assert adjusted(p_values, tests=100).tolist() == pytest.approx(by_hand(padded)[:30])
    assert adjusted([]).tolist() == []
