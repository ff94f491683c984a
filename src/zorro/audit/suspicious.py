"""Predictions that somebody should look at, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, get_args

from zorro.audit.cases import Case
from zorro.audit.setting import Labels

Reason = Literal[
    "confident and wrong",
    "nothing needed",
    "other class",
    "single feature",
    "far larger",
    "not certified",
]
REASONS: tuple[Reason, ...] = get_args(Reason)  # the gravest first
CONFIDENT = 0.9
TIMES_THE_MEDIAN = 3
_FEWEST_OTHERS = 2  # kept nodes besides the query's of which most are of another class


@dataclass(frozen=True)
class Suspicion:
    """A prediction that somebody should look at.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> found = [votes.explain(node) for node in (8, 11, 32)]
    >>> for suspicion in audit(found, truth={8: 0, 11: 1, 32: 1}).suspicious:
    ...     print(suspicion.key, suspicion.reasons)
    32 ('confident and wrong', 'single feature')
    8 ('single feature',)

    Args:
        key: of the query.
        reasons: the gravest first.
    """

    key: int
    reasons: tuple[Reason, ...]


def suspicions_of(
    classes: Sequence[tuple[int | None, Sequence[Case]]], *, predicted: Labels | None
) -> list[Suspicion]:
    """Return suspicious predictions: those with the most reasons first, then the gravest.

    Args:
        classes: each with its cases.
        predicted: (N,), the model's class of each node.
    """
    every = [case for _, cases in classes for case in cases]
    medians = {answer: median(case.size for case in cases) for answer, cases in classes if cases}
    asks_for_proof = any(case.explanation.certificate is not None for case in every)
    tests: Mapping[Reason, Callable[[Case], bool]] = {
        "confident and wrong": lambda case: (
            case.is_right is False and case.probability >= CONFIDENT
        ),
        "nothing needed": lambda case: case.explanation.status == "nothing needed",
        "other class": lambda case: (
            len(case.others) >= _FEWEST_OTHERS and case.support(predicted) < 0.5
        ),
        "single feature": lambda case: len(case.features) == 1,
        "far larger": lambda case: (
            # Where most need nothing, everything would be far more than that.
            case.size > TIMES_THE_MEDIAN * max(1, medians[case.answer])
        ),
        "not certified": lambda case: asks_for_proof and not case.explanation.certified,
    }
    found = [
        Suspicion(case.key, tuple(reason for reason in REASONS if tests[reason](case)))
        for case in every
    ]
    place = {reason: at for at, reason in enumerate(REASONS)}
    return sorted(
        (one for one in found if one.reasons),
        key=lambda one: (-len(one.reasons), [place[r] for r in one.reasons], one.key),
    )
