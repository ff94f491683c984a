"""Search, test on unseen noise, learn from what failed, and search on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from zorro.elements import Selection, drops_edges
from zorro.evaluation.estimate import FidelityEstimate
from zorro.evaluation.evaluator import Evaluator
from zorro.evaluation.evidence import level
from zorro.noise.streams import BLOCK
from zorro.search.budget import Budget, BudgetSpent
from zorro.search.certificate import (
    FAVOUR,
    LEAST,
    Attempt,
    Certificate,
    certificate_of,
    share_needed,
)
from zorro.search.connected import Connected
from zorro.search.found import Found, Move, OnStep, unwatched
from zorro.search.guided import GuidedSearch

MOST_ATTEMPTS = 21
# The search aims above τ: at a fidelity that so many samples would prove, the more the less one
# costs. Each further attempt aims higher, at what fewer samples would prove.
_MOST_PLANNED = 8000
_WORTH = 0.8e9  # nanoseconds
# What tells a fidelity from a τ near 1 are misses, of which few are seen: planned are so many of
# them at least, and where they are rare more samples altogether, up to twice as many.
_MISSES_PLANNED, _LEAST_PLANNED, _MOST_FOR_MISSES = 60, 400, 4000
_RARE = 0.04
_MOST_AT_FIRST = 200  # samples of an attempt before the first look at it
_MOST_FAILED = 2  # times the search's samples that may join them at a time; each stands for more
_NEAR = 3.0  # standard errors
_PATIENCE = 2.0  # standard errors by which such a set may seem too bad in its test at first
_WORTH_OF_REFINING = 0.1e9  # nanoseconds
_REFINED = 4000  # samples on which a set of edges is looked at once more before it is tested
FEW = 4  # samples that are looked at even if there is no time


def scores_on_the_cut(evaluator: Evaluator, selection: Selection) -> Tensor:
    """Return the scores (S, C) of an evaluator's samples as they are."""
    return evaluator.scores(selection)


