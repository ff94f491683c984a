"""A run as plain data for the front end: a summary, a row per explanation, and its details.

The parts stand alone, so that a page can hold all of them or ask for details one by one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zorro.evaluation import FidelityEstimate
from zorro.explanation import Explanation, Step
from zorro.explanation.sentence import phrases
from zorro.graph.names import Names, label
from zorro.runs import Run
from zorro.show import palette
from zorro.show.page import contents
from zorro.show.page.contents import Contents
from zorro.show.page.surroundings import Surroundings
from zorro.show.scene import Scene

Plain = dict[str, Any]
Alternatives = Mapping[int, Sequence[Explanation]]

# A heat map of more is neither read nor worth its size; the page says what is left out.
_MOST_ROWS = 60
_MOST_COLUMNS = 120
_MOST_STEPS = 600
_MOST_CLASSES = 4  # of which the probability is given


def of_run(
    run: Run, surroundings: Surroundings, *, alternatives: Alternatives | None = None
) -> Plain:
    """Return everything that the report of a run shows."""
    held = contents.read(run)
    others = alternatives or {}
    details = {
        str(e.node): detail(e, surroundings, others.get(e.node, ())) for e in held.explanations
    }
    return {
        "summary": summary(run, held, surroundings),
        "rows": [row(e, surroundings) for e in held.explanations],
        "details": details,
        "failures": failures(held),
        "unreadable": unreadable(held),
        "labels": labels(surroundings.names, details.values()),
    }


def summary(run: Run, held: Contents, surroundings: Surroundings) -> Plain:
    """Return what was asked, of what, and what came of it in numbers: of what can be read."""
    explanations = held.explanations
    manifest = run.manifest
    parameters = manifest["parameters"]
    measured = [e.fidelity.samples for e in explanations]
    return {
        "subject": manifest["asked"].get("subject") or manifest["model"]["class"],
        "asked": run.asked,
        "explained": len(explanations),
        "certified": sum(e.certified for e in explanations),
        "failed": len(held.failures),
        "medianNodes": _median(len(e.nodes) for e in explanations),
        "medianFeatures": _median(len(e.features) for e in explanations),
        "right": _right(explanations, surroundings),
        "tau": parameters["tau"],
        "delta": parameters.get("delta"),
        "search": parameters["search"],
        "noise": parameters["noise"],
        "seed": parameters["seed"],
        "samples": parameters["samples"],
        "unseenSamples": sorted({min(measured), max(measured)}) if measured else [],
        "whyNot": parameters.get("why_not"),
        "contrast": parameters.get("contrast"),
        "data": {name: manifest["data"].get(name) for name in ("nodes", "features", "edges")},
        "model": manifest["model"]["class"],
        "versions": manifest["versions"],
        "made": manifest["made"]["at"],
        "hasGraph": surroundings.has_graph,
        "hasTruth": surroundings.y is not None,
        "hasAnswers": surroundings.predicted is not None,
    }


def row(explanation: Explanation, surroundings: Surroundings) -> Plain:
    """Return what the table shows of an explanation."""
    e = explanation
    return {
        "node": e.node,
        "class": e.predicted_class,
        "probability": _rounded(e.probability),
        "truth": surroundings.truth(e.node),
        "nodes": len(e.nodes),
        "features": len(e.features),
        "fidelity": _rounded(e.fidelity.value),
        "status": e.status,
        "certified": e.certified,
    }


def failures(held: Contents) -> list[Plain]:
    """Return the nodes that could not be explained, and why."""
    return [{"node": failure.node, "error": failure.error} for failure in held.failures]


def unreadable(held: Contents) -> list[Plain]:
    """Return the rows that cannot be read, and why."""
    return [
        {"position": one.position, "node": one.node, "reason": one.reason} for one in held.damaged
    ]


def detail(
    explanation: Explanation,
    surroundings: Surroundings,
    alternatives: Sequence[Explanation] = (),
) -> Plain:
    """Return what is shown of an explanation when it is opened."""
    e = explanation
    scene = surroundings.scene(e)
    return {
        "sentence": [
            [piece, int(stressed)] for piece, stressed in phrases(e.claim, surroundings.names)
        ],
        "nodes": list(e.nodes),
        "features": list(e.features),
        "values": values(e.nodes, e.features, surroundings),
        "fidelity": measured(e.fidelity),
        "bound": None if e.certificate is None else _rounded(e.certificate.bound),
        "attempts": None if e.certificate is None else e.certificate.attempts,
        "tau": e.parameters.tau,
        "steps": [_step(step) for step in e.steps[:_MOST_STEPS]],
        "probabilities": likeliest(e.probabilities, against=e.versus.other if e.versus else None),
        "versus": e.versus and {"other": e.versus.other, "contrast": e.versus.contrast},
        "scene": None if scene is None else drawing(scene, surroundings),
        "candidates": e.graph.candidates,
        "context": None if e.graph.whole else e.graph.context,
        "hops": e.graph.hops,
        "seconds": significant(e.seconds),
        "evaluations": e.evaluations,
        "evaluator": e.evaluator,
        "alternatives": [_alternative(other) for other in alternatives if not _same(other, e)],
    }


def labels(names: Names, details: Any) -> Plain:
    """Return what things are called; of nodes and features only those that are shown."""
    nodes: set[int] = set()
    features: set[int] = set()
    for shown in details:
        nodes.update(shown["nodes"])
        features.update(shown["features"])
        for other in shown["alternatives"]:
            nodes.update(other["nodes"])
            features.update(other["features"])
        if shown["scene"] is not None:
            nodes.update(node[0] for node in shown["scene"]["nodes"])
    classes = names.classes
    numbers = classes.keys() if isinstance(classes, Mapping) else range(len(classes))
    return {
        "node": names.node,
        "feature": names.feature,
        "classes": {str(number): names.of_class(number) for number in numbers},
        "nodes": _named(names.nodes, nodes),
        "features": _named(names.features, features),
        "colours": list(palette.CLASSES),
    }


def _named(given: Any, numbers: set[int]) -> dict[str, str]:
    named = ((number, label(given, number)) for number in sorted(numbers))
    return {str(number): text for number, text in named if text is not None}


def _right(explanations: Sequence[Explanation], surroundings: Surroundings) -> int | None:
    if surroundings.y is None:
        return None
    return sum(surroundings.truth(e.node) == e.predicted_class for e in explanations)


def measured(fidelity: FidelityEstimate) -> Plain:
    """Return a fidelity with its interval."""
    return {
        "value": _rounded(fidelity.value),
        "lower": _rounded(fidelity.lower),
        "upper": _rounded(fidelity.upper),
        "samples": fidelity.samples,
        "confidence": fidelity.confidence,
    }


def values(
    nodes: Sequence[int], features: Sequence[int], surroundings: Surroundings
) -> list[list[float | int]] | None:
    """Return what a heat map shows: values of the first features of the first nodes."""
    lines = surroundings.values(nodes[:_MOST_ROWS], features[:_MOST_COLUMNS])
    return lines and [[significant(value) for value in line] for line in lines]


def likeliest(probabilities: Sequence[float], *, against: int | None = None) -> list[list[Any]]:
    """Return [class, probability] of the likeliest classes, and of the one it was asked against."""
    order = sorted(range(len(probabilities)), key=lambda number: -probabilities[number])
    shown = order[:_MOST_CLASSES]
    if against is not None and against not in shown:
        shown.append(against)
    return [[number, _rounded(probabilities[number])] for number in shown]


def drawing(scene: Scene, surroundings: Surroundings) -> Plain:
    """Return a drawing: nodes as [id, x, y, hop, selected, class], edges flat."""
    return {
        "nodes": [
            [
                node.id,
                round(node.x, 2),
                round(node.y, 2),
                node.hop,
                int(node.selected),
                surroundings.answer(node.id),
            ]
            for node in scene.nodes
        ],
        "edges": [place for edge in scene.edges for place in edge],
        "hidden": scene.hidden,
    }


def _step(step: Step) -> list[Any]:
    """Return [kind, id, fidelity, added]; the start has the kind ""."""
    if step.node is not None:
        return ["node", step.node, _rounded(step.fidelity), int(step.added)]
    if step.feature is not None:
        return ["feature", step.feature, _rounded(step.fidelity), int(step.added)]
    return ["", None, _rounded(step.fidelity), int(step.added)]


def _alternative(explanation: Explanation) -> Plain:
    return {
        "nodes": list(explanation.nodes),
        "features": list(explanation.features),
        "fidelity": _rounded(explanation.fidelity.value),
        "lower": _rounded(explanation.fidelity.lower),
        "upper": _rounded(explanation.fidelity.upper),
        "certified": explanation.certified,
    }


def _same(one: Explanation, other: Explanation) -> bool:
    return (one.nodes, one.features) == (other.nodes, other.features)


def _median(lengths: Iterable[int]) -> float | None:
    values = list(lengths)
    return statistics.median(values) if values else None


def _rounded(value: float) -> float:
    return round(value, 4)


def significant(value: float) -> float | int:
    """Return a value with three significant digits, whole numbers without a point."""
    short = float(f"{value:.3g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
