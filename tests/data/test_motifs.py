"""Generated graphs are held to the sizes that were published, and their truth to a plain loop."""

import networkx as nx
import numpy as np
import pytest
import torch

from zorro.data import load, load_graphs, motifs
from zorro.errors import InputError

# By data set: nodes, undirected edges, those inside of motifs, classes; and what a motif is.
HOUSE = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
GRAPHS = {
    "ba-shapes": (700, 2055, 80 * 6, [300, 160, 160, 80], HOUSE),
    "tree-cycles": (991, 1070 + 107, 80 * 6, [511, 480], nx.cycle_graph(6)),
    "tree-grid": (1231, 1705, 80 * 12, [511, 720], nx.grid_2d_graph(3, 3)),
}


def pairs(graph):
    return {(u, v) for u, v in graph.edge_index.t().tolist() if u < v}


def test_the_published_sizes():
    """PGExplainer's table counts both directions: 4,110 edges of BA-Shapes, 3,410 of Tree-Grid."""
    assert load("ba-shapes").num_edges == 4110
    assert load("tree-grid").num_edges == 3410
    assert load("ba-community").num_edges == 8920


@pytest.mark.parametrize("name", GRAPHS)
def test_counts(name):
    nodes, edges, inside, classes, _ = GRAPHS[name]
    graph = load(name)
    assert graph.num_nodes == nodes
    assert len(pairs(graph)) == edges
    assert graph.num_edges == 2 * edges  # both directions, no loops, none twice
    # A random edge may fall into a motif, and then is part of it.
    assert inside <= int(graph.edge_truth.sum()) // 2 <= inside + 2
    assert graph.y.bincount().tolist() == classes
    assert torch.equal(graph.x, torch.ones(nodes, 10))


@pytest.mark.parametrize("name", GRAPHS)
def test_motifs_are_motifs(name):
    """Nodes with the same number make up a house, a cycle or a grid, and hang on one edge."""
    graph = load(name, seed=3)
    whole = nx.Graph(list(pairs(graph)))
    shape = GRAPHS[name][-1]
    found = 0
    for number in range(motifs.MOTIFS):
        members = (graph.motif == number).nonzero().flatten().tolist()
        assert len(members) == shape.number_of_nodes()
        found += nx.is_isomorphic(whole.subgraph(members), shape)
    assert found >= motifs.MOTIFS - 2  # random edges may fall into some
    assert torch.equal(graph.motif == -1, graph.y == 0)


@pytest.mark.parametrize("name", [*GRAPHS, "ba-community"])
def test_truth_is_that_of_a_plain_loop(name):
    graph = load(name, seed=1)
    motif = graph.motif.tolist()
    ends = graph.edge_index.t().tolist()
    truth = [motif[u] == motif[v] and motif[u] >= 0 for u, v in ends]
    assert graph.edge_truth.tolist() == truth


def test_roofs_of_ba_shapes():
    """Inside of its house a node under the roof has three neighbours, any other has two."""
    graph = load("ba-shapes", seed=2)
    degree = torch.zeros(graph.num_nodes, dtype=torch.int64)
    degree.index_add_(0, graph.edge_index[0], graph.edge_truth.long())
    clean = degree[graph.y > 0].sum() == 80 * 12
    assert clean
    assert set(degree[graph.y == 1].tolist()) == {3}
    assert set(degree[graph.y >= 2].tolist()) == {2}


def test_parts_are_disjoint_and_cover_all():
    graph = load("tree-cycles")
    parts = torch.stack([graph.train_mask, graph.val_mask, graph.test_mask])
    assert parts.sum(0).tolist() == [1] * 991
    assert parts.sum(1).tolist() == [793, 99, 99]


def test_ba_2motifs():
    dataset = load_graphs("BA-2Motifs")
    assert len(dataset.graphs) == 1000
    assert dataset.targets.bincount().tolist() == [500, 500]
    assert dataset.class_names == ("house", "cycle")
    assert [part.numel() for part in dataset.parts.values()] == [800, 100, 100]
    for graph in dataset.graphs[::53]:
        whole = nx.Graph(list(pairs(graph)))
        shape = (HOUSE, nx.cycle_graph(5))[int(graph.y)]
        inside = graph.edge_index[:, graph.edge_truth].t().tolist()
        assert nx.is_isomorphic(nx.Graph(inside), shape)
        assert whole.number_of_nodes() == 25
        assert nx.is_connected(whole)
        # A tree of 20 nodes, the motif, and the edge that attaches it.
        assert whole.number_of_edges() == 19 + shape.number_of_edges() + 1


def numpy_state() -> np.ndarray:
    """What numpy's global generator draws from."""
    _, keys, *_ = np.random.get_state()
    assert isinstance(keys, np.ndarray)
    return keys


@pytest.mark.parametrize("name", GRAPHS)
def test_seed_draws_all_that_is_random_and_nothing_else(name):
    torch.manual_seed(5)
    np.random.seed(5)  # what others may have seeded
    state, other = torch.get_rng_state(), numpy_state().copy()
    first, again, another = (load(name, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(first.edge_index, again.edge_index)
    assert torch.equal(first.train_mask, again.train_mask)
    assert not torch.equal(first.edge_index, another.edge_index)
    assert not torch.equal(first.train_mask, another.train_mask)
    assert torch.equal(torch.get_rng_state(), state)
    assert (numpy_state() == other).all()


def test_seed_is_checked():
    with pytest.raises(InputError, match="seed: expected a whole number"):
        load("tree-grid", seed=-1)
    with pytest.raises(InputError, match="seed: expected a whole number"):
        motifs.ba_2motifs(seed=0.5)  # type: ignore[arg-type]
