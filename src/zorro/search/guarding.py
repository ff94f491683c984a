"""Claims are tested once more where everything else is redrawn; what fails is asked anew."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from zorro.cut import ComputationalGraph
from zorro.cut.source import Source
from zorro.elements import Selection
from zorro.errors import ModelError
from zorro.evaluation.evaluator import Evaluator

logger = logging.getLogger(__name__)

T = TypeVar("T")
_GUARDED = 2  # samples, at least, that are evaluated again where all else is redrawn too
_DOUBTFUL = 8  # where it is not clear that nothing else matters
_MOST_GUARDED = 128  # what lies far away may matter in few of them
_NUMBERS = 1 << 28  # that passes over the graph may handle for more than the least
_IN_A_PASS = 1 << 22
_AT_ONCE = 1 << 24  # in memory
_LARGE = 1 << 20  # numbers of a cut on which one is enough, if it is known what is read


class MoreMattersError(Exception):
    """Nodes matter that are no candidates."""


class UnlikeTheModelError(Exception):
    """What was evaluated is not what the model gives."""


class SufficientCut:
    """The smallest of a query's cuts that is not known to miss something that matters.

    Args:
        source: of the cuts.
        asked: the query as the user puts it.
    """

    def __init__(self, source: Source, asked: Any) -> None:
        self._asked = asked
        self._wider = source.cuts(asked)
        self.graph = next(self._wider)

    def answered(self, answer: Callable[[ComputationalGraph], T]) -> T:
        """Return what `answer` gives on the first cut, from now on, that holds all that matters.

        Args:
            answer: answers on a cut, or raises `MoreMattersError`.
        """
        while True:
            try:
                return _answered(self.graph, answer)
            except MoreMattersError as told:
                logger.info("%s: %s", self.graph.asked, told)
            wider = next(self._wider, None)
            if wider is None:
                raise ModelError(
                    f"the model's output at node {self._asked} is another on the whole graph than "
                    "on any part of it, even with all nodes for candidates: it depends on more "
                    "than x and edge_index"
                )
            self.graph = wider


def on_a_sufficient_cut(source: Source, asked: Any, answer: Callable[[ComputationalGraph], T]) -> T:
    """Return what `answer` gives on the first of a query's cuts that holds all that matters."""
    return SufficientCut(source, asked).answered(answer)


def _answered(graph: ComputationalGraph, answer: Callable[[ComputationalGraph], T]) -> T:
    """Return what is answered on a cut, by the model itself if a trace of it is seen to be off."""
    try:
        return answer(graph)
    except UnlikeTheModelError:
        return answer(graph)


def guarded(
    source: Source, graph: ComputationalGraph, evaluator: Evaluator, selection: Selection
) -> ComputationalGraph:
    """Evaluate some of the samples that a claim rests on where all else is redrawn too.

    Raises `UnlikeTheModelError` where the model scores them in another way, and `MoreMattersError`
    unless the same comes out. Where there can be no more candidates than the user wants, the graph
    that is returned tells that its context matters.

    Args:
        source: of the cuts.
        graph: on which the claim was made.
        evaluator: with samples that it rests on.
        selection: that it is about.
    """
    if evaluator.is_unlike_the_model(selection):
        raise UnlikeTheModelError
    if graph.checked == "none" or graph.context_matters or graph.holds_all:
        return graph
    if _agrees(source, graph, evaluator, selection):
        return graph
    if source.can_widen:
        raise MoreMattersError(
            f"more than {graph.candidates.numel()} candidates matter, so there are more now"
        )
    return replace(graph, context_matters=True)


def _agrees(
    source: Source, graph: ComputationalGraph, evaluator: Evaluator, selection: Selection
) -> bool:
    """Whether some samples give the same with all else redrawn."""
    # How far features come from says little of how far edges do.
    redraws_edges = evaluator.edges_under(selection) is not None
    is_doubtful = source.reach.doubtful or (redraws_edges and not evaluator.reads_candidates_only)
    is_known = evaluator.reads_candidates_only and not is_doubtful
    # A cut whose context was left out is compared with what lies around it.
    is_cut_bare = graph.context.numel() == 0 and not graph.holds_all
    on_the_cut = is_known and graph.x.numel() > _LARGE and not is_cut_bare
    count = 1
    if not on_the_cut:
        count = _DOUBTFUL if is_doubtful else _GUARDED
    if not evaluator.reads_candidates_only:
        count = max(count, _cheap(graph))
    count = min(count, evaluator.samples)
    at_once = max(_GUARDED, _AT_ONCE // _in_a_pass(graph))
    for first in range(0, count, at_once):
        some = range(first, min(first + at_once, count))
        inputs, scores = evaluator.some(some, selection)  # (s, n, d), (s, C)
        again = source.with_all_else_redrawn(graph, inputs, on_the_cut=on_the_cut, first=first)
        if not source.predictor.close(again, scores):
            return False
    return True


def most_guarded(graph: ComputationalGraph) -> int:
    """Return of how many samples a claim about a cut may be evaluated again."""
    return max(_DOUBTFUL, _cheap(graph))


def _cheap(graph: ComputationalGraph) -> int:
    """Return how many samples take little time where the model is run anyway, not traced."""
    return min(_MOST_GUARDED, _NUMBERS // _in_a_pass(graph))


def _in_a_pass(graph: ComputationalGraph) -> int:
    """Return how many numbers a pass over the graph, or over what is taken of it, handles."""
    return min(_IN_A_PASS, graph.num_nodes * graph.x.size(1))
