"""How often explanations keep a feature, a node or a kind of nodes, against what chance would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from zorro.audit.cases import Case
from zorro.audit.setting import TRAINING, Labels, Place
from zorro.audit.share import FAMILIES, Numbers, Share, adjusted, more_than_chance
from zorro.audit.training import training_chance

MOST_LISTED = 12  # features, or nodes, of a class
HUB = 0.2  # share of a class's explanations that keep one and the same node


@dataclass(frozen=True)
class Use:
    """How often the explanations of a class keep something.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import GraphSetting, audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> found = [votes.explain(node) for node in (8, 14, 15, 18)]
    >>> john = audit(found, setting=GraphSetting(club.x, club.edge_index)).classes[0].nodes[0]
    >>> john.what, john.share, round(john.expected, 2), round(john.lift, 1)
    (33, Share(1.00 [0.40, 1.00], 4/4), 0.47, 2.1)

    Args:
        what: a feature's column, a node's number, or the name of a kind of nodes.
        share: of the explanations.
        expected: the share if sets of the same sizes were drawn at random from what could have
            been kept: as many features that occur among the candidates, and as many that do not;
            as many nodes, of single ones as many besides what is asked about. Of training nodes,
            the share if others of the same classes had been trained on. None where the graph is
            not at hand.
        q_value: by which it is more often than that, the false discovery rate over all that were
            looked at being controlled; 1 where that is not known, and for a node that hardly any
            explanation could keep.
        elsewhere: the share of the explanations of all other classes, if there are any.
        present: of the explanations that keep a feature, the share in which it is not zero at all
            kept nodes; None where the graph is not at hand.
    """

    what: int | str
    share: Share
    expected: float | None = None
    q_value: float = 1.0
    elsewhere: Share | None = None
    present: float | None = None

    @property
    def lift(self) -> float | None:
        """How many times as often as by chance; None if that is not known, or chance is none."""
        return self.share.value / self.expected if self.expected else None


Classes = Sequence[tuple[int | None, Sequence[Case]]]  # each with its cases


def feature_uses(classes: Classes, *, confidence: float) -> list[list[Use]]:
    """Return the features that explanations of each class keep, the most frequent first."""
    every = [case for _, cases in classes for case in cases]
    of_all = Counter(feature for case in every for feature in case.features)
    counts = [Counter(f for case in cases for f in case.features) for _, cases in classes]
    chances = [_expected_features(cases) for _, cases in classes]
    q_values = _q_values(
        [sorted(count) for count in counts],
        counts,
        [len(cases) for _, cases in classes],
        chances,
        tests=sum(0 if chance is None else len(chance) for chance in chances),
    )
    uses = []
    for count, chance, known, (_, cases) in zip(counts, chances, q_values, classes, strict=True):
        listed = _most(count)
        elsewhere = len(every) - len(cases)
        uses.append(
            [
                Use(
                    feature,
                    Share(count[feature], len(cases), confidence),
                    None if chance is None else chance[feature],
                    known.get(feature, 1.0),
                    Share(of_all[feature] - count[feature], elsewhere, confidence)
                    if elsewhere
                    else None,
                    _present(feature, cases),
                )
                for feature in listed
            ]
        )
    return uses


def node_uses(classes: Classes, *, confidence: float) -> list[list[Use]]:
    """Return the nodes that explanations of each class keep besides what is asked about."""
    counts = [Counter(node for case in cases for node in case.others) for _, cases in classes]
    expected = [_expected_nodes(cases) for _, cases in classes]
    # Those that could be kept that often: which they are does not depend on what is kept.
    tested = [_frequent_candidates(cases) for _, cases in classes]
    q_values = _q_values(
        [sorted(some.intersection(count)) for some, count in zip(tested, counts, strict=True)],
        counts,
        [len(cases) for _, cases in classes],
        expected,
        tests=sum(map(len, tested)),
    )
    return [
        [
            Use(
                node,
                Share(count[node], len(cases), confidence),
                None if chance is None else chance.get(node, 0.0),
                known.get(node, 1.0),
            )
            for node in _most(count)
        ]
        for count, chance, known, (_, cases) in zip(
            counts, expected, q_values, classes, strict=True
        )
    ]


def kind_uses(classes: Classes, *, predicted: Labels | None, confidence: float) -> list[list[Use]]:
    """Return how often explanations of each class keep a node of each kind, or more of them.

    Args:
        classes: each with its cases.
        predicted: (N,), the model's class of each node.
        confidence: of the intervals.
    """
    counted = [_count_kinds(cases) for _, cases in classes]
    totals = [len(cases) for _, cases in classes]
    p_values = [
        float(more_than_chance(np.array([count]), total, np.array([chance]))[0])
        for total, rows in zip(totals, counted, strict=True)
        for _, count, chance in rows
    ]
    q_values = iter(adjusted(p_values).tolist())
    trained_on = training_chance([cases for _, cases in classes], predicted=predicted)
    uses: list[list[Use]] = []
    for total, rows, of_training in zip(totals, counted, trained_on, strict=True):
        uses.append([])
        for kind, count, chance in rows:
            known = chance, next(q_values)
            expected, q_value = of_training if kind == TRAINING else known
            uses[-1].append(Use(kind, Share(count, total, confidence), expected, q_value))
    return uses


def _count_kinds(cases: Sequence[Case]) -> list[tuple[str, int, float]]:
    """Return each kind, how many explanations keep a node of it, and how often chance would."""
    placed = [(case, case.place) for case in cases if case.place is not None]
    every = {kind: at for _, place in placed for at, kind in enumerate(place.kinds)}
    return [
        (
            kind,
            sum(bool((_of(place, kind) & case.is_kept(place)).any()) for case, place in placed),
            float(np.mean([_any_of(case, place, kind) for case, place in placed])),
        )
        for kind in sorted(every, key=lambda kind: (every[kind], kind))
    ]


def _present(feature: int, cases: Sequence[Case]) -> float | None:
    """Return how often a feature that is kept is there, and not kept out."""
    there = [
        bool(case.place.present[feature])
        for case in cases
        if case.place is not None and feature in case.features
    ]
    return sum(there) / len(there) if there else None


def _most(count: Counter[int]) -> list[int]:
    """Return what was counted most often, of what was as often the lower number first."""
    return sorted(count, key=lambda what: (-count[what], what))[:MOST_LISTED]


def _q_values(
    listed: Sequence[Sequence[int]],
    counts: Sequence[Counter[int]],
    totals: Sequence[int],
    chances: Sequence[dict[int, float] | None],
    *,
    tests: int,
) -> list[dict[int, float]]:
    """Return by what each count of each class is more than chance, over all of them together."""
    p_values: list[float] = []
    for whats, count, total, chance in zip(listed, counts, totals, chances, strict=True):
        if chance is None:
            p_values += [1.0] * len(whats)
            continue
        expected = np.array([chance.get(what, 0.0) for what in whats], dtype=np.float64)
        seen = np.array([count[what] for what in whats], dtype=np.float64)
        p_values += more_than_chance(seen, total, expected).tolist()
    q_values = iter(adjusted(p_values, tests=tests, families=FAMILIES).tolist())
    return [{what: next(q_values) for what in whats} for whats in listed]


def _expected_features(cases: Sequence[Case]) -> dict[int, float] | None:
    """Return how often each feature would be kept if sets were drawn at random."""
    total: Numbers | None = None
    for case in cases:
        if case.place is None:
            return None
        occurs = case.place.occurring
        kept = np.asarray(case.features, dtype=np.int64)
        there, absent = int(occurs.sum()), int((~occurs).sum())
        present = int(occurs[kept].sum())
        chance = np.where(occurs, present / max(1, there), (len(kept) - present) / max(1, absent))
        total = chance if total is None else total + chance
    return None if total is None else dict(enumerate((total / len(cases)).tolist()))


def _expected_nodes(cases: Sequence[Case]) -> dict[int, float] | None:
    """Return how often each node would be kept if sets were drawn at random.

    As many other nodes as are kept, whether or not what is asked about is kept with them.
    """
    total: dict[int, float] = {}
    for case in cases:
        if case.place is None:
            return None
        others = np.setdiff1d(case.place.nodes, case.explanation.query.seeds).tolist()
        chance = len(case.others) / max(1, len(others))
        for node in others:
            total[node] = total.get(node, 0.0) + chance
    return {node: chance / len(cases) for node, chance in total.items()}


def _frequent_candidates(cases: Sequence[Case]) -> set[int]:
    """Return the nodes that so many explanations could keep that one may stand for the class."""
    could = Counter(
        node
        for case in cases
        if case.place is not None
        for node in np.setdiff1d(case.place.nodes, case.explanation.query.seeds).tolist()
    )
    return {node for node, count in could.items() if count > HUB * len(cases)}


def _of(place: Place, kind: str) -> NDArray[np.bool_]:
    return place.kinds.get(kind, np.zeros(len(place.nodes), dtype=np.bool_))


def _any_of(case: Case, place: Place, kind: str) -> float:
    """Return the chance that so many nodes drawn at random hold one of a kind at least.

    One minus the hypergeometric probability of none: 1 − C(n − t, k) / C(n, k).
    """
    nodes, kept = len(place.nodes), len(case.nodes)
    others = nodes - int(_of(place, kind).sum())
    if kept > others:
        return 1.0
    none = (
        gammaln(others + 1)
        - gammaln(others - kept + 1)
        - gammaln(nodes + 1)
        + gammaln(nodes - kept + 1)
    )
    return float(-np.expm1(none))
