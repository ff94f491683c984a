"""Sets that keep an answer which random inputs get often enough by themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from scipy.special import betaincinv

from zorro.evaluation.estimate import FidelityEstimate
from zorro.search.budget import BudgetSpent
from zorro.search.certified import FEW, Sampler, SearchResult

_SAMPLES = 1000  # on which the empty set is measured
_MOST_PLANNED = 15_000
_MISSES = 40  # that an attempt must be able to see if the fidelity is just what is asked for


def search_beyond_chance(
    sampler: Sampler,
    find: Callable[..., SearchResult],
    *,
    tau: float,
    delta: float | None,
    confidence: float,
) -> SearchResult:
    """Find a set that keeps the answer in τ of the cases that chance leaves open.

    F(S) ≥ F(∅) + τ (1 − F(∅)). Half of δ is spent on an upper bound u of F(∅), from samples that
    nothing else sees; the other half on the proof of F(S) ≥ u + τ (1 − u), which is more. Where
    random inputs always get the answer nothing is left open, and nothing is needed.

    Args:
        sampler: of the query.
        find: finds a set for a τ and a δ, with a number of samples for an attempt.
        tau: what is to be reached of what chance leaves open.
        delta: the probability with which the claim may be wrong; None makes none.
        confidence: of the interval of F(∅) that is told.
    """
    chance = _measure_chance(sampler, confidence)
    target, left = claim_beyond(chance, tau, delta)
    if chance.hits == chance.samples:
        return dataclasses.replace(find(tau=target, delta=left), chance=chance)
    planned = min(_MOST_PLANNED, round(_MISSES / (1 - target)))
    found = find(tau=target, delta=left, planned=planned)
    if found.certificate is not None and delta is not None:
        whole = dataclasses.replace(found.certificate, delta=delta)
        found = dataclasses.replace(found, certificate=whole)
    return dataclasses.replace(found, chance=chance)


def _measure_chance(sampler: Sampler, confidence: float) -> FidelityEstimate:
    """Measure how often random inputs get the answer, on few samples if the time is up."""
    hits = samples = 0
    try:
        for evaluator in sampler.unseen(_SAMPLES):
            hits += int(sampler.hits(evaluator, evaluator.nothing).sum())
            samples += evaluator.samples
    except BudgetSpent:  # then nothing will be tested either
        if not samples:
            (evaluator,) = sampler.unseen(FEW, limited=False)
            hits, samples = int(sampler.hits(evaluator, evaluator.nothing).sum()), FEW
    return FidelityEstimate(hits, samples, confidence)


def claim_beyond(
    chance: FidelityEstimate, tau: float, delta: float | None
) -> tuple[float, float | None]:
    """Return the fidelity that a set is to have, and what is left of δ to show it.

    Args:
        chance: the hits of the empty set, on samples that nothing else sees.
        tau: what is to be reached of what chance leaves open.
        delta: of the whole claim; None makes none.
    """
    if chance.hits == chance.samples:
        return tau, delta
    share, left = chance.value, None
    if delta is not None:
        left = delta / 2
        # Clopper and Pearson's upper bound at the other half.
        share = float(betaincinv(chance.hits + 1, chance.samples - chance.hits, 1 - left))
    return share + tau * (1 - share), left
