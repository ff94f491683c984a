"""The facts of an explanation that its sentence is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zorro.elements import EDGES, FEATURES, NODES, RELATIONS, TYPES, Kind
from zorro.elements.edges import Member
from zorro.explanation.explanation import Explanation
from zorro.explanation.sentence import Claim
from zorro.explanation.typed import TypedMembers, counted_in_words


def claim_of(explanation: Explanation) -> Claim:
    """Return what an explanation claims, and what may be said of that."""
    e, certificate, value, versus = (
        explanation,
        explanation.certificate,
        explanation.value,
        explanation.versus,
    )
    return Claim(
        query=e.query,
        predicted_class=e.predicted_class,
        probability=None if e.predicted_class is None else e.probability,
        kept={kind: len(e.elements(kind)) for kind in e.selected},
        rows_suffice=_rows_suffice(e),
        counted=_told_by_type(e),
        status=e.status,
        tau=e.parameters.tau,
        shown=certificate.tau if certificate else e.parameters.tau,
        sure=1 - certificate.delta if certificate and certificate.certified else None,
        fidelity=e.fidelity,
        other=versus.other if versus else None,
        contrast=versus.contrast if versus else None,
        caveat=e.caveat,
        chance=e.chance,
        value=value.value if value else None,
        tolerance=value.tolerance if value else None,
        side=value.side if value else None,
        label=e.label,
        answer=e.answer,
        weightiest=_weightiest(e),
        without_itself=_is_without_itself(e),
    )


def _weightiest(e: Explanation) -> tuple[tuple[str, tuple[Member, ...], float], ...]:
    """Return of each kind the element without which most is surely lost, and how much."""
    if e.types is not None:
        return ()
    first = [(kind, loss) for kind in e.selected for loss in e.loss(kind)[:1]]
    first.sort(key=lambda one: -one[1].value)
    return tuple((kind, one.members, one.value) for kind, one in first if one.lower > 0)


def _is_without_itself(e: Explanation) -> bool:
    """Whether nodes are kept, and not the one that was asked about."""
    return e.query.level == "node" and bool(e.nodes) and (e.query.index not in e.nodes)


def _told_by_type(e: Explanation) -> dict[str, str]:
    """Return what is kept of each kind in words, where there are several types."""
    if e.types is None or len(e.types.names) < 2:
        return {}
    told: dict[str, str] = {}
    if TYPES in e.selected:
        told[TYPES] = f"all {' and '.join(e.node_types)} nodes"
    if RELATIONS in e.selected:
        told[RELATIONS] = f"all edges {' and '.join(e.called(RELATIONS))}"
    by_type: dict[Kind, Sequence[Any]] = {NODES: e.nodes, FEATURES: e.features, EDGES: e.edges}
    for kind, members in by_type.items():
        if members and isinstance(members, TypedMembers):
            told[kind] = counted_in_words(kind, members)
    return told


def _rows_suffice(e: Explanation) -> bool:
    """Whether a kept node keeps something of itself though no feature is kept."""
    return e.types is not None and e.graph.num_features > e.types.num_features
