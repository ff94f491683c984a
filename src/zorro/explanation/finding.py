"""Explanations found on one cut: one, or several of the same prediction."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace

from zorro.cut import ComputationalGraph
from zorro.cut.usable import refuse_within_rounding
from zorro.elements import Selection
from zorro.evaluation.evaluator import Evaluator
from zorro.explanation.explanation import Explanation
from zorro.explanation.making import explanation_of
from zorro.preparing.ready import Ready
from zorro.question.decision import Comparison, Decision
from zorro.question.parameters import Parameters
from zorro.search import Budget, BudgetSpent, OnStep, SearchResult, search_multiple
from zorro.search.guarding import DecidedScores, guarded
from zorro.search.inquiry import Inquiry


def find_one(
    ready: Ready,
    graph: ComputationalGraph,
    comparison: Comparison,
    budget: Budget,
    on_step: OnStep,
) -> Explanation:
    """Return what a search finds, tested once more where all else is redrawn.

    Args:
        ready: what all queries share.
        graph: the cut.
        comparison: with what the answer is compared.
        budget: of the query, whose clock is running.
        on_step: told of each step of the search.
    """
    decision = ready.source.decision(graph, comparison)
    inquiry = _inquiry(ready, graph, decision, budget)
    return _told(ready, inquiry, decision, inquiry.find(on_step=on_step), budget)


def find_several(
    ready: Ready,
    graph: ComputationalGraph,
    *,
    max_explanations: int,
    max_depth: int,
    distinct: bool,
) -> list[Explanation]:
    """Return what the paper's recursion finds, the first one first.

    Each is searched with a clock of its own, and none after the time of all is up.

    Args:
        ready: what all queries share.
        graph: the cut.
        max_explanations: stop after this many.
        max_depth: how many may descend from one another.
        distinct: leave out a set that another branch has found already.
    """
    p, decision = ready.parameters, ready.source.decision(graph, Comparison())
    inquiry = _inquiry(ready, graph, decision)
    whole = budget = inquiry.budget
    results: list[Explanation] = []
    selections: list[Selection] = []
    every = search_multiple(
        inquiry.sampler.seen(range(p.samples), limited=False),
        lambda allowed: inquiry.find(allowed, budget=budget),
        tau=p.tau,
        max_depth=max_depth,
    )
    with contextlib.suppress(BudgetSpent):
        for result in every:
            selection = result.found.selection
            if not any(_repeats(selection, other, p, distinct) for other in selections):
                selections.append(selection)
                results.append(_told(ready, inquiry, decision, result, budget))
                budget = replace(budget, started=time.perf_counter())
                inquiry.sampler.restart()
            if len(results) == max_explanations or whole.is_spent(inquiry.sampler.evaluations):
                break
    return results


def _inquiry(
    ready: Ready, graph: ComputationalGraph, decision: Decision, budget: Budget | None = None
) -> Inquiry:
    """Return what searches on a cut, and counts what it claims as the model's owner would."""
    event = decision.event(graph.scores, graph.asked)
    refuse_within_rounding(event, graph.scores, graph.asked)
    scores = DecidedScores(ready.source, graph).of
    return Inquiry(ready.bench, graph, event, ready.parameters, budget, scores)


def _told(
    ready: Ready, inquiry: Inquiry, decision: Decision, result: SearchResult, budget: Budget
) -> Explanation:
    """Return a search's result, tested once more, which is done even if there is no time left."""
    sampler, selection = inquiry.sampler, result.found.selection
    reading = ready.bench.predictor.reading

    def guarded_once_more(graph: ComputationalGraph, evaluator: Evaluator) -> ComputationalGraph:
        with inquiry.budget.unheeded(), budget.unheeded():
            return guarded(ready.source, graph, evaluator, selection)

    def told(graph: ComputationalGraph) -> Explanation:
        return explanation_of(result, graph, decision, sampler, ready.parameters, budget, reading)

    proved_on = sampler.last
    sure = guarded_once_more(inquiry.graph, proved_on)
    explanation = told(sure)
    if sampler.counted_last is proved_on or (result.certificate and result.certificate.certified):
        return explanation
    # Its fidelity was measured on other samples, perhaps few of them: these are compared too.
    measured = guarded_once_more(sure, sampler.counted_last)
    return explanation if measured is sure else told(measured)


def _repeats(selection: Selection, other: Selection, asked: Parameters, distinct: bool) -> bool:
    """Whether a set says what another one said: in part, for the guided search."""
    if asked.search == "paper":
        return distinct and selection.is_same_as(other)
    return selection.overlaps(other)
