"""One question about one query: noise, evaluators and the search that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.elements import Selection
from zorro.evaluation.bench import Bench
from zorro.evaluation.evaluator import Evaluator, do_nothing
from zorro.noise.streams import BLOCK
from zorro.question.event import Event
from zorro.question.parameters import Parameters
from zorro.search.beyond_chance import search_beyond_chance
from zorro.search.budget import Budget
from zorro.search.certified import (
    Sampler,
    SearchResult,
    scores_on_the_cut,
    search_certified,
)
from zorro.search.connected import Connected
from zorro.search.found import OnStep, unwatched
from zorro.search.paper import greedy_search

FRESH = 1000  # samples on which fidelity is measured where nobody says, and no certificate has
_SMALL = 1 << 18  # entries of the candidates' features: all of a search's samples are drawn at once


class Inquiry:
    """Searches for what keeps an event happening at one query.

    The first samples of the query's noise are the search's, those after them are for whoever
    measures fidelity, and all later ones are a certificate's.

    Args:
        bench: with which the model's queries are evaluated.
        graph: of the query.
        event: that is to keep happening.
        asked: how it is searched.
        budget: what may be spent; the parameters' limits when None.
        scores: gives the scores by which claims count hits, as of a `Sampler`.
    """

    def __init__(
        self,
        bench: Bench,
        graph: ComputationalGraph,
        event: Event,
        asked: Parameters,
        budget: Budget | None = None,
        scores: Callable[[Evaluator, Selection], Tensor] = scores_on_the_cut,
    ) -> None:
        self.graph = graph
        self.budget = budget_of(asked) if budget is None else budget
        self._asked = asked
        # No method of its own: that would keep all that was evaluated until garbage is collected.
        self.sampler = Sampler(
            partial(_evaluator, bench, graph, event, self.budget),
            first=asked.samples + fresh_samples(asked),
            memory=bench.memory // 4,
            step=asked.samples if graph.candidate_x.numel() <= _SMALL else BLOCK,
            scores=scores,
        )

    def find(
        self,
        allowed: Selection | None = None,
        *,
        on_step: OnStep = unwatched,
        budget: Budget | None = None,
    ) -> SearchResult:
        """Return a set, and what was proved of it if that was asked for.

        Args:
            allowed: what may be kept; everything when None.
            on_step: told of each step.
            budget: what this search may spend; all that there is when None.
        """
        p = self._asked
        if p.search == "paper":
            evaluator = self.sampler.seen(range(p.samples))
            return SearchResult(
                greedy_search(evaluator, tau=p.tau, k=p.k, allowed=allowed, on_step=on_step)
            )
        certified = partial(
            search_certified,
            self.sampler,
            samples=p.samples,
            k=p.k,
            budget=self.budget if budget is None else budget,
            allowed=allowed,
            connected=Connected(self.graph) if p.connected else None,
            on_step=on_step,
        )
        if p.beyond_chance:
            return search_beyond_chance(
                self.sampler, certified, tau=p.tau, delta=p.delta, confidence=p.confidence
            )
        return certified(tau=p.tau, delta=p.delta)


def budget_of(asked: Parameters) -> Budget:
    """Return what one query may spend; its clock starts now."""
    return Budget(asked.max_seconds, asked.max_elements, asked.max_evaluations)


def fresh_samples(asked: Parameters) -> int:
    """Return on how many samples fidelity is measured where no certificate has measured it."""
    return FRESH if asked.fresh_samples is None else asked.fresh_samples


def _evaluator(
    bench: Bench,
    graph: ComputationalGraph,
    event: Event,
    budget: Budget,
    samples: range,
    searches: bool,
    limited: bool,
) -> Evaluator:
    on_batch = budget.on_batch if limited else do_nothing
    return bench.evaluator(graph, event, samples, searches=searches, on_batch=on_batch)
