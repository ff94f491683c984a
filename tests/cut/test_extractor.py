"""The extracted graph gives the whole graph's prediction, and only what matters is a candidate."""

from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.nn import (
    APPNP,
    ChebConv,
    GATConv,
    GCNConv,
    GINConv,
    SAGEConv,
    SGConv,
    TAGConv,
)
from torch_geometric.utils import k_hop_subgraph

from zorro import data, models
from zorro.cut import Extractor
from zorro.errors import InputError
from zorro.graph.edge_index import EdgesByReceiver, TensorEdges
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.model.receptive_field import hops_of


class Stack(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x, edge_index):
        for layer in self.layers:
            x = layer(x, edge_index).tanh()
        return x


class NotPyG(nn.Module):
    """Three hops of message passing that no layer tells of."""

    def forward(self, x, edge_index):
        for _ in range(3):
            x = x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return x


class SharedLayer(nn.Module):
    """One layer used three times counts as one hop."""

    def __init__(self):
        super().__init__()
        self.layer = GCNConv(4, 4)

    def forward(self, x, edge_index):
        for _ in range(3):
            x = self.layer(x, edge_index).tanh()
        return x


def a_random_tree(nodes):
    """Every node is linked with an earlier one, in both directions."""
    children = torch.arange(1, nodes)
    parents = (torch.rand(nodes - 1) * children).long()
    return torch.stack([torch.cat([children, parents]), torch.cat([parents, children])])


def a_graph(seed=0, nodes=200, features=4):
    torch.manual_seed(seed)
    return torch.randn(nodes, features), a_random_tree(nodes)


@pytest.mark.parametrize("flow", ["source_to_target", "target_to_source"])
def test_neighbourhoods_and_edges_equal_pygs(flow):
    torch.manual_seed(0)
    edge_index = torch.randint(0, 60, (2, 90))  # directed, with repeats and loops
    edges = EdgesByReceiver(TensorEdges(edge_index, 60), flow=flow)
    for query in range(60):
        for hops in range(4):
            nodes, _, _, kept = k_hop_subgraph(query, hops, edge_index, num_nodes=60, flow=flow)
            ours = edges.neighbourhood(torch.tensor([query]), hops)
            assert torch.equal(ours, nodes.sort().values)
            assert torch.equal(edges.induced(ours), kept.nonzero().flatten())


LAYERS = {
    "gcn": (lambda: Stack(GCNConv(4, 4), GCNConv(4, 3)), 2),
    "gat": (lambda: Stack(GATConv(4, 4), GATConv(4, 3)), 2),
    "sage": (lambda: Stack(SAGEConv(4, 3)), 1),
    "gin": (lambda: Stack(GINConv(nn.Linear(4, 4)), GINConv(nn.Linear(4, 3))), 2),
    "appnp": (lambda: Stack(APPNP(K=3, alpha=0.1)), 3),
    "sgc": (lambda: Stack(SGConv(4, 3, K=2)), 2),
    "tag": (lambda: Stack(TAGConv(4, 3, K=2)), 2),
    "cheb": (lambda: Stack(ChebConv(4, 3, K=3)), 2),
    "cached": (lambda: Stack(GCNConv(4, 4, cached=True), GCNConv(4, 3, cached=True)), 2),
}


@pytest.mark.parametrize("name", LAYERS)
def test_hops_are_inferred_and_the_output_is_the_whole_graphs(name):
    make, hops = LAYERS[name]
    torch.manual_seed(1)
    model = make().eval()
    x, edge_index = a_graph()
    assert hops_of(model) == hops
    extractor = Extractor(Predictor(model), Graph(x, edge_index))
    expected = make_uncached(model)(x, edge_index)
    for query in range(0, 200, 17):
        graph = extractor.extract(query)
        here = Predictor(model).scores(graph.x, graph.edge_index, {})[graph.target]
        assert torch.allclose(here, expected[query], atol=1e-5)
        nodes, *_ = k_hop_subgraph(query, hops, edge_index, num_nodes=200)
        assert torch.equal(graph.candidates, nodes.sort().values)
        assert (graph.hops, graph.whole, graph.context_matters) == (hops, False, False)


def make_uncached(model):
    for layer in model.layers:
        if hasattr(layer, "cached"):
            layer.cached = False
    return model


def test_without_halo_a_degree_normalising_model_predicts_something_else():
    torch.manual_seed(3)
    model = Stack(GCNConv(4, 4), GCNConv(4, 3)).eval()
    x, edge_index = a_graph(seed=1)
    truncated = Extractor(Predictor(model), Graph(x, edge_index), halo=0, check="none")
    whole = model(x, edge_index)
    off = [
        query
        for query in range(200)
        if not torch.allclose(truncated.extract(query).scores, whole[query], atol=1e-4)
    ]
    assert len(off) > 20
    repaired = Extractor(Predictor(model), Graph(x, edge_index), halo=0).extract(off[0])
    assert repaired.halo == 1  # widened by the check
    assert torch.allclose(repaired.scores, whole[off[0]])