class Sampler:
    """Evaluates on samples of one query's noise, and knows which no search has seen.

    Args:
        evaluate: gives an evaluator on some samples, that adds elements or looks at one selection
            and that heeds a limit of time or not.
        first: where unseen samples begin; those before it are the search's.
        memory: bytes that the evaluation of unseen samples may take.
        step: how many samples the search begins with at a time.
        scores: gives the scores (S, C) of an evaluator's samples under a selection, by which a
            claim counts its hits.
    """

    def __init__(
        self,
        evaluate: Callable[[range, bool, bool], Evaluator],
        *,
        first: int,
        memory: int,
        step: int = BLOCK,
        scores: Callable[[Evaluator, Selection], Tensor] = scores_on_the_cut,
    ) -> None:
        self._evaluate = evaluate
        self._scores = scores
        self._next = -(-first // BLOCK) * BLOCK  # whole blocks: parts of one cost as much
        self._memory = memory
        self.step = step
        self._counted: list[Evaluator] = []
        self._evaluations = 0
        self._last: Evaluator | None = None
        self._counted_last: Evaluator | None = None

    def seen(self, samples: range, *, limited: bool = True) -> Evaluator:
        """Return an evaluator on samples that are a search's."""
        return self._counting(self._evaluate(samples, True, limited))

    def fixed(self, samples: range, *, limited: bool = True) -> Evaluator:
        """Return an evaluator on samples on which one selection is to be looked at."""
        return self._counting(self._evaluate(samples, False, limited))

    def taking_out(self, samples: range) -> Evaluator:
        """Return an evaluator on samples on which elements are taken out of one selection."""
        return self._counting(self._evaluate(samples, True, True))

    def unseen(self, count: int, *, limited: bool = True) -> Iterator[Evaluator]:
        """Yield evaluators on noise that was never evaluated on before, some samples at a time."""
        while count > 0:
            some = min(count, self._at_once)
            samples = range(self._next, self._next + some)
            self._next += some
            count -= some
            yield self.fixed(samples, limited=limited)

    def hits(self, evaluator: Evaluator, selection: Selection) -> Tensor:
        """Return for each of an evaluator's samples whether it counts for a claim, (S,) bool."""
        self._counted_last = evaluator
        return evaluator.event.happens(self._scores(evaluator, selection))

    @property
    def last(self) -> Evaluator:
        """The evaluator that was made last, a certificate's if there is one."""
        assert self._last is not None
        return self._last

    @property
    def counted_last(self) -> Evaluator:
        """The evaluator whose samples were counted last for a claim, or any if none were."""
        return self.last if self._counted_last is None else self._counted_last

    @property
    def evaluations(self) -> int:
        """Perturbed inputs that all evaluators have run so far."""
        return self._evaluations + sum(evaluator.evaluations for evaluator in self._counted)

    def restart(self) -> None:
        """Count evaluations from zero again."""
        self._evaluations = -sum(evaluator.evaluations for evaluator in self._counted)

    def adopt(self, evaluator: Evaluator) -> Evaluator:
        """Count what an evaluator runs that was made of others; return it."""
        return self._counting(evaluator)

    @property
    def _at_once(self) -> int:
        """How many samples of noise fit into the memory."""
        a_sample = 0 if self._last is None else self._last.bytes_per_sample
        return max(BLOCK, self._memory // max(1, a_sample) // BLOCK * BLOCK)

    def _counting(self, evaluator: Evaluator) -> Evaluator:
        """Keep the counts of evaluators, not the evaluators: only the last ones are at work."""
        for settled in self._counted[:-3]:
            self._evaluations += settled.evaluations
        del self._counted[:-3]
        self._counted.append(evaluator)
        self._last = evaluator
        return evaluator


@dataclass(frozen=True)
class SearchResult:
    """A set and what was proved about it, if that was asked for."""

    found: Found
    certificate: Certificate | None = None
    finished: bool = True  # whether the search ended of its own accord
    chance: FidelityEstimate | None = None  # of the empty set, where it was to be gone beyond
    is_tested: bool = False  # whether the certificate's samples are of this set


def search_certified(
    sampler: Sampler,
    *,
    tau: float,
    delta: float | None,
    samples: int,
    k: int | None,
    budget: Budget,
    allowed: Selection | None = None,
    connected: Connected | None = None,
    on_step: OnStep = unwatched,
    planned: int = 0,
) -> SearchResult:
    """Find a set whose fidelity is shown to be at least τ on noise that the search has not seen.

    First nothing is tested: on the search's samples, which it has not seen yet. On failure of any
    other set the samples that failed join the search's, and the search goes on from where it
    was. Those that did not fail are represented by the search's own samples that did not: these
    count for more from then on.

    Args:
        sampler: of the query.
        tau: the fidelity to reach.
        delta: the probability with which the claim may be wrong; None makes none, and the search
            ends when its own samples say that τ is exceeded.
        samples: with which the search starts.
        k: elements of all kinds together that are tested per step; None tests all.
        budget: what may be spent.
        allowed: what may be kept; everything when None.
        connected: tells which edges hang together, if they are to.
        on_step: told of each step.
        planned: samples that an attempt must be able to take at least; the less one costs, the
            more they are.
    """
    begin = partial(GuidedSearch, k=k, allowed=allowed, connected=connected, on_step=on_step)
    search = _Search(sampler, begin, budget, tau=tau, samples=samples)
    try:
        if delta is None:
            return search.without_certificate()
        return search.with_certificate(delta, planned)
    except BudgetSpent:
        return search.cut_off(delta)
    finally:
        search.end()


class _Search:
    """One query's search, which may be cut off at any time."""

    def __init__(
        self,
        sampler: Sampler,
        begin: Callable[..., GuidedSearch],
        budget: Budget,
        *,
        tau: float,
        samples: int,
    ) -> None:
        self._sampler = sampler
        self._begin = begin
        self._budget = budget
        self._tau = tau
        self._samples = samples
        self._search: GuidedSearch | None = None
        self._attempt: Attempt | None = None  # the last one
        self._attempts = 0
        self._tested: Selection | None = None  # by the last attempt
        self._hits_of_nothing: list[Tensor] = []

    def may_go_on(self, selection: Selection) -> bool:
        """Whether the budget allows another element."""
        return self._budget.allows_more_than(selection) and not self._is_spent

    def without_certificate(self) -> SearchResult:
        """Search until the search's own samples say that τ is exceeded."""
        search = self._search = self._begun(list(self._parts()))
        reached = search.grow(self._tau)
        if reached:
            search.prune(self._tau)
            search.exchange(self._tau)
        return SearchResult(
            self._found(search), finished=reached or self.may_go_on(search.selection)
        )

    def with_certificate(self, delta: float, planned: int) -> SearchResult:
        """Search until a set has passed its test, or no further one may."""
        parts = self._parts()
        begun = [next(parts)]
        planned = max(planned, _planned(self._tau, begun[0].cost_per_sample))
        self._test_nothing(begun, parts, delta, planned)
        if self._attempt is not None and self._attempt.passed:
            return self._result(self._found_nothing(begun[0]), delta)
        search = self._search = self._begun([*begun, *parts])
        for number in range(2, MOST_ATTEMPTS + 1):
            target = share_needed(self._tau, level(delta, number), planned // (number - 1))
            reached = search.reaches(target)
            if not reached:
                reached = search.grow(target)
                if reached:
                    search.prune(target)
                    self._refine(search, target)
            if self._is_spent:
                break
            expected = min(target, search.fidelity)
            attempt = self._attempted(search.selection, delta, planned, expected, number)
            failed = self._test(search.selection, attempt)
            if attempt.passed:
                return self._result(self._found(search), delta)
            if not reached or self._is_spent:
                break  # nothing may be added that would make another attempt a better one
            weights = _with_failures(search, attempt, failed)
            joined = search.evaluator.joined(failed) if failed else search.evaluator
            search.look_at(self._sampler.adopt(joined), weights)
        return self._result(self._found(search), delta)

    def cut_off(self, delta: float | None) -> SearchResult:
        """Return what there is when the time is up."""
        if self._search is not None:
            return self._result(self._found(self._search), delta)
        evaluator = self._sampler.seen(range(min(FEW, self._samples)), limited=False)
        self._hits_of_nothing.append(evaluator.hits(evaluator.nothing))
        return self._result(self._found_nothing(evaluator), delta)

    def end(self) -> None:
        """Let go of the search, which knows this one: else its samples would outlive it."""
        self._search = None

    @property
    def _is_spent(self) -> bool:
        return self._budget.is_spent(self._sampler.evaluations)

    def _refine(self, search: GuidedSearch, target: float) -> None:
        """Try whether a set of edges can be smaller: each of them decides much.

        Another edge may do for two. And one may be there by chance: where the fidelity without it
        is so near to the target that the samples do not tell, the set is looked at on more.
        """
        evaluator = search.evaluator
        if (
            not drops_edges(evaluator.space.kinds)
            or evaluator.samples >= _REFINED
            or self._is_spent
        ):
            return
        search.exchange(target)
        error = math.sqrt(target * (1 - target) / evaluator.samples)
        if search.least_missed(target) < target - _NEAR * error:
            return
        size = search.selection.size
        affordable = int(_WORTH_OF_REFINING / (max(1.0, evaluator.cost_per_sample) * max(1, size)))
        more = min(_REFINED, affordable) // BLOCK * BLOCK - evaluator.samples
        if more < evaluator.samples:
            return
        joined = evaluator.joined(list(self._sampler.unseen(more)))
        weights = torch.cat([search.weights, search.weights.new_ones(more)])
        search.look_at(self._sampler.adopt(joined), weights)
        if search.grow(target):
            search.prune(target)

    def _parts(self) -> Iterator[Evaluator]:
        """Yield evaluators on the search's samples, some at a time."""
        step = self._sampler.step
        for first in range(0, self._samples, step):
            yield self._sampler.seen(range(first, min(first + step, self._samples)))

    def _begun(self, parts: list[Evaluator]) -> GuidedSearch:
        return self._begin(self._joined(parts), may_go_on=self.may_go_on)

    def _joined(self, parts: list[Evaluator]) -> Evaluator:
        first, *others = parts
        return self._sampler.adopt(first.joined(others)) if others else first

    def _attempted(
        self, selection: Selection, delta: float, planned: int, expected: float, number: int
    ) -> Attempt:
        """Return a new attempt to show that a set's fidelity is at least τ."""
        self._attempts = number
        self._tested = selection
        self._attempt = Attempt(
            tau=self._tau,
            delta=level(delta, number),
            most=planned,
            expected=expected,
            least=max(LEAST, min(_MOST_AT_FIRST, planned // 16 // BLOCK * BLOCK)),
            favour=_PATIENCE if drops_edges(selection.space.kinds) else FAVOUR,
        )
        return self._attempt

    def _test_nothing(
        self, begun: list[Evaluator], parts: Iterator[Evaluator], delta: float, planned: int
    ) -> None:
        """Test the empty set on the search's samples, as many as it takes, and on unseen ones.

        Args:
            begun: evaluators on the first of the search's samples; those looked at are added.
            parts: evaluators on the others.
            delta: of all attempts together.
            planned: samples of an attempt.
        """
        nothing = begun[0].nothing
        attempt = self._attempted(nothing, delta, planned, 1.0, 1)
        while True:
            hits = self._sampler.hits(begun[-1], nothing)
            self._hits_of_nothing.append(hits)
            attempt.add(int(hits.sum()), hits.numel())
            if attempt.passed or attempt.lost:
                return
            following = next(parts, None)
            if following is None:
                break
            begun.append(following)
        self._test(nothing, attempt)

    def _test(self, selection: Selection, attempt: Attempt) -> list[Evaluator]:
        """Run an attempt to its end; return evaluators on samples on which the set failed."""
        failed: list[Evaluator] = []
        room = _MOST_FAILED * self._samples
        last: tuple[Evaluator, Tensor] | None = None  # if the attempt passes, they are not needed
        while not attempt.passed and not attempt.lost:
            for evaluator in self._sampler.unseen(attempt.next_batch):
                if last is not None:
                    failed.append(last[0].only(last[1]))
                hits = self._sampler.hits(evaluator, selection)
                attempt.add(int(hits.sum()), hits.numel())
                missed = (~hits).nonzero().flatten()[:room]
                room -= missed.numel()
                last = (evaluator, missed) if missed.numel() else None
            if self._is_spent:
                break
        if last is not None and not attempt.passed:
            failed.append(last[0].only(last[1]))
        return failed

    def _result(self, found: Found, delta: float | None) -> SearchResult:
        attempt = self._attempt
        if attempt is None or delta is None:
            certificate = None
            if delta is not None:
                certificate = certificate_of(self._tau, delta, hits=0, samples=0, attempts=0)
            return SearchResult(found, certificate, finished=False)
        certificate = certificate_of(
            self._tau,
            delta,
            hits=attempt.hits,
            samples=attempt.samples,
            attempts=self._attempts,
        )
        is_tested = self._tested is not None and found.selection.is_same_as(self._tested)
        return SearchResult(
            found,
            certificate,
            finished=attempt.passed,
            is_tested=is_tested and attempt.samples > 0,
        )

    def _found(self, search: GuidedSearch) -> Found:
        """Return where a search has come to, with the hits on the samples it started with."""
        hits = search.hits[: self._samples]
        return Found(search.selection, int(hits.sum()), hits.numel(), tuple(search.moves))

    def _found_nothing(self, evaluator: Evaluator) -> Found:
        """Return the empty set, with its hits on the samples that were looked at."""
        hits = torch.cat(self._hits_of_nothing)
        share = float(hits.double().mean())
        return Found(evaluator.nothing, int(hits.sum()), hits.numel(), (Move(None, share),))


def _planned(tau: float, cost_per_sample: float) -> int:
    """Return how many samples an attempt may take, by what one costs."""
    misses = max(1 - tau, 1e-9)
    more = min(2.0, max(1.0, _RARE / misses))
    least = min(_MOST_FOR_MISSES, max(_LEAST_PLANNED, round(_MISSES_PLANNED / misses)))
    affordable = int(_WORTH * more / max(1.0, cost_per_sample))
    return min(round(_MOST_PLANNED * more), max(least, affordable))


def _with_failures(search: GuidedSearch, attempt: Attempt, failed: list[Evaluator]) -> Tensor:
    """Return the weights of the search's samples and of the failed ones that join them."""
    weights = search.weights
    held = float(weights[search.hits].sum())
    if held > 0:
        weights = torch.where(search.hits, weights * (1 + attempt.hits / held), weights)
    new = sum(evaluator.samples for evaluator in failed)
    misses = attempt.samples - attempt.hits
    return torch.cat([weights, weights.new_full((new,), misses / max(1, new))])
