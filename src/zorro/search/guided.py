"""The guided search: candidates by first-order gain, tested exactly, then pruned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Trial:
    """A selection with one element toggled, as the samples judge it."""

    is_node: bool
    element: int
    fidelity: float
    probability: float
    cost: float  # the entropy that the element adds or saves

    @property
    def value(self) -> float:
        """Hits first, then probability, which tells candidates apart where hits do not."""
        return self.fidelity + _PROBABILITY * self.probability


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
        return self._now[0]

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
            best = self._best_addition()
            if best is None:
                return False
            self._toggle(best)
        return True

    def prune(self, target: float) -> None:
        """Take out elements while the fidelity stays above the target, the least missed first.

        Afterwards no single element can be dropped.
        """
        while True:
            spare = [trial for trial in self._removals() if _is_enough(trial.fidelity, target)]
            if not spare:
                return
            self._toggle(max(spare, key=lambda trial: trial.value + _SAVING * trial.cost))

    def _best_addition(self) -> Trial | None:
        if self.selection.rows.numel() == 0:
            return self._first_node()
        gains = self._evaluator.gains(self.selection)
        trials = [*self._feature_trials(gains), *self._node_trials(gains)]
        before = self._now[0] + _PROBABILITY * self._now[1]
        return max(
            trials,
            key=lambda trial: (trial.value - before) / trial.cost**_THRIFT,
            default=None,
        )

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
        best = max(range(len(judged)), key=lambda i: judged[i][0] + _PROBABILITY * judged[i][1])
        # Without features the node changes nothing yet.
        return Trial(True, int(rows[best]), *self._now, cost=1.0)

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
        rows, columns = self.selection.rows, self.selection.columns
        if rows.numel() > 1:
            scores = self._evaluator.scores_toggling_nodes(self.selection, rows)
            yield from self._trials(True, rows, scores, _entropy_of_one_more(rows.numel() - 1))
        if columns.numel() > 1:
            scores = self._evaluator.scores_toggling_features(self.selection, columns)
            cost = _entropy_of_one_more(columns.numel() - 1)
            yield from self._trials(False, columns, scores, cost)

    def _trials(
        self, is_node: bool, elements: Tensor, scores: Tensor, cost: float
    ) -> Iterator[Trial]:
        for element, judged in zip(elements.tolist(), self._judged(scores), strict=True):
            yield Trial(is_node, element, *judged, cost=cost)

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

    def _judged(self, scores: Tensor) -> list[tuple[float, float]]:
        """Return fidelity and mean probability for each of scores (k, S, C)."""
        weights = self.weights / self.weights.sum()
        hits = self._evaluator.event.happens(scores).to(weights) @ weights
        probability = self._evaluator.event.log_probability(scores).exp().to(weights) @ weights
        return list(zip(hits.tolist(), probability.tolist(), strict=True))

    def _toggle(self, trial: Trial) -> None:
        if trial.is_node:
            added = not bool(self.selection.nodes[trial.element])
            self.selection = self.selection.toggling_node(trial.element)
            self.moves.append(Move(trial.element, None, trial.fidelity, added))
        else:
            added = not bool(self.selection.features[trial.element])
            self.selection = self.selection.toggling_feature(trial.element)
            self.moves.append(Move(None, trial.element, trial.fidelity, added))
        self._now = (trial.fidelity, trial.probability)
        self._on_step(progress_of(self.selection, self.moves))


def _is_enough(fidelity: float, target: float) -> bool:
    return fidelity > target + _ROUNDING or fidelity > 1 - _ROUNDING


def _entropy_of_one_more(count: int) -> float:
    """Return how much the entropy of a set of `count` grows with one more."""
    return math.log(1 + 1 / max(1, count))
