"""Traced models on graphs whose edges come and go give the any-model evaluator's scores."""

from __future__ import annotations

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from zorro import Zorro

DIMENSION, CLASSES = 6, 3


def a_graph(nodes=24, edges=34, *, seed=0, directed=False):
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, DIMENSION, generator=draw)
    edge_index = torch.randint(nodes, (2, edges), generator=draw)
    edge_index = edge_index[:, edge_index[0] != edge_index[1]]
    return x, edge_index if directed else to_undirected(edge_index)


class TwoLayers(nn.Module):
    """Two layers of a kind, one after the other."""

    def __init__(self, make, *, first=None):
        super().__init__()
        torch.manual_seed(3)
        self.first = first or make(DIMENSION, 8)
        self.second = make(8, CLASSES)

    def forward(self, x, edge_index, **further):
        h = self.first(x, edge_index, **further).relu()
        return self.second(h, edge_index, **further)


class Propagated(nn.Module):
    """A linear map that is spread over the graph."""

    def __init__(self, spread):
        super().__init__()
        torch.manual_seed(3)
        self.lin = nn.Linear(DIMENSION, CLASSES)
        self.spread = spread

    def forward(self, x, edge_index):
        return self.spread(self.lin(x), edge_index)


class Pooled(nn.Module):
    """A layer, and what the nodes of a graph give together."""

    def __init__(self, make, pool):
        super().__init__()
        torch.manual_seed(3)
        self.conv, self.lin, self.pool = make(DIMENSION, 8), nn.Linear(8, CLASSES), pool

    def forward(self, x, edge_index, batch):
        return self.lin(self.pool(self.conv(x, edge_index).relu(), batch))


def mlp(inner, outer):
    return nn.Sequential(nn.Linear(inner, 7), nn.ReLU(), nn.Linear(7, outer))


MODELS = {
    "GCN": lambda: TwoLayers(gnn.GCNConv),
    "GCN improved": lambda: TwoLayers(lambda i, o: gnn.GCNConv(i, o, improved=True)),
    "GCN without loops": lambda: TwoLayers(lambda i, o: gnn.GCNConv(i, o, add_self_loops=False)),
    "GCN not normalised": lambda: TwoLayers(lambda i, o: gnn.GCNConv(i, o, normalize=False)),
    "GIN": lambda: TwoLayers(lambda i, o: gnn.GINConv(mlp(i, o), eps=0.3)),
    "GIN mean": lambda: TwoLayers(lambda i, o: gnn.GINConv(mlp(i, o), aggr="mean")),
    "GIN max": lambda: TwoLayers(lambda i, o: gnn.GINConv(mlp(i, o), aggr="max")),
    "SAGE": lambda: TwoLayers(gnn.SAGEConv),
    "SAGE sum": lambda: TwoLayers(lambda i, o: gnn.SAGEConv(i, o, aggr="sum")),
    "SAGE max": lambda: TwoLayers(lambda i, o: gnn.SAGEConv(i, o, aggr="max")),
    "SAGE normalised, no root": lambda: TwoLayers(
        lambda i, o: gnn.SAGEConv(i, o, normalize=True, root_weight=False)
    ),
    "GraphConv": lambda: TwoLayers(gnn.GraphConv),
    "GraphConv mean": lambda: TwoLayers(lambda i, o: gnn.GraphConv(i, o, aggr="mean")),
    "GraphConv max": lambda: TwoLayers(lambda i, o: gnn.GraphConv(i, o, aggr="max")),
    "GAT": lambda: TwoLayers(lambda i, o: gnn.GATConv(i, o, heads=2, concat=False)),
    "GAT without loops": lambda: TwoLayers(lambda i, o: gnn.GATConv(i, o, add_self_loops=False)),
    "GATv2": lambda: TwoLayers(lambda i, o: gnn.GATv2Conv(i, o, heads=2, concat=False)),
    "Transformer": lambda: TwoLayers(gnn.TransformerConv),
    "SuperGAT": lambda: TwoLayers(gnn.SuperGATConv),
    "EdgeConv": lambda: TwoLayers(lambda i, o: gnn.EdgeConv(mlp(2 * i, o))),
    "ResGated": lambda: TwoLayers(gnn.ResGatedGraphConv),
    "LG": lambda: Propagated(gnn.LGConv()),
    "SG": lambda: TwoLayers(gnn.GCNConv, first=gnn.SGConv(DIMENSION, 8, K=2)),
    "APPNP": lambda: Propagated(gnn.APPNP(3, 0.2)),
    "PyG's GCN": lambda: gnn.GCN(DIMENSION, 8, 2, CLASSES),
    "PyG's GAT": lambda: gnn.GAT(DIMENSION, 8, 2, CLASSES),
    "PyG's GIN, concatenated": lambda: gnn.GIN(DIMENSION, 8, 2, CLASSES, jk="cat"),
    "PyG's SAGE": lambda: gnn.GraphSAGE(DIMENSION, 8, 2, CLASSES),
}


