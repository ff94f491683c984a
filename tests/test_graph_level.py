"""Answers for whole graphs: what is claimed of them holds in a plain loop."""

import math
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data

from zorro import Explanation, Zorro
from zorro.errors import InputError, ModelError

FEATURES = 4


class Pooled(nn.Module):
    """A convolution, a ReLU, another one, pooling, a linear layer."""

    def __init__(self, conv, pool, out=3):
        super().__init__()
        self.first, self.second = conv(FEATURES, 8), conv(8, 8)
        self.pool, self.last = pool, nn.Linear(8, out, bias=False)

    def forward(self, x, edge_index, batch=None, **kwargs):
        x = self.first(x, edge_index, **kwargs).tanh()
        return self.last(self.pool(self.second(x, edge_index, **kwargs), batch))


class CountsFirst(nn.Module):
    """Class 1 where more than so many nodes of a graph have the first feature."""

    def __init__(self, most):
        super().__init__()
        self.most = most

    def forward(self, x, edge_index, batch):
        count = gnn.global_add_pool(x[:, :1], batch)
        return torch.cat([torch.zeros_like(count), count - self.most - 0.5], dim=1)


def first_that_needs_some(zorro, count=12):
    """The first graph whose answer random inputs do not get anyway."""
    return next(i for i in range(count) if zorro.fidelity(i, nodes=[], samples=200).value < 0.7)


def some_graphs(count=12, seed=0, one_hot=False):
    generator = torch.Generator().manual_seed(seed)
    graphs = []
    for _ in range(count):
        nodes = int(torch.randint(4, 9, (1,), generator=generator))
        pairs = torch.tensor([[i, (i + 1) % nodes] for i in range(nodes)]).t()
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        if one_hot:
            kind = torch.randint(FEATURES, (nodes,), generator=generator)
            x = nn.functional.one_hot(kind, FEATURES).float()
        else:
            x = torch.randn(nodes, FEATURES, generator=generator)
        weight = torch.rand(edge_index.size(1), generator=generator)
        graphs.append(Data(x=x, edge_index=edge_index, edge_weight=weight))
    return graphs


def plain_fidelity(model, graphs, graph, explanation, *, draw, samples=400, **kwargs):
    """Every entry that is not kept redrawn, the model called as its owner calls it."""
    generator = torch.Generator().manual_seed(99)
    pool = torch.cat([each.x for each in graphs])
    nodes, features = range(graph.x.size(0)), range(FEATURES)
    keep = torch.zeros_like(graph.x, dtype=torch.bool)
    for row in explanation.selected.get("nodes", nodes):
        for column in explanation.selected.get("features", features):
            keep[row, column] = True
    batch = torch.zeros(graph.x.size(0), dtype=torch.long)
    stayed = 0
    with torch.no_grad():
        for _ in range(samples):
            noisy = torch.where(keep, graph.x, draw(pool, graph.x, generator))
            scores = model(noisy, graph.edge_index, batch=batch, **kwargs)
            stayed += int(scores[0].argmax()) == explanation.predicted_class
    return stayed / samples


def by_column(pool, x, generator):
    return pool.gather(0, torch.randint(pool.size(0), x.shape, generator=generator))


def by_row(pool, x, generator):
    return pool[torch.randint(pool.size(0), (x.size(0),), generator=generator)]


def assert_claim_holds(explanation, measured, samples=400):
    """Four standard errors below τ would be a false claim."""
    tau = explanation.parameters.tau
    assert explanation.certified
    assert explanation.status != "nothing needed", "else anything would do"
    assert measured > tau - 4 * math.sqrt(tau * (1 - tau) / samples)


