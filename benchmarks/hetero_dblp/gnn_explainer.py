"""PyG's GNNExplainer on the same part of a graph of several types that we look at."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch_geometric.explain import Explainer, GNNExplainer

from zorro.cut import ComputationalGraph
from zorro.model.hetero_model import HeteroModel
from zorro.model.packing import Packing

EPOCHS = 200


class _Called(nn.Module):
    """Takes down what a model of several types is called with."""

    def __init__(self) -> None:
        super().__init__()
        self.given: tuple[Any, ...] = ()

    def forward(self, x_dict: Any, edge_index_dict: Any) -> Any:
        """Return nothing of interest."""
        self.given = (x_dict, edge_index_dict)
        return torch.zeros(1)


def explain(model: nn.Module, packing: Packing, graph: ComputationalGraph) -> Any:
    """Return PyG's explanation of a node, on the cut that we evaluate on."""
    called = _Called()
    HeteroModel(called, packing)(graph.x, graph.edge_index, **graph.further_inputs)
    kinds = graph.further_inputs["node_type"]
    index = int((kinds[: graph.target] == kinds[graph.target]).sum())
    x_dict, edge_index_dict = called.given
    # It scales features, so that numbers of nodes cannot be among them: these stay as they are.
    numbers = {name: x for name, x in x_dict.items() if not x.is_floating_point()}
    explainer = Explainer(
        _WithNumbers(model, numbers).eval(),  # it puts the model back into the mode that this has
        GNNExplainer(epochs=EPOCHS),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type=None,  # it has none of HGT's messages, which are not by relation
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "log_probs",
        },
    )
    features = {name: x for name, x in x_dict.items() if name not in numbers}
    return explainer(features, edge_index_dict, index=index)


class _WithNumbers(nn.Module):
    """A model that is told the numbers of nodes of some types beside the features of others."""

    def __init__(self, model: nn.Module, numbers: dict[str, Any]) -> None:
        super().__init__()
        self.model = model
        self.numbers = numbers

    def forward(self, x_dict: Any, edge_index_dict: Any) -> Any:
        """Return the model's output."""
        return self.model({**x_dict, **self.numbers}, edge_index_dict)
