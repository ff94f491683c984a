"""Rows near few edges are looked up: the model, run on every subgraph one by one, says the same."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data

from zorro import Zorro
from zorro.evaluation.traced.patterns import Patterns
from zorro.evaluation.traced.presence import Presence

WIDTH = 5
# A ring of four with a tail of three, and two edges between the same nodes.
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 6), (4, 5)]
NODES = 8  # the last one has no edge


def mlp(inner, outer):
    return nn.Sequential(nn.Linear(inner, 7), nn.ReLU(inplace=True), nn.Linear(7, outer))


class Stack(nn.Module):
    """Three layers of a kind, concatenated, and what the nodes give together."""

    def __init__(self, make, pool=gnn.global_add_pool):
        super().__init__()
        torch.manual_seed(4)
        self.convs = nn.ModuleList([make(WIDTH, 6), make(6, 6), make(6, 6)])
        self.norm = nn.BatchNorm1d(6)
        self.lin, self.pool = nn.Linear(18, 3), pool

    def forward(self, x, edge_index, edge_attr=None, batch=None):
        further = {} if edge_attr is None else {"edge_attr": edge_attr}
        first = self.convs[0](x, edge_index, **further).relu()
        second = self.norm(self.convs[1](first, edge_index, **further)).relu_()
        third = self.convs[2](second, edge_index, **further)
        return self.lin(self.pool(torch.cat([first, second, third], 1), batch))


LOOKED_UP = {
    "GIN": lambda i, o: gnn.GINConv(mlp(i, o), eps=0.2),
    "GINE": lambda i, o: gnn.GINEConv(mlp(i, o), edge_dim=4),
    "GCN not normalised": lambda i, o: gnn.GCNConv(i, o, normalize=False),
    "SAGE": gnn.SAGEConv,
    "GraphConv": gnn.GraphConv,
    "GAT": lambda i, o: gnn.GATConv(i, o, heads=2, concat=False),
    "GATv2": gnn.GATv2Conv,
    "Transformer": lambda i, o: gnn.TransformerConv(i, o, edge_dim=4),
}
# They hear of further edges than those into a row, or go through rows one by one.
NOT_LOOKED_UP = {
    "GCN": gnn.GCNConv,
    "SAGE max": lambda i, o: gnn.SAGEConv(i, o, aggr="max"),
}


def a_graph(*, loop=False, directed=False):
    draw = torch.Generator().manual_seed(1)
    pairs = [*PAIRS, (2, 2)] if loop else PAIRS
    columns = [
        pair for u, v in pairs for pair in ([(u, v)] if directed or u == v else [(u, v), (v, u)])
    ]
    edge_index = torch.tensor(columns).t()
    attributes = torch.randn(edge_index.size(1), 4, generator=draw)
    return Data(
        x=torch.randn(NODES, WIDTH, generator=draw), edge_index=edge_index, edge_attr=attributes
    )


def evaluator_of(model, graph, *, names, samples=300):
    inputs = {name: name for name in names}
    zorro = Zorro.of_graphs(
        model, [graph, graph], keep=("edges",), evaluator="traced", model_kwargs=inputs
    )
    return zorro.meter(0, samples=samples).evaluator


def one_by_one(model, graph, evaluator, *, names):
    """Run the model on each sample's graph, from which the edges are taken that it lacks."""
    present = evaluator.edges_under(evaluator.nothing).present
    of_column = evaluator.graph.edges.of_column
    scores = []
    for there in present:
        kept = there[of_column]
        further = {name: graph[name][kept] for name in names}
        with torch.no_grad():
            scores.append(
                model(
                    graph.x,
                    graph.edge_index[:, kept],
                    batch=torch.zeros(NODES, dtype=torch.long),
                    **further,
                )[0]
            )
    return present, torch.stack(scores)


@pytest.mark.parametrize("name", [*LOOKED_UP, *NOT_LOOKED_UP])
@pytest.mark.parametrize("kind", ["undirected", "directed", "with a loop"])
def test_scores_are_those_of_the_model_on_each_subgraph(name, kind):
    names = ("edge_attr",) if name in ("GINE", "Transformer") else ()
    graph = a_graph(loop=kind == "with a loop", directed=kind == "directed")
    model = Stack({**LOOKED_UP, **NOT_LOOKED_UP}[name]).eval()
    evaluator = evaluator_of(model, graph, names=names)
    present, scores = one_by_one(model, graph, evaluator, names=names)
    assert len(present.unique(dim=0)) > 150  # of 256 or 512
    torch.testing.assert_close(evaluator.scores(evaluator.nothing), scores, atol=1e-5, rtol=1e-5)
    tables = evaluator._tables
    if name in NOT_LOOKED_UP:
        assert tables is None
    else:
        assert len(tables) >= 3
        assert tables.deviation < 1e-5


