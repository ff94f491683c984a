"""Models without a layer of PyG, or that use one in a way that its list of layers does not show."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, SAGEConv
from torch_geometric.utils import degree, scatter, to_dense_adj, to_undirected

HIDDEN = 16


def mean_of_neighbours(x: Tensor, edge_index: Tensor) -> Tensor:
    """Return the mean (N, h) of each node's senders, by `scatter`."""
    mean: Tensor = scatter(x[edge_index[0]], edge_index[1], 0, dim_size=x.size(0), reduce="mean")
    return mean


def sum_of_neighbours(x: Tensor, edge_index: Tensor) -> Tensor:
    """Return the sum (N, h) of each node's senders, by `index_add`."""
    return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])


def centred(x: Tensor) -> Tensor:
    """Return rows (N, d) less their means."""
    return x - x.mean(1, keepdim=True)


def compared(x: Tensor) -> Tensor:
    """Return which entries (N, d) are above their row's mean: a step, flat almost everywhere."""
    return (x > x.mean(1, keepdim=True)).to(x.dtype)


class Reused(nn.Module):
    """One graph convolution applied several times, behind something done to each row."""

    def __init__(self, features: int, classes: int, before: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.before = before
        self.first = nn.Linear(features, HIDDEN)
        self.conv = GCNConv(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(self.before(x))
        for _ in range(3):
            x = self.conv(x, edge_index).relu()
        scores: Tensor = self.last(x)
        return scores


class Scattered(nn.Module):
    """Propagation by hand, behind something done to each row."""

    def __init__(
        self,
        features: int,
        classes: int,
        *,
        hops: int,
        before: Callable[[Tensor], Tensor],
        spread: Callable[[Tensor, Tensor], Tensor] = mean_of_neighbours,
    ) -> None:
        super().__init__()
        self.hops = hops
        self.before = before
        self.spread = spread
        self.first = nn.Linear(features, HIDDEN)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(self.before(x))
        for _ in range(self.hops):
            x = x + self.spread(x, edge_index)
        scores: Tensor = self.last(x.relu())
        return scores


class SummedBySparseProduct(nn.Module):
    """Two hops, each a product with the adjacency as a sparse matrix."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.first = nn.Linear(features, HIDDEN)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        ones = torch.ones(edge_index.size(1), dtype=x.dtype)
        adjacency = torch.sparse_coo_tensor(edge_index.flip(0), ones, (x.size(0), x.size(0)))
        x = self.first(self.norm(x))
        x = (x + adjacency @ x).relu()
        scores: Tensor = self.last(x + adjacency @ x)
        return scores


class DenseAdjacency(nn.Module):
    """Two hops, each a product with the adjacency as a dense matrix."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, HIDDEN)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        adjacency = to_dense_adj(edge_index, max_num_nodes=x.size(0))[0].t()  # (N, N)
        x = self.first(x + adjacency @ x).relu()
        scores: Tensor = self.last(x + adjacency @ x)
        return scores


class FlippedFirst(nn.Module):
    """The first layer sends against the edges, the second along them."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = SAGEConv(features, HIDDEN)
        self.second = SAGEConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(x, edge_index.flip(0)).relu()
        scores: Tensor = self.second(x, edge_index)
        return scores


class MadeUndirected(nn.Module):
    """Edges get their opposites inside the model."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GCNConv(features, HIDDEN)
        self.second = GCNConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        edge_index = to_undirected(edge_index, num_nodes=x.size(0))
        x = self.first(x, edge_index).relu()
        scores: Tensor = self.second(x, edge_index)
        return scores


class Gated(nn.Module):
    """Neighbours count only where a node's own features open a gate: noise may open it."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.head = nn.Linear(features, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        is_open = x[:, :4].sum(1, keepdim=True) == 0  # (N, 1)
        near: Tensor = self.head(x)
        far = mean_of_neighbours(near, edge_index)
        far = mean_of_neighbours(near + far, edge_index)
        return torch.where(is_open, near + 5 * far, near)


class OwnAttention(nn.Module):
    """A softmax over senders, written with `scatter`, twice."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, HIDDEN)
        self.score = nn.Linear(2 * HIDDEN, 1)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        sender, receiver = edge_index
        x = self.first(x)
        for _ in range(2):
            weight = self.score(torch.cat([x[sender], x[receiver]], dim=1)).tanh().exp()  # (E, 1)
            total = torch.zeros(x.size(0), 1, dtype=x.dtype).index_add(0, receiver, weight)
            spread = torch.zeros_like(x).index_add(0, receiver, weight * x[sender])
            x = (x + spread / total.clamp(min=1e-6)).relu()
        scores: Tensor = self.last(x)
        return scores


class DegreeFeature(nn.Module):
    """Counts each node's edges and takes the count for a feature."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GCNConv(features + 1, HIDDEN)
        self.second = GCNConv(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        count = degree(edge_index[1], x.size(0)).unsqueeze(1)
        x = self.first(torch.cat([x, count], dim=1), edge_index).relu()
        scores: Tensor = self.second(x, edge_index)
        return scores


class IgnoresFeatures(nn.Module):
    """Scores by degrees alone."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(2, HIDDEN)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        count = degree(edge_index[1], x.size(0)).unsqueeze(1)
        both = torch.cat([count, mean_of_neighbours(count, edge_index)], dim=1)
        scores: Tensor = self.last(self.first(both).relu())
        return scores


class Scriptable(nn.Module):
    """Two hops with nothing that TorchScript cannot read."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.first = nn.Linear(features, HIDDEN)
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        x = self.first(self.norm(x))
        for _ in range(2):
            x = x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
            x = x.relu()
        scores: Tensor = self.last(x)
        return scores
