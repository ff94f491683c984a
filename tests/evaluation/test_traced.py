"""The traced evaluator against the model itself, layer by layer and model by model."""

import logging
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch.nn import functional

from zorro import Zorro, data, models
from zorro.cut import Extractor
from zorro.elements import Element, Kind, Selection
from zorro.errors import ModelError
from zorro.evaluation import BatchedEvaluator, EvaluatorChoice
from zorro.evaluation.traced import (
    TracedEvaluator,
    changed_input,
    heard_changes,
    heard_entry,
    heard_terms,
    layers,
    program,
)
from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.aggregation import aggregated, by_index
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import draws_of, resolve
from zorro.question.reading import Classes

FEATURES, HIDDEN, CLASSES = 9, 6, 3


class TwoLayers(nn.Module):
    """A layer on the features, something in between, a layer on what it gives."""

    def __init__(self, first, second, width):
        super().__init__()
        self.first = first
        self.norm = nn.BatchNorm1d(width)
        self.second = second


class Plain(TwoLayers):
    def forward(self, x, edge_index):
        x = functional.dropout(x, 0.5, training=self.training)
        x = self.norm(functional.elu(self.first(x, edge_index)))
        return self.second(x, edge_index).log_softmax(dim=1)


class Weighted(TwoLayers):
    def forward(self, x, edge_index, edge_weight):
        x = self.norm(self.first(x, edge_index, edge_weight).relu())
        return self.second(x, edge_index, edge_weight)


class WithColumn(TwoLayers):
    def forward(self, x, edge_index, edge_weight):
        attributes = edge_weight.view(-1, 1)
        x = self.norm(self.first(x, edge_index, attributes).relu())
        return self.second(x, edge_index, attributes)


class Typed(TwoLayers):
    def forward(self, x, edge_index, edge_type):
        x = self.norm(self.first(x, edge_index, edge_type).relu())
        return self.second(x, edge_index=edge_index, edge_type=edge_type)


class Hidden(nn.Module):
    """Layers that keep the width, between two linear ones; the second also sees what came first."""

    def __init__(self, layer, *, width=HIDDEN, takes_first=False):
        super().__init__()
        self.before = nn.Linear(FEATURES, width)
        self.layers = nn.ModuleList([layer(width), layer(width)])
        self.after = nn.Linear(width, CLASSES)
        self.takes_first = takes_first

    def forward(self, x, edge_index, **kwargs):
        first = x = functional.relu(self.before(x))
        for layer in self.layers:
            given = (x, first) if self.takes_first else (x,)
            x = layer(*given, edge_index, **kwargs).tanh()
        return self.after(x).log_softmax(dim=1)


def perceptron(width_in, width_out):
    return nn.Sequential(nn.Linear(width_in, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, width_out))


def pna(width_in, width_out, others=("std",), **options):
    return gnn.PNAConv(
        width_in,
        width_out,
        aggregators=["mean", "max", "min", "sum", "var", *others],
        scalers=["identity", "amplification", "attenuation", "linear", "inverse_linear"],
        deg=torch.tensor([3, 9, 5, 2, 1]),
        **options,
    )


def two(layer, *, width=HIDDEN, kind=Plain, between=None):
    return kind(layer(FEATURES, HIDDEN), layer(between or width, CLASSES), width)


