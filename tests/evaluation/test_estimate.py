"""Exact intervals against their definition by binomial tails."""

import pytest
from scipy.stats import binom

from zorro.evaluation import FidelityEstimate


@pytest.mark.parametrize(("hits", "samples"), [(0, 7), (1, 10), (87, 100), (98, 100), (5, 5)])
def test_ends_solve_the_binomial_tail_equations(hits, samples):
    estimate = FidelityEstimate(hits, samples, confidence=0.9)
    if hits > 0:
        assert binom.sf(hits - 1, samples, estimate.lower) == pytest.approx(0.05)
    else:
        assert estimate.lower == 0.0
    if hits < samples:
        assert binom.cdf(hits, samples, estimate.upper) == pytest.approx(0.05)
    else:
        assert estimate.upper == 1.0
    assert estimate.lower <= estimate.value <= estimate.upper


def test_representation_shows_value_interval_and_counts():
    assert repr(FidelityEstimate(87, 100)) == "FidelityEstimate(0.870 [0.788, 0.929], 87/100)"
