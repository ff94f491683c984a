"""A run as plain data for the front end: a summary, a row per explanation, and its details.

The parts stand alone, so that a page can hold all of them or ask for details one by one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zorro.elements import (
    EDGE_ATTRIBUTES,
    EDGES,
    FEATURES,
    KEPT,
    KINDS,
    NODES,
    Kind,
    drops_edges,
    redraws_features,
)
from zorro.elements.edges import Member
from zorro.evaluation import FidelityEstimate
from zorro.explanation import Explanation, Step
from zorro.explanation.sentence import phrases
from zorro.graph.names import Labels, counted, label
from zorro.question import About, Query
from zorro.runs import Run
from zorro.show.kept_edges import KeptEdges
from zorro.show.page import answers, contents
from zorro.show.page.address import Address, address_of, edge_address, edge_at
from zorro.show.page.contents import Contents
from zorro.show.page.view import Elements, View, group_name, significant
from zorro.show.scene import Scene

Plain = dict[str, Any]
Id = int | str  # of a node or a feature its number, of an edge its address
Alternatives = Mapping[int, Sequence[Explanation]]

_SIZES = ("graphs", "nodes", "features", "edges")
_MOST_STEPS = 600


def of_run(run: Run, view: View, *, alternatives: Alternatives | None = None) -> Plain:
    """Return everything that the report of a run shows."""
    held = contents.read(run)
    others = alternatives or {}
    details = {
        str(address_of(e.query)): detail(e, view, others.get(e.query.key, ()))
        for e in held.explanations
    }
    return {
        "summary": summary(run, held, view),
        "rows": [row(e, view) for e in held.explanations],
        "details": details,
        "failures": failures(held),
        "unreadable": unreadable(held, run.about),
        "labels": labels(view, details.values()),
    }


def summary(run: Run, held: Contents, view: View) -> Plain:
    """Return what was asked, of what, and what came of it in numbers: of what can be read."""
    explanations = held.explanations
    manifest = run.manifest
    parameters = manifest["parameters"]
    measured = [e.fidelity.samples for e in explanations]
    judged = [(e, view.truth(e.query)) for e in explanations]
    return {
        "subject": manifest["asked"].get("subject") or manifest["model"]["class"],
        "asked": run.asked,
        "added": run.added,
        "explained": len(explanations),
        "certified": sum(e.certified for e in explanations),
        "failed": len(held.failures),
        "kept": kinds_of(run),
        "medians": {
            kind: _median(len(e.elements(kind)) for e in explanations) for kind in kinds_of(run)
        },
        "medianSize": _median(e.graph.num_nodes for e in explanations),
        "medianEdges": _median(e.graph.edge_elements or 0 for e in explanations),
        "otherEdges": other_edges(explanations[0]) if explanations else None,
        "answers": view.answers.summary(judged),
        "tau": parameters["tau"],
        "delta": parameters.get("delta"),
        "search": parameters["search"],
        "noise": parameters["noise"],
        "seed": parameters["seed"],
        "samples": parameters["samples"],
        "unseenSamples": sorted({min(measured), max(measured)}) if measured else [],
        "whyNot": _other(parameters.get("why_not")),
        "contrast": parameters.get("contrast"),
        "data": {name: manifest["data"].get(name) for name in _SIZES},
        "model": manifest["model"]["class"],
        "digests": {part: manifest[part]["sha256"] for part in ("data", "model")},
        "versions": manifest["versions"],
        "made": manifest["made"]["at"],
        "hasGraph": view.has_graph,
        "hasTruth": any(truth is not None for _, truth in judged),
    }


def _other(why_not: int | Sequence[int] | None) -> Address | None:
    """Return what answers were asked against, as it is told in addresses: a class, or a link."""
    return "-".join(map(str, why_not)) if isinstance(why_not, Sequence) else why_not


def row(explanation: Explanation, view: View) -> Plain:
    """Return what the table shows of an explanation."""
    e = explanation
    return {
        "query": address_of(e.query),
        **answers.row(e),
        "truth": view.truth(e.query),
        **{kind: _count(e, kind) for kind in KINDS},
        "bound": None if e.bound is None else answers.precise(e.bound),
        "fidelity": answers.precise(e.fidelity.value),
        "status": e.status,
        "certified": e.certified,
    }


def failures(held: Contents) -> list[Plain]:
    """Return the queries that could not be explained, and why."""
    return [
        {"query": address_of(failure.query), "error": failure.error} for failure in held.failures
    ]


def unreadable(held: Contents, about: About) -> list[Plain]:
    """Return the rows that cannot be read, and why."""
    return [
        {"position": one.position, "query": _told(about, one.key), "reason": one.reason}
        for one in held.damaged
    ]


def _told(about: About, key: int | None) -> Address | None:
    """Return the address of the query that has a key, None if none has."""
    try:
        return None if key is None else address_of(about.of_key(key))
    except ValueError:
        return None


def detail(
    explanation: Explanation,
    view: View,
    alternatives: Sequence[Explanation] = (),
    *,
    drawn: bool = True,
) -> Plain:
    """Return what is shown of an explanation when it is opened.

    Args:
        explanation: that is shown.
        view: what it lies in.
        alternatives: further explanations of the same query.
        drawn: whether with its drawing and its values.
    """
    e, query = explanation, explanation.query
    scene = None
    if drawn:
        scene = view.scene(query, e.nodes, hops=e.graph.hops, edges=KeptEdges.of(e))
    context = None if e.graph.whole else e.graph.context
    other = None if e.versus is None else e.versus.other
    return {
        "sentence": [[piece, int(stressed)] for piece, stressed in phrases(e.claim, view.names)],
        **{kind: members_of(e, kind) for kind in KINDS},
        "losses": _losses(e),
        "directed": e.graph.directed,
        "otherEdges": other_edges(e),
        "rowsSuffice": e.claim.rows_suffice,
        "values": values(
            query,
            [_node(members) for members in e.ordered(NODES)] if NODES in e.selected else None,
            _columns(e) if FEATURES in e.selected else None,
            view,
        )
        if drawn and redraws_features(e.selected)
        else None,
        "kinds": view.kinds_of_all(query),
        "fidelity": measured(e.fidelity),
        "bound": None if e.bound is None else answers.precise(e.bound),
        "attempts": None if e.certificate is None else e.certificate.attempts,
        "tau": e.parameters.tau,
        "steps": [_step(step) for step in e.steps[:_MOST_STEPS]],
        "probabilities": answers.likeliest(e.probabilities, against=other),
        "versus": e.versus and {"other": e.versus.other, "contrast": e.versus.contrast},
        "scene": None if scene is None else drawing(query, scene, view),
        "lookedAt": _edges_between(e)
        + view.looked_at(candidates=e.graph.candidates, context=context, hops=e.graph.hops),
        "seconds": significant(e.seconds),
        "evaluations": e.evaluations,
        "evaluator": e.evaluator,
        "alternatives": [_alternative(other) for other in alternatives if not _same(other, e)],
    }


def labels(
    view: View,
    details: Iterable[Plain],
    *,
    further: Mapping[str, Iterable[int]] | None = None,
) -> Plain:
    """Return what things are called; of nodes and features only those that are shown.

    Args:
        view: that know their names.
        details: of explanations, which are shown.
        further: nodes and features that are shown besides.
    """
    names = view.names
    shown: dict[str, set[int]] = {kind: set((further or {}).get(kind, ())) for kind in KEPT}
    for one in details:
        for held in (one, *one["alternatives"]):
            for kind in KEPT:
                shown[kind].update(held[kind] or ())
            for kind in (EDGES, EDGE_ATTRIBUTES):
                for edge in held.get(kind) or ():
                    shown[NODES].update(edge_at(edge)[:2])
        for kind, member, *_ in one.get("steps", ()):  # what was taken out again is told too
            if kind in ("node", "feature"):
                shown[f"{kind}s"].add(member)
            elif kind in ("edge", "edge_attribute"):
                shown[NODES].update(edge_at(member)[:2])
        if one["values"] is not None:
            shown[FEATURES].update(one["values"]["features"])
        if one["scene"] is not None:
            shown[NODES].update(node[0] for node in one["scene"]["nodes"])
    kinds, classes = view.kinds, view.answers.class_names(names)
    return {
        "types": types_told(view),
        "level": view.level,
        "answer": view.answers.kind,
        "node": names.node,
        "feature": names.feature,
        "graph": names.graph,
        "classes": {str(number): text for number, text in _pairs(classes)},
        "nodes": _named(names.nodes, shown[NODES]),
        "features": {**_named(names.features, shown[FEATURES]), **_groups(view)},
        "colours": list(view.class_colours),
        "kinds": {
            "names": {str(number): text for number, text in _pairs(kinds.names)},
            "colours": list(kinds.colours),
            "areAtoms": kinds.are_atoms,
            "areTypes": kinds.are_types,
        },
    }


def types_told(view: View) -> Plain | None:
    """Return the types of nodes with the number of each one's first, and the relations."""
    types = view.types
    if types is None:
        return None
    each = zip(types.names, types.first_nodes, types.nodes, strict=True)
    return {
        "nodes": [{"name": name, "first": first, "count": one.count} for name, first, one in each],
        "relations": [list(types.relation_of(place)) for place in range(len(types.joined))],
        "target": view.target,
    }