def both(model, x, edge_index, query, *, make=Zorro, **options):
    """Return meters of a query by both evaluators, on the same samples."""
    found = []
    for name in ("traced", "any-model"):
        zorro = make(model, x, edge_index, evaluator=name, **options)
        found.append(zorro.meter(query, samples=40))
    assert [meter.evaluator.name for meter in found] == ["traced", "any-model"]
    return found


def same_scores(traced, batched):
    """Compare scores, toggled ones and hits of sets with some edges."""
    ours, theirs = traced.evaluator, batched.evaluator
    draw = torch.Generator().manual_seed(1)
    for share in (0.0, 0.3, 0.8):
        selection = ours.nothing
        for kind, size in ours.space.sizes.items():
            chosen = (torch.rand(size, generator=draw) < share).nonzero().flatten().tolist()
            selection = selection.toggled(*[(kind, place) for place in chosen])
        torch.testing.assert_close(
            ours.scores(selection), theirs.scores(selection), atol=1e-4, rtol=1e-4
        )
        assert torch.equal(ours.hits(selection), theirs.hits(selection))
        for kind, size in ours.space.sizes.items():
            members = torch.randperm(size, generator=draw)[:6].sort().values
            torch.testing.assert_close(
                ours.scores_toggling(selection, kind, members),
                theirs.scores_toggling(selection, kind, members),
                atol=1e-4,
                rtol=1e-4,
            )
            assert torch.equal(
                ours.hits_toggling(selection, kind, members),
                theirs.hits_toggling(selection, kind, members),
            )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_scores_are_the_models(name, directed):
    x, edge_index = a_graph(directed=directed)
    same_scores(*both(MODELS[name]().eval(), x, edge_index, 3, keep=("edges",)))


@pytest.mark.parametrize("name", ["GCN", "GAT", "GIN", "SAGE max", "APPNP", "PyG's GCN"])
def test_beside_nodes_and_features(name):
    x, edge_index = a_graph()
    model = MODELS[name]().eval()
    same_scores(*both(model, x, edge_index, 3, keep=("nodes", "features", "edges")))


@pytest.mark.parametrize("edges", [5, 61, 62, 63, 64, 65])
def test_as_many_edges_as_a_number_tells_apart_and_more(edges):
    """Inputs that were run before are known by their edges: no two that differ are mixed up."""
    x = torch.randn(edges + 1, DIMENSION, generator=torch.Generator().manual_seed(2))
    star = torch.stack([torch.arange(1, edges + 1), torch.zeros(edges, dtype=torch.long)])
    model = TwoLayers(lambda i, o: gnn.GINConv(mlp(i, o))).eval()
    traced, batched = both(model, x, to_undirected(star), 0, keep=("edges",))
    assert traced.evaluator.space.edges == edges
    same_scores(traced, batched)
    last = torch.arange(max(0, edges - 4), edges)
    torch.testing.assert_close(
        traced.evaluator.scores_toggling(traced.evaluator.nothing, "edges", last),
        batched.evaluator.scores_toggling(batched.evaluator.nothing, "edges", last),
        atol=1e-4,
        rtol=1e-4,
    )


def test_no_input_is_run_twice():
    x, edge_index = a_graph()
    traced, _ = both(MODELS["GIN"]().eval(), x, edge_index, 3, keep=("edges",))
    evaluator = traced.evaluator
    members = torch.arange(evaluator.space.edges)
    evaluator.scores_toggling(evaluator.nothing, "edges", members)
    before = evaluator.evaluations
    evaluator.scores(evaluator.nothing.toggled(("edges", 2)))
    assert evaluator.evaluations == before
    evaluator.scores(evaluator.nothing.toggled(("edges", 2), ("edges", 4)))
    assert evaluator.evaluations > before