@pytest.mark.parametrize("model", [NotPyG(), SharedLayer()])
def test_a_count_that_is_too_small_is_raised(model):
    x, edge_index = a_graph(seed=2)
    assert hops_of(model) < 3
    graph = Extractor(Predictor(model), Graph(x, edge_index)).extract(100)
    nodes, *_ = k_hop_subgraph(100, 3, edge_index, num_nodes=200)
    assert torch.equal(graph.candidates, nodes.sort().values)
    assert not graph.context_matters


def test_hops_that_are_given_are_kept_and_the_influence_is_told(caplog):
    model = Stack(GCNConv(4, 4), GCNConv(4, 3))
    x, edge_index = a_graph(seed=2)
    graph = Extractor(Predictor(model), Graph(x, edge_index), hops=1).extract(100)
    assert (graph.hops, graph.context_matters) == (1, True)
    assert "more than 1 hops away influence" in caplog.text
    assert "nothing is certified" in caplog.text
    whole = model.eval()(x, edge_index)[100]
    assert torch.allclose(graph.scores, whole, atol=1e-5)


class CountsEdges(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = GCNConv(4, 3)

    def forward(self, x, edge_index):
        return self.layer(x, edge_index) + edge_index.size(1) / 100


def test_a_model_that_needs_the_whole_graph_gets_it(caplog):
    x, edge_index = a_graph(seed=2)
    model = CountsEdges()
    graph = Extractor(Predictor(model), Graph(x, edge_index)).extract(100)
    assert graph.whole
    assert "whole graph" in caplog.text
    assert graph.x.size(0) == 200
    assert torch.equal(graph.x[graph.target], x[100])
    nodes, *_ = k_hop_subgraph(100, 1, edge_index, num_nodes=200)
    assert torch.equal(graph.candidates, nodes.sort().values)


class GlobalMean(nn.Module):
    def forward(self, x, edge_index):
        return x + x.mean(0)


def test_where_all_nodes_matter_all_are_candidates():
    x, edge_index = a_graph()
    graph = Extractor(Predictor(GlobalMean()), Graph(x, edge_index)).extract(5)
    assert graph.candidates.tolist() == list(range(200))
    assert torch.equal(graph.edge_index, edge_index)
    assert graph.target == 5


def test_an_isolated_node_is_a_graph_of_one():
    x = torch.randn(5, 4)
    edge_index = torch.tensor([[0, 1], [1, 0]])
    model = Stack(GCNConv(4, 4), GCNConv(4, 3))
    graph = Extractor(Predictor(model), Graph(x, edge_index)).extract(4)
    assert graph.candidates.tolist() == [4]
    assert graph.edge_index.shape == (2, 0)


@pytest.mark.parametrize("node", [-1, 200])
def test_a_node_out_of_range_is_refused(node):
    with pytest.raises(
        InputError, match=f"node: expected a whole number from 0 to 199, got {node}"
    ):
        Extractor(Predictor(Stack(GCNConv(4, 3))), Graph(*a_graph())).extract(node)


def test_the_model_is_left_as_it_was():
    model = Stack(GCNConv(4, 4, cached=True), nn.Identity(), GCNConv(4, 3, cached=True))
    model.layers[1].forward = lambda x, edge_index: x
    x, edge_index = a_graph()
    model.train()
    model.layers[2].eval()
    model(x, edge_index).sum().backward()
    cached = model.layers[0]._cached_edge_index
    before = {name: value.clone() for name, value in model.state_dict().items()}
    parameters: list[Any] = list(model.parameters())
    gradients = [parameter.grad.clone() for parameter in parameters]
    inputs = (x.clone(), edge_index.clone())
    Extractor(Predictor(model), Graph(x, edge_index)).extract(7)
    assert [layer.training for layer in model.layers] == [True, True, False]
    assert model.layers[0]._cached_edge_index is cached
    assert model.layers[0].cached
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(
        torch.equal(parameter.grad, gradient)
        for parameter, gradient in zip(parameters, gradients, strict=True)
    )
    assert torch.equal(x, inputs[0])
    assert torch.equal(edge_index, inputs[1])


@pytest.mark.parametrize(
    ("dataset", "architecture"),
    [
        *[(d, m) for d in ("cora", "citeseer", "pubmed") for m in ("gcn", "gat", "gin", "appnp")],
        ("ba-community-paper", "gcn3"),
    ],
)
def test_a_sample_of_the_papers_queries_keeps_the_whole_graphs_class(
    dataset, architecture, paper_dir, data_dir
):
    graph = data.load(dataset)
    model = models.build(architecture, graph.x.size(1), int(graph.y.max()) + 1)
    models.checkpoint.load(model, models.checkpoint.paper_checkpoint(dataset, architecture))
    extractor = Extractor(Predictor(model), Graph(graph.x, graph.edge_index))
    whole = Predictor(model).scores(graph.x, graph.edge_index, {})
    for query in data.paper_nodes(dataset)[::15]:
        cut = extractor.extract(query)
        assert not cut.whole
        here = Predictor(model).scores(cut.x, cut.edge_index, {})[cut.target]
        assert here.argmax() == whole[query].argmax()
        assert torch.allclose(here, whole[query], atol=1e-4)
