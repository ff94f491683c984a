"""What is timed: our explanation, GNNExplainer, and the shortest proof that nothing is needed."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import torch
from timing import gnn_explainer
from timing.cells import ModelOnGraph, Row, seconds

from dense_graphs.cells import CUT, FEWEST, OURS, WHOLE, Cell
from zorro import Zorro
from zorro.cut import ComputationalGraph, Extractor
from zorro.elements import Selection
from zorro.evaluation import EvaluatorChoice
from zorro.evaluation.batched import DEFAULT_MEMORY
from zorro.explanation import Explanation
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import draws_of, resolve

Timed = Callable[..., Row]  # of a node, and of the samples to draw where these are given
Prepare = Callable[[Cell, ModelOnGraph, int], Timed]  # warmed up with a node


def ours(cell: Cell, loaded: ModelOnGraph, warm_up: int) -> Timed:
    """Return what times a whole explanation."""
    _load_what_is_loaded_on_first_use(loaded)
    zorro = Zorro(loaded.model, loaded.x, loaded.edge_index, **cell.options)
    zorro.fidelity(warm_up, nodes=[], features=[], samples=10)

    def timed(node: int) -> Row:
        clock = [time.perf_counter()]
        used = time.process_time()
        took, explanation = seconds(
            lambda: zorro.explain(node, on_step=lambda _: clock.append(time.perf_counter())),
            loaded,
        )
        used = time.process_time() - used
        parts = _split([*clock, clock[0] + took])
        return {"seconds": took, "cpu_seconds": used, **_told(explanation), **parts}

    return timed


def _load_what_is_loaded_on_first_use(loaded: ModelOnGraph) -> None:
    """Explain a node of a ring of a few nodes."""
    ring = torch.arange(10)
    edge_index = torch.stack([ring, ring.roll(1)]).to(loaded.x.device)
    Zorro(loaded.model, loaded.x[:10], edge_index, max_evaluations=2000).explain(0)


def _told(explanation: Explanation) -> Row:
    certificate = explanation.certificate
    return {
        "status": explanation.status,
        "certified": explanation.certified,
        "nodes": len(explanation.nodes),
        "features": len(explanation.features),
        "candidates": explanation.graph.candidates,
        "context": explanation.graph.context,
        "edges": explanation.graph.edges,
        "num_features": explanation.graph.num_features,
        "fidelity": explanation.fidelity.value,
        "tau": explanation.parameters.tau,
        "delta": explanation.parameters.delta,
        "attempts": certificate.attempts if certificate else 0,
        "unseen_samples": certificate.samples if certificate else 0,
        "steps": len(explanation.steps) - 1,
        "evaluations": explanation.evaluations,
        "evaluator": explanation.evaluator,
    }


def _split(clock: list[float]) -> Row:
    """Return the time until the search's first step, of its steps, and after its last one."""
    gaps = [after - before for before, after in pairwise(clock)]
    return {
        "seconds_before": gaps[0],
        "seconds_search": sum(gaps[1:-1]),
        "seconds_after": gaps[-1] if len(gaps) > 1 else 0.0,
    }


def on_cut(cell: Cell, loaded: ModelOnGraph, warm_up: int, *, whole: bool = False) -> Timed:
    """Return what times GNNExplainer on the cut, or on the whole graph."""
    return gnn_explainer.timed_explanations(loaded, warm_up=warm_up, whole=whole, return_type="raw")


def fewest_samples(cell: Cell, loaded: ModelOnGraph, warm_up: int) -> Timed:
    """Return what times drawing some samples and evaluating the empty set on them.

    The cut is made on the way, and so is all that the evaluator prepares for a query.
    """
    predictor = Predictor(loaded.model)
    noise = resolve("column-marginals", loaded.x)
    extractor = Extractor(predictor, Graph(loaded.x, loaded.edge_index), noise=noise)
    choice = EvaluatorChoice(predictor, wanted="auto", memory=DEFAULT_MEMORY)

    def hits(graph: ComputationalGraph, samples: int) -> int:
        draws = draws_of(
            noise,
            graph.candidate_x,
            seed=0,
            query=graph.query,
            samples=range(samples),
            memory=DEFAULT_MEMORY,
        )
        evaluator = choice.evaluator(graph, draws)
        nothing = Selection.empty(*evaluator.shape, device=evaluator.device)
        return int(evaluator.hits(nothing).sum())

    def timed(node: int, samples: int) -> Row:
        extracting, graph = seconds(partial(extractor.extract, node), loaded)
        evaluating, count = seconds(partial(hits, graph, samples), loaded)
        return {
            "seconds": extracting + evaluating,
            "extraction_seconds": extracting,
            "samples": samples,
            "hits": count,
        }

    timed(warm_up, 2)
    return timed


PREPARE: dict[str, Prepare] = {
    OURS: ours,
    CUT: on_cut,
    WHOLE: partial(on_cut, whole=True),
    FEWEST: fewest_samples,
}
