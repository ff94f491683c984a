"""P-values of records: right where all is honest, by brute force, and small where it is not."""

import doctest
import math

import numpy as np
import pytest
from scipy.stats import binom
from simulated_certificates import simulate

from zorro.evaluation import FidelityEstimate
from zorro.evaluation.evidence import level, log_evidence
from zorro.runs import homogeneity
from zorro.runs.homogeneity import (
    certificate_p_value,
    fidelity_noticed,
    joint_p_value,
    share_p_value,
)
from zorro.search.certificate import certificate_of


def record(hits, samples, attempts=2):
    return certificate_of(0.85, 0.05, hits=hits, samples=samples, attempts=attempts)


def test_the_examples_in_the_docstrings_are_true():
    results = doctest.testmod(homogeneity)
    assert results.attempted >= 5
    assert results.failed == 0


@pytest.mark.parametrize(
    ("hits", "samples", "attempts", "later"),
    [(366, 400, 2, 850), (200, 200, 3, 930), (1780, 2000, 1, 840), (50, 50, 2, 700)],
)
def test_a_p_value_is_the_largest_of_all_fidelities(hits, samples, attempts, later):
    """Fidelity by fidelity, on a fine grid, by scipy's binomial and the certificate's evidence."""
    shares = np.linspace(0.5, 0.9999, 20_001)
    bets = [level(1.0, attempts) * math.exp(log_evidence(hits, samples, p)) for p in shares]
    few = np.asarray(binom.cdf(later, 1000, shares))
    largest = float((few / (0.5 + 0.5 * np.array(bets))).max())
    got = certificate_p_value(record(hits, samples, attempts), later, 1000)
    assert largest <= got <= 1.3 * largest


@pytest.mark.parametrize("fidelity", [0.849, 0.88, 0.93])
def test_honest_records_have_small_p_values_no_more_often_than_they_say(fidelity):
    """Of all queries: what was not certified has none. Later hits are of the set that passed."""
    searches = 6000
    generator = np.random.default_rng(5)
    tried = np.tile([0.6, fidelity, fidelity, fidelity], (searches, 1))
    found = simulate(generator, tried, tau=0.85, planned=1000)
    certified = np.flatnonzero(found.attempt > 0)
    later = generator.binomial(500, fidelity, size=certified.size)
    p_values = np.array(
        [
            certificate_p_value(
                record(int(found.hits[i]), int(found.samples[i]), int(found.attempt[i])),
                int(hits),
                500,
            )
            for i, hits in zip(certified[:500], later, strict=False)
        ]
    )
    assert p_values.size >= 50
    queries = searches * p_values.size // certified.size  # as many as gave these
    for level_of_p in (0.01, 0.05, 0.2):
        assert (p_values <= level_of_p).sum() <= binom.ppf(0.999, queries, level_of_p)


def test_a_record_that_no_search_leaves_hides_nothing():
    """However many hits are recorded, the new ones weigh by themselves."""
    for samples in (10**4, 10**9, 1 << 52):
        for hits in (samples, samples - samples // 10):
            assert certificate_p_value(record(hits, samples), 479, 1000) < 1e-50
            assert certificate_p_value(record(hits, samples), 800, 1000) < 1e-12


def test_shares_are_compared_in_both_directions():
    generator = np.random.default_rng(0)
    old, new = generator.binomial(1000, 0.7, size=(2, 300))
    p_values = [
        share_p_value(FidelityEstimate(int(a), 1000), FidelityEstimate(int(b), 1000))
        for a, b in zip(old, new, strict=True)
    ]
    for share in (0.01, 0.05, 0.2):
        assert sum(p <= share for p in p_values) <= binom.ppf(0.999, 300, share)
    none, most = FidelityEstimate(0, 1000), FidelityEstimate(840, 1000)
    assert share_p_value(none, most) < 1e-12
    assert share_p_value(most, none) < 1e-12


@pytest.mark.parametrize(("queries", "certified"), [(5, 5), (50, 20), (300, 300)])
def test_all_records_together_are_wrongly_refuted_as_rarely_as_they_say(queries, certified):
    """The worst that honest records may be: p-values that are uniform."""
    generator = np.random.default_rng(1)
    joint = [joint_p_value(generator.random(certified), queries)[0] for _ in range(3000)]
    for share in (0.01, 0.05):
        assert sum(p <= share for p in joint) <= binom.ppf(0.999, 3000, share)


def test_one_impossible_record_counts_and_so_do_many_unlikely_ones():
    honest = [1.0] * 290
    assert joint_p_value([1e-6, *honest], 300)[0] <= 0.01
    assert joint_p_value([1e-3, *honest], 300)[0] > 0.01
    together, count = joint_p_value([1e-3] * 10 + honest, 300)
    assert together < 1e-6
    assert count == 10
    assert joint_p_value([], 300) == (1.0, 0)


@pytest.mark.parametrize("counts", [(366, 400), (200, 200), (1780, 2000), (50, 50)])
@pytest.mark.parametrize("queries", [1, 300])
def test_what_is_said_to_be_noticed_is(counts, queries):
    """Exactly: all later hits, each with its probability."""
    asked = {"queries": queries, "error": 0.01, "power": 0.95}
    fidelity = fidelity_noticed(record(*counts), 1000, **asked)
    later = np.arange(1001)
    noticed = [
        joint_p_value([certificate_p_value(record(*counts), int(hits), 1000)], queries)[0] <= 0.01
        for hits in later
    ]
    assert binom.pmf(later, 1000, fidelity)[noticed].sum() == pytest.approx(0.95)
    assert fidelity_noticed(record(*counts), 5, **asked) < fidelity
