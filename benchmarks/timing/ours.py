"""Zorro itself in the paper's setting: whole explanations with either evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from timing.cells import SAMPLES, TAU, Cell, K, ModelOnGraph, Row, load, seconds
from timing.published import count_evaluations
from zorro import Zorro
from zorro.cut import Extractor
from zorro.elements import Selection
from zorro.evaluation import BatchedEvaluator, EvaluatorName
from zorro.evaluation.batched import DEFAULT_MEMORY
from zorro.explanation import Explanation
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import draws_of, resolve


def measure(
    cell: Cell, nodes: Sequence[int], *, evaluator: EvaluatorName = "auto", device: str = "cpu"
) -> Iterator[Row]:
    """Yield the time of each node's explanation: extraction, noise, tracing check and search."""
    loaded = load(cell, device)
    zorro, setup = front_door(loaded, warm_up=nodes[0], evaluator=evaluator)
    yield setup
    for node in nodes:
        yield explained(zorro, node, loaded)


def measure_any_model(
    cell: Cell,
    inputs: Sequence[tuple[int, int]],
    *,
    most_per_node: float,
    most_in_all: float,
    device: str = "cpu",
) -> Iterator[Row]:
    """Yield the time of the any-model evaluator on those nodes where it is affordable.

    Args:
        cell: the model and data set.
        inputs: nodes, and how many perturbed inputs the search runs for each.
        most_per_node: nodes whose estimate in seconds is above this are left out.
        most_in_all: seconds after which no more nodes are taken.
        device: where everything runs.
    """
    loaded = load(cell, device)
    zorro, setup = front_door(loaded, warm_up=inputs[0][0], evaluator="any-model")
    yield setup
    spent = 0.0
    for node, count in inputs:
        estimate = count * _seconds_per_input(loaded, node)
        row: Row = {"node": node, "estimate": estimate, "seconds": None}
        if estimate <= min(most_per_node, most_in_all - spent):
            row |= explained(zorro, node, loaded)
            spent += row["seconds"]
        yield row


def front_door(
    loaded: ModelOnGraph,
    *,
    warm_up: int,
    evaluator: EvaluatorName,
    samples: int = SAMPLES,
    k: int = K,
) -> tuple[Zorro, Row]:
    """Return Zorro in the paper's setting, warmed up, and what its preparation took.

    The explanation's own measurement on fresh samples is cut to one, since the published code has
    none.
    """
    time, zorro = seconds(
        lambda: Zorro(
            loaded.model,
            loaded.x,
            loaded.edge_index,
            tau=TAU,
            search="paper",
            k=k,
            samples=samples,
            fresh_samples=1,
            evaluator=evaluator,
        ),
        loaded,
    )
    first, _ = seconds(lambda: zorro.fidelity(warm_up, samples=samples), loaded)
    return zorro, {"setup_seconds": time, "first_seconds": first}


def explained(zorro: Zorro, node: int, loaded: ModelOnGraph) -> Row:
    """Explain one node and say how long it took and how much work it was."""
    time, explanation = seconds(lambda: zorro.explain(node), loaded)
    assert isinstance(explanation, Explanation)
    return {
        "node": node,
        "candidates": explanation.graph.candidates,
        "steps": len(explanation.steps) - 1,
        "evaluations": count_evaluations(explanation),
        "inputs": explanation.evaluations,
        "evaluator": explanation.evaluator,
        "seconds": time,
    }


def _seconds_per_input(loaded: ModelOnGraph, node: int) -> float:
    """Time one perturbed input of the any-model evaluator, of a hundred run together."""
    predictor = Predictor(loaded.model)
    graph = Extractor(predictor, Graph(loaded.x, loaded.edge_index)).extract(node)
    draws = draws_of(
        resolve("column-marginals", loaded.x),
        graph.candidate_x,
        seed=0,
        query=node,
        samples=range(SAMPLES),
        memory=DEFAULT_MEMORY,
    )
    evaluator = BatchedEvaluator(predictor, graph, draws)
    nothing = Selection.empty(*evaluator.shape, device=evaluator.device)
    evaluator.scores(nothing)  # warm-up
    time, _ = seconds(lambda: evaluator.scores(nothing), loaded)
    return time / SAMPLES
