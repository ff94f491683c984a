"""Small models whose explanations are known, and a graph with context nodes."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, SimpleConv
from torch_geometric.utils import erdos_renyi_graph

from zorro.methods import Subjects


class LinearModel(nn.Module):
    """Two classes: the sum of W over a node's own and its senders' features, and its negative."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)  # (d,)
        self.sum = SimpleConv(combine_root="sum")

    def forward(self, x, edge_index):
        score = self.sum(x, edge_index) @ self.weight
        return torch.stack([-score, score], dim=1) / 2


class TwoGraphConvolutions(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.first = GCNConv(features, 8)
        self.second = GCNConv(8, classes)

    def forward(self, x, edge_index):
        hidden = self.first(x, edge_index).relu()
        hidden = nn.functional.dropout(hidden, training=self.training)
        return self.second(hidden, edge_index)


@pytest.fixture
def linear():
    """Node 0 hears of nodes 1 and 2; node 3 sends to node 2 and is out of reach."""
    x = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0], [5.0, 5.0]])
    edge_index = torch.tensor([[1, 2, 3], [0, 0, 2]])
    return Subjects(LinearModel(torch.tensor([1.0, -0.5])), x, edge_index)


@pytest.fixture
def random_graph():
    """Features and edges of 200 nodes."""
    torch.manual_seed(0)
    return (torch.rand(200, 12) < 0.3).float(), erdos_renyi_graph(200, 0.015)


@pytest.fixture
def with_context(random_graph):
    """A query on a random graph, with seed 3, whose computational graph has context nodes."""
    model = TwoGraphConvolutions(12, 3).train()
    subjects = Subjects(model, *random_graph, seed=3)
    subject = subjects.of(5)
    assert subject.graph.context.numel() > 0
    assert subject.candidates > 5
    return subjects, subject


@pytest.fixture
def planted():
    """Class 1 where feature 2 of node 1 is set; nothing else matters to node 0."""

    class Planted(nn.Module):
        def __init__(self):
            super().__init__()
            self.sum = SimpleConv()

        def forward(self, x, edge_index):
            signal = self.sum(x * x.new_tensor([0, 0, 1.0, 0, 0]), edge_index).sum(1)
            return torch.stack([0.5 - signal, signal - 0.5], dim=1) * 8

    x = torch.zeros(20, 5)
    x[1, 2] = 1
    x[10:, [0, 1, 3]] = 1  # other features vary in the data set, and matter nowhere
    edge_index = torch.tensor([[1, 2], [0, 3]])
    edge_index = torch.cat([edge_index, torch.tensor([[4], [1]])], dim=1)
    return Subjects(Planted(), x, edge_index, hops=2)
