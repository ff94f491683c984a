"""Claims are tested once more where everything else is redrawn; what fails is asked anew."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.cut.perturbed import Perturbed
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
_UNDECIDED_AT_ONCE = 16  # samples whose answers are looked at more closely
_FEW_TURNED, _SHARE_TURNED = 2, 0.01  # of which so many may be others, by roundings alone
_LARGE = 1 << 20  # numbers of a cut beyond which nothing is redrawn, if it is known what is read


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
    """Return what is answered on a cut, by a slower evaluator as long as one is seen to be off."""
    while True:
        try:
            return answer(graph)
        except UnlikeTheModelError:
            continue  # each time another evaluator, until there is none that is slower


def guarded(
    source: Source, graph: ComputationalGraph, evaluator: Evaluator, selection: Selection
) -> ComputationalGraph:
    """Run some of the samples that a claim rests on by themselves, with all else redrawn too.

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
    for inputs, scores, first, on_the_cut in _guarded_samples(source, graph, evaluator, selection):
        if not _has_more(graph):
            _compare_alone(source, evaluator, inputs, scores)
            continue
        again = source.with_all_else_redrawn(graph, inputs, on_the_cut=on_the_cut, first=first)
        if source.predictor.close(again, scores):
            continue
        _compare_alone(source, evaluator, inputs, scores)  # or it is not what lies around
        if source.can_widen:
            raise MoreMattersError(
                f"more than {graph.candidates.numel()} candidates matter, so there are more now"
            )
        return replace(graph, context_matters=True)
    return graph


def _has_more(graph: ComputationalGraph) -> bool:
    """Whether there is something besides the candidates that a claim says is redrawn."""
    return not (graph.checked == "none" or graph.context_matters or graph.holds_all)


def _compare_alone(source: Source, evaluator: Evaluator, inputs: Perturbed, scores: Tensor) -> None:
    """Raise `UnlikeTheModelError` unless inputs have their scores (s, C) one by one too."""
    alone = evaluator.run_alone(inputs)
    if source.predictor.close(alone, scores):
        return
    off = int((alone - scores).abs().nan_to_num(torch.inf).amax(-1).argmax())
    evaluator.reject(scores[off], alone[off])
    raise UnlikeTheModelError


def _guarded_samples(
    source: Source, graph: ComputationalGraph, evaluator: Evaluator, selection: Selection
) -> Iterator[tuple[Perturbed, Tensor, int, bool]]:
    """Yield samples with their scores (s, C), the first one's number, and if the cut is enough."""
    # How far features come from says little of how far edges do.
    redraws_edges = evaluator.edges_under(selection) is not None
    is_doubtful = source.reach.doubtful or (redraws_edges and not evaluator.reads_candidates_only)
    is_known = evaluator.reads_candidates_only and not is_doubtful
    # A cut whose context was left out is compared with what lies around it.
    is_cut_bare = graph.context.numel() == 0 and not graph.holds_all
    on_the_cut = is_known and graph.x.numel() > _LARGE and not is_cut_bare
    count = _DOUBTFUL if is_doubtful and not on_the_cut else _GUARDED
    if not evaluator.reads_candidates_only:
        count = max(count, _cheap(graph))
    count = min(count, evaluator.samples)
    at_once = max(_GUARDED, _AT_ONCE // _in_a_pass(graph))
    for first in range(0, count, at_once):
        inputs, scores = evaluator.some(range(first, min(first + at_once, count)), selection)
        yield inputs, scores, first, on_the_cut


class DecidedScores:
    """Scores of held-out samples, none of whose answers hangs on what counts as rounding.

    Outputs on a cut, of many copies in one batch, count as the whole graph's if they are close.
    Where that could turn the answer, as in half precision or under large common offsets, the
    sample is run by itself with all else redrawn, as a claim means it.

    Args:
        source: of the cuts.
        graph: of the query.
    """

    def __init__(self, source: Source, graph: ComputationalGraph) -> None:
        self._source = source
        self._graph = graph
        self._samples = 0  # that were looked at
        self._run = 0  # of these by themselves
        self._turned = 0  # of these with another answer

    def of(self, evaluator: Evaluator, selection: Selection) -> Tensor:
        """Return the scores (S, C) of an evaluator's samples under a selection.

        Raises `MoreMattersError` where many answers turn out to be others.
        """
        scores, event = evaluator.scores(selection), evaluator.event
        self._samples += scores.size(0)
        undecided = self._source.predictor.undecided(event, scores).nonzero().flatten()  # (u,)
        if undecided.numel() == 0:
            return scores
        scores = scores.clone()
        before = event.happens(scores[undecided])
        for some in torch.split(undecided, _UNDECIDED_AT_ONCE):
            few = evaluator.only(some)
            inputs = Perturbed(few.inputs(selection), few.edges_under(selection))
            scores[some] = self._alone(evaluator, inputs)
        self._turned += int((event.happens(scores[undecided]) != before).sum())
        has_turned = self._turned > max(_FEW_TURNED, _SHARE_TURNED * self._samples)
        if has_turned and self._source.can_widen and _has_more(self._graph):
            raise MoreMattersError(
                f"{self._turned} of {self._samples} answers are others with all but "
                f"{self._graph.candidates.numel()} candidates redrawn, so there are more now"
            )
        return scores

    def _alone(self, evaluator: Evaluator, inputs: Perturbed) -> Tensor:
        """Return the scores (s, C) of inputs one by one, each with other noise everywhere else."""
        first, self._run = self._run, self._run + inputs.x.size(0)
        if not _has_more(self._graph):
            return evaluator.run_alone(inputs)
        return self._source.with_all_else_redrawn(
            self._graph, inputs, on_the_cut=False, first=first
        )


def guarded_scores(
    source: Source, graph: ComputationalGraph, evaluator: Evaluator, selection: Selection
) -> Tensor:
    """Return the scores (S, C) of all samples under a selection, guarded as a claim is."""
    scores = DecidedScores(source, graph).of(evaluator, selection)
    guarded(source, graph, evaluator, selection)
    return scores


def most_guarded(graph: ComputationalGraph) -> int:
    """Return of how many samples a claim about a cut may be evaluated again."""
    return max(_DOUBTFUL, _cheap(graph))


def _cheap(graph: ComputationalGraph) -> int:
    """Return how many samples take little time where the model is run anyway, not traced."""
    return min(_MOST_GUARDED, _NUMBERS // _in_a_pass(graph))


def _in_a_pass(graph: ComputationalGraph) -> int:
    """Return how many numbers a pass over the graph, or over what is taken of it, handles."""
    return min(_IN_A_PASS, graph.num_nodes * graph.x.size(1))
