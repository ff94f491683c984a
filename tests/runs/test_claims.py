"""Claims that are counted again: honest runs pass, false claims are found among any number."""

from dataclasses import replace

import numpy as np
import pytest
from made_runs import made_explanation
from scipy.stats import binom
from simulated_certificates import simulate

from zorro.evaluation import FidelityEstimate
from zorro.runs.claims import ERROR, check_claims
from zorro.runs.recount import Counted
from zorro.search.beyond_chance import claim_beyond
from zorro.search.certificate import certificate_of

TAU, DELTA = 0.85, 0.05


GIVEN_UP = made_explanation(9, status="budget exhausted")  # after its attempts


def explained(node, *, attempts, hits, samples, held_out=200):
    """An explanation as a search leaves it whose last attempt passed with such hits.

    Of 200 samples that were held out so many keep the answer.
    """
    certificate = certificate_of(TAU, DELTA, hits=hits, samples=samples, attempts=attempts)
    assert certificate.certified
    fidelity = FidelityEstimate(held_out, 200)
    return replace(made_explanation(node % 40), certificate=certificate, fidelity=fidelity)


def simulated(generator, tried):
    """Explanations, with each one's true fidelity, of searches that try sets one after another."""
    found = simulate(generator, tried, tau=TAU, delta=DELTA, planned=400)
    for i, attempt in enumerate(found.attempt.tolist()):
        if attempt == 0:
            yield GIVEN_UP, 0.0
            continue
        hits, samples = int(found.hits[i]), int(found.samples[i])
        fidelity = tried[i, attempt - 1]
        held_out = int(generator.binomial(200, fidelity))
        made = explained(i, attempts=attempt, hits=hits, samples=samples, held_out=held_out)
        yield made, fidelity


def runs_of(generator, tried, *, claims):
    """Runs of as many claims each, as the searches come to them."""
    run, made = [], 0
    for e, fidelity in simulated(generator, tried):
        run.append((e, fidelity))
        made += e.certified
        if made == claims:
            yield run
            run, made = [], 0


def checked(generator, run, *, samples=1000):
    """Count each claim again, of what its fidelity truly is."""
    fidelities = iter([fidelity for e, fidelity in run if e.certified])

    def count(e):
        hits = generator.binomial(samples, next(fidelities))
        return Counted(FidelityEstimate(int(hits), samples))

    return check_claims([e for e, _ in run], count, tau=TAU, delta=DELTA)


def keys_of(run):
    return [e.query.key for e, _ in run if e.certified]


def with_false_claims(run, count, fidelity):
    """The run with other sets in the place of the first certified ones, whose records stay."""
    places = [i for i, (e, _) in enumerate(run) if e.certified][:count]
    return [(e, fidelity if i in places else own) for i, (e, own) in enumerate(run)]


HONEST = {
    "well above": (2, lambda generator, n: generator.uniform(0.9, 1.0, (n, 3))),
    "around": (4, lambda generator, n: generator.uniform(0.80, 0.95, (n, 6))),
    "just below, all false": (200, lambda generator, n: np.full((n, 6), TAU - 1e-6)),
}


@pytest.mark.parametrize("tried", HONEST.values(), ids=HONEST)
@pytest.mark.parametrize(("claims", "runs"), [(5, 40), (50, 4), (300, 1)])
def test_honest_runs_are_not_called_broken(tried, claims, runs):
    """Each with a probability of at most .01, of which four in forty are a sign of more."""
    generator = np.random.default_rng(claims)
    searches, draw = tried
    every = runs_of(generator, draw(generator, searches * claims * runs), claims=claims)
    broken = [checked(generator, run).is_broken for run, _ in zip(every, range(runs), strict=False)]
    assert len(broken) == runs
    assert sum(broken) <= binom.ppf(0.999, runs, ERROR)


@pytest.mark.parametrize(("claims", "runs"), [(5, 40), (50, 4), (300, 1)])
@pytest.mark.parametrize(("false", "fidelity"), [(1, 0.04), (1, 0.479), (2, 0.444)])
def test_false_claims_break_a_run_however_many_others_are_true(claims, runs, false, fidelity):
    generator = np.random.default_rng(claims)
    tried = generator.uniform(0.88, 1.0, (2 * claims * runs, 3))
    every = runs_of(generator, tried, claims=claims)
    for run, _ in zip(every, range(runs), strict=False):
        found = checked(generator, with_false_claims(run, false, fidelity))
        assert found.is_broken
        suspects = [claim.key for claim in found.suspects]
        assert set(keys_of(run)[:false]) <= set(suspects)
        assert found.counts["refuted"] >= false
        assert found.noticed > fidelity


