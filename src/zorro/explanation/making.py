"""Explanations made of what a search found."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.elements import EDGES, Element, Selection, Space
from zorro.elements.edges import Member
from zorro.evaluation.estimate import FidelityEstimate
from zorro.evaluation.evaluator import Evaluator
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
from zorro.search.inquiry import FRESH, fresh_samples
from zorro.version import __version__

_DUAL = 400  # samples from which it is told what tolerance would have been enough
_FEW_ELEMENTS = 20  # of a set whose losses are told from all samples, whatever the search took
_FEWEST_FOR_LOSSES = 50  # samples from which it is told what elements are worth
_OF_NOTHING = 100  # samples on which an empty set is measured, whose search takes little
_SHARE = 4  # of a certificate's samples: one in so many is held out beside
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
    fidelity, losses = _measured(result, graph, sampler, asked)
    return Explanation(
        query=graph.asked,
        **_answer(graph, decision, reading),
        selected=_selected(found.selection, graph),
        steps=tuple(_step(move, found.selection.space, graph) for move in found.moves),
        fidelity=fidelity,
        search_fidelity=FidelityEstimate(found.hits, found.samples, asked.confidence),
        status=_status(result, graph),
        parameters=asked,
        graph=_summary(graph, found.selection.space),
        evaluator=sampler.last.name,
        evaluator_reason=sampler.last.reason,
        value=_value(result, graph, decision, sampler, asked),
        evaluations=sampler.evaluations,
        seconds=time.perf_counter() - budget.started,
        version=__version__,
        certificate=result.certificate,
        versus=decision if isinstance(decision, Versus) else None,
        chance=result.chance,
        types=graph.types,
        losses=losses,
    )


def _measured(
    result: SearchResult, graph: ComputationalGraph, sampler: Sampler, asked: Parameters
) -> tuple[FidelityEstimate, Losses | None]:
    """Return the fidelity on held-out samples, and on the first of them what elements are worth.

    Neither the search nor a certificate has these samples, and how many they are does not depend
    on what they show: the share of hits is above the fidelity as often as below. A certificate's
    own share is not, which ends when it is high enough. As many are looked at as there is time
    for, and some if there is none.
    """
    selection = result.found.selection
    held_out = range(asked.samples, asked.samples + _held_out(result, asked))
    stays: list[Tensor] = []

    def looked_at(evaluator: Evaluator) -> tuple[Evaluator, Tensor]:
        stays.append(sampler.hits(evaluator, selection))
        return evaluator, stays[-1]

    losses = None
    first = held_out[: _samples_of_losses(result, sampler, asked)]
    with contextlib.suppress(BudgetSpent):
        parts = (first[at : at + asked.samples] for at in range(0, len(first), asked.samples))
        if first:
            moves = [
                move.element
                for move in result.found.moves
                if move.added and move.element is not None
            ]
            losses = losses_of(
                (looked_at(sampler.taking_out(part)) for part in parts),
                selection,
                graph,
                confidence=asked.confidence,
                added=moves,
            )
    samples = sum(map(len, stays))
    with contextlib.suppress(BudgetSpent):
        for part in _parts(held_out[samples:], asked.max_seconds):
            looked_at(sampler.fixed(part, limited=bool(stays)))
    hits = torch.cat(stays)
    return FidelityEstimate(int(hits.sum()), hits.numel(), asked.confidence), losses


def _held_out(result: SearchResult, asked: Parameters) -> int:
    """Return on how many samples the fidelity is measured, if there is time.

    Beside a certificate a quarter of its samples are enough, and where elements are compared
    anyway as many as that takes; many where the bound is near, and the estimate is to tell more.
    """
    certificate = result.certificate
    if asked.fresh_samples is not None or certificate is None or not certificate.certified:
        return fresh_samples(asked)
    least = _OF_NOTHING if result.found.selection.is_blank else SAMPLES
    return min(FRESH, max(least, certificate.samples // _SHARE))


def _samples_of_losses(result: SearchResult, sampler: Sampler, asked: Parameters) -> int:
    """Return on how many samples it is told what elements are worth; 0 of huge sets.

    Of large sets on fewer, so that it takes a third of the search's work.
    """
    selection = result.found.selection
    count = sum(int(mask.sum()) for mask in selection.masks.values())
    worth = max(_FEW_ELEMENTS * SAMPLES, sampler.evaluations // 3)
    samples = min(SAMPLES, fresh_samples(asked), worth // max(1, count))
    if count == 0 or samples < _FEWEST_FOR_LOSSES or not result.finished:
        return 0
    return samples


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
