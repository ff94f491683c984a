"""How the time grows with samples, K, features and candidate nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np
import torch
from torch import nn

from timing.cells import SAMPLES, Cell, K, ModelOnGraph, Row, load
from timing.ours import explained, front_door
from zorro import data, models
from zorro.cut import Extractor
from zorro.evaluation import EvaluatorName
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor

CELL = Cell("cora", "gcn")
# Of the paper's query nodes, some whose search does not stall at any of the settings below.
SMALL, MEDIUM = (658, 131, 620), (48, 1174, 2080)  # 7–10 and 55–96 candidate nodes
VALUES = {
    "samples": (50, 100, 200, 400, 800),
    "k": (5, 10, 20, 50),
    "features": (358, 716, 1433, 2866, 5732),
}
MOST_ANY_MODEL = {"samples": 400, "k": 50, "features": 2866}  # its time grows into minutes


def measure(
    axis: str, nodes: Sequence[int], *, evaluator: EvaluatorName, values: Sequence[int]
) -> Iterator[Row]:
    """Yield for each value of an axis the median time over `nodes`, all else as in the paper."""
    loaded = load(CELL)
    yield {}
    for value in values:
        seen = with_features(loaded, value) if axis == "features" else loaded
        zorro, _ = front_door(
            seen,
            warm_up=nodes[0],
            evaluator=evaluator,
            samples=value if axis == "samples" else SAMPLES,
            k=value if axis == "k" else K,
        )
        rows = [explained(zorro, node, seen) for node in nodes]
        yield {
            "value": value,
            "seconds": median(row["seconds"] for row in rows),
            "steps": [row["steps"] for row in rows],
            "inputs": [row["inputs"] for row in rows],
        }


def with_features(loaded: ModelOnGraph, features: int) -> ModelOnGraph:
    """Return a model and its graph with fewer columns, or with all of them several times.

    The model's first weights are cut along; repeated ones are divided by the number of copies, so
    that the predictions stay. `features` must be a multiple of all columns or fewer than these.
    """
    every = loaded.x.size(1)
    copies = max(1, features // every)
    order = torch.from_numpy(np.random.default_rng(0).permutation(every))
    columns = order[:features].sort().values if features < every else torch.arange(every)
    columns = columns.repeat(copies)  # (features,)
    weights = {
        name: tensor[:, columns] / copies
        if tensor.dim() == 2 and tensor.size(1) == every
        else tensor
        for name, tensor in loaded.model.state_dict().items()
    }
    model: nn.Module = models.build(CELL.model, features, weights["conv2.bias"].numel())
    model.load_state_dict(weights)
    return ModelOnGraph(model.eval(), loaded.x[:, columns], loaded.edge_index)


def nodes_by_size(cell: Cell, count: int) -> Iterator[Row]:
    """Yield `count` of the paper's query nodes, from the fewest candidates to the most."""
    loaded = load(cell)
    extractor = Extractor(Predictor(loaded.model), Graph(loaded.x, loaded.edge_index))
    yield {}
    sizes = sorted(
        (extractor.extract(node).candidates.numel(), node)
        for node in data.paper_nodes(cell.dataset)
    )
    logs = np.log([size for size, _ in sizes])
    wanted = np.linspace(logs[0], logs[-1], count)
    chosen = dict.fromkeys(int(np.abs(logs - log).argmin()) for log in wanted)
    for index in chosen:
        yield {"node": sizes[index][1], "candidates": sizes[index][0]}