def counted_again(*hits):
    """Count so many hits of 1,000 for one claim after the other."""
    each = iter(hits)
    return lambda e: Counted(FidelityEstimate(next(each), 1000))


def test_each_record_that_is_impossible_by_itself_is_named():
    """Whichever of them makes the run's p-value the smallest."""
    made = [explained(i, attempts=2, hits=400, samples=400) for i in range(20)]
    found = check_claims(made, counted_again(600, 900, *[999] * 18), tau=TAU, delta=DELTA)
    assert [claim.key for claim in found.suspects] == [0, 1]
    assert found.counts["refuted"] == 1  # the other is of more than τ, and of less than recorded


def test_many_claims_that_are_a_little_false_are_found_together():
    """As by a certificate that is passed too easily: none of them is impossible by itself."""
    made = [explained(i, attempts=2, hits=366, samples=400, held_out=183) for i in range(50)]
    found = check_claims(made, counted_again(*[850] * 50), tau=TAU, delta=DELTA)
    assert found.counts == {"not refuted": 50}
    assert found.is_broken
    assert len(found.suspects) == 50
    alone = [made[0], *[GIVEN_UP] * 49]
    assert not check_claims(alone, counted_again(850), tau=TAU, delta=DELTA).is_broken


def test_a_false_claim_that_luck_explains_breaks_no_run():
    """One that passed as narrowly as can be is refuted, and may well be honest."""
    made = [explained(0, attempts=2, hits=34, samples=34, held_out=160)]
    made += [explained(i, attempts=2, hits=400, samples=400) for i in range(1, 20)]
    found = check_claims(made, counted_again(790, *[999] * 19), tau=TAU, delta=DELTA)
    assert found.counts == {"refuted": 1, "shown again": 19}
    assert [claim.key for claim in found.suspects] == [0]
    assert not found.is_broken


def test_tau_is_the_runs_whatever_an_explanation_says():
    low = replace(made_explanation(7).parameters, tau=0.01)
    certificate = certificate_of(0.01, DELTA, hits=400, samples=400, attempts=2)
    e = replace(made_explanation(7), parameters=low, certificate=certificate)
    found = check_claims([e], lambda e: Counted(FidelityEstimate(479, 1000)), tau=TAU, delta=DELTA)
    assert found.claims[0].claimed == TAU
    assert found.claims[0].verdict == "refuted"


def beyond_chance(chance):
    """An explanation that goes beyond what random inputs were recorded to give."""
    made = made_explanation(7)
    target, left = claim_beyond(chance, TAU, DELTA)
    assert left is not None
    certificate = certificate_of(target, left, hits=4000, samples=4000, attempts=2)
    return replace(
        made,
        parameters=replace(made.parameters, beyond_chance=True),
        chance=chance,
        certificate=replace(certificate, delta=DELTA),
        fidelity=FidelityEstimate(4000, 4000),
    )


@pytest.mark.parametrize(("recorded", "broken"), [(840, False), (400, True), (1000, True)])
def test_what_chance_leaves_open_is_counted_again_too(recorded, broken):
    e = beyond_chance(FidelityEstimate(recorded, 1000))
    counted = Counted(FidelityEstimate(998, 1000), FidelityEstimate(845, 1000))
    found = check_claims([e], lambda e: counted, tau=TAU, delta=DELTA)
    assert found.is_broken == broken


def test_a_set_that_chance_alone_equals_is_refuted_though_it_reaches_what_was_recorded():
    """The recorded share of chance would ask for .91; the true one asks for .97."""
    e = beyond_chance(FidelityEstimate(400, 1000))
    counted = Counted(FidelityEstimate(930, 1000), FidelityEstimate(845, 1000))
    found = check_claims([e], lambda e: counted, tau=TAU, delta=DELTA)
    assert found.claims[0].claimed == pytest.approx(0.91, abs=0.01)
    assert found.counts == {"refuted": 1}


def test_a_fidelity_that_was_measured_on_its_own_samples_is_held_against_the_new_ones():
    made = made_explanation(7)
    counted = Counted(FidelityEstimate(900, 1000))
    for hits, broken in ((910, False), (999, True)):
        e = replace(made, fidelity=FidelityEstimate(hits, 1000))
        found = check_claims([e], lambda e: counted, tau=TAU, delta=DELTA)
        assert found.is_broken == broken
        assert found.claims[0].verdict != "refuted"


def test_a_claim_about_another_answer_breaks_a_run():
    counted = Counted(FidelityEstimate(950, 1000), other_answer="predicted_class: expected 0")
    found = check_claims([made_explanation(7)], lambda e: counted, tau=TAU, delta=DELTA)
    assert found.counts == {"other answer": 1}
    assert found.is_broken
    assert found.p_value > 0.01
