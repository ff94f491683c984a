"""What a terminal shows of an explanation, a line each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from zorro.elements import EDGES, FEATURES, NODES, Kind, redraws_features
from zorro.elements.space import BLOCKS
from zorro.evaluation.estimate import FidelityEstimate
from zorro.explanation.explanation import Explanation
from zorro.explanation.losses import ElementLoss
from zorro.explanation.typed import TypedMembers, counted_by_type, listed_by_type
from zorro.explanation.written import at_least, hundredths, interval, probability
from zorro.graph.names import Names, label
from zorro.search.certificate import Certificate


def summary(explanation: Explanation) -> str:
    """Return what was found in one line, as `repr` shows it."""
    e = explanation
    return (
        f"Explanation({e.query} → {e.answer}{_against(e, Names())}: {_counts(e)}, fidelity "
        f"{short_fidelity(e)}, {e.status})"
    )


def short_fidelity(explanation: Explanation) -> str:
    """Return the fidelity that was shown, or else the one that was measured with its interval."""
    bound = explanation.bound
    return interval(explanation.fidelity) if bound is None else at_least(bound)


def described(explanation: Explanation, names: Names) -> str:
    """Return all that there is to say, in the words of the data set."""
    rows = lines(explanation, names)
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def lines(explanation: Explanation, names: Names) -> list[tuple[str, str]]:
    """Return all that there is to say, each with what it is about."""
    e, p = explanation, explanation.parameters
    return [
        (e.query.kind, e.query.label),
        ("prediction", f"{_answer(e, names)}{_against(e, names)}{_how_sure(e)}"),
        ("rests on", _counts(e)),
        *((_spelled(kind), _listed_kind(e, kind, names)) for kind in e.selected),
        *([("order", _order(e.losses.samples))] if e.losses else []),
        ("fidelity", _measured(e)),
        *([("by chance", _chance(e.chance, p.tau))] if e.chance else []),
        ("status", f"{e.status} (τ = {p.tau:g}, search {p.search!r}, {_redrawn(e)})"),
        *([("but", e.caveat)] if e.caveat else []),
        *([("certificate", _shown(e, e.certificate))] if e.certificate else []),
        ("looked at", _looked_at(e)),
        (
            "took",
            f"{e.seconds:.2f} s, {e.evaluations} evaluations ({e.evaluator}"
            f"{f', since {e.evaluator_reason}' if e.evaluator_reason else ''})",
        ),
    ]


def _answer(e: Explanation, names: Names) -> str:
    is_class = e.predicted_class is not None and e.label is None
    named = label(names.classes, e.predicted_class or 0) if is_class else None
    return f"{e.answer}, {named}" if named else e.answer


def _against(e: Explanation, names: Names) -> str:
    if e.versus is None:
        return ""
    how = "rather than" if e.versus.contrast == "beats" else "or any other than"
    named = label(names.classes, e.versus.other)
    return f" {how} {named or e.versus.other}"


def _how_sure(e: Explanation) -> str:
    if e.predicted_class is not None:
        return f" (probability {probability(e.probability)})"
    least = e.least_tolerance
    return "" if least is None else f" ({least:.3g} would have been enough)"


def _counts(e: Explanation) -> str:
    """Return how many elements are kept, those of kinds that are kept together side by side."""
    blocks = ([kind for kind in block if kind in e.selected] for block in BLOCKS)
    return " and ".join(
        " × ".join(_counted(e, kind) for kind in block) for block in blocks if block
    )


def _counted(e: Explanation, kind: Kind) -> str:
    text = f"{len(e.elements(kind))} {_spelled(kind)}"
    by_type = {NODES: e.nodes, FEATURES: e.features, EDGES: e.edges}.get(kind)
    has_several = e.types is not None and len(e.types.names) > 1
    if isinstance(by_type, TypedMembers) and by_type and has_several:
        text += f" ({counted_by_type(by_type)})"
    return text


def _listed_kind(e: Explanation, kind: str, names: Names) -> str:
    """Return what is kept of a kind, each with what the fidelity changes by without it."""
    if e.types is not None:
        members = [member for members in e.ordered(kind) for member in members]
        return listed_by_type(kind, members, e.types)
    lost = {
        loss.members: f" ({hundredths(loss.value, signed=True)})" for loss in _turned(e.loss(kind))
    }
    return _listed(
        [
            f"{'+'.join(names.member(kind, member) for member in members)}{lost.get(members, '')}"
            for members in e.ordered(kind)
        ]
    )


def _turned(losses: Sequence[ElementLoss]) -> list[ElementLoss]:
    """Return losses as what the fidelity changes by."""
    return [dataclasses.replace(one, value=0.0 - one.value) for one in losses]


def _listed(texts: Sequence[str], *, most: int = 20) -> str:
    text = ", ".join(texts[:most]) or "none"
    return text if len(texts) <= most else f"{text}, … ({len(texts) - most} more)"


def _order(samples: int) -> str:
    return (
        f"by what the fidelity changes without each, on {samples} samples that the search has not "
        "seen"
    )


def _measured(e: Explanation) -> str:
    """Return what was shown of the fidelity, if anything was, and what was measured."""
    shown, seen = "", e.search_fidelity
    if e.bound is not None and e.certificate is not None:
        shown = f"{at_least(e.bound, 3)} ({1 - e.certificate.delta:.0%} confidence), estimated "
    return (
        f"{shown}{interval(e.fidelity)} on {e.fidelity.samples} held-out samples "
        f"({hundredths(seen.value)} on the {seen.samples} of the search)"
    )


def _chance(chance: FidelityEstimate, tau: float) -> str:
    return (
        f"{interval(chance)} of random inputs get this answer; the set is to add {tau:g} of what "
        "is left"
    )


def _redrawn(e: Explanation) -> str:
    """Return what happens to all that is not kept."""
    p = e.parameters
    noises = [f"noise {p.noise!r}"] if redraws_features(e.selected) else []
    return ", ".join([*noises, *filter(None, [p.other_edges])])


def _shown(e: Explanation, certificate: Certificate) -> str:
    """Return what was proved, and on what condition."""
    condition = "only while that is so, " if e.status == "conditional" else ""
    of = (
        f"{certificate.hits} of {certificate.samples} unseen samples, "
        f"attempt {certificate.attempts}"
    )
    if not certificate.certified:
        return f"{condition}none: a fidelity of {certificate.tau:g} was not shown ({of})"
    return (
        f"{condition}the fidelity is {at_least(certificate.shown, 3)} with "
        f"{1 - certificate.delta:.0%} confidence ({of})"
    )


def _looked_at(e: Explanation) -> str:
    g = e.graph
    features = g.num_features if e.types is None else e.types.num_features
    size = f"{g.candidates} nodes × {features} features"
    if EDGES in e.selected:
        size += f", {g.edge_elements} edges"
    if e.query.level == "graph":
        return f"{size}, all of the graph"
    where = "the whole graph" if g.whole else f"{g.context} nodes of context"
    near = "however far away" if g.whole and not g.context else f"within {g.hops} hops"
    return f"{size} {near}, evaluated with {where}"


def _spelled(kind: str) -> str:
    return kind.replace("_", " ")
