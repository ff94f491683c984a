"""Models of whole graphs: what they return does not depend on how the graphs are written down."""

import sys
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Batch

sys.path.append(str(Path(__file__).parent))
from graph_sets import random_graph

from zorro.errors import InputError, ModelError
from zorro.models import GRAPH_MODELS, MODELS, build
from zorro.models.graph_architectures import POOLINGS

GRAPHS = [random_graph(seed, nodes=5 + seed) for seed in range(4)]
WEIGHED = ("gcn", "appnp")


def trained_norms(model):
    """Give batch norms statistics that are not 0 and 1."""
    model.train()
    whole = Batch.from_data_list(GRAPHS)
    with torch.no_grad():
        model(whole.x, whole.edge_index, batch=whole.batch)
    return model.eval()


@pytest.mark.parametrize("name", GRAPH_MODELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_graph_alone_and_in_a_batch_get_the_same_scores(name, pooling):
    model = trained_norms(build(name, 4, 3, level="graph", pooling=pooling))
    whole = Batch.from_data_list(GRAPHS)
    with torch.no_grad():
        together = model(whole.x, whole.edge_index, batch=whole.batch)
        alone = torch.cat([model(graph.x, graph.edge_index) for graph in GRAPHS])
    assert together.shape == (4, 3)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    assert together.exp().sum(dim=1).tolist() == pytest.approx([1.0] * 4, abs=1e-5)


@pytest.mark.parametrize("name", GRAPH_MODELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_numbering_of_the_nodes_does_not_matter(name, pooling):
    model = trained_norms(build(name, 4, 3, level="graph", pooling=pooling))
    graph = random_graph(7)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        scores = model(graph.x, graph.edge_index)
        moved = model(graph.x[order], order.argsort()[graph.edge_index])
    torch.testing.assert_close(moved, scores, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_pooling_is_a_sum_a_mean_or_a_maximum(name):
    """Two copies of a graph as one: the sum doubles, mean and maximum stay."""
    graph = random_graph(3)
    x, edges = graph.x.repeat(2, 1), torch.cat([graph.edge_index, graph.edge_index + 9], dim=1)
    for pooling in POOLINGS:
        model = trained_norms(build(name, 4, 3, level="graph", pooling=pooling))
        with torch.no_grad():
            same = torch.allclose(model(graph.x, graph.edge_index), model(x, edges), atol=1e-5)
        assert same == (pooling != "add")


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_edges_are_used(name):
    model = trained_norms(build(name, 4, 3, level="graph"))
    graph = random_graph(3)
    none = torch.empty(2, 0, dtype=torch.int64)
    with torch.no_grad():
        assert not torch.allclose(model(graph.x, graph.edge_index), model(graph.x, none))
        weight = graph.edge_weight
        if name in WEIGHED:
            weighed = model(graph.x, graph.edge_index, edge_weight=weight)
            assert not torch.allclose(weighed, model(graph.x, graph.edge_index))


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_a_value_is_returned_as_it_is(name):
    model = trained_norms(build(name, 4, 1, level="graph", regression=True))
    with torch.no_grad():
        value = model(GRAPHS[0].x, GRAPHS[0].edge_index)
    assert value.shape == (1, 1)
    assert value.item() != 0  # as the log-probability of a single class would be


def test_levels_have_their_own_architectures():
    assert set(GRAPH_MODELS) == set(MODELS) - {"gcn3"}
    assert type(build("gin", 4, 2)) is not type(build("gin", 4, 2, level="graph"))
    with pytest.raises(InputError, match=r"one of appnp, gat, gcn, gin or .*'gcn3' \(did you mea"):
        build("gcn3", 4, 2, level="graph")
    with pytest.raises(InputError, match="level: expected one of node, graph, got 'edge'"):
        build("gcn", 4, 2, level="edge")


def test_options_are_checked():
    with pytest.raises(InputError, match="pooling: expected one of add, max, mean, got 'median'"):
        build("gcn", 4, 2, level="graph", pooling="median")
    with pytest.raises(ModelError, match=r"built with \(4, 2, pooling='add'\): TypeError"):
        build("gcn", 4, 2, pooling="add")
