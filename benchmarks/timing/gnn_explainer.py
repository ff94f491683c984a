"""PyG's GNNExplainer on the same nodes, on the whole graph and on the cut that we explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explainer, GNNExplainer

from timing.cells import Cell, Row, Subject, load, seconds
from zorro.cut import Extractor
from zorro.predictor import Predictor

EPOCHS = 200


def measure(cell: Cell, nodes: Sequence[int], *, whole: bool) -> Iterator[Row]:
    """Yield the time of each node's explanation; extraction of the cut is counted in.

    Args:
        cell: the model and data set.
        nodes: the queries.
        whole: run on the whole graph, as PyG does, instead of on the cut.
    """
    subject = load(cell)
    extractor = Extractor(Predictor(subject.model), subject.x, subject.edge_index)
    extractor.extract(nodes[0])
    yield {}

    def explain(node: int, epochs: int) -> Any:
        if whole:
            return _explained(subject, subject.x, subject.edge_index, node, epochs)
        graph = extractor.extract(node)
        return _explained(subject, graph.x, graph.edge_index, graph.target, epochs)

    explain(nodes[0], 2)  # warm-up
    for node in nodes:
        torch.manual_seed(0)
        time, _ = seconds(partial(explain, node, EPOCHS), subject)
        yield {"node": node, "seconds": time}


def _explained(subject: Subject, x: Tensor, edge_index: Tensor, node: int, epochs: int) -> Any:
    explainer = Explainer(
        subject.model,
        GNNExplainer(epochs=epochs),
        explanation_type="model",
        node_mask_type="common_attributes",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "log_probs",
        },
    )
    return explainer(x, edge_index, index=node)