LAYERS = {
    "GCNConv": lambda: two(gnn.GCNConv),
    "GCNConv improved": lambda: two(lambda a, b: gnn.GCNConv(a, b, improved=True, bias=False)),
    "GCNConv unnormalised": lambda: two(lambda a, b: gnn.GCNConv(a, b, normalize=False)),
    "GCNConv weighted": lambda: two(gnn.GCNConv, kind=Weighted),
    "GATConv": lambda: two(lambda a, b: gnn.GATConv(a, b, heads=2), width=2 * HIDDEN),
    "GATConv mean": lambda: two(lambda a, b: gnn.GATConv(a, b, heads=3, concat=False)),
    "GATConv residual": lambda: two(lambda a, b: gnn.GATConv(a, b, residual=True)),
    "GATConv no loops": lambda: two(lambda a, b: gnn.GATConv(a, b, add_self_loops=False)),
    "GATConv edges": lambda: two(lambda a, b: gnn.GATConv(a, b, edge_dim=1), kind=Weighted),
    "GATv2Conv": lambda: two(lambda a, b: gnn.GATv2Conv(a, b, heads=2), width=2 * HIDDEN),
    "GATv2Conv shared": lambda: two(lambda a, b: gnn.GATv2Conv(a, b, share_weights=True)),
    "GATv2Conv edges": lambda: two(lambda a, b: gnn.GATv2Conv(a, b, edge_dim=1), kind=Weighted),
    "GINConv": lambda: two(lambda a, b: gnn.GINConv(perceptron(a, b), train_eps=True)),
    "GINConv linear": lambda: two(lambda a, b: gnn.GINConv(nn.Linear(a, b))),
    "GINConv MLP": lambda: two(lambda a, b: gnn.GINConv(gnn.MLP([a, HIDDEN, b]))),
    "GINConv odd": lambda: two(lambda a, b: gnn.GINConv(nn.Sequential(nn.Tanh(), nn.Linear(a, b)))),
    "SAGEConv": lambda: two(gnn.SAGEConv),
    "SAGEConv sum": lambda: two(lambda a, b: gnn.SAGEConv(a, b, aggr="sum", root_weight=False)),
    "SAGEConv unit": lambda: two(lambda a, b: gnn.SAGEConv(a, b, normalize=True)),
    "SGConv": lambda: two(lambda a, b: gnn.SGConv(a, b, K=2)),
    "TAGConv": lambda: two(lambda a, b: gnn.TAGConv(a, b, K=2)),
    "TAGConv weighted": lambda: two(lambda a, b: gnn.TAGConv(a, b, K=2), kind=Weighted),
    "ChebConv": lambda: two(lambda a, b: gnn.ChebConv(a, b, K=3)),
    "ChebConv weighted": lambda: two(lambda a, b: gnn.ChebConv(a, b, K=2), kind=Weighted),
    "GraphConv": lambda: two(gnn.GraphConv),
    "GraphConv weighted": lambda: two(lambda a, b: gnn.GraphConv(a, b, aggr="mean"), kind=Weighted),
    "TransformerConv": lambda: two(
        lambda a, b: gnn.TransformerConv(a, b, heads=2), width=2 * HIDDEN
    ),
    "TransformerConv edges": lambda: two(
        lambda a, b: gnn.TransformerConv(a, b, heads=2, edge_dim=1, concat=False), kind=WithColumn
    ),
    "TransformerConv beta": lambda: two(lambda a, b: gnn.TransformerConv(a, b, beta=True)),
    "APPNP first": lambda: Plain(gnn.APPNP(2, 0.1), gnn.GCNConv(FEATURES, CLASSES), FEATURES),
    "APPNP last": lambda: Plain(gnn.GCNConv(FEATURES, CLASSES), gnn.APPNP(3, 0.2), CLASSES),
    "PDNConv": lambda: two(lambda a, b: gnn.PDNConv(a, b, 1, 4), kind=WithColumn),
    "LGConv": lambda: Hidden(lambda h: gnn.LGConv()),
    "LGConv first": lambda: Plain(gnn.LGConv(), gnn.GCNConv(FEATURES, CLASSES), FEATURES),
    "SSGConv": lambda: two(lambda a, b: gnn.SSGConv(a, b, alpha=0.2, K=3), kind=Weighted),
    "MixHopConv": lambda: two(lambda a, b: gnn.MixHopConv(a, b), width=3 * HIDDEN),
    "MixHopConv powers": lambda: two(
        lambda a, b: gnn.MixHopConv(a, b, powers=[3, 1]), width=2 * HIDDEN, kind=Weighted
    ),
    "ClusterGCNConv": lambda: two(lambda a, b: gnn.ClusterGCNConv(a, b, diag_lambda=0.3)),
    "LEConv": lambda: two(gnn.LEConv, kind=Weighted),
    "LEConv mean": lambda: two(lambda a, b: gnn.LEConv(a, b, aggr="mean")),
    "RGCNConv": lambda: two(lambda a, b: gnn.RGCNConv(a, b, 3), kind=Typed),
    "RGCNConv bases": lambda: two(lambda a, b: gnn.RGCNConv(a, b, 3, num_bases=2), kind=Typed),
    "RGCNConv many bases": lambda: two(
        lambda a, b: gnn.RGCNConv(a, b, 3, num_bases=5, aggr="add"), kind=Typed
    ),
    "RGCNConv blocks": lambda: two(lambda a, b: gnn.RGCNConv(a, b, 3, num_blocks=3), kind=Typed),
    "FastRGCNConv": lambda: two(lambda a, b: gnn.FastRGCNConv(a, b, 3, bias=False), kind=Typed),
    "FiLMConv": lambda: two(gnn.FiLMConv),
    "FiLMConv typed": lambda: two(
        lambda a, b: gnn.FiLMConv(a, b, num_relations=3, act=nn.Tanh(), aggr="max"), kind=Typed
    ),
    "GCN2Conv": lambda: Hidden(
        lambda h: gnn.GCN2Conv(h, alpha=0.2, theta=0.5, layer=2), takes_first=True
    ),
    "GCN2Conv two weights": lambda: Hidden(
        lambda h: gnn.GCN2Conv(h, alpha=0.3, shared_weights=False), takes_first=True
    ),
    "FAConv": lambda: Hidden(lambda h: gnn.FAConv(h, eps=0.3), takes_first=True),
    "ARMAConv": lambda: two(gnn.ARMAConv),
    "ARMAConv stacks": lambda: two(
        lambda a, b: gnn.ARMAConv(a, b, num_stacks=3, num_layers=3, act=nn.Tanh()), kind=Weighted
    ),
    "ARMAConv shared": lambda: two(
        lambda a, b: gnn.ARMAConv(a, b, num_layers=2, shared_weights=True, act=None)
    ),
    "GatedGraphConv": lambda: Hidden(lambda h: gnn.GatedGraphConv(h, num_layers=2)),
    "GatedGraphConv wider": lambda: Plain(
        gnn.GCNConv(FEATURES, HIDDEN), gnn.GatedGraphConv(2 * HIDDEN, 2, aggr="mean"), HIDDEN
    ),
    "GPSConv": lambda: Hidden(lambda h: gnn.GPSConv(h, gnn.GCNConv(h, h), heads=2)),
    "GPSConv alone": lambda: Hidden(lambda h: gnn.GPSConv(h, None, norm=None)),
    "SuperGATConv": lambda: two(lambda a, b: gnn.SuperGATConv(a, b, heads=2), width=2 * HIDDEN),
    "SuperGATConv SD": lambda: two(
        lambda a, b: gnn.SuperGATConv(a, b, heads=2, concat=False, attention_type="SD")
    ),
    "EdgeConv": lambda: two(lambda a, b: gnn.EdgeConv(perceptron(2 * a, b))),
    "EdgeConv mean": lambda: two(lambda a, b: gnn.EdgeConv(gnn.MLP([2 * a, 5, b]), aggr="mean")),
    "EdgeConv odd": lambda: two(
        lambda a, b: gnn.EdgeConv(nn.Sequential(nn.Tanh(), nn.Linear(2 * a, b)))
    ),
    "NNConv": lambda: two(
        lambda a, b: gnn.NNConv(a, b, perceptron(1, a * b), aggr="mean"), kind=WithColumn
    ),
    "GINEConv": lambda: two(
        lambda a, b: gnn.GINEConv(perceptron(a, b), train_eps=True, edge_dim=1), kind=WithColumn
    ),
    "GENConv": lambda: two(gnn.GENConv),
    "GENConv learned": lambda: two(
        lambda a, b: gnn.GENConv(a, b, learn_t=True, t=0.7, msg_norm=True, learn_msg_scale=True)
    ),
    "GENConv powers": lambda: two(
        lambda a, b: gnn.GENConv(a, b, aggr="powermean", p=2.0, edge_dim=1), kind=WithColumn
    ),
    "GENConv several": lambda: Hidden(
        lambda h: gnn.GENConv(h, h, aggr=["softmax", "max", "std"], msg_norm=True)
    ),
    "CGConv": lambda: Hidden(lambda h: gnn.CGConv(h, batch_norm=True)),
    "CGConv edges": lambda: WithColumn(
        gnn.CGConv(FEATURES, dim=1, aggr="max"),
        gnn.NNConv(FEATURES, CLASSES, perceptron(1, FEATURES * CLASSES)),
        FEATURES,
    ),
    "ResGatedGraphConv": lambda: two(gnn.ResGatedGraphConv),
    "ResGatedGraphConv edges": lambda: two(
        lambda a, b: gnn.ResGatedGraphConv(a, b, edge_dim=1, root_weight=False), kind=WithColumn
    ),
    "GeneralConv": lambda: two(lambda a, b: gnn.GeneralConv(a, b, heads=2, l2_normalize=True)),
    "GeneralConv attention": lambda: two(
        lambda a, b: gnn.GeneralConv(
            a, b, in_edge_channels=1, heads=2, attention=True, directed_msg=False
        ),
        kind=WithColumn,
    ),
    "PNAConv": lambda: two(pna),
    "PNAConv towers": lambda: Hidden(
        lambda h: pna(h, h, towers=2, pre_layers=2, post_layers=2, divide_input=True)
    ),
    "PNAConv edges": lambda: two(
        lambda a, b: pna(a, b, (), towers=3, edge_dim=1, train_norm=True), kind=WithColumn
    ),
    "SAGEConv project": lambda: two(
        lambda a, b: gnn.SAGEConv(a, b, project=True, normalize=True, aggr="max")
    ),
    "reversed flow": lambda: two(lambda a, b: gnn.GCNConv(a, b, flow="target_to_source")),
}


