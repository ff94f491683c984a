"""PyG's GNNExplainer on the same nodes, on the whole graph and on the cut that we explain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explainer, GNNExplainer

from timing.cells import Cell, ModelOnGraph, Row, load, seconds
from zorro.cut import Extractor
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor

EPOCHS = 200


def measure(cell: Cell, nodes: Sequence[int], *, whole: bool) -> Iterator[Row]:
    """Yield the time of each node's explanation; extraction of the cut is counted in.

    Args:
        cell: the model and data set.
        nodes: the queries.
        whole: run on the whole graph, as PyG does, instead of on the cut.
    """
    timed = timed_explanations(load(cell), warm_up=nodes[0], whole=whole)
    yield {}
    for node in nodes:
        yield timed(node)


def timed_explanations(
    loaded: ModelOnGraph, *, warm_up: int, whole: bool, return_type: str = "log_probs"
) -> Callable[[int], Row]:
    """Return what explains a node and says how long it took, warmed up.

    Args:
        loaded: the model and its graph.
        warm_up: a node, explained in a few epochs.
        whole: run on the whole graph, as PyG does, instead of on the cut.
        return_type: what the model returns, in PyG's words.
    """
    extractor = Extractor(Predictor(loaded.model), Graph(loaded.x, loaded.edge_index))

    def explain(node: int, epochs: int) -> Any:
        parts = (loaded.x, loaded.edge_index, node)
        if not whole:
            graph = extractor.extract(node)
            parts = (graph.x, graph.edge_index, graph.target)
        return _explained(loaded, *parts, epochs, return_type)

    def timed(node: int) -> Row:
        torch.manual_seed(0)
        time, _ = seconds(partial(explain, node, EPOCHS), loaded)
        return {"node": node, "seconds": time}

    explain(warm_up, 2)
    return timed


def _explained(
    loaded: ModelOnGraph, x: Tensor, edge_index: Tensor, node: int, epochs: int, return_type: str
) -> Any:
    explainer = Explainer(
        loaded.model,
        GNNExplainer(epochs=epochs),
        explanation_type="model",
        node_mask_type="common_attributes",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": return_type,
        },
    )
    return explainer(x, edge_index, index=node)
