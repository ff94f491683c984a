"""Search, test on unseen noise, learn from what failed, and search on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.fidelity.estimate import FidelityEstimate
from zorro.fidelity.evaluator import Evaluator
from zorro.noise import Draws
from zorro.noise.draws import JoinedDraws
from zorro.noise.streams import BLOCK
from zorro.search.budget import Budget
from zorro.search.certificate import Attempt, Certificate, level, share_needed
from zorro.search.found import Found, OnStep, unwatched
from zorro.search.guided import GuidedSearch
from zorro.selection import Selection

MOST_ATTEMPTS = 20
MOST_SAMPLES = 2000  # of one attempt
# The search aims above τ: at a fidelity that so many samples would prove. Each further attempt
# aims higher, at what fewer samples would prove.
_PLANNED = 1500
_MOST_KEPT = 1 << 27  # entries of a batch of noise that is kept until its attempt has ended


class Laboratory:
    """Draws samples of one query's noise, no sample twice, and evaluates on them.

    Args:
        draw: gives the noise of some samples.
        evaluate: gives an evaluator on some noise.
        first: where unseen samples begin; those before it are the search's.
    """

    def __init__(
        self,
        draw: Callable[[range], Draws],
        evaluate: Callable[[Draws], Evaluator],
        *,
        first: int,
    ) -> None:
        self._draw = draw
        self._evaluate = evaluate
        self._next = -(-first // BLOCK) * BLOCK  # whole blocks: parts of one cost as much
        self._counted: list[Evaluator] = []
        self._evaluations = 0
        self._last: tuple[Draws, Evaluator] | None = None
        self.evaluator_name = ""

    def draws(self, samples: range) -> Draws:
        """Return the noise of some samples."""
        return self._draw(samples)

    def unseen(self, count: int) -> Draws:
        """Return noise that was never returned before."""
        samples = range(self._next, self._next + count)
        self._next += count
        return self._draw(samples)

    def evaluator(self, draws: Draws) -> Evaluator:
        """Return an evaluator on some noise."""
        self._settle()
        evaluator = self._evaluate(draws)
        self._counted.append(evaluator)
        self._last = (draws, evaluator)
        self.evaluator_name = evaluator.name
        return evaluator

    @property
    def last(self) -> tuple[Draws, Evaluator]:
        """The noise that was evaluated on last, a certificate's if there is one, and by what."""
        assert self._last is not None
        return self._last

    @property
    def evaluations(self) -> int:
        """Perturbed inputs that all evaluators have run so far."""
        return self._evaluations + sum(evaluator.evaluations for evaluator in self._counted)

    def restart(self) -> None:
        """Count evaluations from zero again."""
        self._evaluations = -sum(evaluator.evaluations for evaluator in self._counted)

    def _settle(self) -> None:
        """Keep the counts of evaluators, not the evaluators: only the last ones are at work."""
        for evaluator in self._counted[:-2]:
            self._evaluations += evaluator.evaluations
        del self._counted[:-2]


@dataclass(frozen=True)
class Certified:
    """A set and what was proved about it, if that was asked for."""

    found: Found
    certificate: Certificate | None = None
    in_budget: bool = True  # whether the search ended of its own accord
    chance: FidelityEstimate | None = None  # of the empty set, where it was to be gone beyond


