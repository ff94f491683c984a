"""Outcomes as rows of a table: one per query, lists where there are several values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from zorro.elements import EDGE_ATTRIBUTES, EDGES, FEATURES, NODES, RELATIONS, TYPES
from zorro.explanation import Explanation
from zorro.question import About, Level
from zorro.question.query import NUMBERS
from zorro.runs.store import DamagedRow
from zorro.runs.task import Outcome

# What they hold; before them stand the numbers that tell a query, after them what only some have.
_OTHERS: dict[str, str] = {
    "level": "text",
    "status": "text",
    "caveat": "text",
    "predicted_class": "integer",
    "probability": "number",
    "label": "integer",
    "value": "number",
    "tolerance": "number",
    "least_tolerance": "number",
    "nodes": "integers",
    "features": "integers",
    "edges": "texts",
    "edge_attributes": "texts",
    "edge_presence": "number",
    "fidelity": "number",
    "fidelity_lower": "number",
    "fidelity_upper": "number",
    "fidelity_samples": "integer",
    "search_fidelity": "number",
    "certified": "truth",
    "bound": "number",
    "attempts": "integer",
    "certificate_samples": "integer",
    "tau": "number",
    "delta": "number",
    "search": "text",
    "noise": "text",
    "seed": "integer",
    "why_not": "integer",
    "contrast": "text",
    "chance": "number",
    "probabilities": "numbers",
    "candidates": "integer",
    "context": "integer",
    "hops": "integer",
    "evaluator": "text",
    "evaluations": "integer",
    "version": "text",
    "error": "text",
    "seconds": "number",
}
# With which other ends a link was compared, and among how many of the first it was to stay.
_FURTHER: dict[Level, dict[str, str]] = {
    "node": {},
    "graph": {},
    "link": {"rivals": "integers", "top": "integer"},
}
# Where there are several types, members are told with theirs.
_OF_SEVERAL_TYPES = {
    "type": "text",
    "nodes": "texts",
    "features": "texts",
    "types": "texts",
    "relations": "texts",
}
DAMAGED = "damaged"  # the status of a row that cannot be read


def columns(about: About, *, typed: bool = False) -> dict[str, str]:
    """Return the columns of a run about such queries, and what they hold.

    Args:
        about: what the queries are.
        typed: whether there are several types of nodes.
    """
    numbers = dict.fromkeys(NUMBERS[about.level], "integer")
    several = _OF_SEVERAL_TYPES if typed else {}
    return {**numbers, **_OTHERS, **_FURTHER[about.level], **several}


def flat_rows(
    rows: Iterable[tuple[Outcome | None, object]], about: About, *, typed: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield a flat row for each of `Run.stored_rows`; what a failed one does not have is None."""
    for outcome, meant in rows:
        row: dict[str, Any] = {**dict.fromkeys(columns(about, typed=typed)), "level": about.level}
        if typed:
            row["type"] = about.kind
        if outcome is None:
            assert isinstance(meant, DamagedRow)
            yield row | {
                **_told(about, meant.key),
                "status": DAMAGED,
                "certified": False,
                "error": meant.reason,
            }
            continue
        row |= {
            **_told(about, outcome.query.key),
            "status": outcome.status,
            "certified": outcome.certified,
            "error": outcome.error,
            "seconds": outcome.seconds,
        }
        if isinstance(meant, Explanation):
            row |= _flat(meant)
            row |= _typed(meant) if typed else {}
            row |= {name: value for name, value in _compared(meant).items() if name in row}
        yield row


def _told(about: About, key: int | None) -> dict[str, Any]:
    """Return the numbers that tell the query of a key; none if no query has it."""
    try:
        return {} if key is None else {**about.of_key(key).numbers}
    except ValueError:
        return {}


def _typed(explanation: Explanation) -> dict[str, Any]:
    """Return members by what they are called where there are several types."""
    return {kind: explanation.called(kind) for kind in (NODES, FEATURES, TYPES, RELATIONS, EDGES)}


def _compared(explanation: Explanation) -> dict[str, Any]:
    """Return with what a link was compared."""
    ahead = explanation.ahead
    return {
        "rivals": list(explanation.query.rivals),
        "top": None if ahead is None else ahead.top,
    }


def _flat(explanation: Explanation) -> dict[str, Any]:
    p, graph, fidelity = explanation.parameters, explanation.graph, explanation.fidelity
    certificate, versus = explanation.certificate, explanation.versus
    value = explanation.value
    return {
        "caveat": explanation.caveat,
        "predicted_class": explanation.predicted_class,
        "probability": None if explanation.predicted_class is None else explanation.probability,
        "label": explanation.label,
        "value": None if value is None else value.value,
        "tolerance": None if value is None else value.tolerance,
        "least_tolerance": None if value is None else value.least_tolerance,
        "nodes": list(explanation.nodes),
        "features": list(explanation.features),
        **{kind: _edges(explanation, kind) for kind in (EDGES, EDGE_ATTRIBUTES)},
        "edge_presence": p.edge_presence,
        "fidelity": fidelity.value,
        "fidelity_lower": fidelity.lower,
        "fidelity_upper": fidelity.upper,
        "fidelity_samples": fidelity.samples,
        "search_fidelity": explanation.search_fidelity.value,
        "bound": None if certificate is None else certificate.bound,
        "attempts": None if certificate is None else certificate.attempts,
        "certificate_samples": None if certificate is None else certificate.samples,
        "tau": p.tau,
        "delta": p.delta,
        "search": p.search,
        "noise": p.noise,
        "seed": p.seed,
        "why_not": None if versus is None else versus.other,
        "contrast": None if versus is None else versus.contrast,
        "chance": None if explanation.chance is None else explanation.chance.value,
        "probabilities": list(explanation.probabilities),
        "candidates": graph.candidates,
        "context": graph.context,
        "hops": graph.hops,
        "evaluator": explanation.evaluator,
        "evaluations": explanation.evaluations,
        "version": explanation.version,
    }


def _edges(explanation: Explanation, kind: str) -> list[str] | None:
    """Return the edges that are kept: 3-7, or 3-7-1 for one of several; None if all are."""
    if kind not in explanation.selected:
        return None
    edges = (edge for edge in explanation.selected[kind] if isinstance(edge, tuple))
    return ["-".join(map(str, edge)) for edge in edges]
