"""Whether the parts of an explanation that was read fit together."""

from __future__ import annotations

import math

from zorro.elements import EDGE_ATTRIBUTES, EDGES, KINDS
from zorro.explanation.explanation import Explanation

_EXPECTED = {True: "numbers", False: "edges (u, v)"}  # where a member is, or is not, an edge


def check_sound(explanation: Explanation) -> None:
    """Raise `ValueError` if the parts of an explanation do not fit together."""
    _check_kinds(explanation)
    _check_answer(explanation)
    _check_ids(explanation)
    _check_numbers(explanation)
    if explanation.status == "certified" and not explanation.certified:
        raise ValueError("status: expected a certificate with 'certified', got none")


def _check_kinds(e: Explanation) -> None:
    for kind, members in e.selected.items():
        if kind not in KINDS:
            raise ValueError(f"selected: expected {', '.join(KINDS)}, got {kind[:40]}")
        for member in members:
            is_edge = isinstance(member, tuple) and len(member) in (2, 3)
            if is_edge != (kind in (EDGES, EDGE_ATTRIBUTES)):
                raise ValueError(f"selected.{kind}: expected {_EXPECTED[is_edge]}, got {member}")


def _check_answer(e: Explanation) -> None:
    if sum(each is not None for each in (e.predicted_class, e.value, e.ahead)) != 1:
        raise ValueError(
            "predicted_class: expected one of a class, a value and what a link is ahead of, got "
            "none or several"
        )
    if e.predicted_class is not None and not 0 <= e.predicted_class < len(e.probabilities):
        raise ValueError(
            f"predicted_class: expected one of {len(e.probabilities)} classes, got "
            f"{e.predicted_class}"
        )


def _check_ids(e: Explanation) -> None:
    nodes, features = e.graph.num_nodes, e.graph.num_features
    for name, numbers, size in (
        ("query", e.query.seeds, nodes),
        ("nodes", e.nodes, nodes),
        ("features", e.features, features),
        ("edges", [end for edge in e.edges for end in edge[:2]], nodes),
    ):
        if numbers and not 0 <= min(numbers) <= max(numbers) < size:
            raise ValueError(
                f"{name}: expected ids from 0 to {size - 1}, got {min(numbers)} to {max(numbers)}"
            )


def _check_numbers(e: Explanation) -> None:
    for name, part in (("fidelity", e.fidelity), ("search_fidelity", e.search_fidelity)):
        if not 0 <= part.hits <= part.samples or part.samples < 1:
            raise ValueError(f"{name}: expected hits of samples, got {part.hits} of {part.samples}")
        if not 0 < part.confidence < 1:
            raise ValueError(f"{name}: expected a confidence below 1, got {part.confidence}")
    reals = [*e.probabilities, e.seconds, e.parameters.tau, *(s.fidelity for s in e.steps)]
    if e.value is not None:
        reals += [e.value.value, e.value.tolerance, e.value.least_tolerance or 0.0]
    if e.certificate is not None:
        reals += [e.certificate.bound, e.certificate.delta]
    if not all(map(math.isfinite, reals)):
        raise ValueError("numbers: expected finite ones, got some that are not")
