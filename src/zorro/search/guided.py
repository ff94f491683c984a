"""The guided search: candidates by first-order gain, tested exactly, then pruned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

import torch
from torch import Tensor

from zorro.elements import (
    EDGE_ATTRIBUTES,
    EDGES,
    FEATURES,
    RELATIONS,
    Element,
    Kind,
    Selection,
    drops_edges,
)
from zorro.evaluation.evaluator import Evaluator, Gains
from zorro.search.connected import Connected
from zorro.search.found import Move, OnStep, progress_of, unwatched

_ROUNDING = 1e-9
_FIRST = 16  # tested for the first element
_SAVING = 0.1  # what a saved unit of entropy counts when elements are taken out
_PROBABILITY = 0.5  # what a sample's probability counts beside its hit
# A gain is divided by the entropy that the element adds, to this power: at 0 an element is an
# element, at 1 nodes, of which there are fewer, are spared for many more features.
_THRIFT = 0.4
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
_EXCHANGED: tuple[Kind, ...] = (RELATIONS, EDGES, EDGE_ATTRIBUTES)
_LEAST_EXCHANGED, _MOST_EXCHANGED = 5, 16  # fewer are hardly ever too many; of more it takes long
_WAYS_TO_EXCHANGE = 2
# From so many samples on candidates are looked at on some of them first, and tested on all if they
# may be needed then: the best few to add, and those to take out that are not too bad by so many
# standard errors.
_MANY, _LOOKED_AT_FIRST = 800, 400
_FINALISTS, _DOUBT = 3, 3.0
_FEW_LEFT = 4  # times as many as would be tested
_RANKED_ON = 24  # samples by which the elements of a huge set are ranked
_RANKING = 0.25e9


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
    """A selection with one element toggled, as the samples judge it.

    `before` are elements that are toggled with it: without them it would change nothing, or not
    hang together with the rest.
    """

    element: Element
    judged: _Judged
    cost: float  # the entropy that is added or saved
    before: tuple[Element, ...] = ()

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
        k: elements tested per step, of all kinds together; None tests all.
        allowed: what may be kept; everything when None.
        connected: tells which edges hang together, if they are to.
        may_go_on: asked before each step with the selection; the search stops when it says no.
        on_step: told of each step.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        k: int | None = 10,
        allowed: Selection | None = None,
        connected: Connected | None = None,
        may_go_on: Callable[[Selection], bool] = lambda selection: True,
        on_step: OnStep = unwatched,
    ) -> None:
        self._space = evaluator.space
        self._kinds = evaluator.space.kinds
        self._k = None if k is None else math.ceil(k / len(self._kinds))
        self._connected = connected
        self._may_go_on = may_go_on
        self._on_step = on_step
        self._allowed = allowed or evaluator.everything
        self._evaluator = evaluator
        self._came_from_above = False
        self.weights = torch.ones(evaluator.samples, device=evaluator.device).double()
        self.selection = evaluator.nothing
        self._now = self._judged(evaluator.scores(self.selection).unsqueeze(0))[0]
        self.moves = [Move(None, self.fidelity)]
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
            if not self._add_best(target):
                return False
        return True

    def prune(self, target: float) -> None:
        """Take out elements while the fidelity stays above the target, the least missed first.

        Afterwards no single element can be dropped. Of a large set not all elements are tested
        after each that is taken out: only those that could be spared before and come next. Of one
        that stays huge only those are tested that matter least to first order, many at a time: it
        cannot do without the least of them, and nothing is said of the others.
        """
        self._drop_blocks(target)
        if self.selection.size >= _HUGE and self._drop_together(target):
            return
        while True:
            spare = self._spare(self._removals(target), target)
            if not spare:
                return
            self._toggle(spare[0])
            while len(spare) > 1 and self.selection.size >= _LARGE:
                next_ones = spare[1 : 1 + _TESTED_AGAIN]
                tested = self._spare(self._tested_again(next_ones, target), target)
                if tested:
                    self._toggle(tested[0])
                spare = [*tested, *spare[1 + _TESTED_AGAIN :]]

    def least_missed(self, target: float) -> float:
        """Return the highest fidelity that is left if one element is taken out.

        0 if none can, or if what is left is far below a target in each case.
        """
        return max((trial.fidelity for trial in self._removals(target)), default=0.0)

    def exchange(self, target: float) -> None:
        """Put one edge in the place of two as long as the fidelity stays above the target.

        Where several ways lead to an answer the first one found need not be the shortest. Not all
        other edges are tried, only those that seem best.
        """
        while self._exchanged(target):
            self.prune(target)

    def _exchanged(self, target: float) -> bool:
        for kind in (kind for kind in _EXCHANGED if kind in self._kinds):
            members = self.selection.members(kind)
            if not _LEAST_EXCHANGED <= members.numel() <= _MOST_EXCHANGED:
                continue
            gains = self._gains(self.selection)
            others = self._first(self._open(kind), None if gains is None else gains[kind], self._k)
            hits = self._evaluator.hits_toggling(self.selection, kind, members)  # (k, S)
            for other in others.tolist():
                if not self._may_go_on(self.selection):
                    return False
                new = Element(kind, other)
                some = self._replaceable(members, hits, new, target)
                if some.numel() == 0:
                    continue
                more = self.selection.toggled(new)
                for first in self._spared(more, kind, some, target)[:_WAYS_TO_EXCHANGE]:
                    rest = members[members != first.place]
                    for second in self._spared(more.toggled(first), kind, rest, target)[:1]:
                        if self._toggle_all([new, first, second], target):
                            return True
        return False

    def _replaceable(self, members: Tensor, hits: Tensor, new: Element, target: float) -> Tensor:
        """Return the members (k,) in whose place a new edge might reach the target.

        Where the new one is there by chance, keeping it changes nothing: a sample that fails
        without a member, as hits (k, S) tell, fails with the new one in its place too.
        """
        present = self._evaluator.edges_under(self.selection)
        if new.kind != EDGES or present is None:
            return members
        fails = (~hits & present.present[:, new.place]).to(self.weights)
        return members[1 - fails @ (self.weights / self.weights.sum()) >= target]

    def _spared(
        self, selection: Selection, kind: Kind, members: Tensor, target: float
    ) -> list[Element]:
        """Return those of some members that a selection can do without, the least missed first."""
        members = self._not_ruled_out(selection, kind, members, target)
        scores = self._evaluator.scores_toggling(selection, kind, members)
        trials = self._trials(kind, members, scores, cost=0.0)
        return [trial.element for trial in self._spare(trials, target)]

    @property
    def _is_hopeless(self) -> bool:
        """Whether many elements were added and next to nothing was reached."""
        is_huge = self.selection.size >= _HUGE
        return is_huge and self.fidelity < _HOPELESS and not self._came_from_above

    def _comes_from_above(self, target: float) -> bool:
        """Start again from all that is allowed, where that reaches the target."""
        self._came_from_above = True
        if not self._may_go_on(self._allowed):
            return False
        everything_else = [
            Element(kind, index)
            for kind in self._kinds
            for index in self._open(kind).nonzero().flatten().tolist()
        ]
        return self._toggle_all(everything_else, target)

    def _drop_blocks(self, target: float) -> None:
        """Take out all that is kept of a block, where what is kept of others is enough."""
        for block in self._space.blocks:
            elements = [
                Element(kind, index)
                for kind in block
                for index in self.selection.members(kind).tolist()
            ]
            if elements and len(elements) < self.selection.size:
                self._toggle_all(elements, target)

    def _drop_together(self, target: float) -> bool:
        """Take out what matters least to first order, many elements of a huge set at a time.

        Returns:
            Whether that has settled it: the set is huge still, and no further one can be spared.
        """
        several = {kind: self.selection.members(kind).numel() for kind in self._kinds}
        gains = None
        while self.selection.size >= _HUGE and any(several.values()):
            gains = gains or self._evaluator.gains_on(_RANKED_ON, self.selection)
            if gains is None:
                return False
            kind = max(self._kinds, key=several.__getitem__)
            spare = [one for one in self._ranked(gains, selected=True) if one.kind == kind]
            several[kind] = min(several[kind], len(spare) // 2)
            least = spare[: several[kind]]
            if least and self._toggle_all(least, target):
                gains = None
                several[kind] *= 2
            else:
                several[kind] //= 2
        return self.selection.size >= _HUGE

    def _toggle_all(self, elements: list[Element], target: float | None = None) -> bool:
        """Add or take out elements together, if a target is reached then; return whether."""
        toggled = self.selection.toggled(*elements)
        if self._connected is not None and not self._connected.holds(toggled.edges):
            return False
        judged = self._judged(self._evaluator.scores(toggled).unsqueeze(0))[0]
        if target is not None and not _is_enough(judged.fidelity, target):
            return False
        added = [not self.selection.holds(element) for element in elements]
        self.selection, self._now = toggled, judged
        for element, was_added in zip(elements, added, strict=True):
            self._moved(element, judged.fidelity, added=was_added)
        return True

    def _add_best(self, target: float) -> bool:
        """Add an element, or several where many are needed still; return whether there was one."""
        idle = self._space.idle(self.selection.masks)
        is_closed = any(bool(mask.any()) for mask in idle.values())
        if is_closed and self._nodes_come_first:
            return self._add_first(idle)
        several = self._at_a_time(target)
        gains = None if several == 1 and self._tests_all else self._gains(self.selection)
        if gains is not None and several > 1:
            best = self._ranked(gains, selected=False)[:several]
            if len(best) > 1 and self._connected is None:
                return self._toggle_all(self._as_many_as_may(best))
        trials = [trial for kind in reversed(self._kinds) for trial in self._additions(kind, gains)]
        trials += self._openings(idle) if is_closed else []
        if not trials:
            return False
        self._toggle(max(trials, key=lambda one: (one.value - self._now.value) / one.cost**_THRIFT))
        return True

    def _gains(self, selection: Selection) -> Gains | None:
        """Return the gains by which all elements are ranked, on fewer samples if these are dear."""
        affordable = int(_RANKING / max(1.0, self._evaluator.cost_per_sample))
        if self._evaluator.samples >= _MANY:
            affordable = min(affordable, _LOOKED_AT_FIRST)
        return self._evaluator.gains_on(max(_RANKED_ON, affordable), selection)

    @property
    def _nodes_come_first(self) -> bool:
        """Whether a node is the first element, which keeps nothing until a feature follows."""
        is_one_block = len(self._space.blocks) == 1 and not self._space.rows_suffice
        return is_one_block and self.selection.size == 0

    @property
    def _tests_all(self) -> bool:
        """Whether so few edges are left that testing all takes no longer than ranking them.

        Inputs that were run before are looked up, and what differs from these in one edge takes
        little; the best edge is found, which gains at most tell to first order.
        """
        if self._k is None or self._connected is not None or not drops_edges(self._kinds):
            return False
        return all(int(self._open(kind).sum()) <= _FEW_LEFT * self._k for kind in self._kinds)

    def _at_a_time(self, target: float) -> int:
        """Return how many elements to add next."""
        size = self.selection.size
        if target - self.fidelity > _FAR:
            return size // _FOR_ONE_MORE_FAR if size >= _LARGE else 1
        return size // _FOR_ONE_MORE_NEAR if size >= _HUGE else 1

    def _ranked(self, gains: Gains, *, selected: bool) -> list[Element]:
        """Return elements, untested: those first that add most for their entropy, to first order.

        Or of the selected ones those first that are missed least.
        """
        found: list[Element] = []
        worths: list[Tensor] = []
        for kind in self._kinds:
            gained, chosen = gains[kind], self.selection.masks[kind]
            wanted = chosen if selected else self._open(kind) & (gained > 0)
            places = (wanted & (gained < torch.inf)).nonzero().flatten()
            cost = _entropy_of_one_more(self.selection.members(kind).numel() - selected)
            found += [Element(kind, index) for index in places.tolist()]
            worths.append(gained[places] / cost**_THRIFT)
        order = torch.cat(worths).argsort(descending=not selected, stable=True)
        return [found[place] for place in order.tolist()]

    def _as_many_as_may(self, elements: list[Element]) -> list[Element]:
        """Return the first elements, as many as may be added, one at least."""
        several, so_far = elements[:1], self.selection.toggled(*elements[:1])
        for element in elements[1:]:
            if not self._may_go_on(so_far):
                break
            so_far = so_far.toggled(element)
            several.append(element)
        return several

    def _open(self, kind: Kind) -> Tensor:
        """Return which elements of a kind may be added."""
        return self._allowed.masks[kind] & ~self.selection.masks[kind]

    def _spare(self, trials: Iterable[Trial], target: float) -> list[Trial]:
        """Return the elements without which the target is reached, the least missed first."""
        spare = [trial for trial in trials if _is_enough(trial.fidelity, target)]
        return sorted(spare, key=lambda trial: trial.value + _SAVING * trial.cost, reverse=True)

    def _add_first(self, idle: Mapping[Kind, Tensor]) -> bool:
        """Add the node that says most by itself; without features it changes nothing yet."""
        first = self._first_of(idle)
        if first is None:
            return False
        self._toggle(Trial(first, self._now, cost=1.0))
        return True

    def _first_of(self, idle: Mapping[Kind, Tensor]) -> Element | None:
        """Return the idle node that says most by itself, with all its allowed features, if any."""
        kind = next(iter(idle))
        allowed = self._allowed.masks
        wanted = self.selection.masks[FEATURES] | (idle[FEATURES] & allowed[FEATURES])
        whole = Selection(self._space, {**self.selection.masks, FEATURES: wanted})
        gains = self._gains(whole)
        members = self._first(
            allowed[kind] & idle[kind], None if gains is None else gains[kind], _FIRST
        )
        if members.numel() == 0:
            return None
        judged = self._judged(self._evaluator.scores_toggling(whole, kind, members))
        best = max(range(len(judged)), key=lambda i: judged[i].value)
        return Element(kind, int(members[best]))

    def _openings(self, idle: Mapping[Kind, Tensor]) -> Iterator[Trial]:
        """Test the idle node that says most by itself with the best of its features, one each."""
        first = self._first_of(idle)
        if first is None:
            return
        opened = self.selection.toggled(first)
        gains = self._gains(opened)
        members = self._first(
            self._open(FEATURES) & self._space.features_of(*first),
            None if gains is None else gains[FEATURES],
            self._k,
        )
        scores = self._evaluator.scores_toggling(opened, FEATURES, members)
        for trial in self._trials(FEATURES, members, scores, 2 * _entropy_of_one_more(0)):
            yield replace(trial, before=(first,))

    def _additions(self, kind: Kind, gains: Gains | None) -> Iterator[Trial]:
        """Test the best elements of a kind, unless it is idle: its partner has none selected."""
        required = self._space.requires(kind)
        if not all(self.selection.members(other).numel() for other in required):
            return iter(())
        members = self._first(self._open(kind), None if gains is None else gains[kind], self._k)
        if kind == EDGES and self._connected is not None:
            return self._joined(members, self._connected)
        members = self._finalists(kind, members)
        scores = self._evaluator.scores_toggling(self.selection, kind, members)
        cost = _entropy_of_one_more(self.selection.members(kind).numel())
        return self._trials(kind, members, scores, cost)

    def _finalists(self, kind: Kind, members: Tensor) -> Tensor:
        """Return those of some members to test on all samples: the best on some, if they are many.

        That takes a fraction of the time; on hundreds of samples the best is hardly ever missed.
        """
        if self._evaluator.samples < _MANY or members.numel() <= _FINALISTS:
            return members
        judged = self._judged_on_few(self.selection, kind, members)
        best = sorted(range(len(judged)), key=lambda i: -judged[i].value)[:_FINALISTS]
        return members[sorted(best)]

    def _not_ruled_out(
        self, selection: Selection, kind: Kind, members: Tensor, target: float
    ) -> Tensor:
        """Return the members without which a selection may still be good enough.

        Of many samples some are looked at first: where they leave no doubt the others are not.
        """
        if self._evaluator.samples < _MANY or members.numel() == 0:
            return members
        weights = self._weights_of_few
        error = math.sqrt(target * (1 - target) * float((weights**2).sum())) / float(weights.sum())
        judged = self._judged_on_few(selection, kind, members)
        least = target - _DOUBT * error
        return members[[i for i, one in enumerate(judged) if one.fidelity >= least]]

    def _judged_on_few(self, selection: Selection, kind: Kind, members: Tensor) -> list[_Judged]:
        """Return what some of the samples say of a selection with each of some members toggled."""
        few = self._evaluator.on_few(_LOOKED_AT_FIRST)
        return self._judged(few.scores_toggling(selection, kind, members), self._weights_of_few)

    @property
    def _weights_of_few(self) -> Tensor:
        return self.weights[self._evaluator.few(_LOOKED_AT_FIRST)]

    def _joined(self, edges: Tensor, connected: Connected) -> Iterator[Trial]:
        """Test edges together with those that join them to the rest."""
        now = self.selection.members(EDGES).numel()
        ways = connected.joining(self.selection.edges, self._allowed.masks[EDGES], edges.tolist())
        for way in ways:
            *before, last = (Element(EDGES, edge) for edge in way)
            toggled = self.selection.toggled(*before, last)
            (judged,) = self._judged(self._evaluator.scores(toggled).unsqueeze(0))
            cost = math.log((max(1, now) + len(way)) / max(1, now))
            yield Trial(last, judged, cost, tuple(before))

    def _removals(self, target: float) -> Iterator[Trial]:
        return chain.from_iterable(
            self._removals_of(kind, self.selection.members(kind), target) for kind in self._kinds
        )

    def _tested_again(self, trials: list[Trial], target: float) -> Iterator[Trial]:
        """Test the removal of elements that were tested before another one was taken out."""
        for kind in self._kinds:
            members = [trial.element.place for trial in trials if trial.element.kind == kind]
            if members:
                device = self._evaluator.device
                yield from self._removals_of(kind, torch.tensor(members, device=device), target)

    def _removals_of(self, kind: Kind, members: Tensor, target: float) -> Iterator[Trial]:
        """Test the removal of some elements of a kind; of a block all go at once or one stays."""
        count = self.selection.members(kind).numel()
        stays = bool(self._space.partners(kind)) and not self._space.rows_suffice
        if count <= 1 and (stays or count == self.selection.size):
            return iter(())
        if kind == EDGES and self._connected is not None:
            members = members[self._connected.removable(self.selection.edges)[members]]
        members = self._not_ruled_out(self.selection, kind, members, target)
        scores = self._evaluator.scores_toggling(self.selection, kind, members)
        return self._trials(kind, members, scores, _entropy_of_one_more(count - 1))

    def _trials(self, kind: Kind, members: Tensor, scores: Tensor, cost: float) -> Iterator[Trial]:
        for index, judged in zip(members.tolist(), self._judged(scores), strict=True):
            yield Trial(Element(kind, index), judged, cost=cost)

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

    def _judged(self, scores: Tensor, weights: Tensor | None = None) -> list[_Judged]:
        """Return what each of scores (k, S, C) says, of samples that count by weights (S,)."""
        weights = self.weights if weights is None else weights
        total = weights.sum()
        hits = self._evaluator.event.happens(scores)  # (k, S)
        # Divided at the end, whole numbers give the share itself; else the sum may be above 1.
        fidelity = (hits.to(weights) @ weights / total).clamp(max=1.0)
        probability = self._evaluator.event.log_probability(scores).exp().to(weights) @ weights
        return list(map(_Judged, hits, fidelity.tolist(), (probability / total).tolist()))

    def _toggle(self, trial: Trial) -> None:
        for element in trial.before:
            self.selection = self.selection.toggled(element)
            self._moved(element, self.fidelity, added=True)
        added = not self.selection.holds(trial.element)
        self.selection = self.selection.toggled(trial.element)
        self._now = trial.judged
        self._moved(trial.element, trial.fidelity, added=added)

    def _moved(self, element: Element, fidelity: float, *, added: bool) -> None:
        """Take a move down and tell of it."""
        self.moves.append(Move(element, fidelity, added))
        self._on_step(progress_of(self.selection, self.moves))


def _is_enough(fidelity: float, target: float) -> bool:
    return fidelity > target + _ROUNDING or fidelity > 1 - _ROUNDING


def _entropy_of_one_more(count: int) -> float:
    """Return how much the entropy of a set of `count` grows with one more."""
    return math.log(1 + 1 / max(1, count))
