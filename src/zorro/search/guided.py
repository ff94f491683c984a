"""The guided search: candidates by first-order gain, tested exactly, then pruned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from zorro.fidelity.evaluator import Evaluator, Gains
from zorro.search.found import Move, OnStep, progress_of, unwatched
from zorro.selection import Selection

_ROUNDING = 1e-9
_FIRST_NODES = 16  # tested for the first node
_SAVING = 0.1  # what a saved unit of entropy counts when elements are taken out
_PROBABILITY = 0.5  # what a sample's probability counts beside its hit
# A gain is divided by the entropy that the element adds, to this power: at 0 an element is an
# element, at 1 nodes, of which there are fewer, are spared for many more features.
_THRIFT = 0.25
# Sets from this size on grow by more than one element at a time, one more for each so many, as long
# as the fidelity is far from the target; and are pruned without testing all elements each time.
_LARGE = 16
_NEAR = 0.1
_TESTED_AGAIN = 4


@dataclass(frozen=True)
class _Judged:
    """What the samples say of a selection."""

    hits: Tensor  # (S,) bool
    fidelity: float
    probability: float

    @property
    def value(self) -> float:
        """Hits first, then probability, which tells candidates apart where hits do not."""
        return self.fidelity + _PROBABILITY * self.probability


@dataclass(frozen=True)
class Trial:
    """A selection with one element toggled, as the samples judge it."""

    is_node: bool
    element: int
    judged: _Judged
    cost: float  # the entropy that the element adds or saves

    @property
    def fidelity(self) -> float:
        """The share of hits."""
        return self.judged.fidelity

    @property
    def value(self) -> float:
        """What it is worth, without its cost."""
        return self.judged.value


class GuidedSearch:
    """Grows a selection until its fidelity exceeds a target, and takes out what is not needed.

    In each step all elements are ranked by what they would add to the log-probability of the
    event, to first order, under the noise as it is with the current selection; the first of
    each kind are tested, and the one with the best value for its entropy is added. Where hits do
    not change, probabilities still do, so the search does not stall on plateaus.

    Args:
        evaluator: of the query.
        k: elements tested per step, of both kinds together; None tests all.
        allowed: V_p and F_p; everything when None.
        may_go_on: asked before each step with the selection; the search stops when it says no.
        on_step: told of each step.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        k: int | None = 10,
        allowed: Selection | None = None,
        may_go_on: Callable[[Selection], bool] = lambda selection: True,
        on_step: OnStep = unwatched,
    ) -> None:
        self._k = None if k is None else (k + 1) // 2
        self._may_go_on = may_go_on
        self._on_step = on_step
        self._allowed = allowed or Selection.full(*evaluator.shape, device=evaluator.device)
        self._evaluator = evaluator
        self.weights = torch.ones(evaluator.samples, device=evaluator.device).double()
        self.selection = Selection.empty(*evaluator.shape, device=evaluator.device)
        self._now = self._judged(evaluator.scores(self.selection).unsqueeze(0))[0]
        self.moves = [Move(None, None, self.fidelity)]
        on_step(progress_of(self.selection, self.moves))

    @property
    def fidelity(self) -> float:
        """The selection's fidelity on the search's samples."""
        return self._now.fidelity

    @property
    def hits(self) -> Tensor:
        """On which samples the selection makes the event happen, (S,)."""
        return self._now.hits

    @property
    def evaluator(self) -> Evaluator:
        """On what samples the search looks."""
        return self._evaluator

    def look_at(self, evaluator: Evaluator, weights: Tensor) -> None:
        """Go on with other samples of the same query, and how much each counts (S,)."""
        self._evaluator = evaluator
        self.weights = weights
        self._now = self._judged(evaluator.scores(self.selection).unsqueeze(0))[0]

    def reaches(self, target: float) -> bool:
        """Whether the selection is good enough: above the target, or nothing left to gain."""
        return _is_enough(self.fidelity, target)

    def grow(self, target: float) -> bool:
        """Add elements until the fidelity exceeds the target; return whether it does."""
        while not self.reaches(target):
            if not self._may_go_on(self.selection):
                return False
            best = self._best_additions(target)
            if not best:
                return False
            self._add(best)
        return True

    def prune(self, target: float) -> None:
        """Take out elements while the fidelity stays above the target, the least missed first.

        Afterwards no single element can be dropped. Of a large set not all elements are tested
        after each that is taken out: only those that could be spared before and come next.
        """
        while True:
            spare = self._spare(self._removals(), target)
            if not spare:
                return
            self._toggle(spare[0])
            while len(spare) > 1 and self._size >= _LARGE:
                next_ones = spare[1 : 1 + _TESTED_AGAIN]
                tested = self._spare(self._tested_again(next_ones), target)
                if tested:
                    self._toggle(tested[0])
                spare = [*tested, *spare[1 + _TESTED_AGAIN :]]

    @property
    def _size(self) -> int:
        return self.selection.rows.numel() + self.selection.columns.numel()

    def _best_additions(self, target: float) -> list[Trial]:
        """Return the element to add, or several where many are needed still."""
        if self.selection.rows.numel() == 0:
            first = self._first_node()
            return [] if first is None else [first]
        gains = self._evaluator.gains(self.selection)
        trials = [*self._feature_trials(gains), *self._node_trials(gains)]
        trials.sort(
            key=lambda trial: (trial.value - self._now.value) / trial.cost**_THRIFT, reverse=True
        )
        if self._size < _LARGE or target - self.fidelity < _NEAR:
            return trials[:1]
        helpful = [trial for trial in trials if trial.value > self._now.value]
        return helpful[: self._size // _LARGE + 1] or trials[:1]

    def _add(self, trials: list[Trial]) -> None:
        """Add elements that were tested one by one."""
        if len(trials) == 1:
            self._toggle(trials[0])
            return
        for trial in trials:
            self.selection = self._toggled(trial)
        self._now = self._judged(self._evaluator.scores(self.selection).unsqueeze(0))[0]
        for trial in trials:
            self._moved(trial, self._now.fidelity, added=True)

    def _spare(self, trials: Iterable[Trial], target: float) -> list[Trial]:
        """Return the elements without which the target is reached, the least missed first."""
        spare = [trial for trial in trials if _is_enough(trial.fidelity, target)]
        return sorted(spare, key=lambda trial: trial.value + _SAVING * trial.cost, reverse=True)

    def _first_node(self) -> Trial | None:
        """Return the node that says most by itself: with all its allowed features."""
        whole = Selection(self.selection.nodes, self._allowed.features)
        gains = self._evaluator.gains(whole)
        rows = self._first(
            self._allowed.nodes, None if gains is None else gains.nodes, _FIRST_NODES
        )
        if rows.numel() == 0:
            return None
        judged = self._judged(self._evaluator.scores_toggling_nodes(whole, rows))
        best = max(range(len(judged)), key=lambda i: judged[i].value)
        # Without features the node changes nothing yet.
        return Trial(True, int(rows[best]), self._now, cost=1.0)

    def _feature_trials(self, gains: Gains | None) -> Iterator[Trial]:
        open_ones = self._allowed.features & ~self.selection.features
        columns = self._first(open_ones, None if gains is None else gains.features, self._k)
        cost = _entropy_of_one_more(self.selection.columns.numel())
        scores = self._evaluator.scores_toggling_features(self.selection, columns)
        return self._trials(False, columns, scores, cost)

    def _node_trials(self, gains: Gains | None) -> Iterator[Trial]:
        if self.selection.columns.numel() == 0:
            return iter(())
        open_ones = self._allowed.nodes & ~self.selection.nodes
        rows = self._first(open_ones, None if gains is None else gains.nodes, self._k)
        cost = _entropy_of_one_more(self.selection.rows.numel())
        scores = self._evaluator.scores_toggling_nodes(self.selection, rows)
        return self._trials(True, rows, scores, cost)

    def _removals(self) -> Iterator[Trial]:
        return chain(
            self._removals_of(True, self.selection.rows),
            self._removals_of(False, self.selection.columns),
        )

    def _tested_again(self, trials: list[Trial]) -> Iterator[Trial]:
        """Test the removal of elements that were tested before another one was taken out."""
        for is_node in (True, False):
            elements = [trial.element for trial in trials if trial.is_node == is_node]
            if elements:
                device = self._evaluator.device
                yield from self._removals_of(is_node, torch.tensor(elements, device=device))

    def _removals_of(self, is_node: bool, elements: Tensor) -> Iterator[Trial]:
        """Test the removal of some elements of a kind; one of each kind must stay."""
        count = (self.selection.rows if is_node else self.selection.columns).numel()
        if count <= 1:
            return iter(())
        toggling = (
            self._evaluator.scores_toggling_nodes
            if is_node
            else self._evaluator.scores_toggling_features
        )
        scores = toggling(self.selection, elements)
        return self._trials(is_node, elements, scores, _entropy_of_one_more(count - 1))

    def _trials(
        self, is_node: bool, elements: Tensor, scores: Tensor, cost: float
    ) -> Iterator[Trial]:
        for element, judged in zip(elements.tolist(), self._judged(scores), strict=True):
            yield Trial(is_node, element, judged, cost=cost)

    def _first(self, open_ones: Tensor, gains: Tensor | None, count: int | None) -> Tensor:
        """Return the `count` elements with the highest gains among those that are open.

        Without gains all are returned: each is then tested, which is slower. Those with an
        infinite gain are returned too.
        """
        elements = open_ones.nonzero().flatten()
        if gains is None or count is None or elements.numel() <= count:
            return elements
        known = elements[gains[elements] < torch.inf]
        best = known[gains[known].topk(min(count, known.numel())).indices]
        if known.numel() == elements.numel():
            return best
        return torch.cat([best, elements[gains[elements] == torch.inf]])

    def _judged(self, scores: Tensor) -> list[_Judged]:
        """Return what each of scores (k, S, C) says."""
        weights = self.weights / self.weights.sum()
        hits = self._evaluator.event.happens(scores)  # (k, S)
        fidelity = hits.to(weights) @ weights
        probability = self._evaluator.event.log_probability(scores).exp().to(weights) @ weights
        return list(map(_Judged, hits, fidelity.tolist(), probability.tolist()))

    def _toggle(self, trial: Trial) -> None:
        before = self.selection.nodes if trial.is_node else self.selection.features
        added = not bool(before[trial.element])
        self.selection = self._toggled(trial)
        self._now = trial.judged
        self._moved(trial, trial.fidelity, added=added)

    def _toggled(self, trial: Trial) -> Selection:
        if trial.is_node:
            return self.selection.toggling_node(trial.element)
        return self.selection.toggling_feature(trial.element)

    def _moved(self, trial: Trial, fidelity: float, *, added: bool) -> None:
        """Take a move down and tell of it."""
        row, column = (trial.element, None) if trial.is_node else (None, trial.element)
        self.moves.append(Move(row, column, fidelity, added))
        self._on_step(progress_of(self.selection, self.moves))


def _is_enough(fidelity: float, target: float) -> bool:
    return fidelity > target + _ROUNDING or fidelity > 1 - _ROUNDING


def _entropy_of_one_more(count: int) -> float:
    """Return how much the entropy of a set of `count` grows with one more."""
    return math.log(1 + 1 / max(1, count))
