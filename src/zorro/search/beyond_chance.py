"""Sets that keep an answer which random inputs get often enough by themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from scipy.special import betaincinv

from zorro.evaluation.estimate import FidelityEstimate
from zorro.search.certified import Sampler, SearchResult

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
    hits = 0
    for evaluator in sampler.unseen(_SAMPLES):
        hits += int(evaluator.hits(evaluator.nothing).sum())
    chance = FidelityEstimate(hits, _SAMPLES, confidence)
    if chance.hits == chance.samples:
        return dataclasses.replace(find(tau=tau, delta=delta), chance=chance)
    share = chance.value if delta is None else _upper_bound(chance, delta / 2)
    target = share + tau * (1 - share)
    planned = min(_MOST_PLANNED, round(_MISSES / (1 - target)))
    found = find(tau=target, delta=None if delta is None else delta / 2, planned=planned)
    if found.certificate is not None and delta is not None:
        whole = dataclasses.replace(found.certificate, delta=delta)
        found = dataclasses.replace(found, certificate=whole)
    return dataclasses.replace(found, chance=chance)


def _upper_bound(measured: FidelityEstimate, delta: float) -> float:
    """Return an upper bound that the fidelity exceeds with probability δ at most."""
    return float(betaincinv(measured.hits + 1, measured.samples - measured.hits, 1 - delta))
