"""Models whose scores lie close together, far from zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from honesty_audit.graph_zoo import output_of
from honesty_audit.graphs import Graph
from honesty_audit.plain_loop import evaluating

Scores = Tensor | dict[str, Tensor]


class Lifted(nn.Module):
    """What a model says, scaled and with an offset.

    Args:
        model: any.
        scale: by which its scores are multiplied.
        offset: that is added then: one for all, or one each (C,).
    """

    offset: Tensor

    def __init__(self, model: nn.Module, *, scale: float = 1.0, offset: Tensor) -> None:
        super().__init__()
        self.model, self.scale = model, scale
        self.register_buffer("offset", offset)

    def lifted(self, scores: Scores) -> Any:
        """Return scores, or those of each type, scaled and with the offset."""
        if isinstance(scores, dict):
            return {name: self.lifted(each) for name, each in scores.items()}
        return self.scale * scores + self.offset


class OfNodes(Lifted):
    """Of nodes, or of their values."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return scores."""
        scores: Tensor = self.lifted(self.model(x, edge_index))
        return scores


class OfGraphs(Lifted):
    """Of whole graphs."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return scores."""
        scores: Tensor = self.lifted(self.model(x, edge_index, batch))
        return scores


class OfLinks(Lifted):
    """Of links."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        """Return scores."""
        scores: Tensor = self.lifted(self.model(x, edge_index, edge_label_index))
        return scores


class OfTypes(Lifted):
    """Of several types."""

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[Any, Tensor]) -> Scores:
        """Return scores."""
        scores: Scores = self.lifted(self.model(x_dict, edge_index_dict))
        return scores


def lift(kind: type[Lifted], *, scale: float, offset: float) -> Callable[..., Any]:
    """Return what finishes a model: its scores are scaled, and an offset is added."""
    return lambda model, data: (kind(model, scale=scale, offset=torch.tensor(offset)), data)


def centre(model: nn.Module, graph: Graph) -> tuple[nn.Module, Graph]:
    """Finish a model of nodes so that none of its classes is ahead on the mean."""
    with evaluating(model):
        scores = model(graph.x, graph.edge_index)
    return OfNodes(model, offset=-scores.mean(0)), graph


def centre_of_graphs(model: nn.Module, graphs: list[Data]) -> tuple[nn.Module, list[Data]]:
    """Finish a model of graphs so that none of its classes is ahead on the mean."""
    with evaluating(model):
        scores = output_of(model, graphs, ())
    return OfGraphs(model, offset=-scores.mean(0)), graphs
