"""Whether explanations of wrong answers differ from those of right ones of the same classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from zorro.audit.cases import Case
from zorro.audit.permutations import adjusted_by_permutation, permute_within, standardise
from zorro.audit.setting import Labels
from zorro.audit.share import FAMILIES, SURE, Median, Numbers

FEWEST = 3  # explanations of either side that are compared
SHARES = ("probability", "predicted support", "true support", "training share")


@dataclass(frozen=True)
class Contrast:
    """A quantity of explanations of right and of wrong answers.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> found = [e for e in map(votes.explain, range(34)) if e.predicted_class == 1]
    >>> truth = {e.node: 0 if 0 in e.features else 1 for e in found}  # as if 0 misled the model
    >>> contrast = audit(found, truth=truth).contrasts[2]
    >>> contrast.quantity, contrast.right.value, contrast.wrong.value
    ('features', 1.0, 2.0)
    >>> contrast.larger, contrast.differs
    (1.0, True)

    Args:
        quantity: its name.
        right: its median where the answer is right.
        wrong: its median where the answer is wrong.
        larger: of the pairs of a wrong and a right answer of the same class, how often the wrong
            one's is larger, ties counting half.
        q_value: of there being no difference, over all quantities. The truths are dealt out anew
            among the answers of each class, and all that depends on them is counted again.
    """

    quantity: str
    right: Median
    wrong: Median
    larger: float
    q_value: float

    @property
    def differs(self) -> bool:
        """Whether there is a difference, at a false discovery rate of 5 %."""
        return self.q_value <= SURE


def contrasts_of(
    cases: Sequence[Case],
    *,
    predicted: Labels | None,
    labels: Labels | None,
    confidence: float,
) -> list[Contrast]:
    """Return what of explanations can be compared between right and wrong answers.

    Args:
        cases: all of them.
        predicted: (N,), the model's class of each node.
        labels: (N,), the true ones, in agreement with the truths of the cases.
        confidence: of the medians' intervals.
    """
    known = [case for case in cases if case.is_right is not None]
    answers = np.array([case.answer for case in known], dtype=np.int64)
    truths = np.array([case.truth for case in known], dtype=np.int64)
    is_wrong = truths != answers
    support = _TrueSupport.of(known, labels)
    values = {
        name: np.array([of(case) for case in known], dtype=np.float64)
        for name, of in _quantities(predicted).items()
    }
    values["true support"] = support.values(truths[None])[0]
    pairs = {name: _pairs(some, is_wrong, answers) for name, some in values.items()}
    compared = [name for name, (right, wrong, _) in pairs.items() if min(right, wrong) >= FEWEST]
    if not compared:
        return []
    scores = np.stack([_scores(values[name][None], answers)[0] for name in compared])  # (k, n)
    sums = []
    for rows in permute_within(answers, entries=len(known) + len(support.others)):
        dealt = truths[rows]  # (p, n)
        wrongs = (dealt != answers).astype(np.float64)
        each = wrongs @ scores.T  # (p, k)
        if "true support" in compared:  # the others' truths are dealt out with the query's
            moving = _scores(support.values(dealt), answers)
            each[:, compared.index("true support")] = (wrongs * moving).sum(axis=1)
        sums.append(each)
    found = np.concatenate(sums)
    apart = standardise(np.abs(found - found.mean(axis=0)))
    q_values = adjusted_by_permutation(apart, families=FAMILIES)
    return [
        Contrast(
            name,
            _median(values[name][~is_wrong], confidence),
            _median(values[name][is_wrong], confidence),
            0.5 + float(total) / pairs[name][2],
            float(q_value),
        )
        for name, total, q_value in zip(compared, found[0], q_values, strict=True)
    ]


def _quantities(predicted: Labels | None) -> dict[str, Callable[[Case], float]]:
    """Return what says nothing of what is true, by its name."""
    return {
        "probability": lambda case: case.probability,
        "nodes": lambda case: case.count("nodes"),
        "features": lambda case: case.count("features"),
        "edges": lambda case: case.count("edges"),
        "distance": lambda case: case.distance,
        "training share": lambda case: case.training_share,
        "predicted support": lambda case: case.support(predicted),
    }


@dataclass(frozen=True)
class _TrueSupport:
    """The share of the other kept nodes that truly are of the class that the model gives.

    A kept node may itself be a query, whose truth is dealt out too.

    Args:
        answers: (n,), of the cases.
        owners: (m,), the case of each other kept node, ascending.
        others: (m,), their true classes.
        queries: (m,), which case asks about that node, −1 where none does.
    """

    answers: NDArray[np.int64]
    owners: NDArray[np.int64]
    others: NDArray[np.int64]
    queries: NDArray[np.int64]

    @classmethod
    def of(cls, cases: Sequence[Case], labels: Labels | None) -> _TrueSupport:
        """Return the kept nodes of those cases whose true classes are all known."""
        asks = {case.explanation.query.index: at for at, case in enumerate(cases)}
        rows = [
            (at, int(labels[node]), asks.get(node, -1))
            for at, case in enumerate(cases)
            if labels is not None and not np.isnan(case.support(labels))
            for node in case.others
        ]
        answers = np.array([case.answer for case in cases], dtype=np.int64)
        return cls(answers, *np.array(rows, dtype=np.int64).reshape(-1, 3).T)

    def values(self, truths: NDArray[np.int64]) -> Numbers:
        """Return the shares (p, n) by truths (p, n) of the cases; NaN where they are not known."""
        found = np.full(truths.shape, np.nan)
        if len(self.owners):
            classes = np.where(self.queries >= 0, truths[:, self.queries], self.others)  # (p, m)
            supports = classes == self.answers[self.owners]
            # Each case's part of a row begins at its first kept node.
            at, starts, counts = np.unique(self.owners, return_index=True, return_counts=True)
            found[:, at] = np.add.reduceat(supports, starts, axis=1, dtype=np.int64) / counts
        return found


def _scores(values: Numbers, strata: NDArray[np.int64]) -> Numbers:
    """Return ranks (p, n) within strata, less their mean; 0 where a value is not known.

    Their sum over the wrong answers is Mann and Whitney's statistic of the pairs within strata,
    less half of these pairs.
    """
    found = np.zeros(values.shape)
    is_known = ~np.isnan(values[0])  # whatever is dealt out
    for stratum in np.unique(strata):
        some = np.flatnonzero((strata == stratum) & is_known)
        if len(some):
            found[:, some] = rankdata(values[:, some], axis=1) - (len(some) + 1) / 2
    return found


def _pairs(
    values: Numbers, is_wrong: NDArray[np.bool_], strata: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Return how many right and wrong answers have one of the other kind in their class; pairs."""
    right = wrong = pairs = 0
    for stratum in np.unique(strata):
        some = is_wrong[(strata == stratum) & ~np.isnan(values)]
        wrongs, rights = int(some.sum()), int((~some).sum())
        if wrongs and rights:
            right, wrong, pairs = right + rights, wrong + wrongs, pairs + rights * wrongs
    return right, wrong, pairs


def _median(values: Numbers, confidence: float) -> Median:
    return Median.of(values[~np.isnan(values)].tolist(), confidence=confidence)