CONVOLUTIONS = {
    "gcn": gnn.GCNConv,
    "gat": gnn.GATConv,
    "sage": gnn.SAGEConv,
    "gin": lambda i, o: gnn.GINConv(nn.Linear(i, o)),
}
POOLS = {
    "add": gnn.global_add_pool,
    "mean": gnn.global_mean_pool,
    "max": gnn.global_max_pool,
}


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("conv", CONVOLUTIONS)
def test_claims_hold_in_a_plain_loop(conv, pool):
    torch.manual_seed(3)
    graphs = some_graphs()
    model = Pooled(CONVOLUTIONS[conv], POOLS[pool]).eval()
    zorro = Zorro.of_graphs(model, graphs, tau=0.8, samples=60)
    number = first_that_needs_some(zorro)
    explanation = zorro.explain(number)
    scores = model(graphs[number].x, graphs[number].edge_index)
    assert explanation.predicted_class == int(scores[0].argmax())
    assert explanation.graph.candidates == graphs[number].x.size(0)
    measured = plain_fidelity(model, graphs, graphs[number], explanation, draw=by_column)
    assert_claim_holds(explanation, measured)


@pytest.mark.parametrize("keep", [("nodes",), ("features",), ("features", "nodes")])
def test_what_is_not_selectable_stays_as_it_is(keep):
    torch.manual_seed(1)
    graphs = some_graphs(seed=1)
    model = Pooled(gnn.GCNConv, gnn.global_add_pool).eval()
    zorro = Zorro.of_graphs(model, graphs, tau=0.8, samples=60, keep=keep)
    number = first_that_needs_some(Zorro.of_graphs(model, graphs))
    explanation = zorro.explain(number)
    assert set(explanation.selected) == set(keep)
    assert {step.kind for step in explanation.steps[1:]} == set(keep)
    measured = plain_fidelity(model, graphs, graphs[number], explanation, draw=by_column)
    assert_claim_holds(explanation, measured)


def test_groups_are_kept_and_redrawn_together():
    torch.manual_seed(2)
    graphs = some_graphs(seed=2, one_hot=True)
    seen = []

    class Noted(Pooled):
        def forward(self, x, edge_index, batch=None):  # type: ignore[override]
            seen.append(x.detach().clone())
            return super().forward(x, edge_index, batch)

    model = Noted(gnn.GCNConv, gnn.global_add_pool).eval()
    group = [list(range(FEATURES))]
    options: dict[str, Any] = {"tau": 0.8, "samples": 60, "feature_groups": group}
    zorro = Zorro.of_graphs(model, graphs, evaluator="any-model", **options)
    number = first_that_needs_some(zorro)
    seen.clear()
    explanation = zorro.explain(number)
    assert all(torch.equal(x.sum(1), torch.ones(x.size(0))) for x in seen)  # one-hot throughout
    traced = Zorro.of_graphs(model, graphs, evaluator="traced", **options).explain(number)
    assert traced.selected == explanation.selected
    assert explanation.parameters.noise == "group-marginals"
    assert explanation.parameters.feature_groups == ((0, 1, 2, 3),)
    assert explanation.features == (0, 1, 2, 3)
    whole = Pooled.forward
    measured = plain_fidelity(
        lambda *args, **kwargs: whole(model, *args, **kwargs),
        graphs,
        graphs[number],
        explanation,
        draw=by_row,  # one group of all columns is a row
    )
    assert_claim_holds(explanation, measured)


def test_options_that_can_be_read_only_once_are():
    groups, kinds = [[0, 2]], ["nodes", "features"]
    zorro = Zorro.of_graphs(
        CountsFirst(1), some_graphs(), keep=iter(kinds), feature_groups=(each for each in groups)
    )
    assert zorro.parameters.feature_groups == ((0, 2),)
    assert zorro.parameters.keep == ("nodes", "features")


def test_edge_weights_go_along():
    torch.manual_seed(4)
    graphs = some_graphs(seed=4)
    model = Pooled(gnn.GCNConv, gnn.global_add_pool).eval()
    kwargs = {"edge_weight": "edge_weight"}
    zorro = Zorro.of_graphs(model, graphs, tau=0.8, samples=60, model_kwargs=kwargs)
    graph = graphs[number := first_that_needs_some(zorro)]
    explanation = zorro.explain(number)
    weight = graph.edge_weight
    true = model(graph.x, graph.edge_index, edge_weight=weight)
    assert explanation.probabilities == pytest.approx(true.softmax(1)[0].tolist(), abs=1e-5)
    measured = plain_fidelity(model, graphs, graph, explanation, draw=by_column, edge_weight=weight)
    assert_claim_holds(explanation, measured)


