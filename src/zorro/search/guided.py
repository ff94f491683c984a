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
# From this size on a set is large: not all its elements are tested after each that is taken out,
# and far from the target it grows by more than one element at a time, one for each so many it has.
_LARGE = 16
_FAR = 0.1
_FOR_ONE_MORE_FAR = 8
# From this size on it is huge: it grows so near the target too, and elements are taken out
# together, those that matter least to first order, and not tested one by one.
_HUGE = 64
_FOR_ONE_MORE_NEAR = 32
_HOPELESS = 0.05  # a huge set's fidelity: the search starts again from everything
_TESTED_AGAIN = 4
_RANKED_ON = 24  # samples by which the elements of a huge set are ranked


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
        self._came_from_above = False
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
            if self._is_hopeless and self._comes_from_above(target):
                return True
            best = self._best_additions(target)
            if not best:
                return False
            self._add(best)
        return True

    def prune(self, target: float) -> None:
        """Take out elements while the fidelity stays above the target, the least missed first.

        Afterwards no single element can be dropped. Of a large set not all elements are tested
        after each that is taken out: only those that could be spared before and come next. Of one
        that stays huge only those are tested that matter least to first order, many at a time: it
        cannot do without the least of them, and nothing is said of the others.
        """
        if self._size >= _HUGE and self._drop_together(target):
            return
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
    def _is_hopeless(self) -> bool:
        """Whether many elements were added and next to nothing was reached."""
        return self._size >= _HUGE and self.fidelity < _HOPELESS and not self._came_from_above

    def _comes_from_above(self, target: float) -> bool:
        """Start again from all that is allowed, where that reaches the target."""
        self._came_from_above = True
        if not self._may_go_on(self._allowed):
            return False
        everything_else = [
            Trial(is_node, element, self._now, 0.0)
            for is_node, missing in (
                (True, self._allowed.nodes & ~self.selection.nodes),
                (False, self._allowed.features & ~self.selection.features),
            )
            for element in missing.nonzero().flatten().tolist()
        ]
        return self._toggle_all(everything_else, target)

    def _drop_together(self, target: float) -> bool:
        """Take out what matters least to first order, many elements of a huge set at a time.

        Returns:
            Whether that has settled it: the set is huge still, and no further one can be spared.
        """
        several = {True: self.selection.rows.numel(), False: self.selection.columns.numel()}
        gains = None
        while self._size >= _HUGE and any(several.values()):
            gains = gains or self._evaluator.gains_on(_RANKED_ON, self.selection)
            if gains is None:
                return False
            is_node = several[True] >= several[False]
            spare = [one for one in self._ranked(gains, selected=True) if one.is_node == is_node]
            several[is_node] = min(several[is_node], len(spare) // 2)
            least = spare[: several[is_node]]
            if least and self._toggle_all(least, target):
                gains = None
                several[is_node] *= 2
            else:
                several[is_node] //= 2
        return self._size >= _HUGE

    def _toggle_all(self, trials: list[Trial], target: float | None = None) -> bool:
        """Add or take out elements together, if a target is reached then; return whether."""
        toggled = self.selection
        for trial in trials:
            toggled = _toggled(toggled, trial)
        judged = self._judged(self._evaluator.scores(toggled).unsqueeze(0))[0]
        if target is not None and not _is_enough(judged.fidelity, target):
            return False
        added = [not _holds(self.selection, trial) for trial in trials]
        self.selection, self._now = toggled, judged
        for trial, was_added in zip(trials, added, strict=True):
            self._moved(trial, judged.fidelity, added=was_added)
        return True

    @property
    def _size(self) -> int:
        return self.selection.rows.numel() + self.selection.columns.numel()

    def _best_additions(self, target: float) -> list[Trial]:
        """Return the element to add, or several where many are needed still."""
        if self.selection.rows.numel() == 0:
            first = self._first_node()
            return [] if first is None else [first]
        gains = self._evaluator.gains(self.selection)
        several = self._at_a_time(target)
        if gains is not None and several > 1:
            best = self._ranked(gains, selected=False)[:several]
            if len(best) > 1:
                return best
        trials = [*self._feature_trials(gains), *self._node_trials(gains)]
        trials.sort(
            key=lambda trial: (trial.value - self._now.value) / trial.cost**_THRIFT, reverse=True
        )
        return trials[:1]

    def _at_a_time(self, target: float) -> int:
        """Return how many elements to add next."""
        if target - self.fidelity > _FAR:
            return self._size // _FOR_ONE_MORE_FAR if self._size >= _LARGE else 1
        return self._size // _FOR_ONE_MORE_NEAR if self._size >= _HUGE else 1

    def _ranked(self, gains: Gains, *, selected: bool) -> list[Trial]:
        """Return elements, untested: those first that add most for their entropy, to first order.

        Or of the selected ones those first that are missed least.
        """
        chosen = torch.cat([self.selection.nodes, self.selection.features])
        allowed = torch.cat([self._allowed.nodes, self._allowed.features])
        costs = [
            _entropy_of_one_more(int(kind.sum()) - selected)
            for kind in (self.selection.nodes, self.selection.features)
        ]
        gained = torch.cat([gains.nodes, gains.features])
        nodes = gains.nodes.numel()
        worth = torch.cat([gains.nodes / costs[0] ** _THRIFT, gains.features / costs[1] ** _THRIFT])
        wanted = chosen if selected else allowed & ~chosen & (gained > 0)
        places = (wanted & (gained < torch.inf)).nonzero().flatten()
        places = places[worth[places].argsort(descending=not selected, stable=True)]
        return [
            Trial(is_node, place if is_node else place - nodes, self._now, costs[1 - is_node])
            for place in places.tolist()
            for is_node in (place < nodes,)
        ]

    def _add(self, trials: list[Trial]) -> None:
        """Add one element that was tested, or as many others as may be added."""
        if len(trials) == 1:
            self._toggle(trials[0])
            return
        several, so_far = [], self.selection
        for trial in trials:
            if not self._may_go_on(so_far):
                break
            so_far = _toggled(so_far, trial)
            several.append(trial)
        self._toggle_all(several)

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
        added = not _holds(self.selection, trial)
        self.selection = _toggled(self.selection, trial)
        self._now = trial.judged
        self._moved(trial, trial.fidelity, added=added)

    def _moved(self, trial: Trial, fidelity: float, *, added: bool) -> None:
        """Take a move down and tell of it."""
        row, column = (trial.element, None) if trial.is_node else (None, trial.element)
        self.moves.append(Move(row, column, fidelity, added))
        self._on_step(progress_of(self.selection, self.moves))


def _holds(selection: Selection, trial: Trial) -> bool:
    """Whether an element is selected."""
    return bool((selection.nodes if trial.is_node else selection.features)[trial.element])


def _toggled(selection: Selection, trial: Trial) -> Selection:
    """Return a selection with an element added, or taken out if it is there."""
    toggling = selection.toggling_node if trial.is_node else selection.toggling_feature
    return toggling(trial.element)


def _is_enough(fidelity: float, target: float) -> bool:
    return fidelity > target + _ROUNDING or fidelity > 1 - _ROUNDING


def _entropy_of_one_more(count: int) -> float:
    """Return how much the entropy of a set of `count` grows with one more."""
    return math.log(1 + 1 / max(1, count))