def search_certified(
    laboratory: Laboratory,
    *,
    tau: float,
    delta: float | None,
    samples: int,
    k: int | None,
    budget: Budget,
    allowed: Selection | None = None,
    on_step: OnStep = unwatched,
    most: int = MOST_SAMPLES,
) -> Certified:
    """Find a set whose fidelity is shown to be at least τ on noise that the search has not seen.

    On failure the samples that failed join the search's, and the search goes on from where it
    was. Those that did not fail are represented by the search's own samples that did not: these
    count for more from then on.

    Args:
        laboratory: of the query.
        tau: the fidelity to reach.
        delta: the probability with which the claim may be wrong; None makes none, and the search
            ends when its own samples say that τ is exceeded.
        samples: with which the search starts.
        k: elements of both kinds together that are tested per step; None tests all.
        budget: what may be spent.
        allowed: V_p and F_p; everything when None.
        on_step: told of each step.
        most: samples of one attempt.
    """
    draws = laboratory.draws(range(samples))

    def may_go_on(selection: Selection) -> bool:
        return budget.allows_more_than(selection) and not budget.is_spent(laboratory.evaluations)

    search = GuidedSearch(
        laboratory.evaluator(draws), k=k, allowed=allowed, may_go_on=may_go_on, on_step=on_step
    )
    if delta is None:
        reached = search.grow(tau)
        if reached:
            search.prune(tau)
        return Certified(_found(search, samples), in_budget=reached or may_go_on(search.selection))

    attempt = Attempt(tau=tau, delta=level(delta, 1), most=most)
    planned = most * _PLANNED // MOST_SAMPLES
    attempts = 0
    for number in range(1, MOST_ATTEMPTS + 1):
        target = share_needed(tau, level(delta, number), planned // number)
        reached = search.reaches(target)
        if not reached:
            reached = search.grow(target)
            if reached:
                search.prune(target)
        if budget.is_spent(laboratory.evaluations):
            break
        attempts = number
        attempt = Attempt(
            tau=tau,
            delta=level(delta, number),
            most=most,
            expected=min(target, search.fidelity),
        )
        failed = _test(laboratory, search.selection, attempt, budget)
        if attempt.passed:
            return Certified(_found(search, samples), _certificate(attempt, tau, delta, number))
        if not reached or budget.is_spent(laboratory.evaluations):
            break  # nothing may be added that would make another attempt a better one
        weights = _with_failures(search, attempt, failed)
        draws = JoinedDraws([draws, *failed])
        search.look_at(laboratory.evaluator(draws), weights)
    return Certified(
        _found(search, samples), _certificate(attempt, tau, delta, attempts), in_budget=False
    )


def _test(
    laboratory: Laboratory, selection: Selection, attempt: Attempt, budget: Budget
) -> list[Draws]:
    """Run an attempt to its end; return the noise on which the set failed, if it did."""
    failed: list[tuple[Draws, Tensor]] = []
    while not attempt.passed and not attempt.lost:
        draws = laboratory.unseen(attempt.next_batch)
        hits = laboratory.evaluator(draws).hits(selection)
        attempt.add(int(hits.sum()), hits.numel())
        missed = (~hits).nonzero().flatten()
        if math.prod(draws.shape) > _MOST_KEPT and missed.numel():
            draws, missed = draws.only(missed), torch.arange(missed.numel(), device=missed.device)
        failed.append((draws, missed))
        if budget.is_spent(laboratory.evaluations):
            break
    if attempt.passed:
        return []
    return [draws.only(missed) for draws, missed in failed if missed.numel()]


def _with_failures(search: GuidedSearch, attempt: Attempt, failed: list[Draws]) -> Tensor:
    """Return the weights of the search's samples and of the failed ones that join them."""
    weights = search.weights
    hits = search.evaluator.hits(search.selection)
    held = float(weights[hits].sum())
    if held > 0:
        weights = torch.where(hits, weights * (1 + attempt.hits / held), weights)
    new = sum(draws.shape[0] for draws in failed)
    return torch.cat([weights, weights.new_ones(new)])


def _found(search: GuidedSearch, samples: int) -> Found:
    """Return where a search has come to, with the hits on the samples that it started with."""
    hits = search.evaluator.hits(search.selection)[:samples]
    return Found(search.selection, int(hits.sum()), samples, tuple(search.moves))


def _certificate(attempt: Attempt, tau: float, delta: float, number: int) -> Certificate:
    return Certificate(
        tau=tau,
        delta=delta,
        certified=attempt.passed,
        bound=attempt.bound,
        hits=attempt.hits,
        samples=attempt.samples,
        attempts=number,
    )