class Skips(nn.Module):
    """Skip connections from the features and between layers, concatenation, several uses."""

    def __init__(self):
        super().__init__()
        self.shortcut = nn.Linear(FEATURES, HIDDEN)
        self.one = gnn.GCNConv(FEATURES, HIDDEN)
        self.two = gnn.GATConv(HIDDEN, HIDDEN)
        self.three = gnn.SAGEConv(2 * HIDDEN, HIDDEN)
        self.head = nn.Sequential(
            nn.Linear(3 * HIDDEN, HIDDEN),
            nn.LayerNorm(HIDDEN),
            nn.LeakyReLU(),
            nn.Dropout(0.3),
            nn.Linear(HIDDEN, CLASSES),
        )

    def forward(self, x, edge_index):
        x = functional.dropout(x, p=0.2, training=self.training)
        short = self.shortcut(x)
        one = torch.tanh(self.one(x, edge_index)) + short
        two = 2.0 * self.two(one, edge_index).sigmoid() - one / 3
        three = self.three(torch.cat([one, two], dim=-1), edge_index)
        return self.head(torch.cat([one, two.abs(), three], dim=1))


class OneColumn(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = gnn.GCNConv(FEATURES, 1)

    def forward(self, x, edge_index):
        return self.layer(x, edge_index)


class DeepGCN(nn.Module):
    """The layers of a deep model, with one of the norms that look at one row at a time."""

    def __init__(self, block, norm):
        super().__init__()
        self.before = nn.Linear(FEATURES, HIDDEN)
        self.layers: Any = nn.ModuleList(
            gnn.DeepGCNLayer(gnn.GENConv(HIDDEN, HIDDEN), norm(HIDDEN), nn.ReLU(), block=block)
            for _ in range(2)
        )
        self.after = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x, edge_index):
        x = self.layers[0].conv(self.before(x), edge_index)
        x = self.layers[1](x, edge_index)
        return self.after(self.layers[0].act(self.layers[0].norm(x)))


class ByHand(nn.Module):
    """Products with parameters instead of linear layers, and arguments by keyword."""

    def __init__(self):
        super().__init__()
        self.one = nn.Parameter(torch.randn(FEATURES, HIDDEN))
        self.two = nn.Parameter(torch.randn(HIDDEN, FEATURES))
        self.bias = nn.Parameter(torch.randn(HIDDEN))
        self.layer = gnn.SAGEConv(2 * HIDDEN, CLASSES)

    def forward(self, x, edge_index, **kwargs):
        both = torch.cat([x @ self.one, functional.linear(x, self.two, self.bias)], dim=1)
        return self.layer(edge_index=edge_index, x=(both, both))


BASIC = {
    "GCN": lambda: gnn.GCN(FEATURES, HIDDEN, 2, CLASSES),
    "GAT": lambda: gnn.GAT(FEATURES, HIDDEN, 2, CLASSES, heads=2, v2=True),
    "GIN": lambda: gnn.GIN(FEATURES, HIDDEN, 2, CLASSES, norm="batch_norm"),
    "GraphSAGE": lambda: gnn.GraphSAGE(FEATURES, HIDDEN, 3, CLASSES, act="elu", dropout=0.4),
    "GCN jk": lambda: gnn.GCN(FEATURES, HIDDEN, 3, CLASSES, jk="cat", norm="batch_norm"),
    "GCN jk max": lambda: gnn.GCN(FEATURES, HIDDEN, 3, CLASSES, jk="max"),
    "GCN jk lstm": lambda: gnn.GCN(FEATURES, HIDDEN, 3, CLASSES, jk="lstm"),
    "GraphSAGE max": lambda: gnn.GraphSAGE(FEATURES, HIDDEN, 2, CLASSES, aggr="max", jk="last"),
    "EdgeCNN": lambda: gnn.EdgeCNN(FEATURES, HIDDEN, 2, CLASSES, jk="max"),
    "PNA": lambda: gnn.PNA(
        FEATURES,
        HIDDEN,
        2,
        CLASSES,
        jk="cat",
        aggregators=["mean", "max", "var"],
        scalers=["identity", "attenuation"],
        deg=torch.tensor([3, 9, 5, 2, 1]),
    ),
    "GCN layer norm": lambda: gnn.GCN(
        FEATURES, HIDDEN, 2, CLASSES, norm=gnn.LayerNorm(HIDDEN, mode="node")
    ),
    "GCN group norm": lambda: gnn.GCN(
        FEATURES, HIDDEN, 2, CLASSES, norm=gnn.DiffGroupNorm(HIDDEN, groups=2)
    ),
    "DeepGCN res+": lambda: DeepGCN("res+", gnn.BatchNorm),
    "DeepGCN res": lambda: DeepGCN("res", nn.LayerNorm),
    "by hand": ByHand,
    "skips": Skips,
    "one column": OneColumn,
}


