"""Whether the parts of an explanation that was read fit together.

What follows from other values is computed again: whether a certificate is one, and how far the
status may go, is told by hits and samples alone.
"""

from __future__ import annotations

import math

from zorro.elements import EDGE_ATTRIBUTES, EDGES, FEATURES, KINDS, NODES, RELATIONS, TYPES
from zorro.elements.space import BLOCKS
from zorro.explanation.explanation import Explanation
from zorro.question.options import check_parameters
from zorro.search.beyond_chance import claim_beyond
from zorro.search.certificate import certificate_of
from zorro.search.certified import MOST_ATTEMPTS

_EXPECTED = {True: "numbers", False: "edges (u, v)"}  # where a member is, or is not, an edge
_MOST_SAMPLES = 1 << 53  # beyond, computing with them is not exact
_ROUNDED = 0.05  # by which shares in half precision may be above 1
_CLOSE = 1e-9  # what was computed on another machine may differ by as much


def check_sound(explanation: Explanation) -> None:
    """Raise `ValueError` if the parts of an explanation do not fit together."""
    check_parameters(explanation.parameters, typed=explanation.types is not None)
    _check_numbers(explanation)
    _check_kinds(explanation)
    _check_answer(explanation)
    _check_ids(explanation)
    _check_estimates(explanation)
    _check_certificate(explanation)
    _check_status(explanation)
    _check_value(explanation)
    _check_losses(explanation)


def _check_kinds(e: Explanation) -> None:
    for kind, members in e.selected.items():
        if kind not in KINDS:
            raise ValueError(f"selected: expected {', '.join(KINDS)}, got {kind[:40]}")
        for member in members:
            is_edge = isinstance(member, tuple) and len(member) in (2, 3)
            if is_edge != (kind in (EDGES, EDGE_ATTRIBUTES)):
                raise ValueError(f"selected.{kind}: expected {_EXPECTED[is_edge]}, got {member}")
        if len(set(members)) < len(members):
            raise ValueError(f"selected.{kind}: expected each member once, got one twice")
    if set(e.selected) != set(e.parameters.keep):
        raise ValueError(
            f"selected: expected {', '.join(e.parameters.keep)}, got "
            f"{', '.join(e.selected) or 'nothing'}"
        )


def _check_answer(e: Explanation) -> None:
    if sum(each is not None for each in (e.predicted_class, e.value, e.ahead)) != 1:
        raise ValueError(
            "predicted_class: expected one of a class, a value and what a link is ahead of, got "
            "none or several"
        )
    classes = len(e.probabilities)
    if e.predicted_class is not None:
        if not 0 <= e.predicted_class < classes:
            raise ValueError(
                f"predicted_class: expected one of {classes} classes, got {e.predicted_class}"
            )
        if e.probability < max(e.probabilities):
            raise ValueError(
                "predicted_class: expected the most probable one, got one of probability "
                f"{e.probability:.3g}"
            )
    if e.versus is not None and (
        e.versus.other == e.predicted_class or not 0 <= e.versus.other < classes
    ):
        raise ValueError(f"versus.other: expected another class, got {e.versus.other}")


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
    shares = {
        "probabilities": e.probabilities,
        "steps.fidelity": [step.fidelity for step in e.steps],
    }
    for name, values in shares.items():
        for value in values:
            if not 0 <= value <= 1 + _ROUNDED:
                raise ValueError(f"{name}: expected numbers from 0 to 1, got {value!r:.20}")
    counts = {
        "seconds": e.seconds,
        "evaluations": e.evaluations,
        "graph.candidates": e.graph.candidates,
        "graph.context": e.graph.context,
    }
    for name, count in counts.items():
        if not 0 <= count < math.inf:
            raise ValueError(f"{name}: expected a number from 0, got {count!r:.20}")


def _check_estimates(e: Explanation) -> None:
    estimates = {"fidelity": e.fidelity, "search_fidelity": e.search_fidelity}
    if (e.chance is not None) != e.parameters.beyond_chance:
        raise ValueError("chance: expected one exactly with beyond_chance, got the contrary")
    if e.chance is not None:
        estimates["chance"] = e.chance
    for name, part in estimates.items():
        _check_counts(name, part.hits, part.samples)
        if part.samples < 1:
            raise ValueError(f"{name}: expected hits of samples, got {part.hits!r:.20} of none")
        if part.confidence != e.parameters.confidence:
            raise ValueError(
                f"{name}.confidence: expected {e.parameters.confidence}, got {part.confidence}"
            )


def _check_counts(name: str, hits: int, samples: int) -> None:
    if not 0 <= hits <= samples <= _MOST_SAMPLES:
        raise ValueError(f"{name}: expected hits of samples, got {hits!r:.20} of {samples!r:.20}")


