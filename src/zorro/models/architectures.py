"""The five architectures of the paper, each `model(x, edge_index)` → log-probabilities (N, C).

Those whose layers can weigh edges (`GCN`, `GCN3`, `APPNP`) take an `edge_weight` (E,) too.

Layer names and the order of operations are those of the paper's trained models, so that their
weights load as they are and give the published accuracies.
"""

from __future__ import annotations

import torch
import torch_geometric.nn as gnn
from torch import Tensor, nn
from torch.nn import functional


class GCN(nn.Module):
    """Two graph convolutions of width 16."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv1 = gnn.GCNConv(in_channels, 16)
        self.conv2 = gnn.GCNConv(16, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the log-probabilities of the classes, (N, C)."""
        x = functional.relu(self.conv1(x, edge_index, edge_weight))  # (N, 16)
        x = functional.dropout(x, training=self.training)
        return functional.log_softmax(self.conv2(x, edge_index, edge_weight), dim=1)


class GAT(nn.Module):
    """Two attention layers: eight heads of width 8, then one head."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv1 = gnn.GATConv(in_channels, 8, heads=8, dropout=0.6)
        self.conv2 = gnn.GATConv(64, out_channels, heads=1, concat=False, dropout=0.6)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return the log-probabilities of the classes, (N, C)."""
        x = functional.dropout(x, p=0.6, training=self.training)
        x = functional.elu(self.conv1(x, edge_index))  # (N, 64)
        x = functional.dropout(x, p=0.6, training=self.training)
        return functional.log_softmax(self.conv2(x, edge_index), dim=1)


class GIN(nn.Module):
    """Two isomorphism layers of width 32, each followed by ReLU and batch norm, and two linear.

    ε is fixed at 0, as it is in all of the paper's trained models.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv1 = gnn.GINConv(_perceptron(in_channels, 32))
        self.bn1 = nn.BatchNorm1d(32)
        self.conv2 = gnn.GINConv(_perceptron(32, 32))
        self.bn2 = nn.BatchNorm1d(32)
        self.fc1 = nn.Linear(32, 32)
        self.fc2 = nn.Linear(32, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return the log-probabilities of the classes, (N, C)."""
        x = self.bn1(functional.relu(self.conv1(x, edge_index)))  # (N, 32)
        x = self.bn2(functional.relu(self.conv2(x, edge_index)))  # (N, 32)
        x = functional.relu(self.fc1(x))  # (N, 32)
        x = functional.dropout(x, training=self.training)
        return functional.log_softmax(self.fc2(x), dim=1)


class APPNP(nn.Module):
    """A perceptron of width 64 whose scores are propagated for K = 2 steps, restart α = .1."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.lin1 = nn.Linear(in_channels, 64)
        self.lin2 = nn.Linear(64, out_channels)
        self.prop = gnn.APPNP(K=2, alpha=0.1)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the log-probabilities of the classes, (N, C)."""
        x = functional.dropout(x, training=self.training)
        x = functional.relu(self.lin1(x))  # (N, 64)
        x = functional.dropout(x, training=self.training)
        return functional.log_softmax(self.prop(self.lin2(x), edge_index, edge_weight), dim=1)


class GCN3(nn.Module):
    """Three graph convolutions of width 20 without self-loops, and a linear layer on all three."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv1 = gnn.GCNConv(in_channels, 20, add_self_loops=False)
        self.conv2 = gnn.GCNConv(20, 20, add_self_loops=False)
        self.conv3 = gnn.GCNConv(20, 20, add_self_loops=False)
        self.lin_pred = nn.Linear(60, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the log-probabilities of the classes, (N, C)."""
        first = functional.relu(self.conv1(x, edge_index, edge_weight))  # (N, 20)
        second = functional.relu(self.conv2(first, edge_index, edge_weight))  # (N, 20)
        third = functional.relu(self.conv3(second, edge_index, edge_weight))  # (N, 20)
        stacked = torch.cat([first, second, third], dim=1)  # (N, 60)
        return functional.log_softmax(self.lin_pred(stacked), dim=1)


def _perceptron(in_channels: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(in_channels, width), nn.ReLU(), nn.Linear(width, width))
