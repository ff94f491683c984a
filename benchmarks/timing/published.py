"""The published procedure: fresh noise for every fidelity, samples run one by one.

A few of its evaluations are timed and multiplied by the number that the search makes for the node,
since a whole search takes minutes to hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from timing.cells import SAMPLES, Cell, ModelOnGraph, Row, load, seconds
from zorro.cut import ComputationalGraph, Extractor
from zorro.explanation import Explanation
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor

EVALUATIONS_TIMED = 3


def count_evaluations(explanation: Explanation) -> int:
    """Count the fidelities that algorithm 1 evaluates on its way to an explanation.

    Nothing selected; each node and each feature for the rankings; then, for each element after
    the first, K nodes and K features as far as there are any and as long as the other side is not
    empty.
    """
    candidates, features = explanation.graph.candidates, explanation.graph.num_features
    moves = explanation.steps[1:]
    if not moves:
        return 1
    k = explanation.parameters.k or max(candidates, features)
    count = 1 + candidates + features
    chosen_nodes = chosen_features = 0
    for number, move in enumerate(moves):
        if number > 0 and chosen_features:
            count += min(k, candidates - chosen_nodes)
        if number > 0 and chosen_nodes:
            count += min(k, features - chosen_features)
        chosen_nodes += move.node is not None
        chosen_features += move.feature is not None
    return count


def measure(
    cell: Cell,
    evaluations: Sequence[tuple[int, int]],
    *,
    samples: int = SAMPLES,
    repeats: int = EVALUATIONS_TIMED,
    device: str = "cpu",
) -> Iterator[Row]:
    """Yield for each (node, number of evaluations) the time they would take, scaled.

    Args:
        cell: the model and data set.
        evaluations: nodes, and how many evaluations the search makes for each.
        samples: forward passes timed of an evaluation, the rest of the paper's 100 being scaled.
        repeats: evaluations timed.
        device: where everything runs.
    """
    loaded = load(cell, device)
    extractor = Extractor(
        Predictor(loaded.model), Graph(loaded.x, loaded.edge_index), halo=0, check="none"
    )
    yield {}
    stream = torch.Generator(device).manual_seed(0)
    for node, count in evaluations:
        graph = extractor.extract(node)
        evaluate(loaded, graph, samples=min(10, samples), stream=stream)  # warm-up
        work = partial(evaluate, loaded, graph, samples=samples, stream=stream)
        times = [seconds(work, loaded)[0] for _ in range(repeats)]
        one = sum(times) / repeats * SAMPLES / samples
        yield {
            "node": node,
            "candidates": graph.candidates.numel(),
            "evaluations": count,
            "seconds_per_evaluation": one,
            "seconds": one * count,
        }


def evaluate(
    loaded: ModelOnGraph, graph: ComputationalGraph, *, samples: int, stream: torch.Generator
) -> int:
    """Return the hits of one fidelity evaluation as the published code makes it.

    The noise is a row of the data set per sample, node and feature. Which nodes and features are
    selected does not change the work; here it is every second one.
    """
    nodes, features = graph.x.shape
    rows = torch.randint(
        loaded.x.size(0), (samples, nodes, features), generator=stream, device=stream.device
    )
    kept = torch.arange(nodes, device=stream.device).unsqueeze(1) % 2 == 0
    kept = kept & (torch.arange(features, device=stream.device) % 2 == 0)  # (n, d)
    hits = 0
    with torch.no_grad():
        for drawn in rows:
            noise = loaded.x.gather(0, drawn)  # (n, d)
            scores: Tensor = loaded.model(torch.where(kept, graph.x, noise), graph.edge_index)
            hits += int(scores[graph.target].argmax()) == graph.predicted_class
    return hits
