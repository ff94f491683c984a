"""What an audit looks at: explanations, what is true, and what they could have kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zorro.audit.setting import OWN, TRAINING, UNKNOWN, Labels, Place, Setting
from zorro.elements import FEATURES, NODES
from zorro.explanation import Explanation


@dataclass(frozen=True)
class Case:
    """An explanation, what is true of its query, and what it could have kept.

    Args:
        explanation: of the query.
        truth: the true class, None if it is not known or the answer is no class.
        place: the nodes and features that could be kept; None if the graph is not at hand.
    """

    explanation: Explanation
    truth: int | None = None
    place: Place | None = None

    @property
    def key(self) -> int:
        """Of the query."""
        return self.explanation.query.key

    @property
    def answer(self) -> int | None:
        """The class that the model gives; None if its answers are no classes."""
        return self.explanation.predicted_class

    @property
    def is_right(self) -> bool | None:
        """Whether the answer is the truth, None if that is not known."""
        return None if self.truth is None or self.answer is None else self.truth == self.answer

    @property
    def probability(self) -> float:
        """Of the answer, NaN if it is no class."""
        return math.nan if self.answer is None else self.explanation.probability

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The nodes that are kept."""
        return tuple(int(node) for node in self.explanation.nodes)

    @cached_property
    def features(self) -> tuple[int, ...]:
        """The features that are kept, a group by its first column."""
        return tuple(int(members[0]) for members in self.explanation.feature_elements)

    @property
    def others(self) -> tuple[int, ...]:
        """The nodes that are kept, without those that are asked about."""
        own = set(self.explanation.query.seeds)
        return tuple(node for node in self.nodes if node not in own)

    @property
    def size(self) -> int:
        """How many elements are kept."""
        e = self.explanation
        return sum(len(e.elements(kind)) for kind in e.selected)

    def is_kept(self, place: Place) -> NDArray[np.bool_]:
        """Return which nodes of the place are kept, (n,)."""
        return np.isin(place.nodes, np.asarray(self.nodes, dtype=np.int64))

    @property
    def distance(self) -> float:
        """How many hops away the kept nodes are at the mean, NaN if none is or nobody knows."""
        if self.place is None or self.place.hops is None:
            return math.nan
        kept = self.is_kept(self.place)
        return float(self.place.hops[kept].mean()) if kept.any() else math.nan

    def support(self, labels: Labels | None) -> float:
        """Return the share of the other kept nodes that are of the class that the model gives.

        The query's own label has no part in it: a share of nodes that are like the query in truth
        would be smaller for wrong answers by construction.

        Args:
            labels: (N,), of all nodes, −1 where they are not known; NaN comes of None.
        """
        others = list(self.others)
        if labels is None or not others or self.explanation.query.level != "node":
            return math.nan
        of_others = labels[others]
        is_known = self.answer is not None and bool((of_others != UNKNOWN).all())
        return float((of_others == self.answer).mean()) if is_known else math.nan

    def count(self, kind: str) -> float:
        """Return how many elements of a kind are kept, NaN if the sets are of other kinds."""
        e = self.explanation
        return float(len(e.elements(kind))) if kind in e.selected else math.nan

    @property
    def training_share(self) -> float:
        """The share of training nodes among the other kept ones, NaN if there are none."""
        if self.place is None or TRAINING not in self.place.kinds:
            return math.nan
        others = self.is_kept(self.place) & ~self.place.kinds[OWN]
        is_training = self.place.kinds[TRAINING][others]
        return float(is_training.mean()) if others.any() else math.nan


def cases_of(
    explanations: Iterable[Explanation],
    *,
    truth: Mapping[int, float] | None = None,
    setting: Setting | None = None,
) -> list[Case]:
    """Return explanations with what is known of their queries.

    Args:
        explanations: of one run.
        truth: what is right, by the queries' keys.
        setting: what the explanations lie in.
    """
    known = truth or {}
    return [
        Case(
            e,
            None if e.predicted_class is None else _whole(known.get(e.query.key)),
            None if setting is None else setting.place(e),
        )
        for e in explanations
    ]


def true_labels(cases: Iterable[Case], setting: Setting | None) -> Labels | None:
    """Return the true classes of all nodes (N,), those of the queries as the cases know them."""
    if setting is None or setting.labels is None:
        return None
    labels = setting.labels.copy()
    for case in cases:
        if case.truth is not None and case.explanation.query.level == "node":
            labels[case.explanation.query.index] = case.truth
    return labels


def keeps_nodes(cases: Iterable[Case]) -> bool:
    """Whether sets are of nodes."""
    return any(NODES in case.explanation.selected for case in cases)


def keeps_features(cases: Iterable[Case]) -> bool:
    """Whether sets are of features."""
    return any(FEATURES in case.explanation.selected for case in cases)


def _whole(value: float | None) -> int | None:
    return None if value is None or not float(value).is_integer() else int(value)
