"""Models of whole graphs, as people write them: `model(x, edge_index, batch, …)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric import nn as pyg
from torch_geometric.utils import scatter, softmax, to_dense_batch

HIDDEN = 16
Pool = Callable[[Tensor, Tensor], Tensor]


class Pooled(nn.Module):
    """Layers, a pooling, a linear layer.

    Args:
        layers: of PyG, the last with as many columns as `width`.
        pool: a function or an aggregation.
        classes: of the output.
        width: of what is pooled.
        norm: made anew for each layer; called with the batch if it takes one.
    """

    def __init__(
        self,
        *layers: nn.Module,
        pool: Pool | nn.Module = pyg.global_mean_pool,
        classes: int = 2,
        width: int = HIDDEN,
        norm: Callable[[], nn.Module] | None = None,
        takes: str | None = None,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList([norm() for _ in layers] if norm else [])
        self.pool = pool
        self.last = nn.Linear(width, classes)
        self.takes = takes

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, **kwargs: Any) -> Tensor:
        given = [] if self.takes is None else [kwargs[self.takes]]
        for place, layer in enumerate(self.layers):
            x = layer(x, edge_index, *given).relu()
            if self.norms:
                norm = self.norms[place]
                x = norm(x) if isinstance(norm, pyg.BatchNorm) else norm(x, batch)
        return self.last(self.pool(x, batch))  # type: ignore[no-any-return]


class ByHand(nn.Module):
    """Neighbours and graphs summed by scatter, without a layer of PyG."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(features, HIDDEN), nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        heard = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        x = self.first(x + heard).relu()
        return self.last(scatter(x, batch, reduce="sum"))  # type: ignore[no-any-return]


class AttentionByHand(nn.Module):
    """Nodes weighted by a softmax over their graph."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.conv = pyg.GCNConv(features, HIDDEN)
        self.gate, self.last = nn.Linear(HIDDEN, 1), nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(x, edge_index).tanh()
        weight = softmax(self.gate(x), batch)
        return self.last(scatter(weight * x, batch, reduce="sum"))  # type: ignore[no-any-return]


class Jumping(nn.Module):
    """All layers' states, pooled together."""

    def __init__(self, features: int, classes: int, mode: str) -> None:
        super().__init__()
        self.convs = nn.ModuleList(
            [
                pyg.GCNConv(features, HIDDEN),
                pyg.GCNConv(HIDDEN, HIDDEN),
                pyg.GCNConv(HIDDEN, HIDDEN),
            ]
        )
        self.jump = pyg.JumpingKnowledge(mode, HIDDEN, 3)
        self.last = nn.Linear(3 * HIDDEN if mode == "cat" else HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        states = []
        for conv in self.convs:
            x = conv(x, edge_index).relu()
            states.append(x)
        return self.last(pyg.global_add_pool(self.jump(states), batch))  # type: ignore[no-any-return]


class TopK(nn.Module):
    """A pooling that drops nodes by their score."""

    def __init__(self, features: int, classes: int, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.conv, self.pool = pyg.GCNConv(features, HIDDEN), kind(HIDDEN, ratio=0.6)
        self.again, self.last = pyg.GCNConv(HIDDEN, HIDDEN), nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(x, edge_index).relu()
        x, edge_index, _, batch, *_ = self.pool(x, edge_index, batch=batch)
        return self.last(pyg.global_mean_pool(self.again(x, edge_index).relu(), batch))  # type: ignore[no-any-return]


class VirtualNode(nn.Module):
    """Each graph has a state of its own that all of its nodes hear."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = pyg.GCNConv(features, HIDDEN), pyg.GCNConv(HIDDEN, HIDDEN)
        self.all, self.last = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.first(x, edge_index).relu()
        x = x + self.all(pyg.global_mean_pool(x, batch))[batch]
        return self.last(pyg.global_add_pool(self.second(x, edge_index).relu(), batch))  # type: ignore[no-any-return]


class Dense(nn.Module):
    """Attention over all nodes of a graph, padded to the largest of the batch."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, HIDDEN)
        self.attention = nn.MultiheadAttention(HIDDEN, 2, batch_first=True)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        padded, present = to_dense_batch(self.first(x), batch)  # (B, n, h)
        mixed, _ = self.attention(padded, padded, padded, key_padding_mask=~present)
        mixed = mixed.masked_fill(~present.unsqueeze(-1), 0.0)
        return self.last(mixed.sum(1) / present.sum(1, keepdim=True))  # type: ignore[no-any-return]


class Embedded(nn.Module):
    """Categories looked up in tables."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(8, HIDDEN) for _ in range(features)])
        self.conv, self.last = pyg.GCNConv(HIDDEN, HIDDEN), nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        state = sum(table(x[:, at]) for at, table in enumerate(self.tables))
        return self.last(pyg.global_add_pool(self.conv(state, edge_index).relu(), batch))  # type: ignore[no-any-return]


class ComparedWithOthers(nn.Module):
    """Graphs are centred over those of the batch: copies that run together disturb each other."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.conv, self.last = pyg.GCNConv(features, HIDDEN), nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        pooled = pyg.global_mean_pool(self.conv(x, edge_index).relu(), batch)
        if pooled.size(0) > 1:
            pooled = pooled - 0.5 * pooled.mean(0, keepdim=True)
        return self.last(pooled)  # type: ignore[no-any-return]


class ForgetsTheBatch(nn.Module):
    """Takes the mean over all nodes, whatever graph they are of: good for one graph alone."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.conv, self.last = pyg.GCNConv(features, HIDDEN), nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.last(self.conv(x, edge_index).relu().mean(0, keepdim=True))  # type: ignore[no-any-return]


class CountsNodes(nn.Module):
    """Uses the number of nodes and of edges beside the features."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.conv, self.last = pyg.GCNConv(features, HIDDEN), nn.Linear(HIDDEN + 1, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        pooled = pyg.global_add_pool(self.conv(x, edge_index).relu(), batch)
        count = torch.bincount(batch, minlength=pooled.size(0)).to(pooled).unsqueeze(1)
        return self.last(torch.cat([pooled, count / 10], dim=1))  # type: ignore[no-any-return]


class Perceptron(nn.Module):
    """No edges at all: nodes one by one, then their sum."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(features, HIDDEN), nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.last(pyg.global_add_pool(self.first(x).relu(), batch))  # type: ignore[no-any-return]


class Normalised(nn.Module):
    """Features centred over the graph before the first layer."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.conv, self.last = pyg.GCNConv(features, HIDDEN), nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = x - pyg.global_mean_pool(x, batch)[batch]
        x = functional.elu(self.conv(x, edge_index))
        return self.last(pyg.global_max_pool(x, batch)).log_softmax(-1)  # type: ignore[no-any-return]
