"""What other methods say of a prediction, in the form in which explanations are shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

from torch import Tensor

from zorro.elements import FEATURES, NODES
from zorro.evaluation import FidelityEstimate
from zorro.methods import Masks, Subject, build_with, evaluate, methods_with
from zorro.model.predictor import probabilities
from zorro.show.page import payload
from zorro.show.web.desk import Desk
from zorro.show.web.served import Served

ZORRO = "zorro"
_AT_HAND = ("subjects", "noise")
_SAMPLES = 200
_MOST_NODES = 20
_MOST_FEATURES = 30


@cache
def method_names() -> tuple[str, ...]:
    """Return the methods that need neither training nor anything else to begin, ours first."""
    others = (name for name in methods_with(_AT_HAND) if name != ZORRO)
    return (ZORRO, *others)


def compare(served: Served, desk: Desk, node: int, method: str, *, tau: float) -> payload.Plain:
    """Return a method's masks for a node, its highest values as a set, and both fidelities.

    `fidelity` is that of the set that is shown, on the samples on which other sets are measured
    when it is changed; that of the masks, as they are, is among the `masks`. A method that ranks
    no nodes, or no features, selects all of them.
    """
    started = time.perf_counter()
    subject = desk.subjects.of(node)
    context = {"subjects": desk.subjects, "noise": desk.noise}
    masks = build_with(method, context).explain(subject)
    seconds = time.perf_counter() - started
    ids = subject.graph.candidates.tolist()
    nodes = _highest(masks.nodes, ids, _MOST_NODES)
    features = _highest(masks.features, range(subject.graph.x.size(1)), _MOST_FEATURES)
    meter = desk.zorro.meter(node, samples=_SAMPLES)
    fidelity = meter.fidelity(nodes=nodes, features=features)
    return served.named(
        {
            **_shown(served, subject, method, fidelity, list(nodes), list(features)),
            "masks": {
                "nodes": None if masks.nodes is None else _pairs(nodes),
                "features": None if masks.features is None else _pairs(features),
                "fidelity": payload.measured(_fidelity(desk, subject, masks)),
            },
            "tau": tau,
            "seconds": payload.significant(seconds),
        }
    )


def _fidelity(desk: Desk, subject: Subject, masks: Masks) -> FidelityEstimate:
    first = desk.zorro.parameters.samples  # those before it are the search's
    samples = range(first, first + _SAMPLES)
    share = evaluate(subject, masks, desk.noise, samples=samples).fidelity
    return FidelityEstimate(round(share * _SAMPLES), _SAMPLES, desk.zorro.parameters.confidence)


def _shown(
    served: Served,
    subject: Subject,
    method: str,
    fidelity: FidelityEstimate,
    nodes: list[int],
    features: list[int],
) -> payload.Plain:
    graph, surroundings = subject.graph, served.surroundings
    shares = probabilities(graph.scores).tolist()
    scene = surroundings.scene_around(graph.query, nodes, hops=graph.hops)
    names = surroundings.names
    return {
        "method": method,
        "sentence": [
            [f"For {names.of_node(graph.query)}, which the model says is ", 0],
            [names.of_class(graph.predicted_class), 1],
            [f", {method} ranks ", 0],
            [f"{names.counted(NODES, len(nodes))} × {names.counted(FEATURES, len(features))}", 1],
            [" highest; with all else random the prediction stays in ", 0],
            [f"{fidelity.value:.0%}", 1],
            [f" of {fidelity.samples} random worlds.", 0],
        ],
        "nodes": nodes,
        "features": features,
        "values": payload.values(nodes, features, surroundings),
        "fidelity": payload.measured(fidelity),
        "bound": None,
        "attempts": None,
        "steps": [],
        "probabilities": payload.likeliest(shares),
        "versus": None,
        "scene": None if scene is None else payload.drawing(scene, surroundings),
        "candidates": graph.candidates.numel(),
        "context": None if graph.whole else graph.context.numel(),
        "hops": graph.hops,
        "evaluations": 0,
        "evaluator": method,
        "alternatives": [],
        "row": {
            "node": graph.query,
            "class": graph.predicted_class,
            "probability": round(shares[graph.predicted_class], 4),
            "truth": surroundings.truth(graph.query),
            "nodes": len(nodes),
            "features": len(features),
            "fidelity": round(fidelity.value, 4),
            "status": method,
            "certified": False,
        },
    }


def _highest(mask: Tensor | None, ids: Sequence[int], most: int) -> dict[int, float]:
    """Return the ids with the highest values above zero, highest first, and these values.

    Without a mask, which says that the method does not rank these, all are returned.
    """
    if mask is None:
        return dict.fromkeys(ids, 1.0)
    values, places = mask.detach().double().topk(min(most, mask.numel()))
    pairs = zip(places.tolist(), values.tolist(), strict=True)
    return {ids[place]: value for place, value in pairs if value > 0}


def _pairs(values: dict[int, float]) -> list[list[float]]:
    return [[place, payload.significant(value)] for place, value in values.items()]
