"""Two models, or one before and after: answers that changed, and answers whose grounds did."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, Protocol

from scipy.stats import binomtest

from zorro.audit.plain import plain
from zorro.audit.share import Share, adjusted
from zorro.elements import FEATURES
from zorro.elements.edges import Member
from zorro.errors import InputError
from zorro.evaluation import FidelityEstimate
from zorro.explanation import Explanation

Grounds = Literal["kept", "fewer", "more", "changed", "unmeasured"]
_SURE = 0.05  # the false discovery rate
_MOST_FEATURES = 5
# Explanations that keep a feature in one run alone, without which it is not tested. How many there
# are says nothing about the direction, so that leaving others out favours none.
_FEWEST_CHANGES = 6
_MOVED = 0.2  # share of a class's answers whose grounds changed, above which they moved
FEWEST = 5  # answers of a class of which a share is worth a verdict


class CrossMeter(Protocol):
    """What measures sets of one model's explanations on another model.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import compare_runs
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> one = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> other = Zorro(SimpleConv(combine_root="self_loop"), club.x, club.edge_index)  # and oneself
    >>> def on_other(e):
    ...     return other.fidelity(e.node, nodes=e.nodes, features=e.features)
    >>> compared = compare_runs([one.explain(11)], [other.explain(11)], on_second=on_other)
    >>> compared.pairs[0].there  # the first's set on the second
    FidelityEstimate(0.721 [0.692, 0.749], 721/1000)
    """

    def __call__(self, explanation: Explanation) -> FidelityEstimate:
        """Return how often the set of an explanation keeps this model's answer to its query."""
        ...


@dataclass(frozen=True)
class Pair:
    """The same query in both runs.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import compare_runs
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> one = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> other = Zorro(SimpleConv(combine_root="self_loop"), club.x, club.edge_index)  # and oneself
    >>> [pair] = compare_runs([one.explain(11)], [other.explain(11)]).pairs
    >>> pair.key, pair.same, pair.jaccard, pair.grounds
    (11, True, 0.75, 'unmeasured')

    Args:
        key: of the query.
        before: the answer of the first model, a class or None.
        same: whether the second gives the same answer.
        jaccard: how much of both sets is in both, by elements.
        there: how often the first model's set keeps the second one's answer; None if not measured.
        back: how often the second model's set keeps the first one's.
        grounds: what follows of these two. `"changed"`: neither set keeps the other's answer often
            enough. `"more"` or `"fewer"`: only the first's fails, so that the second model needs
            more of the same, or only the second's does. `"kept"`: neither is shown to fail.
    """

    key: int
    before: int | None
    same: bool
    jaccard: float
    there: FidelityEstimate | None
    back: FidelityEstimate | None
    grounds: Grounds


@dataclass(frozen=True)
class FeatureShift:
    """A feature that the second model's explanations of a class keep more often, or less.

    >>> import torch
    >>> from zorro import Zorro
    >>> from zorro.audit import compare_runs
    >>> x = torch.eye(2).repeat(8, 2)  # columns 2 and 3 are copies of 0 and 1
    >>> no_edges = torch.empty(2, 0, dtype=torch.long)
    >>> one = Zorro(lambda x, edge_index: x[:, :2], x, no_edges, hops=0)
    >>> other = Zorro(lambda x, edge_index: x[:, 2:], x, no_edges, hops=0)
    >>> compared = compare_runs(map(one.explain, range(16)), map(other.explain, range(16)))
    >>> for shift in compared.classes[1].features:
    ...     print(shift.feature, shift.before, shift.after)
    0 Share(1.00 [0.63, 1.00], 8/8) Share(0.00 [0.00, 0.37], 0/8)
    1 Share(1.00 [0.63, 1.00], 8/8) Share(0.00 [0.00, 0.37], 0/8)
    2 Share(0.00 [0.00, 0.37], 0/8) Share(1.00 [0.63, 1.00], 8/8)
    3 Share(0.00 [0.00, 0.37], 0/8) Share(1.00 [0.63, 1.00], 8/8)

    Args:
        feature: its column in the second run.
        before: the share of the first's explanations, of the queries that both answer alike.
        after: the share of the second's explanations, of these queries.
        q_value: of no difference, by McNemar's exact test over all features of all classes.
    """

    feature: int
    before: Share
    after: Share
    q_value: float