def test_of_nodes_too():
    """A node's own rows are looked up to the end where it sees so few edges."""
    graph = a_graph()
    torch.manual_seed(2)
    model = gnn.GIN(WIDTH, 6, 2, 3, jk="cat").eval()
    zorro = Zorro(model, graph.x, graph.edge_index, keep=("edges",), evaluator="traced")
    for node in (0, 4, 6, 7):
        evaluator = zorro.meter(node, samples=100).evaluator
        edges = evaluator.edges_under(evaluator.nothing)
        assert edges is not None
        ids = evaluator.graph
        ends = torch.cat([ids.candidates, ids.context])[ids.edge_index]
        for there, scores in zip(edges.present, evaluator.scores(evaluator.nothing), strict=True):
            with torch.no_grad():
                alone = model(graph.x, ends[:, there[ids.edges.of_column]])[node]
            torch.testing.assert_close(scores, alone, atol=1e-5, rtol=1e-5)


def test_a_layer_that_is_not_as_it_seems_is_not_looked_up(monkeypatch):
    """Tables that give other scores than the program are found out, and are not used."""
    graph, model = a_graph(), Stack(LOOKED_UP["GIN"]).eval()
    monkeypatch.setattr(
        Patterns,
        "of_inputs",
        lambda self, present: self._first.unsqueeze(1).repeat(1, len(present)),
    )
    evaluator = evaluator_of(model, graph, names=())
    assert evaluator._tables is None
    _, scores = one_by_one(model, graph, evaluator, names=())
    torch.testing.assert_close(evaluator.scores(evaluator.nothing), scores, atol=1e-5, rtol=1e-5)


def test_many_edges_around_a_node_are_too_many_ways():
    hub = torch.tensor([[0] * 30, list(range(1, 31))])
    graph = Data(x=torch.randn(31, WIDTH), edge_index=torch.cat([hub, hub.flip(0)], 1))
    evaluator = evaluator_of(Stack(LOOKED_UP["GIN"]).eval(), graph, names=(), samples=20)
    assert evaluator._tables is None


def test_addresses_are_one_for_each_row_and_pattern():
    patterns = Patterns([0b1011, 0b0100, 0, 0b1], 4, torch.device("cpu"))
    assert patterns.count == 8 + 2 + 1 + 2
    seen: dict[Any, Any] = {}
    for bits in product([False, True], repeat=4):
        present = torch.tensor([bits])
        number = sum(1 << bit for bit, there in enumerate(bits) if there)
        (address,) = patterns.of_inputs(present.double()).t()
        for row, mask in enumerate(patterns.masks):
            key = (row, number & mask)
            assert seen.setdefault(key, int(address[row])) == int(address[row])
            again = patterns.addresses(torch.tensor([row]), torch.tensor([number]))
            assert int(again) == int(address[row])
            assert int(patterns.row[address[row]]) == row
            assert int(patterns.number[address[row]]) == number & mask
    assert sorted(seen.values()) == list(range(patterns.count))


def test_62_edges_have_bits_of_their_own():
    patterns = Patterns([1 << 61 | 1, 1 << 61], 62, torch.device("cpu"))
    present = torch.zeros(2, 62)
    present[1, 61] = 1
    assert patterns.of_inputs(present.double()).t().tolist() == [[0, 4], [2, 5]]
    assert patterns.number.tolist() == [0, 1, 1 << 61, 1 << 61 | 1, 0, 1 << 61]


def test_gradients_do_not_come_from_tables():
    """What edges would add to first order is that of the model, whose edges have weights."""
    graph, model = a_graph(), Stack(LOOKED_UP["GCN not normalised"]).eval()
    evaluator = evaluator_of(model, graph, names=(), samples=40)
    assert evaluator._tables is not None
    present = evaluator.edges_under(evaluator.nothing).present
    total = torch.zeros(present.size(1))
    for there in present:
        weight = there[evaluator.graph.edges.of_column].float().requires_grad_()

        def weighted(x, edge_index, conv, weight=weight):
            return conv(x, edge_index, weight)

        first = weighted(graph.x, graph.edge_index, model.convs[0]).relu()
        second = model.norm(weighted(first, graph.edge_index, model.convs[1])).relu()
        third = weighted(second, graph.edge_index, model.convs[2])
        batch = torch.zeros(NODES, dtype=torch.long)
        scores = model.lin(model.pool(torch.cat([first, second, third], 1), batch))
        (of_column,) = torch.autograd.grad(evaluator.event.log_probability(scores).sum(), weight)
        by_edge = torch.zeros_like(total).index_add(0, evaluator.graph.edges.of_column, of_column)
        total += by_edge * ~there / len(present)
    torch.testing.assert_close(
        evaluator.gains(evaluator.nothing)["edges"], total, atol=1e-5, rtol=1e-4
    )
    assert isinstance(evaluator._presence(present), Presence)
