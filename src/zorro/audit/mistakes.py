"""What is different about explanations of wrong answers."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom, mannwhitneyu

from zorro.audit.cases import Case
from zorro.audit.setting import Labels
from zorro.audit.share import Median, Share, adjusted

_FEWEST = 3  # explanations of either side that are compared
_BINS = 10  # of a joint density, per axis
_DIFFERS = 0.05  # the false discovery rate
SHARES = ("probability", "predicted homophily", "true homophily", "training share")


@dataclass(frozen=True)
class Contrast:
    """A quantity of explanations of right and of wrong answers.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> nodes = (4, 5, 6, 8, 9, 11, 14, 15, 24, 25)
    >>> even = dict(enumerate((club.y % 2).tolist()))  # as if there were communities 0 and 1 alone
    >>> contrast = audit([votes.explain(node) for node in nodes], truth=even).contrasts[1]
    >>> contrast.quantity, contrast.right.value, contrast.wrong.value
    ('nodes', 1.0, 2.0)
    >>> round(contrast.larger, 2), contrast.differs
    (0.83, False)

    Args:
        quantity: its name.
        right: its median where the answer is right.
        wrong: its median where the answer is wrong.
        larger: how often a wrong answer's is larger than a right one's, ties counting half.
        q_value: of there being no difference (Mann and Whitney), over all quantities.
    """

    quantity: str
    right: Median
    wrong: Median
    larger: float
    q_value: float

    @property
    def differs(self) -> bool:
        """Whether there is a difference, at a false discovery rate of 5 %."""
        return self.q_value <= _DIFFERS


@dataclass(frozen=True)
class TypicalFeature:
    """A feature that explanations of wrong answers keep more often than those of right ones.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> found = [votes.explain(node) for node in (0, 2, 11, 12, 17, 19, 21, 1, 3, 7, 13)]
    >>> sorted({explanation.features for explanation in found})  # all of them answered 1
    [(0, 1), (1,)]
    >>> truth = {e.node: 0 if 0 in e.features else 1 for e in found}  # as if 0 misled the model
    >>> [typical] = audit(found, truth=truth).error_features
    >>> typical.feature, typical.wrong, typical.right
    (0, Share(1.00 [0.59, 1.00], 7/7), Share(0.00 [0.00, 0.60], 0/4))

    Args:
        feature: its column.
        wrong: the share of the explanations of wrong answers that keep it.
        right: the share of the explanations of right answers that keep it.
        expected: the share of right ones that would keep it, had they the classes of the wrong
            ones.
        q_value: of its being no more frequent in those of wrong answers of the same class, over
            all features.
    """

    feature: int
    wrong: Share
    right: Share
    expected: float
    q_value: float


@dataclass(frozen=True)
class Density:
    """How many explanations have which true and which predicted homophily.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [8, 9, 11, 28], out="runs/votes")
    >>> right = run.audit(
    ...     x=club.x, edge_index=club.edge_index, y=club.y, model=SimpleConv()
    ... ).densities["right"]
    >>> right.total, right.counts[9][9]  # what both keep is of the node's own class
    (2, 2)

    Args:
        counts: [predicted][true], in ten bins each from 0 to 1.
        total: of those that keep other nodes.
    """

    counts: tuple[tuple[int, ...], ...]
    total: int


def contrasts_of(
    cases: Sequence[Case],
    *,
    predicted: Labels | None,
    labels: Labels | None,
    confidence: float,
) -> list[Contrast]:
    """Return what of explanations can be compared between right and wrong answers."""
    quantities: dict[str, Callable[[Case], float]] = {
        "probability": lambda case: case.probability,
        "nodes": lambda case: _count(case, "nodes"),
        "features": lambda case: _count(case, "features"),
        "edges": lambda case: _count(case, "edges"),
        "distance": lambda case: case.distance,
        "predicted homophily": lambda case: case.homophily(predicted),
        "true homophily": lambda case: case.homophily(labels),
        "training share": lambda case: case.training_share,
    }
    compared = []
    for name, of in quantities.items():
        sides = [_known(of, cases, is_right=side) for side in (True, False)]
        if min(map(len, sides)) < _FEWEST:
            continue
        right, wrong = sides
        test = mannwhitneyu(wrong, right, alternative="two-sided")
        larger = float(test.statistic) / (len(wrong) * len(right))
        compared.append((name, right, wrong, larger, float(test.pvalue)))
    q_values = adjusted([p_value for *_, p_value in compared])
    return [
        Contrast(
            name,
            Median.of(right, confidence=confidence),
            Median.of(wrong, confidence=confidence),
            larger,
            float(q_value),
        )
        for (name, right, wrong, larger, _), q_value in zip(compared, q_values, strict=True)
    ]


def typical_features(cases: Sequence[Case], *, confidence: float) -> list[TypicalFeature]:
    """Return the features that are typical of errors, surest first.

    By Fisher's exact test with the class of the answer held fixed: the words of a class that is
    often given wrongly are not typical of its errors for that.
    """
    sides = {side: [case for case in cases if case.is_right is side] for side in (True, False)}
    if min(map(len, sides.values())) < _FEWEST:
        return []
    right, wrong = (
        Counter(f for case in sides[side] for f in case.features) for side in (True, False)
    )
    totals = len(sides[True]), len(sides[False])
    features = sorted(wrong)
    strata: dict[int | None, list[Case]] = defaultdict(list)
    for case in (*sides[True], *sides[False]):
        strata[case.answer].append(case)
    p_values = _by_chance(features, wrong, list(strata.values()))
    q_values = adjusted(p_values, tests=len({*right, *wrong}))
    found = [
        TypicalFeature(
            f,
            Share(wrong[f], totals[1], confidence),
            Share(right[f], totals[0], confidence),
            _expected(f, strata.values()),
            float(q),
        )
        for f, q in zip(features, q_values, strict=True)
        if q <= _DIFFERS
    ]
    return sorted(found, key=lambda it: (it.q_value, it.feature))


def _by_chance(
    features: Sequence[int], wrong: Counter[int], strata: Sequence[Sequence[Case]]
) -> list[float]:
    """Return the probability that so many wrong answers keep each feature, by chance alone.

    Chance deals out the wrong answers among those of each class, as many as there are. The number
    of them that keep a feature is a sum of hypergeometric ones.
    """
    distributions = {feature: np.ones(1) for feature in features}
    for cases in strata:
        errors = sum(case.is_right is False for case in cases)
        kept = Counter(feature for case in cases for feature in case.features)
        for feature in distributions.keys() & kept.keys():
            most = min(kept[feature], errors)
            chances = hypergeom.pmf(np.arange(most + 1), len(cases), kept[feature], errors)
            distributions[feature] = np.convolve(distributions[feature], chances)
    return [min(1.0, float(distributions[f][wrong[f] :].sum())) for f in features]


def _expected(feature: int, strata: Iterable[Sequence[Case]]) -> float:
    """Return how often right answers with the classes of the wrong ones would keep a feature.

    Classes without right answers say nothing, and are left out.
    """
    wrongs, kept = 0, 0.0
    for cases in strata:
        right = [case for case in cases if case.is_right]
        if not right:
            continue
        errors = len(cases) - len(right)
        wrongs += errors
        kept += errors * sum(feature in case.features for case in right) / len(right)
    return kept / wrongs if wrongs else 0.0


def density_of(
    cases: Sequence[Case], *, predicted: Labels | None, labels: Labels | None, is_right: bool
) -> Density | None:
    """Return the joint density of both homophilies of the right, or of the wrong, answers."""
    pairs = [
        (case.homophily(predicted), case.homophily(labels))
        for case in cases
        if case.is_right is is_right
    ]
    known = np.array([pair for pair in pairs if not any(map(math.isnan, pair))], dtype=float)
    if not len(known):
        return None
    counts, _, _ = np.histogram2d(known[:, 0], known[:, 1], bins=_BINS, range=[(0, 1), (0, 1)])
    return Density(tuple(tuple(map(int, row)) for row in counts), len(known))


def _known(of: Callable[[Case], float], cases: Sequence[Case], *, is_right: bool) -> list[float]:
    values = (of(case) for case in cases if case.is_right is is_right)
    return [value for value in values if not math.isnan(value)]


def _count(case: Case, kind: str) -> float:
    e = case.explanation
    return float(len(e.elements(kind))) if kind in e.selected else math.nan
