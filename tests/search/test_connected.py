"""Sets of edges that hang together."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, global_add_pool
from torch_geometric.utils import to_undirected

from zorro import Zorro
from zorro.cut import Extractor
from zorro.errors import InputError
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.search.connected import Connected

#   0 — 1 — 2 — 3      5 — 6
#        \     /
#          4
PAIRS = [(0, 1), (1, 2), (2, 3), (1, 4), (3, 4), (5, 6)]


def edges_of(pairs):
    return to_undirected(torch.tensor(pairs).t())


class FarAway(nn.Module):
    """Class 1 where the message of node 3 arrives at node 0, three hops away."""

    def forward(self, x, edge_index):
        heard = x[:, 0]
        for _ in range(3):
            received = torch.zeros_like(heard).index_add(0, edge_index[1], heard[edge_index[0]])
            heard = torch.maximum(heard, (received > 0).to(heard))
        return torch.stack([torch.full_like(heard, 0.5), heard], dim=1)


def of_node_0():
    x = torch.zeros(7, 1)
    x[3] = 1.0
    return x, edges_of(PAIRS)


@pytest.fixture
def connected():
    x, edge_index = of_node_0()
    graph = Extractor(Predictor(FarAway()), Graph(x, edge_index), hops=6).extract(0)
    return Connected(graph), graph.edges


def mask_of(edges, pairs):
    return edges.chosen("edges", pairs)


def test_every_set_of_edges_against_networkx(connected):
    join, edges = connected
    for count in range(len(edges.labels) + 1):
        for chosen in combinations(edges.labels, count):
            graph = nx.Graph(chosen)
            graph.add_node(0)
            assert join.holds(mask_of(edges, chosen)) == nx.is_connected(graph), chosen


def test_what_can_be_taken_out_leaves_the_rest_joined(connected):
    join, edges = connected
    kept = mask_of(edges, [(0, 1), (1, 2), (2, 3), (3, 4), (1, 4)])
    removable = [
        label for label, yes in zip(edges.labels, join.removable(kept), strict=True) if yes
    ]
    assert removable == [(1, 2), (1, 4), (2, 3), (3, 4)]  # the circle, not the way to it


def test_an_edge_far_away_brings_the_shortest_way_with_it(connected):
    join, edges = connected
    nothing, everything = mask_of(edges, []), mask_of(edges, edges.labels)
    place = edges.labels.index
    (way,) = join.joining(nothing, everything, [place((2, 3))])
    assert [edges.labels[edge] for edge in way] == [(0, 1), (1, 2), (2, 3)]
    (way,) = join.joining(mask_of(edges, [(0, 1), (1, 4)]), everything, [place((3, 4))])
    assert [edges.labels[edge] for edge in way] == [(3, 4)]
    without = mask_of(edges, [label for label in edges.labels if label != (0, 1)])
    assert join.joining(nothing, without, [place((2, 3))]) == []


def test_explanations_are_joined_to_the_query():
    x, edge_index = of_node_0()
    found = Zorro(FarAway(), x, edge_index, keep=("edges",), connected=True, hops=3).explain(0)
    assert found.parameters.connected
    graph = nx.Graph(found.edges)
    assert graph.number_of_edges()
    assert nx.has_path(graph, 0, 3)
    assert nx.is_connected(graph)


def test_of_a_whole_graph_edges_hang_together_anywhere():
    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.conv, self.lin = GCNConv(3, 8), nn.Linear(8, 2)

        def forward(self, x, edge_index, batch):
            return self.lin(global_add_pool(self.conv(x, edge_index).relu(), batch))

    draw = torch.Generator().manual_seed(0)
    graphs = [
        Data(x=torch.randn(7, 3, generator=draw), edge_index=edges_of(PAIRS)) for _ in range(6)
    ]
    zorro = Zorro.of_graphs(
        Pooled().eval(), graphs, keep=("edges",), connected=True, tolerance=0.1, tau=0.7
    )
    for number in range(6):
        found = zorro.explain(number)
        if found.edges:
            assert nx.is_connected(nx.Graph(found.edges)), found.edges


def test_only_edges_hang_together():
    x, edge_index = of_node_0()
    with pytest.raises(InputError, match="connected: expected 'edges' in keep"):
        Zorro(FarAway(), x, edge_index, connected=True)
    with pytest.raises(InputError, match="connected: expected the guided search"):
        Zorro(FarAway(), x, edge_index, keep=("edges",), connected=True, search="paper")
