"""Models of whole graphs: what they return does not depend on how the graphs are written down."""

import sys
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Batch, Data

sys.path.append(str(Path(__file__).parent))
from graph_sets import random_graph

from zorro.errors import InputError, ModelError
from zorro.models import GRAPH_MODELS, MODELS, build
from zorro.models.graph_architectures import POOLINGS, GraphGINE

GRAPHS = [random_graph(seed, nodes=5 + seed) for seed in range(4)]
WEIGHED = ("gcn", "gcn3", "appnp")
ATTRIBUTES = 3  # of each edge of a random graph


def made(name, classes=3, **options):
    """An untrained model of graphs with four features a node."""
    if name == "gine":
        options["edge_dim"] = ATTRIBUTES
    return trained_norms(build(name, 4, classes, level="graph", **options))


def further(model, edge_attr):
    """What a model needs besides features and edges."""
    return {"edge_attr": edge_attr} if isinstance(model, GraphGINE) else {}


def trained_norms(model):
    """Give batch norms statistics that are not 0 and 1."""
    model.train()
    whole = Batch.from_data_list(GRAPHS)
    with torch.no_grad():
        inputs = further(model, whole.edge_attr)
        model(whole.x, whole.edge_index, batch=whole.batch, **inputs)
    return model.eval()


def scores(model, graph):
    return model(graph.x, graph.edge_index, **further(model, graph.edge_attr))


@pytest.mark.parametrize("name", GRAPH_MODELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_graph_alone_and_in_a_batch_get_the_same_scores(name, pooling):
    model = made(name, pooling=pooling)
    whole = Batch.from_data_list(GRAPHS)
    with torch.no_grad():
        inputs = further(model, whole.edge_attr)
        together = model(whole.x, whole.edge_index, batch=whole.batch, **inputs)
        alone = torch.cat([scores(model, graph) for graph in GRAPHS])
    assert together.shape == (4, 3)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    assert together.exp().sum(dim=1).tolist() == pytest.approx([1.0] * 4, abs=1e-5)


@pytest.mark.parametrize("name", GRAPH_MODELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_numbering_of_the_nodes_does_not_matter(name, pooling):
    model = made(name, pooling=pooling)
    graph = random_graph(7)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        moved = Data(
            x=graph.x[order],
            edge_index=order.argsort()[graph.edge_index],
            edge_attr=graph.edge_attr,
        )
        torch.testing.assert_close(scores(model, moved), scores(model, graph), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_pooling_is_a_sum_a_mean_or_a_maximum(name):
    """Two copies of a graph as one: the sum doubles, mean and maximum stay."""
    graph = random_graph(3)
    twice = Data(
        x=graph.x.repeat(2, 1),
        edge_index=torch.cat([graph.edge_index, graph.edge_index + 9], dim=1),
        edge_attr=graph.edge_attr.repeat(2, 1),
    )
    for pooling in POOLINGS:
        model = made(name, pooling=pooling)
        with torch.no_grad():
            same = torch.allclose(scores(model, graph), scores(model, twice), atol=1e-5)
        assert same == (pooling != "add")


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_edges_are_used(name):
    model = made(name)
    graph = random_graph(3)
    none = Data(
        x=graph.x,
        edge_index=torch.empty(2, 0, dtype=torch.int64),
        edge_attr=torch.empty(0, ATTRIBUTES),
    )
    with torch.no_grad():
        assert not torch.allclose(scores(model, graph), scores(model, none))
        weight = graph.edge_weight
        if name in WEIGHED:
            weighed = model(graph.x, graph.edge_index, edge_weight=weight)
            assert not torch.allclose(weighed, model(graph.x, graph.edge_index))


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_a_value_is_returned_as_it_is(name):
    model = made(name, classes=1, regression=True)
    with torch.no_grad():
        value = scores(model, GRAPHS[0])
    assert value.shape == (1, 1)
    assert value.item() != 0  # as the log-probability of a single class would be


def test_attributes_of_edges_are_used_edge_by_edge():
    """Isomorphism layers by hand: ReLU(x_j + W e) over the neighbours, and the node's own row."""
    model = made("gine")
    graph = random_graph(5)
    changed = graph.clone()
    changed.edge_attr[4] += 1.0
    with torch.no_grad():
        assert not torch.allclose(scores(model, graph), scores(model, changed))
        layer = model.conv1
        heard = torch.zeros_like(graph.x)
        for (sender, receiver), attributes in zip(
            graph.edge_index.t().tolist(), graph.edge_attr, strict=True
        ):
            heard[receiver] += (graph.x[sender] + layer.lin(attributes)).relu()
        by_hand = layer.nn(heard + graph.x)
        torch.testing.assert_close(layer(graph.x, graph.edge_index, graph.edge_attr), by_hand)


def test_levels_have_their_own_architectures():
    assert set(GRAPH_MODELS) == set(MODELS) | {"gine"}
    assert type(build("gin", 4, 2)) is not type(build("gin", 4, 2, level="graph"))
    with pytest.raises(InputError, match=r"one of appnp, gat, gcn, gcn3, gin or .*'gine' \(did yo"):
        build("gine", 4, 2)
    with pytest.raises(InputError, match="level: expected one of node, graph, link, got 'edge'"):
        build("gcn", 4, 2, level="edge")  # type: ignore[arg-type]


def test_gcn3_adds_up_neighbours():
    """By hand: a node's first state is its number of neighbours times the weights, and so on."""
    model = made("gcn3", pooling="max")
    # A path of three nodes whose features are all one.
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    adjacency = torch.tensor([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    state, states = torch.ones(3, 4), []
    with torch.no_grad():
        for conv in (model.conv1, model.conv2, model.conv3):
            state = (adjacency @ state @ conv.lin.weight.t() + conv.bias).relu()
            states.append(state)
        pooled = torch.cat(states, dim=1).max(dim=0).values
        hidden = (model.readout.lin1(pooled)).relu()
        by_hand = model.readout.lin2(hidden).log_softmax(0)
        torch.testing.assert_close(model(torch.ones(3, 4), edge_index)[0], by_hand)


def test_options_are_checked():
    with pytest.raises(InputError, match="pooling: expected one of add, max, mean, got 'median'"):
        build("gcn", 4, 2, level="graph", pooling="median")
    with pytest.raises(ModelError, match=r"built with \(4, 2, pooling='add'\): TypeError"):
        build("gcn", 4, 2, pooling="add")
