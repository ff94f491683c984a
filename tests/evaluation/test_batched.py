"""The batched evaluator against a plain loop over samples, and against enumeration."""

import itertools
import math

import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINEConv, GraphConv, MessagePassing
from torch_geometric.utils import erdos_renyi_graph

from zorro.cut import Extractor
from zorro.elements import Element, Selection
from zorro.errors import ModelError
from zorro.evaluation import BatchedEvaluator
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import draws_of, resolve
from zorro.noise.draws import DenseDraws


class TwoGraphConvolutions(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.first = GCNConv(features, 8)
        self.second = GCNConv(8, classes)

    def forward(self, x, edge_index, edge_weight=None):
        hidden = self.first(x, edge_index, edge_weight).relu()
        return self.second(hidden, edge_index, edge_weight)


class WithEdgeAttributes(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.first = GINEConv(nn.Linear(features, 8), edge_dim=2)
        self.second = GATConv(8, classes, edge_dim=2)

    def forward(self, x, edge_index, edge_attr, bias, scale=1.0):
        hidden = self.first(x, edge_index, edge_attr).relu() + bias
        return self.second(hidden, edge_index, edge_attr) * scale


class NormalisesOverAllNodes(nn.Module):
    """Copies in one batch would influence each other."""

    def __init__(self, features, classes):
        super().__init__()
        self.first = GraphConv(features, 8)
        self.second = GraphConv(8, classes)

    def forward(self, x, edge_index):
        hidden = self.first(x, edge_index).relu()
        hidden = hidden / (1 + hidden.sum(0))
        return self.second(hidden, edge_index)


class ShortensLargeGraphs(nn.Module):
    """Another answer where there are many nodes, as there are in a large batch of copies."""

    def __init__(self, features, classes):
        super().__init__()
        self.layer = GraphConv(features, classes)

    def forward(self, x, edge_index):
        scores = self.layer(x, edge_index)
        return scores if x.size(0) < 3000 else scores.flip(1)


class SumOfNeighbours(MessagePassing):
    """Class 1 where a node's value and its neighbours' add up to 0 or more."""

    def __init__(self):
        super().__init__(aggr="sum")

    def forward(self, x, edge_index):
        total = x + self.propagate(edge_index, x=x)
        return torch.cat([torch.zeros_like(total), total + 0.5], dim=1)


def a_graph(seed=0, nodes=30, features=6, probability=0.08):
    torch.manual_seed(seed)
    edge_index = erdos_renyi_graph(nodes, probability)
    x = torch.randn(nodes, features) * (torch.rand(nodes, features) < 0.6)
    return x, edge_index


def evaluator_of(model, x, edge_index, kwargs=None, *, query=3, memory=1 << 24, samples=range(40)):
    predictor = Predictor(model)
    graph = Extractor(predictor, Graph(x, edge_index, kwargs or {})).extract(query)
    return BatchedEvaluator(predictor, graph, draws_for(graph, x, samples), memory=memory)


def draws_for(graph, x, samples):
    return draws_of(
        resolve("column-marginals", x),
        graph.candidate_x,
        seed=5,
        query=graph.query,
        samples=samples,
        memory=1 << 20,
    )


def one_by_one(model, evaluator, selection, kwargs, noise):
    """Perturb, run the whole small graph, compare: a sample at a time, as the definition says."""
    graph = evaluator.graph
    n, d = evaluator.shape
    hits = []
    model.eval()
    for sample in range(evaluator.samples):
        x = graph.x.clone()
        for i in range(n):
            for j in range(d):
                if not (selection.nodes[i] and selection.features[j]):
                    x[i, j] = noise[sample, i, j]
        with torch.no_grad():
            out = model(x, graph.edge_index, **kwargs)[graph.target]
        hits.append(bool(out.argmax() == graph.scores.argmax()))
    return torch.tensor(hits)


def some_selection(evaluator, seed=1):
    torch.manual_seed(seed)
    n, d = evaluator.shape
    return Selection.of(torch.rand(n) < 0.4, torch.rand(d) < 0.4)


def noise_of(evaluator, x):
    draws = draws_for(evaluator.graph, x, range(evaluator.samples))
    return draws.matrices(torch.arange(evaluator.samples))


@pytest.mark.parametrize("memory", [1, 1 << 16, 1 << 24])
def test_hits_equal_a_plain_loop_whatever_the_batch(memory):
    x, edge_index = a_graph()
    model = TwoGraphConvolutions(6, 3)
    evaluator = evaluator_of(model, x, edge_index, memory=memory)
    noise = noise_of(evaluator, x)
    base = some_selection(evaluator)
    expected = one_by_one(model, evaluator, base, {}, noise)
    assert torch.equal(evaluator.hits(base), expected)
    assert 0 < expected.sum() < len(expected)  # otherwise the test could not tell

    n, d = evaluator.shape
    toggling_nodes = evaluator.hits_toggling(base, "nodes", torch.arange(n))
    for row in range(n):
        assert torch.equal(
            toggling_nodes[row],
            one_by_one(model, evaluator, base.toggled(Element("nodes", row)), {}, noise),
        )
    toggling_features = evaluator.hits_toggling(base, "features", torch.arange(d))
    for column in range(d):
        assert torch.equal(
            toggling_features[column],
            one_by_one(model, evaluator, base.toggled(Element("features", column)), {}, noise),
        )


def test_gains_are_the_slope_towards_each_element():
    """First order: the derivative of the mean log-probability as an element's entries move."""
    x, edge_index = a_graph()
    model = TwoGraphConvolutions(6, 3).double()
    evaluator = evaluator_of(model, x.double(), edge_index, memory=1 << 24)
    noise = noise_of(evaluator, x.double())
    base = some_selection(evaluator)
    gains = evaluator.gains(base)

    def mean_log_probability(entries, amount):
        mask = (base.nodes.unsqueeze(1) & base.features).double()
        mask = torch.where(entries & (mask == 0), amount, mask)
        inputs = evaluator.graph.candidate_x * mask + noise * (1 - mask)
        return evaluator.event.log_probability(evaluator.run(inputs)).mean()

    step = 1e-6
    everything = torch.ones(evaluator.shape, dtype=torch.bool)
    for row in (~base.nodes).nonzero().flatten().tolist():
        entries = everything & base.features
        entries = entries & (torch.arange(evaluator.shape[0]) == row).unsqueeze(1)
        slope = (mean_log_probability(entries, step) - mean_log_probability(entries, 0.0)) / step
        assert float(gains["nodes"][row]) == pytest.approx(float(slope), abs=1e-4)
    for column in (~base.features).nonzero().flatten().tolist():
        entries = everything & base.nodes.unsqueeze(1)
        entries = entries & (torch.arange(evaluator.shape[1]) == column)
        slope = (mean_log_probability(entries, step) - mean_log_probability(entries, 0.0)) / step
        assert float(gains["features"][column]) == pytest.approx(float(slope), abs=1e-4)


def test_a_model_without_gradient_has_no_gains():
    class Rounds(TwoGraphConvolutions):
        def forward(self, x, edge_index):  # type: ignore[override]
            with torch.no_grad():
                return super().forward(x, edge_index)

    evaluator = evaluator_of(Rounds(6, 3), *a_graph(), memory=1 << 24)
    assert evaluator.gains(some_selection(evaluator)) is None


def test_extra_tensors_follow_into_subgraph_and_batch():
    x, edge_index = a_graph(seed=2)
    torch.manual_seed(3)
    kwargs = {
        "edge_attr": torch.randn(edge_index.size(1), 2),
        "bias": torch.randn(30, 1),
        "scale": 2.0,
    }
    model = WithEdgeAttributes(6, 4)
    evaluator = evaluator_of(model, x, edge_index, kwargs)
    graph = evaluator.graph
    assert 1 < graph.candidates.numel() < 30
    whole = model.eval()(x, edge_index, **kwargs)[3]
    assert torch.allclose(graph.scores, whole, atol=1e-5)
    base = some_selection(evaluator)
    local = graph.model_inputs.as_kwargs()
    expected = one_by_one(model, evaluator, base, local, noise_of(evaluator, x))
    assert torch.equal(evaluator.hits(base), expected)
    assert 0 < expected.sum() < len(expected)


def test_edge_weights_follow():
    x, edge_index = a_graph(seed=4)
    torch.manual_seed(3)
    weight = torch.rand(edge_index.size(1)) * 3
    model = TwoGraphConvolutions(6, 3)
    evaluator = evaluator_of(model, x, edge_index, {"edge_weight": weight})
    whole = model.eval()(x, edge_index, weight)[3]
    assert torch.allclose(evaluator.graph.scores, whole, atol=1e-5)
    assert not torch.allclose(whole, model(x, edge_index)[3], atol=1e-2)


def test_a_model_that_mixes_copies_is_run_one_by_one(caplog):
    x, edge_index = a_graph(seed=2)
    model = NormalisesOverAllNodes(6, 3)
    evaluator = evaluator_of(model, x, edge_index)
    assert evaluator.graph.whole  # no cut preserves its output either
    base = some_selection(evaluator)
    expected = one_by_one(model, evaluator, base, {}, noise_of(evaluator, x))
    assert torch.equal(evaluator.hits(base), expected)
    assert "one by one" in caplog.text


def test_a_model_that_does_something_else_with_many_nodes_is_run_one_by_one(caplog):
    x, edge_index = a_graph(seed=2)
    model = ShortensLargeGraphs(6, 3)
    evaluator = evaluator_of(model, x, edge_index, memory=1 << 28, samples=range(600))
    assert 600 * evaluator.graph.x.size(0) > 3000 > 129 * evaluator.graph.x.size(0)
    expected = one_by_one(model, evaluator, evaluator.nothing, {}, noise_of(evaluator, x))
    assert torch.equal(evaluator.hits(evaluator.nothing), expected)
    assert "one by one" in caplog.text


def test_everything_selected_is_always_a_hit():
    x, edge_index = a_graph(seed=6)
    evaluator = evaluator_of(TwoGraphConvolutions(6, 3), x, edge_index)
    assert evaluator.hits(Selection.full(*evaluator.shape)).all()


# All assignments of four nodes' values, each once: fidelity becomes exact.
VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0)
EVERY_ASSIGNMENT = torch.tensor(list(itertools.product(VALUES, repeat=4)))


def test_the_papers_four_node_example_by_enumeration():
    # f(v1), …, f(v4), each value between −2 and 3; the prediction is 1 as the sum is 3 ≥ 0.
    x = torch.tensor([[1.0], [0.0], [0.0], [2.0]])
    edge_index = torch.tensor([(a, b) for a in range(4) for b in range(4) if a != b]).t()
    predictor = Predictor(SumOfNeighbours())
    graph = Extractor(predictor, Graph(x, edge_index)).extract(0)
    assert graph.predicted_class == 1
    evaluator = BatchedEvaluator(predictor, graph, DenseDraws(EVERY_ASSIGNMENT.unsqueeze(-1)))

    def exact(kept):
        total = sum(float(x[v]) for v in kept)
        free = 4 - len(kept)
        outcomes = itertools.product(VALUES, repeat=free)
        return sum(total + sum(rest) >= 0 for rest in outcomes) / 6**free

    for size in range(5):
        for kept in itertools.combinations(range(4), size):
            nodes = torch.zeros(4, dtype=torch.bool)
            nodes[list(kept)] = True
            hits = evaluator.hits(Selection.of(nodes, torch.tensor([True])))
            assert math.isclose(hits.double().mean(), exact(kept))
    # Zeros elsewhere make {v1, v3} valid, and yet it is no more stable than saying nothing much.
    assert exact((0, 2)) < exact((0, 3)) == pytest.approx(35 / 36)


class Unsure(nn.Module):
    def forward(self, x, edge_index):
        return torch.rand(x.size(0), 3)


class Raises(nn.Module):
    def forward(self, x, edge_index):
        raise KeyError("no such layer")


def test_a_random_model_is_refused():
    with pytest.raises(ModelError, match="not deterministic in eval mode"):
        evaluator_of(Unsure(), *a_graph())


def test_a_raising_model_is_named():
    with pytest.raises(ModelError, match=r"raised KeyError: 'no such layer'.*x \("):
        evaluator_of(Raises(), *a_graph())


class Widest(torch.nn.Module):
    """Sends the features as they are, as GINConv does; remembers the largest message matrix."""

    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, 2)
        self.most = 0

    def forward(self, x, edge_index):
        messages = x[edge_index[0]]  # (e, d)
        self.most = max(self.most, messages.numel() * messages.element_size())
        return self.linear(torch.zeros_like(x).index_add_(0, edge_index[1], messages))


@pytest.mark.parametrize("memory", [1 << 20, 1 << 22, 1 << 24])
def test_messages_as_wide_as_the_features_stay_within_the_memory(memory):
    x, edge_index = a_graph(nodes=40, features=300, probability=0.5)
    model = Widest(300)
    evaluator = evaluator_of(model, x, edge_index, memory=memory, samples=range(60))
    model.most = 0
    evaluator.hits(some_selection(evaluator))
    assert 0 < model.most <= max(memory // 2, evaluator.least_memory // 2)
