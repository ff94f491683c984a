"""Models in which every node sees every other, or that know which node is which."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, SAGEConv, TopKPooling

HIDDEN = 16


class Between(nn.Module):
    """Two convolutions with something done to all nodes together between them."""

    def __init__(self, features: int, classes: int, middle: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.first = GCNConv(features, HIDDEN)
        self.middle = middle
        self.second = GCNConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.middle(self.first(x, edge_index).relu())
        scores: Tensor = self.second(x, edge_index)
        return scores


class Standardised(nn.Module):
    """Every column of the input has its mean and deviation over all nodes taken out."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GCNConv(features, HIDDEN)
        self.second = GCNConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = (x - x.mean(0)) / (x.std(0) + 1e-3)
        x = self.first(x, edge_index).relu()
        scores: Tensor = self.second(x, edge_index)
        return scores


class GlobalPool(nn.Module):
    """A pooled vector of all nodes, added to each node's own scores."""

    def __init__(self, features: int, classes: int, pool: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.first = nn.Linear(features, HIDDEN)
        self.pool = pool
        self.own = nn.Linear(HIDDEN, classes)
        self.common = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(x).relu()
        scores: Tensor = self.own(x) + 3 * self.common(self.pool(x))
        return scores


class VirtualNode(nn.Module):
    """A node joined to all others, between two convolutions."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GCNConv(features, HIDDEN)
        self.virtual = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.ReLU())
        self.second = GCNConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(x, edge_index).relu()
        x = x + self.virtual(x.mean(0, keepdim=True))
        scores: Tensor = self.second(x, edge_index)
        return scores


class SmallTransformer(nn.Module):
    """Attention of every node to every node."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, HIDDEN)
        self.attention = nn.MultiheadAttention(HIDDEN, 2, batch_first=True)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(x).unsqueeze(0)  # (1, N, h)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        scores: Tensor = self.last(x.squeeze(0).relu())
        return scores


class NearestNeighbours(nn.Module):
    """The graph is not the given one: each node's senders are the nearest in feature space."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(2 * features, HIDDEN)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        nearest = torch.cdist(x, x).topk(min(6, x.size(0)), largest=False).indices[:, 1:]  # (N, k)
        x = torch.cat([x, x[nearest].mean(1)], dim=1)
        scores: Tensor = self.last(self.first(x).relu())
        return scores


class NumberedNodes(nn.Module):
    """Each node has an embedding of its own, found by its number."""

    def __init__(self, nodes: int, features: int, classes: int) -> None:
        super().__init__()
        self.numbers = nn.Embedding(nodes, HIDDEN)
        self.first = SAGEConv(features, HIDDEN)
        self.second = SAGEConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(x, edge_index) + self.numbers(torch.arange(x.size(0)))
        scores: Tensor = self.second(x.relu(), edge_index)
        return scores


class PositionBuffer(nn.Module):
    """A stored row of numbers per node, added to what the first layer gives."""

    def __init__(self, nodes: int, features: int, classes: int) -> None:
        super().__init__()
        self.register_buffer("positions", torch.randn(nodes, HIDDEN))
        self.first = SAGEConv(features, HIDDEN)
        self.second = SAGEConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(x, edge_index) + self.positions
        scores: Tensor = self.second(x.relu(), edge_index)
        return scores


class Pooled(nn.Module):
    """The best half of the nodes, a convolution among them, and back."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GCNConv(features, HIDDEN)
        self.pool = TopKPooling(HIDDEN, ratio=0.5)
        self.inner = GCNConv(HIDDEN, HIDDEN)
        self.last = GCNConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(x, edge_index).relu()
        kept, inner_edges, _, _, at, _ = self.pool(x, edge_index)
        kept = self.inner(kept, inner_edges).relu()
        scores: Tensor = self.last(x + torch.zeros_like(x).index_copy(0, at, kept), edge_index)
        return scores
