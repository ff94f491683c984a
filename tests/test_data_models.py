"""Models that are called as `model(data)`: explained as if their owner had wrapped them by hand."""

import logging
import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Batch, Data

from zorro import Zorro, explain_graphs, explain_many
from zorro.errors import ModelError, RunError

sys.path.append(str(Path(__file__).parent))
from plain_loop import plain_fidelity

NODES, FEATURES, CLASSES = 24, 6, 3
QUERY = 3
QUICK: dict[str, Any] = {"samples": 60, "fresh_samples": 300, "tau": 0.8}


class OfNodes(nn.Module):
    """As in PyG's introduction."""

    def __init__(self):
        super().__init__()
        self.one, self.two = gnn.GCNConv(FEATURES, 5), gnn.GCNConv(5, CLASSES)

    def forward(self, data):
        x, edge_index = data.x, data.edge_index
        x = nn.functional.dropout(self.one(x, edge_index).relu(), training=self.training)
        return self.two(x, edge_index).log_softmax(dim=1)


class Weighted(OfNodes):
    def forward(self, graph, scale: float = 1.0):
        x = self.one(graph.x, graph.edge_index, graph.edge_weight).relu()
        return self.two(x, graph.edge_index, graph.edge_weight) * scale


class OfGraphs(nn.Module):
    """Reads the batch, the edges' attributes and the number of graphs."""

    def __init__(self):
        super().__init__()
        self.conv = gnn.GINEConv(nn.Linear(FEATURES, 8), edge_dim=2)
        self.last = nn.Linear(8, CLASSES)

    def forward(self, batch: Data):
        x = self.conv(batch.x, batch.edge_index, batch.edge_attr).relu()
        return self.last(gnn.global_add_pool(x, batch.batch, batch.num_graphs))


