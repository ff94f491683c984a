"""A run at a glance, with how sure each number is: what a model rests on, class by class."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zorro.audit.cases import Case, cases_of, keeps_features, keeps_nodes, true_labels
from zorro.audit.contrasts import Contrast, contrasts_of
from zorro.audit.findings import Finding, findings_of
from zorro.audit.groups import Group, groups_of
from zorro.audit.mistakes import Density, TypicalFeature, density_of, typical_features
from zorro.audit.plain import plain
from zorro.audit.profile import ClassProfile, profiles_of
from zorro.audit.setting import Labels, Setting
from zorro.audit.share import Share
from zorro.audit.suspicious import Suspicion, suspicions_of
from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.graph.names import Names


@dataclass(frozen=True)
class Cell:
    """The explanations of one true and one predicted class.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> audited = audit([votes.explain(node) for node in (8, 9, 11)], truth={8: 0, 9: 1, 11: 1})
    >>> [(cell.truth, cell.predicted, cell.keys) for cell in audited.cells]
    [(0, 0, (8,)), (1, 0, (9,)), (1, 1, (11,))]

    Args:
        truth: the true class.
        predicted: the class that the model gives.
        keys: of the queries.
    """

    truth: int
    predicted: int
    keys: tuple[int, ...]


@dataclass(frozen=True)
class Audit:
    """What a model rests on, by its explanations.

    Shares have exact intervals that take explanations for independent draws; what is called more
    than chance, typical, or different, is so at a false discovery rate of 5 % over the audit.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> nodes = [8, 9, 14, 15, 18, 20, 22, 26]
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, nodes, out="runs/votes")
    >>> audited = run.audit(x=club.x, edge_index=club.edge_index, y=club.y)
    >>> audited.right
    Share(0.88 [0.47, 1.00], 7/8)
    >>> [finding.kind for finding in audited.findings]
    ['neighbours decide']

    Args:
        explanations: how many were looked at.
        certified: how many of them are certified.
        right: how many answers are right, None if that is not known.
        findings: what stands out, the gravest first.
        classes: what each class rests on.
        contrasts: right against wrong answers.
        error_features: features that are typical of wrong answers.
        densities: of the supports of right and of wrong answers: of what is kept, the share that is
            of the class that the model gives, by the model and in truth.
        suspicious: predictions that somebody should look at.
        cells: of the confusion matrix, those that hold something.
        groups: explanations that say the same.
        confidence: of the intervals.
        has_graph: whether chance is known, and kinds of nodes.
    """

    explanations: int
    certified: int
    right: Share | None
    findings: tuple[Finding, ...]
    classes: tuple[ClassProfile, ...]
    contrasts: tuple[Contrast, ...]
    error_features: tuple[TypicalFeature, ...]
    densities: Mapping[str, Density]
    suspicious: tuple[Suspicion, ...]
    cells: tuple[Cell, ...]
    groups: tuple[Group, ...]
    confidence: float
    has_graph: bool

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; shares with the ends of their intervals."""
        told: dict[str, Any] = plain(self)
        return told

    def to_json(self) -> str:
        """Return the audit as one line of JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)


def audit(
    explanations: Iterable[Explanation],
    *,
    truth: Mapping[int, float] | None = None,
    setting: Setting | None = None,
    names: Names | None = None,
    confidence: float = 0.95,
) -> Audit:
    """Return what a model rests on, by some explanations of its answers.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> audited = audit([votes.explain(node) for node in (8, 9, 11)], truth={8: 0, 9: 1, 11: 1})
    >>> audited.explanations, audited.certified, audited.right
    (3, 3, Share(0.67 [0.09, 0.99], 2/3))
    >>> [(use.what, use.share) for use in audited.classes[0].features]
    [(0, Share(1.00 [0.16, 1.00], 2/2))]

    Args:
        explanations: of one model, asked in one way.
        truth: the true classes by the queries' keys, as far as they are known.
        setting: the graph or graphs; without it chance and kinds of nodes are not known.
        names: of nodes, features and classes, for the findings.
        confidence: of the intervals.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence: expected a number between 0 and 1, got {confidence!r}")
    cases = cases_of(explanations, truth=truth, setting=setting)
    if not cases:
        raise InputError("explanations: expected at least one to audit, got none")
    classes = _by_class(cases)
    predicted = None if setting is None else setting.predicted
    labels = true_labels(cases, setting)
    known = [case.is_right for case in cases if case.is_right is not None]
    audited = Audit(
        explanations=len(cases),
        certified=sum(case.explanation.certified for case in cases),
        right=Share(sum(known), len(known), confidence) if known else None,
        findings=(),
        classes=tuple(
            profiles_of(
                classes,
                features=keeps_features(cases),
                nodes=keeps_nodes(cases),
                predicted=predicted,
                confidence=confidence,
            )
        ),
        contrasts=tuple(
            contrasts_of(cases, predicted=predicted, labels=labels, confidence=confidence)
        ),
        error_features=tuple(typical_features(cases, confidence=confidence)),
        densities=_densities(cases, predicted, labels),
        suspicious=tuple(suspicions_of(classes, predicted=predicted)),
        cells=tuple(_cells(cases)),
        groups=tuple(groups_of(classes)),
        confidence=confidence,
        has_graph=setting is not None,
    )
    found = findings_of(
        audited.classes,
        cases,
        contrasts=audited.contrasts,
        error_features=audited.error_features,
        suspicious=audited.suspicious,
        setting=setting,
        names=names or Names(),
        confidence=confidence,
    )
    return dataclasses.replace(audited, findings=tuple(found))


def _by_class(cases: Sequence[Case]) -> list[tuple[int | None, list[Case]]]:
    """Return the cases of each class that the model gives; of no classes all together."""
    classes: dict[int | None, list[Case]] = defaultdict(list)
    for case in cases:
        classes[case.answer].append(case)
    return sorted(classes.items(), key=lambda it: -1 if it[0] is None else it[0])


def _densities(
    cases: Sequence[Case], predicted: Labels | None, labels: Labels | None
) -> dict[str, Density]:
    found = {
        side: density_of(cases, predicted=predicted, labels=labels, is_right=side == "right")
        for side in ("right", "wrong")
    }
    return {side: density for side, density in found.items() if density is not None}


def _cells(cases: Sequence[Case]) -> list[Cell]:
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    for case in cases:
        if case.truth is not None and case.answer is not None:
            cells[case.truth, case.answer].append(case.key)
    return [Cell(*pair, tuple(keys)) for pair, keys in sorted(cells.items())]