def _pairs(named: Labels) -> Iterable[tuple[int, str]]:
    return named.items() if isinstance(named, Mapping) else enumerate(named)


def _groups(view: View) -> dict[str, str]:
    """Return the names of groups of features, by their first."""
    groups = [sorted(members) for members in view.groups if len(members) > 1]
    return {str(group[0]): group_name(group, view.names) for group in groups}


def _named(given: Any, numbers: set[int]) -> dict[str, str]:
    named = ((number, label(given, number)) for number in sorted(numbers))
    return {str(number): text for number, text in named if text is not None}


def kinds_of(run: Run) -> list[Kind]:
    """Return the kinds that a run's sets are of."""
    asked = run.manifest["parameters"].get("keep", KEPT)
    return [kind for kind in KINDS if kind in asked]


def members_of(explanation: Explanation, kind: Kind) -> list[Id] | None:
    """Return what is kept of a kind, a group of features by its first; None if all is."""
    if kind not in explanation.selected:
        return None
    return [_id(members[0]) for members in explanation.ordered(kind)]


def _node(members: tuple[Member, ...]) -> int:
    (node,) = members
    assert isinstance(node, int)
    return node


def _columns(explanation: Explanation) -> list[list[int]]:
    """Return the columns of each feature that is kept, that first without which most is lost."""
    return [
        [column for column in members if isinstance(column, int)]
        for members in explanation.ordered(FEATURES)
    ]


