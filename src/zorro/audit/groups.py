"""Explanations that say the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from zorro.audit.cases import Case

_APART = 0.8  # mean Jaccard distance at which two groups stay apart
_SHARED = 0.6  # of a group's explanations that keep a feature by which it is named
_MOST_NAMED = 4
_FEWEST = 5  # explanations that are called a group
_MOST_AT_ONCE = 3000  # explanations whose distances are all held at once


@dataclass(frozen=True)
class Group:
    """Explanations of one class whose sets overlap.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> group = audit([votes.explain(node) for node in (8, 14, 15, 18, 20)]).groups[0]
    >>> group.answer, group.features, group.keys
    (0, ((0, 5),), (8, 14, 15, 18, 20))

    Args:
        answer: the class.
        features: that most of them keep, each with how many do.
        keys: of their queries.
        representative: the one whose set is nearest to all others.
    """

    answer: int | None
    features: tuple[tuple[int, int], ...]
    keys: tuple[int, ...]
    representative: int


def groups_of(classes: Sequence[tuple[int | None, Sequence[Case]]]) -> list[Group]:
    """Return groups of explanations that keep much the same features, the largest first.

    Groups are joined while the mean Jaccard distance of their sets is below .8 (average linkage).
    Those that share no feature, or are few, are left out.
    """
    found = [group for answer, cases in classes for group in _of_class(answer, cases)]
    return sorted(found, key=lambda group: (-len(group.keys), group.keys))


def _of_class(answer: int | None, cases: Sequence[Case]) -> list[Group]:
    having = [case for case in cases if case.features]
    first, rest = having[:_MOST_AT_ONCE], having[_MOST_AT_ONCE:]
    if len(first) < _FEWEST:
        return []
    distances = _jaccard(first, first)
    above = distances[np.triu_indices(len(first), 1)]
    number = fcluster(linkage(above, "average"), _APART, "distance")
    members: dict[int, list[Case]] = defaultdict(list)
    for case, group in zip(first, number.tolist(), strict=True):
        members[group].append(case)
    for start in range(0, len(rest), _MOST_AT_ONCE):  # each joins that of its nearest
        some = rest[start : start + _MOST_AT_ONCE]
        for case, nearest in zip(some, _jaccard(some, first).argmin(1).tolist(), strict=True):
            members[int(number[nearest])].append(case)
    groups = (_group(answer, group) for group in members.values() if len(group) >= _FEWEST)
    return [group for group in groups if group.features]


def _group(answer: int | None, cases: Sequence[Case]) -> Group:
    counts = Counter(feature for case in cases for feature in case.features)
    most = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    named = [(f, count) for f, count in most if count >= _SHARED * len(cases)][:_MOST_NAMED]
    few = cases[:_MOST_AT_ONCE]
    nearest = int(_jaccard(few, few).mean(1).argmin())
    return Group(answer, tuple(named), tuple(case.key for case in cases), few[nearest].key)


def _jaccard(some: Sequence[Case], others: Sequence[Case]) -> NDArray[np.float64]:
    """Return the Jaccard distances (a, b) of the features that cases keep."""
    place = {
        f: at for at, f in enumerate(sorted({f for c in (*some, *others) for f in c.features}))
    }

    def indicators(cases: Sequence[Case]) -> NDArray[np.float32]:
        rows = np.zeros((len(cases), len(place)), dtype=np.float32)
        for at, case in enumerate(cases):
            rows[at, [place[f] for f in case.features]] = 1.0
        return rows

    one, other = indicators(some), indicators(others)
    both = one @ other.T
    either = one.sum(1)[:, None] + other.sum(1)[None, :] - both
    return np.asarray(1.0 - both / np.maximum(either, 1.0), dtype=np.float64)
