"""What is typical of explanations of wrong answers."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import hypergeom

from zorro.audit.cases import Case
from zorro.audit.contrasts import FEWEST
from zorro.audit.permutations import adjusted_by_permutation, permute_within
from zorro.audit.setting import Labels
from zorro.audit.share import FAMILIES, SURE, Numbers, Share

_BINS = 10  # of a joint density, per axis


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
            all features; the smallest p-value of each round in which the errors are dealt out anew
            tells what is small.
    """

    feature: int
    wrong: Share
    right: Share
    expected: float
    q_value: float


@dataclass(frozen=True)
class Density:
    """How many explanations rest on which shares of nodes of the class that the model gives.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [8, 9, 11, 28], out="runs/votes")
    >>> right = run.audit(
    ...     x=club.x, edge_index=club.edge_index, y=club.y, model=SimpleConv()
    ... ).densities["right"]
    >>> right.total, right.counts[9][9]  # what both keep is of the class that the model gives
    (2, 2)

    Args:
        counts: [by the model][in truth], in ten bins each from 0 to 1.
        total: of those that keep other nodes.
    """

    counts: tuple[tuple[int, ...], ...]
    total: int


def typical_features(cases: Sequence[Case], *, confidence: float) -> list[TypicalFeature]:
    """Return the features that are typical of errors, surest first.

    By Fisher's exact test with the class of the answer held fixed: the words of a class that is
    often given wrongly are not typical of its errors for that.
    """
    known = [case for case in cases if case.is_right is not None]
    is_wrong = np.array([not case.is_right for case in known], dtype=np.bool_)
    if min(is_wrong.sum(), (~is_wrong).sum()) < FEWEST:
        return []
    right, wrong = (
        Counter(f for case in known if case.is_right is side for f in case.features)
        for side in (True, False)
    )
    strata: dict[int | None, list[Case]] = defaultdict(list)
    for case in known:
        strata[case.answer].append(case)
    features = sorted({*right, *wrong})
    p_values = _p_values(features, known, is_wrong, _tails(features, list(strata.values())))
    q_values = adjusted_by_permutation(-p_values, families=FAMILIES)
    found = [
        TypicalFeature(
            f,
            Share(wrong[f], int(is_wrong.sum()), confidence),
            Share(right[f], int((~is_wrong).sum()), confidence),
            _expected(f, strata.values()),
            float(q),
        )
        for f, q in zip(features, q_values, strict=True)
        if q <= SURE
    ]
    return sorted(found, key=lambda it: (it.q_value, it.feature))


def _tails(features: Sequence[int], strata: Sequence[Sequence[Case]]) -> list[Numbers]:
    """Return of each feature the chances that 0, 1, … wrong answers or more keep it.

    Chance deals out the wrong answers among those of each class, as many as there are. The number
    of them that keep a feature is a sum of hypergeometric ones.
    """
    distributions: dict[int, Numbers] = {feature: np.ones(1) for feature in features}
    for cases in strata:
        errors = sum(case.is_right is False for case in cases)
        kept = Counter(feature for case in cases for feature in case.features)
        for feature in distributions.keys() & kept.keys():
            most = min(kept[feature], errors)
            chances = hypergeom.pmf(np.arange(most + 1), len(cases), kept[feature], errors)
            distributions[feature] = np.convolve(distributions[feature], chances)
    return [np.minimum(1.0, distributions[f][::-1].cumsum()[::-1]) for f in features]


def _p_values(
    features: Sequence[int],
    cases: Sequence[Case],
    is_wrong: NDArray[np.bool_],
    tails: Sequence[Numbers],
) -> Numbers:
    """Return each feature's p-value (1 + rounds, k), with the errors dealt out in each round."""
    place = {feature: at for at, feature in enumerate(features)}
    pairs = [(place[f], at) for at, case in enumerate(cases) for f in case.features]
    keeps = csr_array(
        (np.ones(len(pairs)), np.array(pairs, dtype=np.int64).reshape(-1, 2).T),
        shape=(len(features), len(cases)),
    )
    answers = np.array([case.answer for case in cases], dtype=np.int64)
    found = []
    for rows in permute_within(answers, entries=len(cases) + len(features)):
        counts = (keeps @ is_wrong[rows].T.astype(np.float64)).astype(np.int64)  # (k, p)
        found.append(
            np.stack([tail[count] for tail, count in zip(tails, counts, strict=True)], 1)
            if len(features)
            else np.ones((len(rows), 0))
        )
    return np.concatenate(found)


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
    """Return the joint density of both supports of the right, or of the wrong, answers."""
    pairs = [
        (case.support(predicted), case.support(labels))
        for case in cases
        if case.is_right is is_right
    ]
    known = np.array([pair for pair in pairs if not any(map(math.isnan, pair))], dtype=float)
    if not len(known):
        return None
    counts, _, _ = np.histogram2d(known[:, 0], known[:, 1], bins=_BINS, range=[(0, 1), (0, 1)])
    return Density(tuple(tuple(map(int, row)) for row in counts), len(known))
