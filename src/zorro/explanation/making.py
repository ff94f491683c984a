"""Explanations made of what a search found."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from typing import Any

from zorro.cut import ComputationalGraph
from zorro.elements import EDGES, Element, Selection, Space
from zorro.elements.edges import Member
from zorro.evaluation.estimate import FidelityEstimate
from zorro.evaluation.evidence import hits_needed
from zorro.explanation.explanation import Explanation, Status
from zorro.explanation.losses import SAMPLES, Losses, losses_of
from zorro.explanation.members import ids_of
from zorro.explanation.parts import GraphSummary, PredictedValue, Step
from zorro.model.predictor import probabilities
from zorro.question.decision import Decision, StaysAhead, StaysWithin, Versus
from zorro.question.parameters import Parameters
from zorro.question.reading import Label, Reading
from zorro.search import Budget, BudgetSpent, Move, Sampler, SearchResult
from zorro.search.inquiry import fresh_samples
from zorro.version import __version__

_DUAL = 400  # samples from which it is told what tolerance would have been enough
_FEW_ELEMENTS = 20  # of a set whose losses are told from all samples, whatever the search took
_FEWEST_FOR_LOSSES = 50  # samples from which it is told what elements are worth
_FEWEST = 8  # samples that are measured even if there is no time


def explanation_of(
    result: SearchResult,
    graph: ComputationalGraph,
    decision: Decision,
    sampler: Sampler,
    asked: Parameters,
    budget: Budget,
    reading: Reading,
) -> Explanation:
    """Return a search's result as users see it.

    Args:
        result: of the search.
        graph: of the query.
        decision: what was asked about it.
        sampler: of the search, which measures the fidelity if no certificate has.
        asked: how it was searched.
        budget: that began when the query did.
        reading: what the model's output means.
    """
    found = result.found
    explanation = Explanation(
        query=graph.asked,
        **_answer(graph, decision, reading),
        selected=_selected(found.selection, graph),
        steps=tuple(_step(move, found.selection.space, graph) for move in found.moves),
        fidelity=_fidelity(result, sampler, asked),
        search_fidelity=FidelityEstimate(found.hits, found.samples, asked.confidence),
        status=_status(result, graph),
        parameters=asked,
        graph=_summary(graph, found.selection.space),
        evaluator=sampler.last.name,
        evaluator_reason=sampler.last.reason,
        evaluations=sampler.evaluations,
        seconds=time.perf_counter() - budget.started,
        version=__version__,
        certificate=result.certificate,
        versus=decision if isinstance(decision, Versus) else None,
        chance=result.chance,
        value=_value(result, graph, decision, sampler, asked),
        types=graph.types,
    )
    losses = _losses(result, graph, sampler, asked)
    spent = time.perf_counter() - budget.started
    return dataclasses.replace(explanation, losses=losses, seconds=spent)


def _losses(
    result: SearchResult, graph: ComputationalGraph, sampler: Sampler, asked: Parameters
) -> Losses | None:
    """Return what each element is worth to the set; None of huge sets, and if time is up.

    Of large sets it is told from fewer samples, so that it takes a third of the search's work.
    """
    selection = result.found.selection
    count = sum(int(mask.sum()) for mask in selection.masks.values())
    worth = max(_FEW_ELEMENTS * SAMPLES, sampler.evaluations // 3)
    samples = min(SAMPLES, fresh_samples(asked), worth // max(1, count))
    if count == 0 or samples < _FEWEST_FOR_LOSSES or not result.finished:
        return None
    first, size = asked.samples, asked.samples  # as many at a time as the search has held
    last = first + samples  # no certificate has these
    parts = (range(at, min(at + size, last)) for at in range(first, last, size))
    moves = [move.element for move in result.found.moves if move.added and move.element is not None]
    try:
        return losses_of(
            (sampler.taking_out(part) for part in parts),
            selection,
            graph,
            confidence=asked.confidence,
            added=moves,
        )
    except BudgetSpent:
        return None


def _answer(graph: ComputationalGraph, decision: Decision, reading: Reading) -> dict[str, Any]:
    """Return what the model says of the query, as far as that is no value."""
    if isinstance(decision, StaysAhead):
        return {"predicted_class": None, "probabilities": (), "ahead": decision}
    if isinstance(decision, StaysWithin):
        return {"predicted_class": None, "probabilities": ()}
    return {
        "predicted_class": graph.predicted_class,
        "probabilities": tuple(probabilities(graph.scores).tolist()),
        "label": reading.label if isinstance(reading, Label) else None,
    }


def _value(
    result: SearchResult,
    graph: ComputationalGraph,
    decision: Decision,
    sampler: Sampler,
    asked: Parameters,
) -> PredictedValue | None:
    """Return what the model says of the query, if that is a value."""
    if not isinstance(decision, StaysWithin):
        return None
    value = float(graph.scores[0])
    first = asked.samples  # those before are the search's, and no certificate has these
    count = min(fresh_samples(asked), _DUAL)
    evaluator = sampler.fixed(range(first, first + count), limited=False)
    moved = evaluator.scores(result.found.selection)[:, 0].double() - value  # (S,)
    far = {"both": moved.abs(), "up": -moved, "down": moved}[decision.side].clamp(min=0)
    needed = hits_needed(asked.tau, 0.05 if asked.delta is None else asked.delta, count)
    least = None if needed is None else float(far.sort().values[needed - 1])
    return PredictedValue(value, decision.tolerance, decision.side, least)


def _summary(graph: ComputationalGraph, space: Space) -> GraphSummary:
    return GraphSummary(
        candidates=graph.candidates.numel(),
        context=graph.context.numel(),
        edges=graph.edge_index.size(1),
        hops=graph.hops,
        halo=graph.halo,
        checked=graph.checked,
        whole=graph.whole,
        context_matters=graph.context_matters,
        num_nodes=graph.num_nodes,
        num_features=graph.x.size(1),
        both_ways=graph.both_ways,
        directed=graph.directed,
        edge_elements=space.sizes.get(EDGES),
        edge_inputs=tuple(sorted(graph.model_inputs.edge)),
    )


def _fidelity(result: SearchResult, sampler: Sampler, asked: Parameters) -> FidelityEstimate:
    """Return the fidelity on a certificate's samples, or on fresh ones as far as there is time.

    Some are looked at even if there is none.
    """
    certificate = result.certificate
    if asked.fresh_samples is None and result.is_tested and certificate is not None:
        return FidelityEstimate(
            certificate.hits, certificate.samples, asked.confidence, certificate.attempts
        )
    hits = samples = 0
    fresh = range(asked.samples, asked.samples + fresh_samples(asked))
    with contextlib.suppress(BudgetSpent):
        for part in _parts(fresh, asked.max_seconds):
            evaluator = sampler.fixed(part, limited=samples > 0)
            hits += int(sampler.hits(evaluator, result.found.selection).sum())
            samples += len(part)
    return FidelityEstimate(hits, samples, asked.confidence)


def _parts(samples: range, max_seconds: float | None) -> Iterator[range]:
    """Return samples some at a time: few at first and more later, where time is limited."""
    first, size = samples.start, len(samples) if max_seconds is None else _FEWEST
    while first < samples.stop:
        yield range(first, min(first + size, samples.stop))
        first, size = first + size, 2 * size


def _selected(selection: Selection, graph: ComputationalGraph) -> dict[str, tuple[Member, ...]]:
    """Return what is selected of each kind, as users see it, ascending."""
    space = selection.space
    found: dict[str, tuple[Member, ...]] = {}
    for kind in space.kinds:
        each = [ids_of(Element(kind, i), space, graph) for i in selection.members(kind).tolist()]
        found[kind] = tuple(sorted(member for members in each for member in members))
    return found


def _step(move: Move, space: Space, graph: ComputationalGraph) -> Step:
    if move.element is None:
        return Step(None, (), move.fidelity, move.added)
    members = ids_of(move.element, space, graph)
    return Step(move.element.kind, members, move.fidelity, move.added)


def _status(result: SearchResult, graph: ComputationalGraph) -> Status:
    selection = result.found.selection
    if not result.finished:
        return "budget exhausted"
    if graph.context_matters or (graph.checked == "none" and result.certificate is not None):
        return "conditional"
    if selection.is_blank:
        return "nothing needed"
    if selection.is_everything:
        return "everything needed"
    return "reached" if result.certificate is None else "certified"
