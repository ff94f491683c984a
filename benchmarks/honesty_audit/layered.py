"""Models as most people write them: layers of PyG, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import (
    APPNP,
    GCN2Conv,
    GCNConv,
    JumpingKnowledge,
    RGCNConv,
    SAGEConv,
)

HIDDEN = 16


class Stack(nn.Module):
    """Layers with a ReLU between them, and a linear one at the end if there is one."""

    def __init__(self, *layers: nn.Module, last: nn.Module | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.last = last

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        for at, layer in enumerate(self.layers):
            x = layer(x, edge_index)
            if self.last is not None or at + 1 < len(self.layers):
                x = x.relu()
        return x if self.last is None else self.last(x)


class Normed(nn.Module):
    """Layers with a norm behind each but the last."""

    def __init__(self, layers: Sequence[nn.Module], norm: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(norm() for _ in layers[1:])

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        for layer, norm in zip(self.layers, self.norms, strict=False):
            x = norm(layer(x, edge_index)).relu()
        scores: Tensor = self.layers[-1](x, edge_index)
        return scores


class Residual(nn.Module):
    """A linear layer, convolutions that are added to what they get, and a linear layer.

    Args:
        features: of a node.
        classes: of the output.
        conv: makes a convolution between two widths.
        layers: how many.
        shared: whether they are one, applied so many times.
        norm: made for each layer, before it.
    """

    def __init__(
        self,
        features: int,
        classes: int,
        *,
        conv: Callable[[int, int], nn.Module] = GCNConv,
        layers: int = 3,
        shared: bool = False,
        norm: Callable[[int], nn.Module] = nn.Identity,
    ) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(features, HIDDEN), nn.Linear(HIDDEN, classes)
        one = conv(HIDDEN, HIDDEN)
        self.convs = nn.ModuleList(one if shared else conv(HIDDEN, HIDDEN) for _ in range(layers))
        self.norms = nn.ModuleList(norm(HIDDEN) for _ in range(layers))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(x)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = x + conv(norm(x), edge_index).relu()
        scores: Tensor = self.last(x)
        return scores


class Weighted(nn.Module):
    """Two layers that take edge weights."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """Return class scores."""
        for layer in self.layers[:-1]:
            x = layer(x, edge_index, edge_weight).relu()
        scores: Tensor = self.layers[-1](x, edge_index, edge_weight)
        return scores


class Attributed(nn.Module):
    """Two layers that take edge attributes."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Return class scores."""
        for layer in self.layers[:-1]:
            x = layer(x, edge_index, edge_attr).relu()
        scores: Tensor = self.layers[-1](x, edge_index, edge_attr)
        return scores


class Typed(nn.Module):
    """Two relational layers."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = RGCNConv(features, HIDDEN, num_relations=3)
        self.second = RGCNConv(HIDDEN, classes, num_relations=3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(x, edge_index, edge_type).relu()
        scores: Tensor = self.second(x, edge_index, edge_type)
        return scores


class Placed(nn.Module):
    """Two layers and a further input per node."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GCNConv(features + 3, HIDDEN)
        self.second = GCNConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, pos: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(torch.cat([x, pos], dim=1), edge_index).relu()
        scores: Tensor = self.second(x, edge_index)
        return scores


class AnyArguments(nn.Module):
    """Hands on whatever it is given."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Tensor:
        """Return class scores."""
        for layer in self.layers[:-1]:
            x = layer(x, edge_index, **kwargs).relu()
        scores: Tensor = self.layers[-1](x, edge_index, **kwargs)
        return scores


class Ensemble(nn.Module):
    """The mean of the probabilities of some models."""

    def __init__(self, *members: nn.Module) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class probabilities."""
        return torch.stack([m(x, edge_index).softmax(1) for m in self.members]).mean(0)


class Jumping(nn.Module):
    """Three convolutions, all of whose outputs are kept."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            GCNConv(features if at == 0 else HIDDEN, HIDDEN) for at in range(3)
        )
        self.jump = JumpingKnowledge("cat")
        self.last = nn.Linear(3 * HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        outputs = []
        for layer in self.layers:
            x = layer(x, edge_index).relu()
            outputs.append(x)
        scores: Tensor = self.last(self.jump(outputs))
        return scores


class Personalised(nn.Module):
    """A two-layer perceptron whose output is propagated."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, HIDDEN)
        self.second = nn.Linear(HIDDEN, classes)
        self.propagate = APPNP(K=5, alpha=0.1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        scores: Tensor = self.propagate(self.second(self.first(x).relu()), edge_index)
        return scores


class Initial(nn.Module):
    """GCN2Conv: every layer sees the first one's input."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, HIDDEN)
        self.layers = nn.ModuleList(GCN2Conv(HIDDEN, alpha=0.2) for _ in range(3))
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = initial = self.first(x).relu()
        for layer in self.layers:
            x = layer(x, initial, edge_index).relu()
        scores: Tensor = self.last(x)
        return scores


class Embedded(nn.Module):
    """Categories become embeddings, whose sum is convolved twice."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(5, HIDDEN) for _ in range(features))
        self.first = SAGEConv(HIDDEN, HIDDEN)
        self.second = SAGEConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        categories = x.long()
        h = torch.stack([table(categories[:, at]) for at, table in enumerate(self.tables)]).sum(0)
        h = self.first(h, edge_index).relu()
        scores: Tensor = self.second(h, edge_index)
        return scores


class Dropping(nn.Module):
    """Two convolutions with dropout, which is off in eval mode."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GCNConv(features, HIDDEN)
        self.second = GCNConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = functional.dropout(self.first(x, edge_index).relu(), 0.5, self.training)
        scores: Tensor = self.second(x, edge_index)
        return scores


class Perceptron(nn.Module):
    """Sees no edges."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, classes)
        )

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        scores: Tensor = self.layers(x)
        return scores