@dataclass(frozen=True)
class ClassShift:
    """What happened to the grounds of one answer.

    >>> import torch
    >>> from zorro import Zorro
    >>> from zorro.audit import compare_runs
    >>> x = torch.eye(2).repeat(8, 2)  # columns 2 and 3 are copies of 0 and 1
    >>> no_edges = torch.empty(2, 0, dtype=torch.long)
    >>> one = Zorro(lambda x, edge_index: x[:, :2], x, no_edges, hops=0)
    >>> other = Zorro(lambda x, edge_index: x[:, 2:], x, no_edges, hops=0)
    >>> def on(zorro):
    ...     return lambda e: zorro.fidelity(e.node, nodes=e.nodes, features=e.features)
    >>> both = [map(each.explain, range(16)) for each in (one, other)]
    >>> shift = compare_runs(*both, on_first=on(one), on_second=on(other)).classes[0]
    >>> shift.answer, shift.changed, shift.moved
    (0, Share(1.00 [0.63, 1.00], 8/8), True)

    Args:
        answer: the class, None if answers are no classes.
        keys: of the queries that both models answer so.
        changed: how many of them have changed grounds, None if that was not measured.
        jaccard: the mean over these queries.
        there: the mean cross-fidelity of the first's sets on the second; None if that was not
            measured.
        back: the mean cross-fidelity of the second's sets on the first; None if that was not
            measured.
        features: that entered or left, the surest first.
        q_value: of at most a fifth of its answers having changed grounds, by a binomial test over
            all classes with enough answers; 1 for the others.
    """

    answer: int | None
    keys: tuple[int, ...]
    changed: Share | None
    jaccard: float
    there: float | None
    back: float | None
    features: tuple[FeatureShift, ...]
    q_value: float = 1.0

    @property
    def moved(self) -> bool:
        """Whether it is shown that the grounds of more than a fifth of these answers changed."""
        return self.q_value <= _SURE


@dataclass(frozen=True)
class RunComparison:
    """Two runs on the queries that both have.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import compare_runs
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> one = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> other = Zorro(SimpleConv(combine_root="self_loop"), club.x, club.edge_index)  # and oneself
    >>> nodes = (8, 9, 11)
    >>> compared = compare_runs(map(one.explain, nodes), map(other.explain, nodes))
    >>> compared.shared, compared.changed_predictions, len(compared.classes)
    (3, Share(0.33 [0.01, 0.91], 1/3), 2)
    >>> compared.figures()["changed-predictions"] > 0.2
    True

    Args:
        shared: how many queries both have.
        only_first: how many the first has alone.
        only_second: how many the second has alone.
        changed_predictions: how many answers differ.
        changed_grounds: of the answers that do not, how many have changed grounds; None if that was
            not measured.
        jaccard: the mean overlap of sets where the answer is the same; NaN if no answer is.
        classes: class by class.
        pairs: query by query.
        notes: what differs between the runs besides.
    """

    shared: int
    only_first: int
    only_second: int
    changed_predictions: Share
    changed_grounds: Share | None
    jaccard: float
    classes: tuple[ClassShift, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...] = ()

    @property
    def moved(self) -> tuple[ClassShift, ...]:
        """The classes whose grounds moved."""
        return tuple(one for one in self.classes if one.moved)

    def figures(self) -> dict[str, float]:
        """Return what a pipeline can be told to fail on, by name; NaN where it was not measured."""
        measured = [
            one.changed.value
            for one in self.classes
            if one.changed is not None and one.changed.total >= FEWEST
        ]
        grounds = math.nan if self.changed_grounds is None else self.changed_grounds.value
        return {
            "changed-predictions": self.changed_predictions.value,
            "changed-grounds": grounds,
            "class-grounds": max(measured, default=grounds),
            "moved-classes": float(len(self.moved)),
            "set-distance": 1 - self.jaccard,
        }

    def to_json(self) -> str:
        """Return the comparison as one line of JSON."""
        return json.dumps({**plain(self), "figures": plain(self.figures())}, allow_nan=False)