def test_attributes_of_edges_go_along_and_are_traced():
    graphs = some_graphs(seed=10, one_hot=True)
    for graph in graphs:
        graph.edge_attr = torch.stack([graph.edge_weight, 1 - graph.edge_weight], dim=1)
    torch.manual_seed(13)
    model = Pooled(
        lambda i, o: gnn.GINEConv(nn.Linear(i, o), edge_dim=2), gnn.global_add_pool
    ).eval()
    options: dict[str, Any] = {
        "tau": 0.8,
        "samples": 60,
        "keep": ("nodes",),
        "feature_groups": [range(FEATURES)],
        "model_kwargs": {"edge_attr": "edge_attr"},
    }
    traced, run = (
        Zorro.of_graphs(model, graphs, evaluator=name, **options)
        for name in ("traced", "any-model")
    )
    graph = graphs[number := first_that_needs_some(run)]
    explanation, other = traced.explain(number), run.explain(number)
    assert explanation.selected == other.selected
    assert explanation.steps == other.steps
    bonds = graph.edge_attr
    measured = plain_fidelity(model, graphs, graph, explanation, draw=by_row, edge_attr=bonds)
    assert_claim_holds(explanation, measured)


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_fidelity_known_in_closed_form(kept):
    """Kept nodes count; of the others each counts with the column's share of ones."""
    share, nodes = 0.25, 6
    column = torch.tensor([1.0] * 6 + [0.0] * 18)
    graphs = [
        Data(
            x=torch.stack([column[i : i + nodes], torch.zeros(nodes)], dim=1),
            edge_index=torch.tensor([[0], [1]]),
        )
        for i in range(0, 24, nodes)
    ]
    zorro = Zorro.of_graphs(CountsFirst(2), graphs, fresh_samples=6000)
    measured = zorro.fidelity(0, nodes=range(kept), features=[0])  # graph 0 has six ones
    free = nodes - kept
    expected = sum(
        math.comb(free, ones) * share**ones * (1 - share) ** (free - ones)
        for ones in range(free + 1)
        if kept + ones > 2
    )
    assert abs(measured.value - expected) < 4 * math.sqrt(0.25 / 6000)


def test_a_graph_need_not_be_among_them():
    torch.manual_seed(5)
    graphs = some_graphs(seed=5)
    model = Pooled(gnn.GCNConv, gnn.global_mean_pool).eval()
    zorro = Zorro.of_graphs(model, graphs[:-1], tau=0.8, samples=60)
    known, unknown = zorro.explain(graphs[3]), zorro.explain(graphs[-1].clone())
    assert known.query.index == 3
    assert known.selected == zorro.explain(3).selected
    assert str(unknown.query) == "graph 11"
    assert unknown.certified
    measured = plain_fidelity(model, graphs[:-1], graphs[-1], unknown, draw=by_column)
    assert measured > 0.8 - 4 * math.sqrt(0.16 / 400)


def test_json_contrast_and_several_explanations():
    torch.manual_seed(6)
    graphs = some_graphs(seed=6)
    model = Pooled(gnn.GCNConv, gnn.global_add_pool).eval()
    zorro = Zorro.of_graphs(model, graphs, tau=0.8, samples=60)
    explanation = zorro.explain(4)
    assert Explanation.from_json(explanation.to_json()) == explanation
    assert "graph 4" in explanation.sentence()
    with pytest.raises(InputError, match="expected one of a node, got one of graph 4"):
        _ = explanation.node
    other = next(c for c in range(3) if c != explanation.predicted_class)
    versus = zorro.explain(4, why_not=other).versus
    assert versus is not None
    assert versus.other == other
    several = zorro.explain_multiple(4, max_explanations=3)
    assert several[0].selected == explanation.selected
    assert all(each.query == explanation.query for each in several)


