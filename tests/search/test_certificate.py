"""The certificate: right as often as it says, whatever is tested, however often."""

import doctest

import numpy as np
import pytest
from scipy.stats import binom
from simulated_certificates import simulate

from zorro.elements import KEPT
from zorro.evaluation import evidence
from zorro.evaluation.evidence import level, log_evidence, lower_bound
from zorro.search import certificate
from zorro.search.certificate import Attempt, certificate_of
from zorro.search.certified import MOST_ATTEMPTS


def test_the_examples_in_the_docstrings_are_true():
    for module in (certificate, evidence):
        results = doctest.testmod(module)
        assert results.attempted >= 1
        assert results.failed == 0


def test_evidence_is_the_gamblers_fortune():
    """The closed form against the integral, summed by hand."""
    hits, samples, p = 93, 100, 0.85
    q = np.linspace(p, 1, 200_001)[1:-1]
    ratio = (q / p) ** hits * ((1 - q) / (1 - p)) ** (samples - hits)
    assert np.exp(log_evidence(hits, samples, p)) == pytest.approx(ratio.mean(), rel=1e-3)


def test_the_bound_is_where_the_evidence_ends():
    for hits, samples in [(100, 100), (850, 1000), (3, 7), (1999, 2000)]:
        bound = lower_bound(hits, samples, 0.05)
        assert 0 < bound < hits / samples
        assert log_evidence(hits, samples, bound - 1e-6) > np.log(20)
        assert log_evidence(hits, samples, bound + 1e-6) < np.log(20)
    assert lower_bound(0, 50, 0.05) == 0
    assert lower_bound(0, 0, 0.05) == 0


def test_attempts_share_what_may_go_wrong():
    assert sum(level(0.05, attempt) for attempt in range(1, 100_000)) == pytest.approx(0.05, 1e-4)


def search_and_certify(generator, fidelities, *, tau, delta, most=2000):
    """Test one set after another, as a search does; return the fidelity of the certified one."""
    for number, fidelity in enumerate(fidelities, start=1):
        attempt = Attempt(tau=tau, delta=level(delta, number), most=most)
        while not attempt.passed and not attempt.lost:
            batch = attempt.next_batch
            attempt.add(int(generator.binomial(batch, fidelity)), batch)
        if attempt.passed:
            return fidelity
    return None


@pytest.mark.parametrize("tau", [0.85, 0.98])
@pytest.mark.parametrize(
    "kind", ["just below", "a little below", "many sets just below", "creeping up", "random"]
)
def test_wrong_claims_are_as_rare_as_promised(tau, kind):
    """Of many searches, at most δ (with a binomial tolerance) certify a set below τ."""
    delta, searches = 0.05, 3000
    generator = np.random.default_rng(7)
    wrong = 0
    for _ in range(searches):
        sets = {
            "just below": [tau - 1e-6],
            "a little below": [tau - 0.003],
            "many sets just below": [tau - 1e-6] * 12,
            "creeping up": list(tau - 0.02 * 0.5 ** np.arange(10)),
            "random": list(generator.uniform(tau - 0.1, tau + 0.02, size=8)),
        }[kind]
        certified = search_and_certify(generator, sets, tau=tau, delta=delta)
        wrong += certified is not None and certified < tau
    assert wrong <= binom.ppf(0.999, searches, delta)


@pytest.mark.parametrize(("tau", "fidelity"), [(0.85, 0.93), (0.98, 0.998)])
def test_right_claims_are_made_with_few_samples(tau, fidelity):
    generator = np.random.default_rng(0)
    used, certified = [], 0
    for _ in range(200):
        attempt = Attempt(tau=tau, delta=level(0.05, 2), most=2000)
        while not attempt.passed and not attempt.lost:
            batch = attempt.next_batch
            attempt.add(int(generator.binomial(batch, fidelity)), batch)
        certified += attempt.passed
        used.append(attempt.samples)
        made = certificate_of(tau, 0.05, hits=attempt.hits, samples=attempt.samples, attempts=2)
        assert attempt.passed == made.certified == (made.bound >= tau - 1e-9)
    assert certified >= 190
    assert np.median(used) <= 500


def test_hopeless_cases_are_given_up_early():
    attempt = Attempt(tau=0.85, delta=0.025, most=2000)
    attempt.add(70, 100)
    assert attempt.lost
    assert not attempt.passed


CASES = {
    "one set of edges": {"tau": 0.85, "sets": 1, "planned": 2000, "kinds": ("edges",)},
    "sets one after another": {"tau": 0.85, "sets": 4, "planned": 4000},
    "a high threshold": {"tau": 0.98, "sets": 4, "planned": 4000},
    "all attempts": {"tau": 0.85, "sets": MOST_ATTEMPTS - 1, "planned": 400},
    "sets that get better": {"tau": 0.85, "sets": 5, "below": 0.01, "planned": 2000},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_of_20000_searches_no_more_certify_a_false_claim_than_promised(case):
    """No set has more than τ: the empty one, and all that are tested after it.

    None may be certified of less than τ, and of τ itself is where it happens most.
    """
    searches, delta = 20_000, 0.05
    sets, below = case["sets"], case.get("below", 0.0)
    fidelities = case["tau"] - below * 0.5 ** np.arange(sets + 1)  # the empty set's first
    found = simulate(
        np.random.default_rng(11),
        np.tile(fidelities, (searches, 1)),
        tau=case["tau"],
        delta=delta,
        planned=case.get("planned", 8000),
        kinds=case.get("kinds", KEPT),
    )
    most = binom.ppf(0.999, searches, delta)
    assert 0 < (found.attempt > 0).sum() <= most
    for attempt in range(1, sets + 2):
        share = level(delta, attempt)
        assert (found.attempt == attempt).sum() <= binom.ppf(0.9999, searches, share)


def test_a_simulated_search_is_one_that_asks_an_attempt_step_by_step():
    """One at a time, with the hits that the simulation drew; not one of each count for all."""
    tau, planned = 0.85, 2000
    for seed in range(20):
        fidelities = np.array([[0.5, 0.8, 0.9]])
        found = simulate(np.random.default_rng(seed), fidelities, tau=tau, planned=planned)
        generator = np.random.default_rng(seed)
        for number, fidelity in enumerate(fidelities[0], 1):
            attempt = Attempt(tau=tau, delta=level(0.05, number), most=planned, least=100)
            while not attempt.passed and not attempt.lost:
                first = number == 1 and attempt.samples < 100
                batch = 50 if first else attempt.next_batch
                attempt.add(int(generator.binomial(batch, fidelity)), batch)
            if attempt.passed:
                break
        counts = (number, attempt.hits, attempt.samples) if attempt.passed else (0, 0, 0)
        assert (found.attempt[0], found.hits[0], found.samples[0]) == counts
