"""Models of whole graphs, each `model(x, edge_index, batch=…)` → log-probabilities (B, C).

`batch` (N,) is the number of each node's graph, ascending; without it all nodes are one graph.
Those whose layers can weigh edges (`GraphGCN`, `GraphGCN3`, `GraphAPPNP`) take an `edge_weight`
(E,) too; `GraphGINE` needs an `edge_attr` (E, k). What all are built with besides is
`ReadoutOptions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict, Unpack

import torch
import torch_geometric.nn as gnn
from torch import Tensor, nn
from torch.nn import functional

from zorro.arguments import check_choice

Pool = Callable[[Tensor, Tensor | None], Tensor]

_POOLS: dict[str, Pool] = {
    "add": gnn.global_add_pool,
    "max": gnn.global_max_pool,
    "mean": gnn.global_mean_pool,
}

POOLINGS = tuple(_POOLS)
_WIDTH = 64
_NARROW = 20


class ReadoutOptions(TypedDict, total=False):
    """How the nodes' states become a graph's answer, as `Readout` takes it."""

    pooling: str
    regression: bool


class GraphGCN(nn.Module):
    """Three graph convolutions of width 64, pooled, and two linear layers."""

    def __init__(
        self, in_channels: int, out_channels: int, **readout: Unpack[ReadoutOptions]
    ) -> None:
        super().__init__()
        self.conv1 = gnn.GCNConv(in_channels, _WIDTH)
        self.conv2 = gnn.GCNConv(_WIDTH, _WIDTH)
        self.conv3 = gnn.GCNConv(_WIDTH, _WIDTH)
        self.readout = Readout(out_channels, **readout)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """Return the log-probabilities of the classes, (B, C)."""
        x = functional.relu(self.conv1(x, edge_index, edge_weight))  # (N, 64)
        x = functional.relu(self.conv2(x, edge_index, edge_weight))  # (N, 64)
        x = functional.relu(self.conv3(x, edge_index, edge_weight))  # (N, 64)
        scores: Tensor = self.readout(x, batch)
        return scores


class GraphGCN3(nn.Module):
    """Three graph convolutions of width 20 that add up, all three pooled, and two linear layers.

    Neighbours are added as they are and a node does not hear itself: where features tell nothing,
    as on BA-2Motifs, layers that normalise by degrees do not learn to tell motifs apart.
    """

    def __init__(
        self, in_channels: int, out_channels: int, **readout: Unpack[ReadoutOptions]
    ) -> None:
        super().__init__()
        self.conv1 = gnn.GCNConv(in_channels, _NARROW, normalize=False)
        self.conv2 = gnn.GCNConv(_NARROW, _NARROW, normalize=False)
        self.conv3 = gnn.GCNConv(_NARROW, _NARROW, normalize=False)
        self.readout = Readout(out_channels, width=3 * _NARROW, dropout=0.0, **readout)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """Return the log-probabilities of the classes, (B, C)."""
        first = functional.relu(self.conv1(x, edge_index, edge_weight))  # (N, 20)
        second = functional.relu(self.conv2(first, edge_index, edge_weight))  # (N, 20)
        third = functional.relu(self.conv3(second, edge_index, edge_weight))  # (N, 20)
        stacked = torch.cat([first, second, third], dim=1)  # (N, 60)
        scores: Tensor = self.readout(stacked, batch)
        return scores


class GraphGAT(nn.Module):
    """Three attention layers of four heads of width 16, pooled, and two linear layers."""

    def __init__(
        self, in_channels: int, out_channels: int, **readout: Unpack[ReadoutOptions]
    ) -> None:
        super().__init__()
        self.conv1 = gnn.GATConv(in_channels, _WIDTH // 4, heads=4)
        self.conv2 = gnn.GATConv(_WIDTH, _WIDTH // 4, heads=4)
        self.conv3 = gnn.GATConv(_WIDTH, _WIDTH // 4, heads=4)
        self.readout = Readout(out_channels, **readout)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return the log-probabilities of the classes, (B, C)."""
        x = functional.relu(self.conv1(x, edge_index))  # (N, 64)
        x = functional.relu(self.conv2(x, edge_index))  # (N, 64)
        x = functional.relu(self.conv3(x, edge_index))  # (N, 64)
        scores: Tensor = self.readout(x, batch)
        return scores