def _losses(explanation: Explanation) -> Plain | None:
    """Return what is lost without each element, in the order in which `members_of` has them."""
    if explanation.losses is None:
        return None
    return {
        "samples": explanation.losses.samples,
        "confidence": explanation.losses.confidence,
        **{
            kind: [
                [
                    answers.precise(loss.value),
                    answers.precise(loss.lower),
                    answers.precise(loss.upper),
                ]
                for loss in explanation.loss(kind)
            ]
            for kind in explanation.selected
        },
    }


def _id(member: Member) -> Id:
    return edge_address(member) if isinstance(member, tuple) else member


def other_edges(explanation: Explanation) -> Plain | None:
    """Return what happens to edges that are not kept, None where all are.

    They are present with a probability, as edges or as messages only; or they exchange ends.
    """
    p = explanation.parameters
    if not drops_edges(explanation.selected):
        return None
    return {"presence": p.edge_presence, "effect": p.edge_effect}


def _edges_between(explanation: Explanation) -> str:
    """Say how many edges could be kept, in front of between which nodes."""
    count = explanation.graph.edge_elements
    return "" if count is None else f"{counted(count, 'edge')} between "


def _count(explanation: Explanation, kind: Kind) -> int | None:
    members = members_of(explanation, kind)
    return None if members is None else len(members)


def measured(fidelity: FidelityEstimate) -> Plain:
    """Return a fidelity with its interval."""
    return {
        "value": answers.precise(fidelity.value),
        "lower": answers.precise(fidelity.lower),
        "upper": answers.precise(fidelity.upper),
        "samples": fidelity.samples,
        "confidence": fidelity.confidence,
    }


def values(
    query: Query, nodes: Sequence[int] | None, features: Elements | None, view: View
) -> Plain | None:
    """Return what a heat map shows, None if there is nothing to show."""
    shown = view.values(query, nodes, features)
    if shown is None or not shown.nodes or not shown.features:
        return None
    return {"nodes": list(shown.nodes), "features": shown.features, "rows": shown.rows}


def drawing(query: Query, scene: Scene, view: View) -> Plain:
    """Return a drawing: nodes as [id, x, y, hop, selected, kind], edges flat.

    The first `centre` nodes are those that are asked about, `inner` hops from the middle; between
    which of them a link is asked about is told by their places, flat too. Bonds are those of the
    edges, if they are known; elements those that each of them stands for, where sets are of edges.
    """
    return {
        "centre": len(scene.centre),
        "inner": scene.inner,
        "asked": [place for pair in scene.asked for place in pair],
        "nodes": [
            [
                node.id,
                round(node.x, 2),
                round(node.y, 2),
                node.hop,
                int(node.selected),
                view.kind(query, node.id),
            ]
            for node in scene.nodes
        ],
        "edges": [place for edge in scene.edges for place in edge],
        "bonds": list(scene.bonds),
        "elements": [[edge_address(label) for label in line] for line in scene.elements],
        "hidden": scene.hidden,
    }


def _step(step: Step) -> list[Any]:
    """Return [kind, id, fidelity, added]; the start has the kind ""."""
    fidelity, added = answers.precise(step.fidelity), int(step.added)
    if step.kind is None:
        return ["", None, fidelity, added]
    return [step.kind.removesuffix("s"), _id(step.members[0]), fidelity, added]


def _alternative(explanation: Explanation) -> Plain:
    return {
        **{kind: members_of(explanation, kind) for kind in KINDS},
        "bound": None if explanation.bound is None else answers.precise(explanation.bound),
        "fidelity": answers.precise(explanation.fidelity.value),
        "lower": answers.precise(explanation.fidelity.lower),
        "upper": answers.precise(explanation.fidelity.upper),
        "certified": explanation.certified,
    }


def _same(one: Explanation, other: Explanation) -> bool:
    return one.selected == other.selected


def _median(lengths: Iterable[int]) -> float | None:
    values = list(lengths)
    return statistics.median(values) if values else None