def a_graph(seed):
    torch.manual_seed(seed)
    nodes = 40
    children = torch.arange(1, nodes)
    parents = (torch.rand(nodes - 1) * children).long()
    extra = torch.randint(0, nodes, (2, 15))
    edge_index = torch.cat(
        [torch.stack([children, parents]), torch.stack([parents, children]), extra], dim=1
    )
    x = torch.randn(nodes, FEATURES) * (torch.rand(nodes, FEATURES) < 0.5)
    return x, edge_index


def settle(model):
    """Give batch norms something to have learned, and layers a bias."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            assert module.running_mean is not None
            module.running_mean.normal_()
            assert module.running_var is not None
            module.running_var.uniform_(0.5, 2)
    for name, parameter in model.named_parameters():
        if name.endswith(("bias", "eps")):
            nn.init.normal_(parameter, std=0.5)
    return model


def both(
    model, x, edge_index, *, query, kwargs=None, samples=30, wanted="traced", kind=None, hops=None
):
    predictor = Predictor(model, reading=Classes(0.0))
    extractor = Extractor(predictor, Graph(x, edge_index, kwargs or {}), hops=hops)
    graph = extractor.extract(query)
    draws = draws_of(
        resolve(kind or "column-marginals", x),
        graph.candidate_x,
        seed=1,
        query=query,
        samples=range(samples),
        memory=1 << 30,
    )
    choice = EvaluatorChoice(predictor, wanted=wanted, memory=1 << 28)
    return choice.evaluator(graph, draws), BatchedEvaluator(predictor, graph, draws)


def compare(traced, batched, *, gains=True, seed=0):
    """Scores and hits, sample by sample, from nothing over a random growth to everything.

    Where several values are the highest, PyTorch's ways to find it share out its gradient
    differently: gains are then not compared.
    """
    assert isinstance(traced, TracedEvaluator)
    generator = torch.Generator().manual_seed(seed)
    n, d = traced.shape
    full = Selection.full(n, d)
    selections = [
        Selection.empty(n, d),
        Selection.of(full.nodes, ~full.features),
        Selection.of(~full.nodes, full.features),
        full,
        *[
            Selection.of(
                torch.rand(n, generator=generator) < share,
                torch.rand(d, generator=generator) < share,
            )
            for share in (0.2, 0.5, 0.9)
        ],
    ]
    for number, selection in enumerate(selections):
        rows, columns = torch.arange(number % 2, n, 2), torch.arange(number % 2, d, 2)
        same(traced.scores(selection), batched.scores(selection))
        first, scores = traced.some(range(3), selection)
        assert torch.equal(first.x, batched.inputs(selection)[:3])
        same(scores, batched.scores(selection)[:3])
        same(
            traced.scores_toggling(selection, "nodes", rows),
            batched.scores_toggling(selection, "nodes", rows),
        )
        same(
            traced.scores_toggling(selection, "features", columns),
            batched.scores_toggling(selection, "features", columns),
        )
        if not gains:
            continue
        ours, theirs = traced.gains(selection), batched.gains(selection)
        assert ours is not None
        assert theirs is not None
        assert set(ours) == set(theirs) == {"nodes", "features"}
        for kind in ours:
            assert torch.allclose(ours[kind], theirs[kind], rtol=1e-3, atol=1e-4)


def same(ours, theirs):
    assert torch.allclose(ours, theirs, rtol=1e-3, atol=1e-4)
    assert torch.equal(ours.argmax(-1), theirs.argmax(-1))


@pytest.fixture(params=["by row", "all rows"])
def way(request, monkeypatch):
    """How changed inputs are computed: graphs of tests are too small for one of the ways."""
    monkeypatch.setattr(program, "_WORTH", {"by row": 0, "all rows": 1 << 60}[request.param])
    monkeypatch.setattr(program, "_MOST_CHANGED", 2.0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    x, edge_index = a_graph(seed=1)
    model = settle(LAYERS[name]())
    kwargs = {}
    if isinstance(model, Weighted | WithColumn):
        kwargs["edge_weight"] = torch.rand(edge_index.size(1)) + 0.2
    if isinstance(model, Typed):
        kwargs["edge_type"] = torch.randint(0, 3, (edge_index.size(1),))
    samples = 3 if name.startswith("GPSConv") else 30  # its copies are run one at a time
    traced, batched = both(model, x, edge_index, query=5, kwargs=kwargs, samples=samples)
    compare(traced, batched)


@pytest.mark.parametrize("hops", [None, 1])
@pytest.mark.parametrize("name", ["GCNConv", "GATConv", "GPSConv", "GINConv", "max of features"])
def test_what_is_said_to_be_read_is_all_that_moves_the_output(name, hops):
    """On the whole graph, the model called as its owner calls it, all others' features redrawn."""
    x, edge_index = a_graph(seed=1)
    model = on_features("max") if name == "max of features" else settle(LAYERS[name]())
    model.eval()
    traced, _ = both(model, x, edge_index, query=5, samples=3, hops=hops)
    others = torch.ones(x.size(0), dtype=torch.bool)
    others[traced.graph.candidates] = False
    moved = False
    with torch.no_grad():
        expected = model(x, edge_index)[5]
        for _ in range(5):
            redrawn = x.clone()
            redrawn[others] = torch.randn_like(x)[others]
            moved |= not torch.allclose(model(redrawn, edge_index)[5], expected, atol=1e-5)
    assert traced.reads_candidates_only is (not moved and name != "GPSConv")
    assert moved is (hops == 1)


OF_SEVERAL_TYPES = {"HeteroConv", "HeteroDictLinear", "HGTConv"}  # see test_traced_hetero.py


