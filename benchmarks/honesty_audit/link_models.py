"""Models of links, as people write them: `model(x, edge_index, edge_label_index, …)`."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class InnerProduct(nn.Module):
    """Layers, and the product of the ends' states less an offset that is learnt.

    Args:
        layers: of PyG; called with `edge_weight` where there is one.
    """

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_label_index: Tensor,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        given = [] if edge_weight is None else [edge_weight]
        for place, layer in enumerate(self.layers):
            x = layer(x, edge_index, *given)
            if place + 1 < len(self.layers):
                x = x.relu()
        sources, targets = edge_label_index
        return (x[sources] * x[targets]).sum(-1) - self.offset


class SideBySide(nn.Module):
    """Layers, and a perceptron that reads both ends' states.

    Args:
        layers: of PyG.
        width: of the last layer.
    """

    def __init__(self, *layers: nn.Module, width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.last = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, edge_index).relu()
        ends = torch.cat([x[edge_label_index[0]], x[edge_label_index[1]]], dim=-1)
        logits: Tensor = self.last(ends)
        return logits.squeeze(-1)


class ByHand(nn.Module):
    """Neighbours summed by index_add, without a layer of PyG, and a bilinear form of the ends."""

    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, width)
        self.form = nn.Parameter(torch.eye(width) / width)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        heard = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        x = torch.tanh(self.first(x + heard))
        sources, targets = edge_label_index
        return ((x[sources] @ self.form) * x.index_select(0, targets)).sum(1)
