"""Explanations as earlier versions wrote them, brought up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMAT = 5  # what is written now; what has no number is of the first


def up_to_date(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain values of an explanation in today's format, without its number.

    Raises `ValueError` for a format that is not known.
    """
    rest = dict(values)
    written = rest.pop("format", 1)
    if written == 1:
        return _from_the_first(rest)
    # Of the second all answers are classes, up to the third there is one type, and up to the fourth
    # nothing is said of single elements: left out.
    if written not in (2, 3, 4, FORMAT):
        raise ValueError(f"format: expected 1 to {FORMAT}, got {str(written)[:40]}")
    return rest


def _from_the_first(values: dict[str, Any]) -> dict[str, Any]:
    """Nodes and features stood side by side then, and every query was a node."""
    for name in ("node", "nodes", "features", "steps"):
        if name not in values:
            raise ValueError(f"{name} is missing")
    node, nodes, features, steps = (
        values.pop(name) for name in ("node", "nodes", "features", "steps")
    )
    if not isinstance(steps, list | tuple):
        raise ValueError(f"steps: expected a list, got {type(steps).__name__}")
    return {
        **values,
        "query": {"level": "node", "index": node},
        "selected": {"nodes": nodes, "features": features},
        "steps": [_step(step) for step in steps],
    }


def _step(step: Any) -> Any:
    if not isinstance(step, Mapping) or not {"node", "feature"} <= step.keys():
        return step
    rest = dict(step)
    node, feature = rest.pop("node"), rest.pop("feature")
    kind = "nodes" if node is not None else None if feature is None else "features"
    member = feature if node is None else node
    return {"kind": kind, "members": [] if member is None else [member], **rest}