def compare_runs(
    first: Iterable[Explanation],
    second: Iterable[Explanation],
    *,
    on_first: CrossMeter | None = None,
    on_second: CrossMeter | None = None,
    columns: Mapping[int, int] | None = None,
    confidence: float = 0.95,
    notes: Sequence[str] = (),
    on_query: Callable[[int, int], None] = lambda done, total: None,
) -> RunComparison:
    """Compare the explanations of two models on the queries that both have.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import compare_runs
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> one = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> other = Zorro(SimpleConv(combine_root="self_loop"), club.x, club.edge_index)  # and oneself
    >>> nodes = (8, 9, 11)
    >>> compared = compare_runs(map(one.explain, nodes), map(other.explain, nodes))
    >>> compared.changed_predictions
    Share(0.33 [0.01, 0.91], 1/3)
    >>> [pair.key for pair in compared.pairs if not pair.same]  # a draw, which the own vote decides
    [9]

    Args:
        first: of the one.
        second: of the other.
        on_first: measures a set on the first model, as `Zorro.meter` does with a set's ids.
        on_second: measures a set on the second model.
        columns: which of the first's features is which of the second's, where they are numbered in
            another way; what is not among them, the second does not have.
        confidence: of the intervals.
        notes: what differs between the runs besides.
        on_query: told how many queries are compared, and of how many.
    """
    one, other = ({e.query.key: e for e in some} for some in (first, second))
    keys = [key for key in one if key in other]
    if not keys:
        raise InputError(
            f"runs: expected queries that both have, got {len(one)} and {len(other)} others"
        )
    _refuse_other_kinds(one[keys[0]], other[keys[0]])
    pairs = []
    for done, key in enumerate(keys, 1):
        pairs.append(_pair(one[key], other[key], on_first, on_second, columns))
        on_query(done, len(keys))
    same = [pair for pair in pairs if pair.same]
    return RunComparison(
        shared=len(keys),
        only_first=len(one) - len(keys),
        only_second=len(other) - len(keys),
        changed_predictions=Share(len(pairs) - len(same), len(pairs), confidence),
        changed_grounds=_changed(same, confidence),
        jaccard=fmean([pair.jaccard for pair in same]) if same else math.nan,
        classes=tuple(_classes(same, one, other, columns, confidence)),
        pairs=tuple(pairs),
        notes=tuple(notes),
    )


def _refuse_other_kinds(one: Explanation, other: Explanation) -> None:
    if set(one.selected) != set(other.selected) or one.query.level != other.query.level:
        raise InputError(
            f"runs: expected sets of the same kinds, got {one.query.level}s with "
            f"{' and '.join(one.selected)} and {other.query.level}s with "
            f"{' and '.join(other.selected)}"
        )


def _pair(
    one: Explanation,
    other: Explanation,
    on_first: CrossMeter | None,
    on_second: CrossMeter | None,
    columns: Mapping[int, int] | None,
) -> Pair:
    same = _is_same_answer(one, other)
    there = on_second(one) if same and on_second is not None else None
    back = on_first(other) if same and on_first is not None else None
    return Pair(
        one.query.key,
        one.predicted_class,
        same,
        _jaccard(one, other, columns),
        there,
        back,
        _grounds(there, back, one.parameters.tau, other.parameters.tau),
    )


def _is_same_answer(one: Explanation, other: Explanation) -> bool:
    if one.value is not None and other.value is not None:
        return one.value.low <= other.value.value <= one.value.high
    return (one.predicted_class, one.ahead) == (other.predicted_class, other.ahead)


def _jaccard(one: Explanation, other: Explanation, columns: Mapping[int, int] | None) -> float:
    """Return the share of elements of either set that are in both; 1 where both are empty."""
    mine = {
        (kind, _renumbered(members, columns) if kind == FEATURES else members)
        for kind in one.selected
        for members in one.elements(kind)
    }
    theirs = {(kind, members) for kind in other.selected for members in other.elements(kind)}
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def _renumbered(
    members: tuple[Member, ...], columns: Mapping[int, int] | None
) -> tuple[Member | None, ...]:
    """Return a feature's columns as the second run numbers them, None where it has none."""
    if columns is None:
        return members
    found = [columns.get(member) if isinstance(member, int) else member for member in members]
    return tuple(sorted(found, key=lambda column: (column is None, str(column).zfill(9))))


