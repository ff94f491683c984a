"""What the explanations of one class rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from zorro.audit.cases import Case
from zorro.audit.setting import Labels
from zorro.audit.share import Share
from zorro.audit.uses import Use, feature_uses, kind_uses, node_uses


@dataclass(frozen=True)
class ClassProfile:
    """What the explanations of one class rest on.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import audit
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> profile = audit([votes.explain(node) for node in (8, 14, 15, 18)]).classes[0]
    >>> profile.answer, profile.keys, profile.sizes
    (0, (8, 14, 15, 18), {'nodes': 1.0, 'features': 1.0})
    >>> [(use.what, use.share.count) for use in profile.nodes]
    [(33, 4), (32, 1)]

    Args:
        answer: the class that the model gives, None if its answers are no classes.
        keys: of the queries.
        right: how many of these answers are right, None if that is not known.
        sizes: the median number of elements of each kind.
        features: those that are kept most often.
        nodes: the nodes that are kept most often besides those that are asked about.
        kinds: how often a node of each kind is kept.
    """

    answer: int | None
    keys: tuple[int, ...]
    right: Share | None
    sizes: dict[str, float]
    features: tuple[Use, ...]
    nodes: tuple[Use, ...]
    kinds: tuple[Use, ...]


def profiles_of(
    classes: Sequence[tuple[int | None, Sequence[Case]]],
    *,
    features: bool,
    nodes: bool,
    predicted: Labels | None,
    confidence: float,
) -> list[ClassProfile]:
    """Return what each class rests on.

    Args:
        classes: each with its cases.
        features: whether sets are of features.
        nodes: whether sets are of nodes that mean the same in each of them.
        predicted: (N,), the model's class of each node.
        confidence: of the intervals.
    """
    none: list[list[Use]] = [[] for _ in classes]
    one_graph = all(case.explanation.query.level != "graph" for _, cs in classes for case in cs)
    return [
        ClassProfile(
            answer,
            tuple(case.key for case in cases),
            _right(cases, confidence),
            _sizes(cases),
            tuple(of_features),
            tuple(of_nodes),
            tuple(of_kinds),
        )
        for (answer, cases), of_features, of_nodes, of_kinds in zip(
            classes,
            feature_uses(classes, confidence=confidence) if features else none,
            node_uses(classes, confidence=confidence) if nodes and one_graph else none,
            kind_uses(classes, predicted=predicted, confidence=confidence) if nodes else none,
            strict=True,
        )
    ]


def _right(cases: Sequence[Case], confidence: float) -> Share | None:
    known = [case.is_right for case in cases if case.is_right is not None]
    return Share(sum(known), len(known), confidence) if known else None


def _sizes(cases: Sequence[Case]) -> dict[str, float]:
    kinds = dict.fromkeys(kind for case in cases for kind in case.explanation.selected)
    return {
        kind: float(median(len(case.explanation.elements(kind)) for case in cases))
        for kind in kinds
    }
