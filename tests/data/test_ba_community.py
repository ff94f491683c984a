"""The generator is held to the definition and to the graph that the paper used."""

import numpy as np
import pytest
import torch
from torch_geometric.utils import degree

from zorro.data import ba_community, load

BASES = [range(300), range(700, 1000)]
COMMUNITIES = [range(700), range(700, 1400)]


@pytest.fixture(scope="module")
def graph():
    return ba_community.generate(seed=0)


@pytest.fixture(scope="module")
def paper_graph(paper_dir):
    return load("ba-community-paper")


@pytest.fixture(scope="module", params=["graph", "paper_graph"])
def either(request):
    """Ours and the paper's graph: what holds for one must hold for the other."""
    return request.getfixturevalue(request.param)


def undirected(data):
    return {(u, v) for u, v in data.edge_index.T.tolist() if u < v}


def inside(edges, left, right):
    return {(u, v) for u, v in edges if u in left and v in right}


def test_counts(either):
    assert either.num_nodes == 1400
    assert either.num_features == 10
    assert either.y.bincount().tolist() == [300, 160, 160, 80] * 2
    edges = undirected(either)
    # 295·5 Barabási–Albert edges, 80 houses of six edges and one that attaches them, and 1 % more.
    assert [len(inside(edges, nodes, nodes)) for nodes in COMMUNITIES] == [2035 + 20] * 2
    assert len(inside(edges, *COMMUNITIES)) == 350
    assert len(edges) == 2 * 2055 + 350


def test_simple_and_undirected(either):
    pairs = either.edge_index.T.tolist()
    assert len(pairs) == len({tuple(pair) for pair in pairs}) == 2 * len(undirected(either))
    assert all(u != v for u, v in pairs)


def test_labels_follow_the_layout(either):
    labels = [0] * 300 + [1, 1, 2, 2, 3] * 80
    assert either.y.tolist() == labels + [label + 4 for label in labels]


@pytest.mark.parametrize("community", [0, 1])
def test_every_house_is_whole_and_attached(either, community):
    edges = undirected(either)
    start = 700 * community
    for house in range(80):
        a, b, c, d, roof = range(start + 300 + 5 * house, start + 305 + 5 * house)
        assert {(a, b), (b, c), (c, d), (a, d), (a, roof), (b, roof)} <= edges
        assert (start + 3 * house, a) in edges


@pytest.mark.parametrize("nodes", BASES)
def test_base_graph_grows_by_five_links(either, nodes):
    base = inside(undirected(either), nodes, nodes)
    earlier = degree(torch.tensor([v for _, v in base]) - nodes.start, num_nodes=300)
    # Random extra edges may add to the five links that each node from the sixth on came with.
    assert (earlier[5:] >= 5).all()
    assert int((earlier[5:] - 5).sum() + earlier[:5].sum()) == len(base) - 295 * 5 < 15
    assert {(nodes.start + u, nodes.start + 5) for u in range(5)} <= base


def test_attachment_is_preferential():
    """The early nodes' share of the links is far above that of uniform attachment."""
    shares = []
    for seed in range(5):
        base = inside(undirected(ba_community.generate(seed=seed)), BASES[0], BASES[0])
        degrees = np.bincount(np.array(list(base)).ravel(), minlength=300)
        shares.append(np.sort(degrees)[-30:].sum() / degrees.sum())
    # The paper's two base graphs have .30; attachment without preference gives .21.
    assert 0.26 < np.mean(shares) < 0.34


def test_features_are_scaled_to_the_unit_interval(either):
    assert either.x.dtype == torch.float32
    for nodes in COMMUNITIES:
        distance = (2 * either.x[nodes.start : nodes.stop] - 1).abs()
        assert distance.max() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("community", "sign"), [(0, -1), (1, 1)])
def test_feature_distribution(either, community, sign):
    """Undo the scale with the spread of the eight standard normal features."""
    x = 2 * either.x[700 * community : 700 * (community + 1)].double() - 1
    x = x / x[:, 2:].std()
    # Four standard errors of 700 draws.
    assert x[:, :2].mean(dim=0) == pytest.approx(torch.full((2,), float(sign)), abs=0.11)
    assert x[:, :2].std(dim=0) == pytest.approx(torch.full((2,), 0.5**0.5), abs=0.08)
    assert x[:, 2:].mean(dim=0) == pytest.approx(torch.zeros(8), abs=0.16)
    assert x[:, 2:].std(dim=0) == pytest.approx(torch.ones(8), abs=0.12)


def test_split_is_a_random_four_fifths(either):
    assert int(either.train_mask.sum()) == 1120
    assert torch.equal(either.test_mask, ~either.train_mask)
    tested = torch.bincount(either.y[either.test_mask], minlength=8)
    assert (tested > 0).all()


def test_seed_decides_everything(graph):
    again, other = ba_community.generate(seed=0), ba_community.generate(seed=1)
    for name in ("x", "edge_index", "train_mask"):
        assert torch.equal(graph[name], again[name])
        assert not torch.equal(graph[name], other[name])


def numpy_state() -> np.ndarray:
    """What numpy's global generator draws from."""
    _, keys, *_ = np.random.get_state()
    assert isinstance(keys, np.ndarray)
    return keys


def test_global_generators_are_untouched():
    before = torch.get_rng_state(), numpy_state().copy()
    ba_community.generate(seed=3)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(numpy_state(), before[1])


def test_motif_nodes_are_those_of_the_houses(graph):
    assert ba_community.motif_nodes() == (graph.y % 4 > 0).nonzero().flatten().tolist()
