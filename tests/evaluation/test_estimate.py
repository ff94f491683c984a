"""Exact intervals against their definition by binomial tails."""

import numpy as np
import pytest
from scipy.stats import binom

from zorro.evaluation import FidelityEstimate
from zorro.evaluation.evidence import level
from zorro.search.certificate import Attempt


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


def test_an_interval_from_a_certificates_samples_holds_although_they_stop_when_it_passes():
    """Sets with a fidelity just above τ, tested until one passes: how often is it outside?"""
    generator = np.random.default_rng(0)
    outside = passed = 0
    for _ in range(400):
        for number in range(2, 6):
            attempt = Attempt(tau=0.85, delta=level(0.05, number), most=1000)
            while not attempt.passed and not attempt.lost:
                batch = attempt.next_batch
                attempt.add(int(generator.binomial(batch, 0.88)), batch)
            if attempt.passed:
                found = FidelityEstimate(attempt.hits, attempt.samples, 0.95, number)
                passed += 1
                outside += not found.lower <= 0.88 <= found.upper
                break
    assert passed > 100
    assert outside <= 0.05 * passed