class GraphGIN(nn.Module):
    """Three isomorphism layers of width 64 with batch norm, pooled, and two linear layers.

    The norms' statistics are those of the training, so that graphs in a batch do not mix.
    """

    def __init__(
        self, in_channels: int, out_channels: int, **readout: Unpack[ReadoutOptions]
    ) -> None:
        super().__init__()
        self.conv1 = gnn.GINConv(_perceptron(in_channels))
        self.bn1 = nn.BatchNorm1d(_WIDTH)
        self.conv2 = gnn.GINConv(_perceptron(_WIDTH))
        self.bn2 = nn.BatchNorm1d(_WIDTH)
        self.conv3 = gnn.GINConv(_perceptron(_WIDTH))
        self.bn3 = nn.BatchNorm1d(_WIDTH)
        self.readout = Readout(out_channels, **readout)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return the log-probabilities of the classes, (B, C)."""
        x = self.bn1(functional.relu(self.conv1(x, edge_index)))  # (N, 64)
        x = self.bn2(functional.relu(self.conv2(x, edge_index)))  # (N, 64)
        x = self.bn3(functional.relu(self.conv3(x, edge_index)))  # (N, 64)
        scores: Tensor = self.readout(x, batch)
        return scores


class GraphGINE(nn.Module):
    """As `GraphGIN`, with layers that hear the attributes of edges too.

    Args:
        in_channels: how many features a node has.
        out_channels: how many scores a graph gets.
        edge_dim: how many attributes an edge has.
        readout: see `ReadoutOptions`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_dim: int,
        **readout: Unpack[ReadoutOptions],
    ) -> None:
        super().__init__()
        self.conv1 = gnn.GINEConv(_perceptron(in_channels), edge_dim=edge_dim)
        self.bn1 = nn.BatchNorm1d(_WIDTH)
        self.conv2 = gnn.GINEConv(_perceptron(_WIDTH), edge_dim=edge_dim)
        self.bn2 = nn.BatchNorm1d(_WIDTH)
        self.conv3 = gnn.GINEConv(_perceptron(_WIDTH), edge_dim=edge_dim)
        self.bn3 = nn.BatchNorm1d(_WIDTH)
        self.readout = Readout(out_channels, **readout)

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor | None = None
    ) -> Tensor:
        """Return the log-probabilities of the classes, (B, C)."""
        x = self.bn1(functional.relu(self.conv1(x, edge_index, edge_attr)))  # (N, 64)
        x = self.bn2(functional.relu(self.conv2(x, edge_index, edge_attr)))  # (N, 64)
        x = self.bn3(functional.relu(self.conv3(x, edge_index, edge_attr)))  # (N, 64)
        scores: Tensor = self.readout(x, batch)
        return scores


class GraphAPPNP(nn.Module):
    """A perceptron of width 64, propagated for K = 3 steps, restart α = .1, pooled, two linear."""

    def __init__(
        self, in_channels: int, out_channels: int, **readout: Unpack[ReadoutOptions]
    ) -> None:
        super().__init__()
        self.lin1 = nn.Linear(in_channels, _WIDTH)
        self.lin2 = nn.Linear(_WIDTH, _WIDTH)
        self.prop = gnn.APPNP(K=3, alpha=0.1)
        self.readout = Readout(out_channels, **readout)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """Return the log-probabilities of the classes, (B, C)."""
        x = functional.relu(self.lin1(x))  # (N, 64)
        x = functional.relu(self.lin2(x))  # (N, 64)
        x = self.prop(x, edge_index, edge_weight)  # (N, 64)
        scores: Tensor = self.readout(x, batch)
        return scores


class Readout(nn.Module):
    """What becomes of nodes' states (N, h): pooled for each graph, and two linear layers.

    Args:
        out_channels: how many scores a graph gets.
        pooling: one of `POOLINGS`.
        regression: return the scores as they are, and not the log-probabilities of classes.
        width: h, of the states and of the layer between.
        dropout: share of that layer that is left out in training.
    """

    def __init__(
        self,
        out_channels: int,
        *,
        pooling: str = "add",
        regression: bool = False,
        width: int = _WIDTH,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        check_choice("pooling", pooling, POOLINGS)
        self.pooling = pooling
        self.regression = regression
        self.dropout = dropout
        self.lin1 = nn.Linear(width, width)
        self.lin2 = nn.Linear(width, out_channels)

    def forward(self, x: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return the scores of each graph, (B, C)."""
        x = _POOLS[self.pooling](x, batch)  # (B, h)
        x = functional.relu(self.lin1(x))  # (B, h)
        x = functional.dropout(x, p=self.dropout, training=self.training)
        x = self.lin2(x)  # (B, C)
        return x if self.regression else functional.log_softmax(x, dim=1)


def _perceptron(in_channels: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(in_channels, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, _WIDTH))
