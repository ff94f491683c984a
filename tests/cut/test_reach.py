"""How far a model is found to see, whatever its code looks like."""

from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, SAGEConv
from torch_geometric.utils import to_undirected

from zorro.cut import Extractor
from zorro.cut.reach import Reach, _least
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor

FEATURES = 6


def a_graph(seed=0, nodes=150):
    """A directed graph with few edges, so that neighbourhoods are small."""
    torch.manual_seed(seed)
    children = torch.arange(1, nodes)
    parents = (torch.rand(nodes - 1) * children).long()
    edges = torch.stack([children, parents])
    turned = torch.rand(nodes - 1) < 0.5
    return torch.randn(nodes, FEATURES), torch.where(turned, edges.flip(0), edges)


class ByHand(nn.Module):
    """Propagation without a layer of PyG, after a normalisation that swallows what is added."""

    def __init__(self, *ways, first=None):
        super().__init__()
        self.first = first or nn.LayerNorm(FEATURES)
        self.ways = ways

    def forward(self, x, edge_index):
        x = self.first(x)
        for way in self.ways:
            sender, receiver = edge_index if way == "in" else edge_index.flip(0)
            x = (x + torch.zeros_like(x).index_add(0, receiver, x[sender])).tanh()
        return x


class Centred(nn.Module):
    def forward(self, x):
        return x - x.mean(1, keepdim=True)


class Compared(nn.Module):
    """Lets no NaN through."""

    def forward(self, x):
        return (x > x.mean(1, keepdim=True)).float() + 0.1 * torch.arange(FEATURES)


class Reused(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(FEATURES)
        self.layer = GCNConv(FEATURES, FEATURES)

    def forward(self, x, edge_index):
        x = self.norm(x)
        for _ in range(3):
            x = self.layer(x, edge_index).tanh()
        return x


class Ensemble(nn.Module):
    def __init__(self):
        super().__init__()
        self.members: Any = nn.ModuleList(
            nn.ModuleList([GCNConv(FEATURES, 4), GCNConv(4, 3)]) for _ in range(3)
        )

    def forward(self, x, edge_index):
        return sum(
            second(first(x, edge_index).tanh(), edge_index) for first, second in self.members
        )


class Everywhere(nn.Module):
    def forward(self, x, edge_index):
        return x - x.mean(0)


MODELS = {
    "LayerNorm, one layer used thrice": (Reused, Reach(3)),
    "by hand": (lambda: ByHand("in", "in"), Reach(2)),
    "by hand, centred": (lambda: ByHand("in", "in", "in", first=Centred()), Reach(3)),
    "by hand, compared": (lambda: ByHand("in", "in", first=Compared()), Reach(2)),
    "an ensemble": (Ensemble, Reach(2)),
    "both ways": (lambda: ByHand("in", "out"), Reach(2, both_ways=True)),
    "no hops": (ByHand, Reach(0)),
}


@pytest.mark.parametrize("check", ["whole", "local"])
@pytest.mark.parametrize("name", MODELS)
def test_reach(name, check):
    torch.manual_seed(1)
    make, reach = MODELS[name]
    x, edge_index = a_graph()
    extractor = Extractor(Predictor(make()), Graph(x, edge_index), check=check)
    assert extractor.reach == reach


def test_both_directions_of_an_undirected_graph_are_one():
    x, edge_index = a_graph()
    model = ByHand("in", "out")
    assert Extractor(Predictor(model), Graph(x, to_undirected(edge_index))).reach == Reach(2)


def test_what_matters_everywhere_is_said_to():
    x, edge_index = a_graph()
    reach = Extractor(Predictor(Everywhere()), Graph(x, edge_index)).reach
    assert reach.everything


def test_probes_are_the_same_for_every_query():
    x, edge_index = a_graph()
    model = Predictor(Reused())
    forwards, backwards = (Extractor(model, Graph(x, edge_index)) for _ in range(2))
    there = [forwards.extract(node).candidates.tolist() for node in range(0, 150, 30)]
    back = [backwards.extract(node).candidates.tolist() for node in reversed(range(0, 150, 30))]
    assert there == back[::-1]


def test_a_layer_that_wants_sorted_edges_gets_them_on_every_cut():
    torch.manual_seed(0)
    x, edge_index = a_graph()
    edge_index = to_undirected(edge_index)
    edge_index = edge_index[:, edge_index[1].sort(stable=True).indices]
    model = SAGEConv(FEATURES, 3, aggr="lstm").eval()
    whole = model(x, edge_index)
    extractor = Extractor(Predictor(model), Graph(x, edge_index))
    for node in range(0, 150, 7):
        cut = extractor.extract(node)
        assert bool((cut.edge_index[1].diff() >= 0).all())
        assert torch.allclose(cut.scores, whole[node], atol=1e-5)


@pytest.mark.parametrize("answer", [3, 4, 7, 8, 30, 99])
def test_the_least_number_that_suffices(answer):
    asked = []

    def suffices(number):
        asked.append(number)
        return number >= answer

    assert _least(suffices, 3, 1000) == answer
    assert len(asked) < 20