class OfLinks(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = gnn.GCNConv(FEATURES, 8, bias=False)

    def forward(self, data):
        z = self.conv(data.x, data.edge_index).tanh()
        source, target = data.edge_label_index
        return (z[source] * z[target]).sum(-1)


def trained(net, seed=4):
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in net.parameters():
            nn.init.normal_(parameter, std=2.0 / parameter.dim())
    return net


@pytest.fixture
def graph():
    torch.manual_seed(0)
    children = torch.arange(1, NODES)
    parents = (torch.rand(NODES - 1) * children).long()
    edge_index = torch.stack([torch.cat([children, parents]), torch.cat([parents, children])])
    weight = torch.rand(edge_index.size(1)) + 0.1
    return Data(x=torch.randn(NODES, FEATURES), edge_index=edge_index, edge_weight=weight)


def some_graphs(count=10):
    generator = torch.Generator().manual_seed(2)
    graphs = []
    for _ in range(count):
        nodes = int(torch.randint(4, 9, (1,), generator=generator))
        pairs = torch.tensor([[i, (i + 1) % nodes] for i in range(nodes)]).t()
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        x = torch.randn(nodes, FEATURES, generator=generator)
        attributes = torch.randn(edge_index.size(1), 2, generator=generator)
        graphs.append(Data(x=x, edge_index=edge_index, edge_attr=attributes, smiles="CO"))
    return graphs


def assert_same(one, other):
    assert one.status == other.status == "certified"
    assert one.selected == other.selected
    assert one.steps == other.steps
    assert one.fidelity == other.fidelity


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
@pytest.mark.parametrize("form", ["module", "function", "compiled"])
def test_nodes(graph, evaluator, form):
    model = trained(OfNodes())  # in training mode, as people have it
    given = {
        "module": model,
        "function": lambda data: model(data),
        "compiled": torch.compile(model, backend="eager"),
    }[form]

    def by_hand(x, edge_index):
        return model(Data(x=x, edge_index=edge_index))

    options = {**QUICK, "evaluator": evaluator}
    explanation = Zorro(given, graph.x, graph.edge_index, **options).explain(QUERY)
    assert explanation.evaluator == evaluator
    assert_same(explanation, Zorro(by_hand, graph.x, graph.edge_index, **options).explain(QUERY))
    assert model.training
    model.eval()

    def predict(x):
        with torch.no_grad():
            return int(model(Data(x=x, edge_index=graph.edge_index))[QUERY].argmax())

    assert predict(graph.x) == explanation.predicted_class
    share = plain_fidelity(
        predict, graph.x, QUERY, nodes=explanation.nodes, features=explanation.features
    )
    assert abs(share - explanation.fidelity.value) < 4.5 * math.sqrt(0.5 / 300)


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_weights_are_in_the_data_and_named_arguments_get_theirs(graph, evaluator, caplog):
    model = trained(Weighted()).eval()
    options = {**QUICK, "evaluator": evaluator}
    kwargs = {"edge_weight": graph.edge_weight, "scale": -1.0}

    def by_hand(x, edge_index, edge_weight, scale):
        return model(Data(x=x, edge_index=edge_index, edge_weight=edge_weight), scale=scale)

    one, other = (
        Zorro(each, graph.x, graph.edge_index, model_kwargs=kwargs, **options).explain(QUERY)
        for each in (model, by_hand)
    )
    assert_same(one, other)
    assert one.predicted_class == int(model(graph, -1.0)[QUERY].argmax())
    assert not caplog.text


def test_what_is_read_in_vain_is_said_once(graph, caplog):
    caplog.set_level(logging.WARNING)
    model = trained(Weighted())
    Zorro(model, graph.x, graph.edge_index, **QUICK).explain(QUERY)
    assert caplog.text.count("reads data.edge_weight and gets None") == 1
    assert "model_kwargs={'edge_weight': data.edge_weight}" in caplog.text


def test_an_error_of_the_model_says_what_the_data_holds(graph):
    def reads_more(data):
        return data.x[:, :3] * data.degree

    with pytest.raises(ModelError, match=r"one Data that holds x, edge_index: pass .*model_kwargs"):
        Zorro(reads_more, graph.x, graph.edge_index).explain(QUERY)


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_graphs_with_all_that_they_have(evaluator, caplog):
    graphs, model = some_graphs(), trained(OfGraphs(), seed=1).eval()
    options = {**QUICK, "evaluator": evaluator}

    def by_hand(x, edge_index, batch, edge_attr):
        count = int(batch.max()) + 1
        given = Data(x=x, edge_index=edge_index, batch=batch, edge_attr=edge_attr)
        given.num_graphs = count
        return model(given)

    named = {"edge_attr": "edge_attr"}
    slow = {**options, "evaluator": "any-model"}
    expected = Zorro.of_graphs(by_hand, graphs, model_kwargs=named, **slow)
    numbers = [n for n in range(10) if expected.fidelity(n, nodes=[], samples=200).value < 0.7]
    for number in numbers[:2]:
        explanation = Zorro.of_graphs(model, graphs, **options).explain(number)
        assert explanation.evaluator == evaluator
        assert explanation.selected == expected.explain(number).selected
        assert explanation.steps == expected.explain(number).steps
        # Its owner calls it with PyG's own Batch.
        scores = model(Batch.from_data_list([graphs[number]]))
        assert explanation.predicted_class == int(scores[0].argmax())
        assert_holds_of(model, graphs, number, explanation)
    assert numbers
    assert "gets None" not in caplog.text


def assert_holds_of(model, graphs, number, explanation, samples=300):
    """Redraw all that is not kept, and call the model with PyG's own Batch."""
    generator = torch.Generator().manual_seed(3)
    graph, pool = graphs[number], torch.cat([each.x for each in graphs])
    keep = torch.zeros_like(graph.x, dtype=torch.bool)
    for row in explanation.nodes:
        keep[row, list(explanation.features)] = True
    stayed = 0
    with torch.no_grad():
        for _ in range(samples):
            other = graph.clone()
            rows = torch.randint(pool.size(0), graph.x.shape, generator=generator)
            other.x = torch.where(keep, graph.x, pool.gather(0, rows))
            scores = model(Batch.from_data_list([other]))
            stayed += int(scores[0].argmax()) == explanation.predicted_class
    assert explanation.certified
    assert stayed / samples > 0.8 - 4 * math.sqrt(0.8 * 0.2 / samples)


def test_what_graphs_have_can_be_left_out():
    graphs, model = some_graphs(), trained(OfGraphs())
    with pytest.raises(ModelError, match=r"one Data that holds x, edge_index, batch: pass"):
        Zorro.of_graphs(model, graphs, model_kwargs={}).explain(0)


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_links(graph, evaluator):
    model = trained(OfLinks()).eval()
    options = {**QUICK, "threshold": 0.0, "evaluator": evaluator}

    def by_hand(x, edge_index, edge_label_index):
        return model(Data(x=x, edge_index=edge_index, edge_label_index=edge_label_index))

    one, other = (
        Zorro.of_links(each, graph.x, graph.edge_index, **options).explain((3, 9))
        for each in (model, by_hand)
    )
    assert one.evaluator == evaluator
    assert_same(one, other)


def test_runs_of_nodes_and_of_graphs(graph, tmp_path):
    model = trained(OfNodes())
    run = explain_many(
        model,
        graph.x,
        graph.edge_index,
        [QUERY, 9],
        out=tmp_path / "nodes",
        engine="processes",
        workers=1,
        **QUICK,
    )
    (first, _) = run
    assert first.selected == Zorro(model, graph.x, graph.edge_index, **QUICK).explain(3).selected
    graphs, model = some_graphs(), trained(OfGraphs(), seed=1)
    (one,) = explain_graphs(model, graphs, [1], out=tmp_path / "graphs", **QUICK)
    assert one.selected == Zorro.of_graphs(model, graphs, **QUICK).explain(1).selected
    graphs[1].edge_attr = graphs[1].edge_attr + 1
    with pytest.raises(RunError, match=r"it differs in data.sha256"):
        explain_graphs(model, graphs, [1], out=tmp_path / "graphs", **QUICK)


class Optional(OfNodes):
    def forward(self, x, adj=None):
        return self.two(self.one(x, adj).relu(), adj)


class Typed(OfNodes):
    def forward(self, nodes: torch.Tensor, links: torch.Tensor | None = None):
        return self.two(self.one(nodes, links).relu(), links)


class OtherNames(OfNodes):
    def forward(self, features, adj):  # type: ignore[override]
        return self.two(self.one(features, adj).relu(), adj)


@pytest.mark.parametrize("kind", [Optional, Typed, OtherNames])
def test_features_and_edges_are_given_by_position_whatever_their_names(graph, kind):
    model = trained(kind()).eval()

    def by_hand(x, edge_index):
        return model(x, edge_index)

    one, other = (
        Zorro(each, graph.x, graph.edge_index, evaluator="traced", **QUICK).explain(QUERY)
        for each in (model, by_hand)
    )
    assert_same(one, other)
    assert one.predicted_class == int(model(graph.x, graph.edge_index)[QUERY].argmax())


def test_a_model_of_features_alone_is_told_the_line_that_works(graph):
    model = trained(nn.Sequential(nn.Linear(FEATURES, 5), nn.ReLU(), nn.Linear(5, CLASSES)))
    with pytest.raises(ModelError, match=r"takes input alone: pass `lambda x, edge_index: model"):
        Zorro(model, graph.x, graph.edge_index, **QUICK).explain(QUERY)
    as_told = Zorro(lambda x, edge_index: model(x), graph.x, graph.edge_index, **QUICK)
    assert set(as_told.explain(QUERY).nodes) <= {QUERY}
