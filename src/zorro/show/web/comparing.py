"""What other methods say of a prediction, in the form in which explanations are shown."""

from __future__ import annotations

import time
from collections.abc import Sequence

from torch import Tensor

from zorro.elements import FEATURES, KINDS, NODES
from zorro.elements.groups import gathered
from zorro.evaluation import FidelityEstimate
from zorro.explanation.written import percent
from zorro.methods import Masks, Subject, build_with, evaluate
from zorro.model.predictor import probabilities
from zorro.question import Query
from zorro.show.page import answers, payload
from zorro.show.page.address import address_of
from zorro.show.page.view import significant
from zorro.show.web.desk import Desk
from zorro.show.web.method_names import AT_HAND
from zorro.show.web.served import Chosen, Served

_SAMPLES = 200
_MOST_NODES = 20
_MOST_FEATURES = 30


def compare(served: Served, desk: Desk, query: Query, method: str, *, tau: float) -> payload.Plain:
    """Return a method's masks for a query, its highest values as a set, and both fidelities.

    `fidelity` is that of the set that is shown, on the samples on which other sets are measured
    when it is changed; that of the masks, as they are, is among the `masks`, with how many have a
    value above zero (`ranked`), of which the set has the highest. A method that ranks
    no nodes, or no features, selects all of them.
    """
    started = time.perf_counter()
    subject = desk.subjects.of(query.index)
    context = dict(zip(AT_HAND, (desk.subjects, desk.noise), strict=True))
    masks = build_with(method, context).explain(subject)
    seconds = time.perf_counter() - started
    ids = subject.graph.candidates.tolist()
    highest: dict[str, dict[int, float]] = {
        NODES: _highest(masks.nodes, ids, _MOST_NODES),
        FEATURES: _highest(masks.features, range(subject.graph.x.size(1)), _MOST_FEATURES),
    }
    chosen = served.whole_groups(
        {kind: list(each) if kind in served.kinds else None for kind, each in highest.items()}
    )
    meter = desk.zorro.meter(query.index, samples=_SAMPLES)
    fidelity = meter.fidelity(nodes=chosen[NODES], features=chosen[FEATURES])
    return served.named(
        {
            **_shown(served, subject, method, fidelity, chosen),
            "masks": {
                "nodes": None if masks.nodes is None else _pairs(highest[NODES]),
                "features": None if masks.features is None else _pairs(highest[FEATURES]),
                "ranked": {"nodes": _ranked(masks.nodes), "features": _ranked(masks.features)},
                "fidelity": payload.measured(_fidelity(desk, subject, masks)),
            },
            "tau": tau,
            "seconds": significant(seconds),
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
    chosen: Chosen,
) -> payload.Plain:
    graph, view = subject.graph, served.view
    query, names = graph.asked, view.names
    shares = probabilities(graph.scores).tolist()
    nodes, columns = chosen[NODES], chosen[FEATURES]
    elements = None if columns is None else gathered(columns, view.groups)
    features = None if elements is None else [members[0] for members in elements]
    kept: dict[str, list[int] | None] = {
        **dict.fromkeys(KINDS),  # it says nothing of edges
        NODES: nodes,
        FEATURES: features,
    }
    counts = {kind: None if held is None else len(held) for kind, held in kept.items()}
    scene = view.scene(query, nodes or (), hops=graph.hops)
    context = None if graph.whole else graph.context.numel()
    sizes = {kind: count for kind, count in counts.items() if count is not None}
    return {
        "method": method,
        "sentence": [
            [f"For {names.of_query(query)}, which the model says is ", 0],
            [names.of_class(graph.predicted_class), 1],
            [f", {method} ranks ", 0],
            [" × ".join(names.counted(kind, count) for kind, count in sizes.items()), 1],
            [" highest; with all else random the prediction stays in ", 0],
            [percent(fidelity.value), 1],
            [f" of {fidelity.samples} random worlds.", 0],
        ],
        **kept,
        "directed": False,
        "otherEdges": None,
        "losses": None,
        "rowsSuffice": False,
        "values": payload.values(query, nodes, elements, view),
        "kinds": view.kinds_of_all(query),
        "fidelity": payload.measured(fidelity),
        "bound": None,
        "attempts": None,
        "steps": [],
        "probabilities": answers.likeliest(shares),
        "versus": None,
        "scene": None if scene is None else payload.drawing(query, scene, view),
        "lookedAt": view.looked_at(
            candidates=graph.candidates.numel(), context=context, hops=graph.hops
        ),
        "evaluations": 0,
        "evaluator": method,
        "alternatives": [],
        "row": {
            "query": address_of(query),
            "answer": view.answers.kind,
            "class": graph.predicted_class,
            "probability": answers.precise(shares[graph.predicted_class]),
            "truth": view.truth(query),
            **counts,
            "bound": None,
            "fidelity": answers.precise(fidelity.value),
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


def _ranked(mask: Tensor | None) -> int | None:
    """Return how many a method gives a value above zero; None if it ranks none of these."""
    return None if mask is None else int((mask.detach() > 0).sum())


def _pairs(values: dict[int, float]) -> list[list[float]]:
    return [[place, significant(value)] for place, value in values.items()]