def _check_certificate(e: Explanation) -> None:
    """Compute again what a certificate says of its hits."""
    c, p = e.certificate, e.parameters
    if (c is not None) != (p.search == "guided" and p.delta is not None):
        which = "one, by delta, got none" if c is None else "none, by search and delta, got one"
        raise ValueError(f"certificate: expected {which}")
    if c is None or p.delta is None:
        return
    tau, delta = p.tau, p.delta
    if e.chance is not None:
        tau, left = claim_beyond(e.chance, tau, delta)
        delta = delta if left is None else left
    _check_counts("certificate", c.hits, c.samples)
    if not 0 < c.attempts <= MOST_ATTEMPTS and (c.samples, c.attempts) != (0, 0):
        raise ValueError(
            f"certificate.attempts: expected 1 to {MOST_ATTEMPTS}, got {c.attempts!r:.20}"
        )
    again = certificate_of(tau, delta, hits=c.hits, samples=c.samples, attempts=c.attempts)
    of = f"of {c.hits} hits of {c.samples}"
    for name, got, expected in (
        ("tau", c.tau, tau),
        ("delta", c.delta, p.delta),
        ("bound", c.bound, again.bound),
    ):
        if not abs(got - expected) <= _CLOSE:
            raise ValueError(f"certificate.{name}: expected {expected:.4g} {of}, got {got:.4g}")
    if c.certified != again.certified:
        raise ValueError(
            f"certificate.certified: expected {again.certified} {of}, got {c.certified}"
        )


def _check_status(e: Explanation) -> None:
    """Compare the status with what was shown, of how much, and on what condition."""
    without = e.certificate is None
    expected = [_status_of_set(e)]
    if e.certificate is not None and not e.certificate.certified:
        expected = ["budget exhausted"]
    elif e.graph.context_matters or (e.caveat is not None and not without):
        expected = ["conditional"]
    if without:  # then nothing tells whether a limit has ended the search
        expected.append("budget exhausted")
    if e.status not in expected:
        raise ValueError(f"status: expected {' or '.join(map(repr, expected))}, got {e.status!r}")


def _status_of_set(e: Explanation) -> str:
    """Return the status of a set that was shown, or reached, to be enough."""
    if _is_blank(e):
        return "nothing needed"
    features = e.graph.num_features if e.types is None else e.types.num_features
    sizes: dict[str, int | None] = {
        TYPES: 0 if e.types is None else len(e.types.names),
        NODES: e.graph.candidates,
        FEATURES: features,
        RELATIONS: 0 if e.types is None else len(e.types.joined),
        EDGES: e.graph.edge_elements,
        EDGE_ATTRIBUTES: e.graph.edge_elements,
    }
    if all(len(members) == sizes[kind] for kind, members in e.selected.items()):
        return "everything needed"
    return "reached" if e.certificate is None else "certified"


def _is_blank(e: Explanation) -> bool:
    """Whether a set keeps no entry of any block of the input, see `Selection.is_blank`."""
    rows_suffice = e.types is not None and e.graph.num_features > e.types.num_features
    for block in BLOCKS:
        kinds = [kind for kind in block if kind in e.selected]
        if rows_suffice and kinds != [FEATURES]:
            kinds = [kind for kind in kinds if kind != FEATURES]
        if kinds and all(e.selected[kind] for kind in kinds):
            return False
    return True


def _check_value(e: Explanation) -> None:
    if e.value is None:
        return
    values = {"value": e.value.value, "tolerance": e.value.tolerance}
    least = e.value.least_tolerance
    if least is not None:
        values["least_tolerance"] = least
    for name, value in values.items():
        if not math.isfinite(value) or (name != "value" and value < 0):
            raise ValueError(f"value.{name}: expected a finite number from 0, got {value}")


def _check_losses(e: Explanation) -> None:
    if e.losses is None:
        return
    samples, misses = e.losses.samples, e.fidelity.samples - e.fidelity.hits
    if e.losses.confidence != e.parameters.confidence:
        raise ValueError(
            f"losses.confidence: expected {e.parameters.confidence}, got {e.losses.confidence}"
        )
    if set(e.losses.of) != set(e.selected):
        raise ValueError(f"losses.of: expected {', '.join(e.selected)}, got other kinds")
    for kind, losses in e.losses.of.items():
        for loss in losses:
            if min(loss.broken, loss.mended) < 0:
                raise ValueError(f"losses.of.{kind}: expected counts from 0, got less")
            _check_counts(f"losses.of.{kind}", loss.broken + loss.mended, samples)
            if loss.broken > e.fidelity.hits or loss.mended > misses:
                raise ValueError(f"losses.of.{kind}: expected no more than the set has, got more")
        worth = [loss.broken - loss.mended for loss in losses]
        if worth != sorted(worth, reverse=True):
            raise ValueError(f"losses.of.{kind}: expected the largest first, got another order")
        if {frozenset(loss.members) for loss in losses} != set(map(frozenset, e.elements(kind))):
            raise ValueError(f"losses.of.{kind}: expected those of the set, got of others")