@pytest.mark.parametrize("name", ["GCN", "GCN improved", "GCN without loops", "GraphConv"])
def test_weights_go_with_their_edges(name):
    x, edge_index = a_graph()
    edge_index = torch.cat([edge_index, torch.tensor([[3, 5], [3, 5]])], 1)
    weight = torch.rand(edge_index.size(1), generator=torch.Generator().manual_seed(5)) + 0.1
    model = MODELS[name]().eval()
    same_scores(
        *both(model, x, edge_index, 3, keep=("edges",), model_kwargs={"edge_weight": weight})
    )


@pytest.mark.parametrize("layer", [gnn.GINEConv, gnn.TransformerConv, gnn.ResGatedGraphConv])
def test_attributes_go_with_their_edges(layer):
    x, edge_index = a_graph()
    attributes = torch.randn(edge_index.size(1), 4, generator=torch.Generator().manual_seed(5))
    make = (
        (lambda i, o: gnn.GINEConv(mlp(i, o), edge_dim=4))
        if layer is gnn.GINEConv
        else (lambda i, o: layer(i, o, edge_dim=4))
    )
    model = TwoLayers(make).eval()
    same_scores(
        *both(model, x, edge_index, 3, keep=("edges",), model_kwargs={"edge_attr": attributes})
    )


@pytest.mark.parametrize("name", ["GCN", "GCN improved", "GAT", "GIN", "SAGE"])
def test_loops_of_the_graph_are_edges_too(name):
    x, edge_index = a_graph()
    loops = torch.tensor([[3, 5, 7], [3, 5, 7]])
    same_scores(
        *both(MODELS[name]().eval(), x, torch.cat([edge_index, loops], 1), 3, keep=("edges",))
    )


@pytest.mark.parametrize("pool", [gnn.global_mean_pool, gnn.global_max_pool, gnn.global_add_pool])
@pytest.mark.parametrize("layer", [gnn.GCNConv, gnn.SAGEConv, gnn.GATConv])
def test_whole_graphs(layer, pool):
    graphs = [
        Data(x=x, edge_index=edge_index)
        for x, edge_index in (a_graph(9, 12, seed=seed) for seed in range(4))
    ]
    model = Pooled(layer, pool).eval()
    meters = [
        Zorro.of_graphs(model, graphs, keep=("edges",), evaluator=name).meter(1, samples=40)
        for name in ("traced", "any-model")
    ]
    same_scores(*meters)


def test_links():
    class Linked(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(3)
            self.conv = gnn.GCNConv(DIMENSION, 8)

        def forward(self, x, edge_index, edge_label_index):
            z = self.conv(x, edge_index)
            return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)

    x, edge_index = a_graph()
    pair = tuple(edge_index[:, 0].tolist())
    options = {"keep": ("edges",), "threshold": 0.0}
    same_scores(*both(Linked().eval(), x, edge_index, pair, make=Zorro.of_links, **options))


class ReadsDegrees(nn.Module):
    """A model that counts edges itself, which no layer of PyG knows of."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.conv = gnn.GCNConv(DIMENSION, CLASSES)

    def forward(self, x, edge_index):
        from torch_geometric.utils import degree

        count = degree(edge_index[1], x.size(0)).unsqueeze(1)
        return self.conv(x, edge_index) * count


def test_models_that_read_the_edges_themselves_are_run():
    x, edge_index = a_graph()
    zorro = Zorro(ReadsDegrees().eval(), x, edge_index, keep=("edges",))
    assert zorro.meter(3, samples=10).evaluator.name == "any-model"


@pytest.mark.parametrize("name", ["GCN", "GAT", "GIN", "SAGE", "APPNP", "GraphConv"])
def test_gains_are_derivatives(name):
    """To first order, what an edge adds is the slope between it and nothing of it."""
    x, edge_index = a_graph()
    model = MODELS[name]().double().eval()
    traced, _ = both(model, x.double(), edge_index, 3, keep=("edges",))
    evaluator = traced.evaluator
    gains = evaluator.gains(evaluator.nothing)["edges"]
    step = 1e-6
    drawn = evaluator._batched.edges
    present = drawn.present.double()
    program, states = evaluator._program, evaluator._base(evaluator.nothing).states

    def total(strength):
        from zorro.evaluation.traced.presence import Presence

        columns = strength[:, drawn.edges.of_column].t()
        output = evaluator._predictor.read(program.run(states, presence=Presence(columns)))
        return evaluator.event.log_probability(output)

    before = total(present)
    for edge in range(drawn.edges.count):
        more = present.clone()
        more[:, edge] += step
        slope = (total(more) - before) / step * (present[:, edge] == 0)
        torch.testing.assert_close(gains[edge], slope.mean(), atol=1e-4, rtol=1e-3)