def test_every_registered_layer_is_tested():
    tested = {name.split()[0] for name in LAYERS}
    known = {layer.__name__ for layer in [*layers.LAYERS, *layers.COMPOSITIONS]}
    assert known - OF_SEVERAL_TYPES == tested - {"reversed"}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", BASIC)
def test_models(name):
    model = settle(BASIC[name]())
    traced, batched = both(model, *a_graph(seed=2), query=7)
    compare(traced, batched, gains=name != "GraphSAGE max")


AGGREGATIONS = {
    "max": "max",
    "min": "min",
    "median": "median",
    "std": "std",
    "var": "var",
    "mul": "mul",
    "softmax": gnn.SoftmaxAggregation(t=2.0),
    "softmax by column": gnn.SoftmaxAggregation(learn=True, channels=HIDDEN),
    "powermean": gnn.PowerMeanAggregation(p=3.0),
    "quantiles": gnn.QuantileAggregation([0.25, 0.6]),
    "midpoint": gnn.QuantileAggregation(0.3, interpolation="midpoint"),
    "nearest": gnn.QuantileAggregation(0.3, interpolation="nearest"),
    "higher": gnn.QuantileAggregation(0.3, interpolation="higher"),
    "a list": ["mean", "max", "median"],
    "a module": gnn.MeanAggregation(),
    "a sum of several": gnn.MultiAggregation(["max", "min"], mode="sum"),
    "by degree": gnn.DegreeScalerAggregation("max", "amplification", torch.tensor([1, 4, 2])),
}


def sage_of(aggregation, *, channels=HIDDEN, out=CLASSES, **options):
    """SAGE with an aggregation; PyG does not know how wide what some of them give is."""
    found = AGGREGATIONS[aggregation]
    if aggregation == "softmax by column":
        found = gnn.SoftmaxAggregation(learn=True, channels=channels)
        nn.init.uniform_(found.t, 0.5, 2.0)
    layer = gnn.SAGEConv(channels, out, aggr=found, **options)
    if aggregation == "quantiles":
        layer.lin_l = gnn.Linear(2 * channels, out)
    return layer


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_aggregations_of_hidden_rows(aggregation):
    model = Plain(gnn.GCNConv(FEATURES, HIDDEN), sage_of(aggregation), HIDDEN)
    traced, batched = both(settle(model), *a_graph(seed=1), query=5)
    compare(traced, batched)


def on_features(aggregation, **options):
    first = sage_of(aggregation, channels=FEATURES, out=HIDDEN, **options)
    return settle(Plain(first, gnn.SAGEConv(HIDDEN, CLASSES, aggr="max"), HIDDEN))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_aggregations_of_features(aggregation):
    compare(*both(on_features(aggregation), *a_graph(seed=1), query=5), gains=False)


@pytest.mark.parametrize("aggregation", ["max", "mul", "a list"])
def test_aggregations_of_features_in_parts(aggregation, monkeypatch):
    """Blocks of samples and columns so small that there are several, zeros left out or not."""
    monkeypatch.setattr(heard_entry, "_ROWS_AND_SAMPLES", 150)
    monkeypatch.setattr(heard_entry, "_NUMBERS_AT_ONCE", 700)
    monkeypatch.setattr(heard_changes, "_NUMBERS_AT_ONCE", 50)
    monkeypatch.setattr(changed_input, "_NUMBERS_AT_ONCE", 1000)
    for few, mostly in ((2.0, 2.0), (0.0, 0.0)):
        monkeypatch.setattr(heard_entry, "_FEW", few)
        monkeypatch.setattr(heard_changes, "_MOSTLY", mostly)
        compare(*both(on_features(aggregation), *a_graph(seed=1), query=5), gains=False)


def repeated_edges():
    """Edges in one direction, so that some nodes hear nothing, and some of them twice."""
    x, edge_index = a_graph(seed=1)
    children = edge_index[:, :39]
    return x, torch.cat([children, children[:, ::3], torch.tensor([[0, 3], [0, 3]])], dim=1)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("aggregation", ["max", "median", "mul", "std", "by degree"])
def test_aggregations_of_few_or_repeated_messages(aggregation):
    model = on_features(aggregation, root_weight=False, normalize=True)
    compare(*both(model, *repeated_edges(), query=0), gains=False)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("aggregation", ["min", "softmax"])
def test_aggregations_of_features_that_stay(aggregation):
    """With fewer hops than the model looks, features that are read are not candidates."""
    traced, batched = both(on_features(aggregation), *a_graph(seed=1), query=5, hops=1)
    assert traced.shape[0] < both(on_features(aggregation), *a_graph(seed=1), query=5)[0].shape[0]
    compare(traced, batched, gains=False)