def test_one_hot_columns_are_proposed_as_groups_and_not_taken_for_them(caplog):
    graphs = some_graphs(seed=7, one_hot=True)
    model = Pooled(gnn.GCNConv, gnn.global_add_pool).eval()
    zorro = Zorro.of_graphs(model, graphs)
    assert "feature_groups=[[0, 1, 2, 3]]" in caplog.text
    assert zorro.parameters.feature_groups == ()
    caplog.clear()
    Zorro.of_graphs(model, graphs, noise="rows")
    Zorro.of_graphs(model, some_graphs())
    assert not caplog.text


ONE = Data(x=torch.ones(2, FEATURES), edge_index=torch.tensor([[0], [1]]))
WRONG: dict[str, tuple[Any, dict[str, Any], str]] = {
    "nothing": (lambda: [], {}, "graphs: expected at least one graph, got none"),
    "a text": (lambda: "mutag", {}, "graphs: expected a list"),
    "one graph": (lambda: [ONE], {}, "graphs: expected two at least, got one"),
    "no nodes": (
        lambda: [ONE, Data(x=torch.ones(0, FEATURES), edge_index=torch.empty(2, 0).long())],
        {},
        r"graphs\[1\]",
    ),
    "other features": (
        lambda: [ONE, Data(x=torch.ones(2, 3), edge_index=ONE.edge_index)],
        {},
        r"graphs\[1\].x: expected 4 features",
    ),
    "no such attribute": (
        some_graphs,
        {"model_kwargs": {"edge_attr": "bond"}},
        r"model_kwargs\['edge_attr'\]: expected the name .*got 'bond'",
    ),
    "no such option": (some_graphs, {"hops": 2}, "hops: expected one of the options"),
    "keep nothing": (some_graphs, {"keep": ()}, "keep: expected some of 'nodes', 'features'"),
    "keep what": (some_graphs, {"keep": ("edge",)}, "keep: .*got 'edge'"),
    "keep twice": (some_graphs, {"keep": ("nodes", "nodes")}, "keep: .*each once"),
    "a text to keep": (some_graphs, {"keep": "nodes"}, "keep: expected names of kinds in a tuple"),
    "overlapping groups": (
        some_graphs,
        {"feature_groups": [[0, 1], [1, 2]]},
        r"feature_groups\[1\]: .*got 1, which is in feature_groups\[0\]",
    ),
    "an empty group": (
        some_graphs,
        {"feature_groups": [[0], []]},
        r"feature_groups\[1\]: expected columns, got none",
    ),
    "half a column": (some_graphs, {"feature_groups": [[0.5, 1]]}, r"feature_groups\[0\]: .*0.5"),
    "no lists": (some_graphs, {"feature_groups": [0, 1]}, "feature_groups: expected lists of col"),
    "no such column": (some_graphs, {"feature_groups": [[9]]}, r"feature_groups\[0\]: .*0 to 3"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_input_is_refused_in_one_line(wrong):
    graphs, options, text = WRONG[wrong]
    model = Pooled(gnn.GCNConv, gnn.global_add_pool)
    with pytest.raises(InputError, match=text) as raised:
        Zorro.of_graphs(model, graphs(), **options)
    assert "\n" not in str(raised.value)


def test_a_model_of_nodes_and_a_wrong_number_are_refused():
    graphs = some_graphs()
    nodes = Zorro.of_graphs(gnn.GCN(FEATURES, 4, 1, 3), graphs)
    with pytest.raises(ModelError, match="one row of class scores per graph"):
        nodes.explain(0)
    zorro = Zorro.of_graphs(Pooled(gnn.GCNConv, gnn.global_add_pool), graphs)
    with pytest.raises(InputError, match="graph: expected a graph from 0 to 11, got 12"):
        zorro.explain(12)
    with pytest.raises(InputError, match="expected 4 features"):
        zorro.explain(Data(x=torch.ones(2, 3), edge_index=ONE.edge_index))


class ThroughModule(nn.Module):
    """Pooling by one of PyG's aggregations."""

    def __init__(self, aggregation):
        super().__init__()
        self.aggregation = aggregation

    def forward(self, x, batch):
        return self.aggregation(x, batch)


POOLED_BY = {
    "a function": gnn.global_mean_pool,
    "its name in a module": lambda x, batch: gnn.global_max_pool(x, batch),
    "a size": lambda x, batch: (
        gnn.global_add_pool(x, batch, size=int(batch.max()) + 1)
        if isinstance(batch, torch.Tensor)
        else gnn.global_add_pool(x, batch)
    ),
    "sum": ThroughModule(gnn.aggr.SumAggregation()),
    "mean": ThroughModule(gnn.aggr.MeanAggregation()),
    "max": ThroughModule(gnn.aggr.MaxAggregation()),
    "std": ThroughModule(gnn.aggr.StdAggregation()),
    "softmax": ThroughModule(gnn.aggr.SoftmaxAggregation(t=0.5)),
    "median": ThroughModule(gnn.aggr.MedianAggregation()),
}


@pytest.mark.parametrize("pool", POOLED_BY)
def test_pooling_is_traced_and_gives_what_running_the_model_gives(pool):
    torch.manual_seed(8)
    graphs = some_graphs(seed=8)
    model = Pooled(gnn.GCNConv, POOLED_BY[pool]).eval()
    traced, run = (
        Zorro.of_graphs(model, graphs, tau=0.8, samples=60, evaluator=name)
        for name in ("traced", "any-model")
    )
    for number in (2, 9):
        one, other = traced.explain(number), run.explain(number)
        assert (one.evaluator, other.evaluator) == ("traced", "any-model")
        assert one.selected == other.selected
        assert one.steps == other.steps
        assert one.certificate == other.certificate


def test_poolings_that_are_not_traced_are_named_and_served():
    torch.manual_seed(9)
    graphs = some_graphs(seed=9)
    attention = ThroughModule(gnn.aggr.AttentionalAggregation(nn.Linear(8, 1)))
    model = Pooled(gnn.GCNConv, attention).eval()
    explanation = Zorro.of_graphs(model, graphs, tau=0.8, samples=60).explain(1)
    assert explanation.evaluator == "recorded"
    assert "AttentionalAggregation is not among the poolings" in explanation.evaluator_reason
    measured = plain_fidelity(model, graphs, graphs[1], explanation, draw=by_column)
    assert explanation.certified
    assert measured > 0.8 - 4 * math.sqrt(0.16 / 400)


def test_pooling_functions_are_left_as_they_were():
    from torch_geometric.nn.pool import glob

    before = glob.scatter, gnn.aggr.Aggregation.__call__
    graphs = some_graphs()
    Zorro.of_graphs(Pooled(gnn.GCNConv, gnn.global_add_pool), graphs).fidelity(0, samples=10)
    assert (glob.scatter, gnn.aggr.Aggregation.__call__) == before


@pytest.mark.parametrize("number", range(6))
def test_what_the_graphs_of_a_batch_share_is_seen_where_it_matters_in_few(number):
    """One feature is redrawn from 8 values; the highest turns the answer, of all graphs at once."""
    graphs = [
        Data(x=torch.full((1, 1), float(v)), edge_index=torch.zeros(2, 0).long()) for v in range(8)
    ]

    def model(x, edge_index, batch):
        turned = (x == 7).all().to(x.dtype)
        return torch.stack([1 - turned, turned]).expand(int(batch.max()) + 1, 2)

    zorro = Zorro.of_graphs(model, graphs, keep=("nodes",), tau=0.93)
    measured = zorro.fidelity(number, nodes=[], samples=1000)
    assert abs(measured.value - 7 / 8) < 0.05
    assert zorro.explain(number).nodes == (0,)