def _grounds(
    there: FidelityEstimate | None, back: FidelityEstimate | None, first: float, second: float
) -> Grounds:
    """Return what follows of cross-fidelities: a set fails if it is shown to be below its τ."""
    if there is None or back is None:
        return "unmeasured"
    fails, fails_back = there.upper < second, back.upper < first
    if fails and fails_back:
        return "changed"
    return "more" if fails else "fewer" if fails_back else "kept"


def _changed(pairs: Sequence[Pair], confidence: float) -> Share | None:
    measured = [pair for pair in pairs if pair.grounds != "unmeasured"]
    if not measured:
        return None
    return Share(sum(p.grounds == "changed" for p in measured), len(measured), confidence)


def _classes(
    pairs: Sequence[Pair],
    one: Mapping[int, Explanation],
    other: Mapping[int, Explanation],
    columns: Mapping[int, int] | None,
    confidence: float,
) -> list[ClassShift]:
    by_class: dict[int | None, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_class[pair.before].append(pair)
    order = sorted(by_class.items(), key=lambda it: -1 if it[0] is None else it[0])
    keys = [[pair.key for pair in some] for _, some in order]
    shifts = _shifts(keys, one, other, columns, confidence)
    changed = [_changed(some, confidence) for _, some in order]
    q_values = _moved_by_chance(changed)
    return [
        ClassShift(
            answer,
            tuple(pair.key for pair in some),
            share,
            fmean([pair.jaccard for pair in some]),
            _mean([pair.there.value for pair in some if pair.there is not None]),
            _mean([pair.back.value for pair in some if pair.back is not None]),
            tuple(shifted),
            q_value,
        )
        for (answer, some), share, q_value, shifted in zip(
            order, changed, q_values, shifts, strict=True
        )
    ]


def _moved_by_chance(changed: Sequence[Share | None]) -> list[float]:
    """Return by what more than a fifth of each class's answers is shown to have changed grounds."""
    tested = [share for share in changed if share is not None and share.total >= FEWEST]
    p_values = [
        float(binomtest(share.count, share.total, _MOVED, alternative="greater").pvalue)
        for share in tested
    ]
    q_values = iter(adjusted(p_values).tolist())
    return [
        1.0 if share is None or share.total < FEWEST else float(next(q_values)) for share in changed
    ]


def _shifts(
    classes: Sequence[Sequence[int]],
    one: Mapping[int, Explanation],
    other: Mapping[int, Explanation],
    columns: Mapping[int, int] | None,
    confidence: float,
) -> list[list[FeatureShift]]:
    """Return the features of each class that entered or left, by McNemar's exact test.

    Those that the second run does not have are left out.
    """
    tested: list[list[tuple[int, int, int, float]]] = []
    for keys in classes:
        entered: Counter[Member] = Counter()
        left: Counter[Member] = Counter()
        before: Counter[Member] = Counter()
        for key in keys:
            mine = {
                column
                for members in one[key].feature_elements
                if (column := _renumbered(members, columns)[0]) is not None
            }
            theirs = {members[0] for members in other[key].feature_elements}
            entered.update(theirs - mine)
            left.update(mine - theirs)
            before.update(mine)
        rows = []
        for feature in sorted({*entered, *left}, key=str):
            assert isinstance(feature, int)
            up, down = entered[feature], left[feature]
            if up + down < _FEWEST_CHANGES:
                continue
            p_value = float(binomtest(up, up + down).pvalue)
            rows.append((feature, before[feature], before[feature] + up - down, p_value))
        tested.append(rows)
    q_values = iter(adjusted([row[3] for rows in tested for row in rows]).tolist())
    found = []
    for keys, rows in zip(classes, tested, strict=True):
        shifts = [
            FeatureShift(
                feature,
                Share(was, len(keys), confidence),
                Share(now, len(keys), confidence),
                next(q_values),
            )
            for feature, was, now, _ in rows
        ]
        sure = [shift for shift in shifts if shift.q_value <= _SURE]
        sure.sort(key=lambda shift: -abs(shift.after.value - shift.before.value))
        found.append(sure[:_MOST_FEATURES])
    return found


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