@pytest.mark.parametrize("aggregation", ["max", "median", "a list", "quantiles"])
def test_aggregations_of_features_are_the_models(aggregation):
    """Scores of toggled elements, against the model run on the whole graph, input by input."""
    x, edge_index = a_graph(seed=3)
    model = on_features(aggregation).eval()
    traced, _ = both(model, x, edge_index, query=7, samples=4)
    n, d = traced.shape
    half = Selection.of(torch.arange(n) % 2 == 0, torch.arange(d) % 3 != 0)
    cases: list[tuple[Kind, Any]] = [
        ("nodes", traced.scores_toggling(half, "nodes", torch.arange(n))),
        ("features", traced.scores_toggling(half, "features", torch.arange(d))),
    ]
    for kind, scores in cases:
        for element, ours in enumerate(scores):
            for sample, features in enumerate(traced.inputs(half.toggled(Element(kind, element)))):
                whole = x.clone()
                whole[traced.graph.candidates] = features
                with torch.no_grad():
                    theirs = model(whole, edge_index)[7]
                assert torch.allclose(ours[sample], theirs, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("most", [1 << 30, 200])
@pytest.mark.parametrize("aggregation", ["max", "median", "softmax", "a list"])
def test_gains_are_exact_up_to_the_first_layer(aggregation, most, monkeypatch):
    """The gradient at what the first layer gives, times what an element changes there.

    Of samples that are all the same, some stand for all exactly.
    """
    monkeypatch.setattr(heard_terms, "_MOST_FOR_GAINS", most)
    kind = "means" if most < 1000 else None
    x, edge_index = a_graph(seed=3)
    model = on_features(aggregation).eval()
    traced, _ = both(model, x, edge_index, query=7, samples=6, kind=kind)
    n, d = traced.shape
    selection = Selection.of(torch.arange(n) % 3 == 0, torch.arange(d) % 2 == 0)

    def hidden(inputs):
        whole = x.repeat(6, 1, 1)
        whole[:, traced.graph.candidates] = inputs
        with torch.no_grad():
            return torch.stack([model.first(one, edge_index) for one in whole])  # (S, N, h)

    states = hidden(traced.inputs(selection)).requires_grad_()
    outputs = [model.second(model.norm(functional.elu(one)), edge_index)[7] for one in states]
    scores = torch.stack(outputs).log_softmax(dim=1)
    (gradient,) = torch.autograd.grad(traced.event.log_probability(scores).sum(), states)

    def worth(other):
        return (gradient * (hidden(traced.inputs(other)) - states)).sum() / 6

    gains = traced.gains(selection)

    def added(kind, place):
        element = Element(kind, place)
        return selection if selection.holds(element) else selection.toggled(element)

    nodes = torch.stack([worth(added("nodes", row)) for row in range(n)])
    features = torch.stack([worth(added("features", column)) for column in range(d)])
    free, open_ones = ~selection.nodes, ~selection.features
    assert torch.allclose(gains["nodes"][free], nodes[free], rtol=1e-3, atol=1e-5)
    assert torch.allclose(gains["features"][open_ones], features[open_ones], rtol=1e-3, atol=1e-5)


def balanced(model, x, edge_index):
    """Shift a model's scores so that it does not say the same of every node."""
    with torch.no_grad():
        scores = model.eval().second(
            model.norm(functional.elu(model.first(x, edge_index))), edge_index
        )
        model.second.lin_l.bias -= scores.mean(0)
        model.second.lin_l.bias /= scores.std(0)
        for lin in (model.second.lin_l, model.second.lin_r):
            lin.weight /= scores.std(0).unsqueeze(1)
    return model


@pytest.mark.parametrize("search", ["paper", "guided"])
@pytest.mark.parametrize("aggregation", ["max", "min", "median", "std", "a list"])
def test_aggregations_of_features_give_the_same_explanations(aggregation, search):
    x, edge_index = a_graph(seed=6)
    x = (x != 0).float()
    model = balanced(on_features(aggregation), x, edge_index)
    options = {"samples": 30, "delta": None, "tau": 0.9, "k": None, "search": search}
    fast = Zorro(model, x, edge_index, evaluator="traced", **options)
    slow = Zorro(model, x, edge_index, evaluator="any-model", **options)
    steps = 0
    for node in (5, 20, 31):
        ours, theirs = fast.explain(node), slow.explain(node)
        assert ours.evaluator == "traced"
        assert ours.steps == theirs.steps
        assert ours.fidelity == theirs.fidelity
        steps += len(ours.steps)
    assert steps > 9


OTHERS = {
    "first layer": lambda: two(lambda a, b: gnn.SAGEConv(a, b, aggr="max")),
    "GraphConv": lambda: two(lambda a, b: gnn.GraphConv(a, b, aggr="max"), kind=Weighted),
    "GINConv": lambda: two(lambda a, b: gnn.GINConv(perceptron(a, b), aggr="min")),
    "EdgeConv": lambda: two(lambda a, b: gnn.EdgeConv(perceptron(2 * a, b), aggr="median")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_aggregations_of_other_layers(name):
    x, edge_index = a_graph(seed=1)
    model = settle(OTHERS[name]())
    weight = torch.rand(edge_index.size(1)) + 0.2
    kwargs = {"edge_weight": weight} if isinstance(model, Weighted) else {}
    compare(*both(model, x, edge_index, query=5, kwargs=kwargs), gains=name == "EdgeConv")


def test_features_that_are_kept_as_they_are_must_be_few(monkeypatch):
    monkeypatch.setattr(program, "_WIDEST", 10)
    with pytest.raises(ModelError, match="first keeps all features of"):
        both(settle(LAYERS["LGConv first"]()), *a_graph(seed=1), query=5)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_aggregation_receiver_by_receiver_is_pygs(aggregation):
    """The two ways of aggregating, of which a machine uses one, with a receiver of nothing."""
    torch.manual_seed(0)
    found = gnn.SAGEConv(HIDDEN, 2, aggr=AGGREGATIONS[aggregation]).aggr_module
    receiver = torch.tensor([0, 0, 0, 1, 3, 3, 3, 3])
    edges = LocalEdges(torch.arange(8), torch.arange(8), receiver, torch.arange(4))
    messages = torch.randn(8, 5, HIDDEN)
    ours = aggregated(found, messages, edges)
    assert torch.allclose(ours, by_index(found, messages, edges), atol=1e-6)
    if aggregation not in ("softmax by column", "quantiles", "a list"):
        some = aggregated(found, messages[..., 2:4], edges)
        assert torch.allclose(some, ours[..., 2:4], atol=1e-6)


@pytest.mark.parametrize("kind", ["rows", "means", "gaussian", "published"])
def test_other_noise(kind):
    model = settle(Skips())
    traced, batched = both(model, *a_graph(seed=2), query=7, kind=kind)
    compare(traced, batched)


@pytest.mark.usefixtures("way")
def test_attention_that_a_change_takes_over():
    """Exchanging a message that was nearly all of a sum must not lose the sum's digits."""
    x, edge_index = a_graph(seed=5)
    model = settle(two(gnn.GATConv))
    with torch.no_grad():
        model.first.att_src.mul_(30)
    traced, batched = both(model, x, edge_index, query=5)
    compare(traced, batched)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("layer", [gnn.GATConv, gnn.GCNConv])
def test_candidates_that_the_model_cannot_see(layer):
    """With more hops than the model looks, adding some nodes changes no row that is read."""
    model = settle(two(layer))
    traced, batched = both(model, *a_graph(seed=1), query=5, hops=5)
    assert traced.shape[0] > both(model, *a_graph(seed=1), query=5)[0].shape[0]
    compare(traced, batched)
    half = Selection.of(torch.arange(traced.shape[0]) % 2 == 1, torch.arange(FEATURES) < 4)
    for row in range(traced.shape[0]):
        alone = torch.tensor([row])
        same(
            traced.scores_toggling(half, "nodes", alone),
            batched.scores_toggling(half, "nodes", alone),
        )


class NodeInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = gnn.GCNConv(FEATURES, HIDDEN)
        self.two = gnn.GCNConv(HIDDEN, CLASSES)

    def forward(self, x, edge_index, position, scale=1.0):
        hidden = self.one(x, edge_index) * scale + position
        return self.two(hidden.relu(), edge_index)


@pytest.mark.usefixtures("way")
def test_node_level_arguments_follow():
    x, edge_index = a_graph(seed=3)
    kwargs = {"position": torch.randn(40, HIDDEN), "scale": 2.0}
    traced, batched = both(settle(NodeInputs()), x, edge_index, query=7, kwargs=kwargs)
    compare(traced, batched)


class BranchesOnData(Plain):
    def forward(self, x, edge_index):
        if x.sum() > 1e9:
            x = x + 1
        return self.second(self.norm(self.first(x, edge_index)), edge_index)


class GlobalMean(Plain):
    def forward(self, x, edge_index):
        hidden = self.first(x, edge_index)
        return self.second(hidden - hidden.mean(0), edge_index)


class NormalisesInput(Plain):
    def forward(self, x, edge_index):
        return self.second(self.first(functional.normalize(x), edge_index), edge_index)


class UnknownLayer(Plain):
    def __init__(self):
        super().__init__(gnn.FeaStConv(FEATURES, HIDDEN), gnn.GCNConv(HIDDEN, CLASSES), HIDDEN)


def with_norm(norm):
    return lambda: gnn.GCN(FEATURES, HIDDEN, 2, CLASSES, norm=norm)


REFUSED = {
    "torch.fx cannot trace": lambda: BranchesOnData(
        gnn.GCNConv(FEATURES, HIDDEN), gnn.GCNConv(HIDDEN, CLASSES), HIDDEN
    ),
    "LayerNorm(mode='graph') looks at all nodes": with_norm("layer_norm"),
    "GraphNorm looks at all nodes": with_norm("graph_norm"),
    "PairNorm looks at all nodes": with_norm("pair_norm"),
    "MeanSubtractionNorm looks at all nodes": with_norm(gnn.MeanSubtractionNorm()),
    "InstanceNorm(track_running_stats=False) looks": with_norm("instance_norm"),
    "it failed when traced": lambda: GlobalMean(
        gnn.GCNConv(FEATURES, HIDDEN), gnn.GCNConv(HIDDEN, CLASSES), HIDDEN
    ),
    "before any linear map": lambda: NormalisesInput(
        gnn.GCNConv(FEATURES, HIDDEN), gnn.GCNConv(HIDDEN, CLASSES), HIDDEN
    ),
    "FeaStConv is not among the layers": UnknownLayer,
    "GCNConv(aggr='max')": lambda: two(lambda a, b: gnn.GCNConv(a, b, aggr="max")),
    "AttentionalAggregation is not among the aggregations": lambda: two(
        lambda a, b: gnn.SAGEConv(a, b, aggr=gnn.AttentionalAggregation(nn.Linear(a, 1)))
    ),
    "does not aggregate linearly": lambda: two(lambda a, b: gnn.LEConv(a, b, aggr="max")),
    "GPSConv(attn_type='performer')": lambda: Hidden(
        lambda h: gnn.GPSConv(h, None, attn_type="performer")
    ),
    "dot_product": lambda: two(
        lambda a, b: gnn.GeneralConv(a, b, attention=True, attention_type="dot_product")
    ),
}


OUTLIER = 1e6  # what no sample reaches: that something would happen there has to be read off


def without_outliers(*given):
    """Return the last of what a hook is given, without what is too large."""
    return given[-1].masked_fill(given[-1].abs() > OUTLIER, 0.0)


class LateWriting(Plain):
    """Writes to a hidden value by a step whose result is dropped."""

    def __init__(self, write):
        super().__init__(gnn.GCNConv(FEATURES, HIDDEN), gnn.GCNConv(HIDDEN, CLASSES), HIDDEN)
        self.write, self.act = write, nn.Hardtanh(-OUTLIER, OUTLIER, inplace=True)

    def forward(self, x, edge_index):
        hidden = self.first(x, edge_index)
        self.write(self, hidden, edge_index)
        return self.second(hidden, edge_index)


class CallsItself(LateWriting):
    def __init__(self):
        super().__init__(lambda *_: None)

    def __call__(self, x, edge_index):
        return without_outliers(super().__call__(x, edge_index))


def changed(change):
    """Return a maker of a model of two layers that something is done to."""

    def made():
        model = two(gnn.GCNConv)
        change(model)
        return model

    return made


def with_another(name):
    def change(layer):
        of_class = getattr(layer, name)
        setattr(layer, name, lambda *args, **kwargs: without_outliers(of_class(*args, **kwargs)))

    return change


ADDED = {
    "Plain has hooks": changed(lambda model: model.register_forward_hook(without_outliers)),
    "GCNConv first has hooks": changed(
        lambda model: model.first.register_forward_hook(without_outliers)
    ),
    "GCNConv second has hooks": changed(
        lambda model: model.second.register_message_forward_hook(without_outliers)
    ),
    "Linear first.lin has hooks": changed(
        lambda model: model.first.lin.register_forward_hook(without_outliers)
    ),
    "Plain has another forward()": changed(with_another("forward")),
    "GCNConv first has another forward()": changed(lambda m: with_another("forward")(m.first)),
    "GCNConv second has another message()": changed(lambda m: with_another("message")(m.second)),
    "CallsItself has a __call__()": CallsItself,
    "clamp_ writes to first": lambda: LateWriting(lambda _, h, edges: h.clamp_(max=OUTLIER)),
    "hardtanh writes to first": lambda: LateWriting(
        lambda _, h, edges: functional.hardtanh(h, -OUTLIER, OUTLIER, inplace=True)
    ),
    "act writes to first": lambda: LateWriting(lambda model, h, edges: model.act(h)),
    "clamp_ writes to view": lambda: LateWriting(
        lambda _, h, edges: h.view(-1, HIDDEN).clamp_(max=OUTLIER)
    ),
    "clamp_ writes to edge_index": lambda: LateWriting(lambda _, h, edges: edges.clamp_(max=1000)),
}


@pytest.mark.parametrize("reason", ADDED)
def test_what_a_trace_does_not_tell_is_no_part_of_it(reason, caplog):
    caplog.set_level(logging.INFO)
    chosen, batched = both(settle(ADDED[reason]()), *a_graph(seed=4), query=7, wanted="auto")
    assert chosen.name != "traced"
    if chosen.name == "recorded":
        compare(chosen, batched)
    assert reason in caplog.text


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")  # models have it all the same
@pytest.mark.parametrize("norm", [nn.utils.weight_norm, nn.utils.parametrizations.weight_norm])
def test_hooks_that_see_to_weights_are_in_them(norm):
    model = two(gnn.SAGEConv)
    model.first.lin_l = norm(nn.Linear(FEATURES, HIDDEN))
    traced, batched = both(settle(model), *a_graph(seed=4), query=7)
    compare(traced, batched)


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_traced_is_run_and_the_reason_logged(reason, caplog):
    caplog.set_level(logging.INFO)
    model = settle(REFUSED[reason]())
    graph = a_graph(seed=4)
    chosen, batched = both(model, *graph, query=7, wanted="auto")
    assert chosen.name != "traced"
    if chosen.name == "recorded":
        compare(chosen, batched)
    assert reason in caplog.text
    with pytest.raises(ModelError, match="cannot be traced for node 7"):
        both(model, *graph, query=7, wanted="traced")


def test_a_wrong_plan_is_noticed(monkeypatch):
    right = layers.LAYERS[gnn.GCNConv]

    def wrong(layer, rows, edge_index, edge_weight=None):
        return right(layer, rows, edge_index[:, :-1], edge_weight)

    monkeypatch.setitem(layers.LAYERS, gnn.GCNConv, wrong)
    x, _ = a_graph(seed=1)
    star = torch.stack([torch.arange(1, 40), torch.zeros(39, dtype=torch.long)])
    chosen, batched = both(settle(LAYERS["GCNConv"]()), x, star, query=0, wanted="auto")
    assert chosen.name == "recorded"
    compare(chosen, batched)


class Undecided(nn.Module):
    """Two classes whose scores differ by less than rounding: only the model can tell."""

    def __init__(self):
        super().__init__()
        self.layer = gnn.GCNConv(FEATURES, 1, bias=False)

    def forward(self, x, edge_index):
        score = self.layer(x, edge_index)
        return torch.cat([score * 1e-6, -score * 1e-6], dim=1)


def test_close_calls_are_left_to_the_model():
    torch.manual_seed(0)
    traced, batched = both(Undecided(), *a_graph(seed=1), query=5)
    for selection in (Selection.empty(*traced.shape), Selection.full(*traced.shape)):
        before = traced._batched.evaluations
        assert torch.equal(traced.scores(selection), batched.scores(selection))
        assert traced._batched.evaluations == before + 30
    rows = torch.arange(traced.shape[0])
    half = Selection.of(rows % 2 == 0, torch.arange(FEATURES) % 2 == 0)
    same(traced.scores_toggling(half, "nodes", rows), batched.scores_toggling(half, "nodes", rows))
    columns = torch.arange(FEATURES)
    assert torch.equal(
        traced.scores_toggling(half, "features", columns),
        batched.scores_toggling(half, "features", columns),
    )


def test_redrawn_noise_gives_the_same_scores():
    model = settle(Skips())
    x, edge_index = a_graph(seed=2)
    predictor = Predictor(model)
    graph = Extractor(predictor, Graph(x, edge_index)).extract(7)
    choice = EvaluatorChoice(predictor, wanted="traced", memory=1 << 28)
    kept, redrawn = (
        choice.evaluator(
            graph,
            draws_of(
                resolve("column-marginals", x),
                graph.candidate_x,
                seed=1,
                query=7,
                samples=range(120),
                memory=memory,
            ),
        )
        for memory in (1 << 30, 0)
    )
    half = Selection.of(torch.arange(kept.shape[0]) % 2 == 0, torch.arange(FEATURES) % 2 == 0)
    columns = torch.arange(FEATURES)
    same(kept.scores(half), redrawn.scores(half))
    same(
        kept.scores_toggling(half, "features", columns),
        redrawn.scores_toggling(half, "features", columns),
    )


def test_the_model_is_left_as_it_was():
    model = settle(Skips()).train()
    x, edge_index = a_graph(seed=2)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    explanation = Zorro(model, x, edge_index, evaluator="traced", fresh_samples=20).explain(7)
    assert explanation.evaluator == "traced"
    assert all(module.training for module in model.modules())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


# Queries of the paper with small computational graphs, on which running the model is quick.
SMALL = {"cora": 2521, "citeseer": 127, "pubmed": 1861}


@pytest.mark.parametrize(
    ("dataset", "architecture"),
    [
        *(("cora", architecture) for architecture in ("gcn", "gat", "gin", "appnp")),
        ("citeseer", "appnp"),
        ("pubmed", "gcn"),
    ],
)
def test_the_papers_models_give_the_same_explanations(dataset, architecture, paper_dir, data_dir):
    graph = data.load(dataset)
    model = models.build(architecture, graph.x.size(1), int(graph.y.max()) + 1)
    models.checkpoint.load(model, models.checkpoint.paper_checkpoint(dataset, architecture))
    options: dict[str, Any] = {"samples": 50, "fresh_samples": 60, "tau": 0.8}
    fast = Zorro(model, graph.x, graph.edge_index, evaluator="traced", **options)
    slow = Zorro(model, graph.x, graph.edge_index, evaluator="any-model", **options)
    node = SMALL[dataset]
    ours, theirs = fast.explain(node), slow.explain(node)
    assert ours.evaluator == "traced"
    assert ours.steps == theirs.steps
    assert ours.fidelity == theirs.fidelity
