"""Layouts of whole graphs: the same again, nothing overlaps, cycles are round."""

import math
import sys

import numpy as np
import pytest

from zorro.data import load_graphs
from zorro.errors import MissingExtraError
from zorro.show.plane import places


def cycle(size, start=0):
    return [(start + i, start + (i + 1) % size) for i in range(size)]


def distances(xy):
    return np.linalg.norm(xy[:, None] - xy, axis=2)


def laid(size, links):
    return places(size, np.array(links, np.int64).reshape(-1, 2))


NAPHTHALENE = [*cycle(6), (0, 6), (6, 7), (7, 8), (8, 9), (9, 1)]
BRANCHED = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (2, 6), (6, 7), *cycle(5, 8), (8, 4), (3, 13)]


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 8])
def test_a_cycle_is_a_regular_polygon(size):
    apart = distances(laid(size, cycle(size)))
    for step in range(1, size):
        chord = math.sin(math.pi * step / size) / math.sin(math.pi / size)
        assert apart[0, step] == pytest.approx(chord, abs=0.05)


def test_cycles_that_share_an_edge_lie_beside_each_other():
    xy = laid(10, NAPHTHALENE)
    apart = distances(xy)
    assert [apart[i, j] for i, j in NAPHTHALENE] == pytest.approx([1.0] * 11, abs=0.15)
    assert np.linalg.norm(xy[:6].mean(0) - xy[[0, 1, 6, 7, 8, 9]].mean(0)) == pytest.approx(
        math.sqrt(3), abs=0.2
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("links", [NAPHTHALENE, BRANCHED], ids=["rings", "branches"])
def test_whatever_the_nodes_are_called_edges_are_about_one_long(links, seed):
    size = max(max(pair) for pair in links) + 1
    order = np.random.default_rng(seed).permutation(size)
    renamed = laid(size, [(order[i], order[j]) for i, j in links])
    lengths = [np.linalg.norm(renamed[order[i]] - renamed[order[j]]) for i, j in links]
    assert np.mean(lengths) == pytest.approx(1, abs=0.1)
    assert min(lengths) > 0.5
    assert max(lengths) < 1.6


@pytest.mark.parametrize("size", [100, 225], ids=["fitted", "by springs"])
def test_a_grid_is_drawn_flat(size):
    side = math.isqrt(size)
    here = np.arange(size).reshape(side, side)
    across, down = (here[:, :-1], here[:, 1:]), (here[:-1], here[1:])
    links = [pair for way in (across, down) for pair in zip(*map(np.ravel, way), strict=True)]
    at = np.stack(np.divmod(np.arange(size), side), axis=1)
    assert np.corrcoef(distances(laid(size, links)).ravel(), distances(at).ravel())[0, 1] > 0.95


def test_the_same_graph_gives_the_same_places():
    assert (laid(14, BRANCHED) == laid(14, BRANCHED)).all()
    assert (laid(300, cycle(300)) == laid(300, cycle(300))).all()


def test_the_middle_is_zero_and_it_is_wider_than_high():
    xy = laid(14, BRANCHED)
    assert xy.max(0) + xy.min(0) == pytest.approx([0, 0], abs=1e-5)
    assert np.ptp(xy[:, 0]) > np.ptp(xy[:, 1])


def test_parts_stand_beside_each_other():
    xy = laid(11, [*cycle(6), *cycle(4, 6)])
    ring, square, alone = xy[:6], xy[6:10], xy[10:]
    for one, other in ((ring, square), (ring, alone), (square, alone)):
        gaps = np.maximum(one.min(0) - other.max(0), other.min(0) - one.max(0))
        assert gaps.max() > 1


@pytest.mark.parametrize(
    ("size", "links"),
    [
        (1, []),
        (2, [(0, 1)]),
        (5, []),
        (9, [*cycle(3), *cycle(4, 3)]),
        (30, [(0, i) for i in range(1, 30)]),
        (12, [(i, j) for i in range(12) for j in range(i)]),
        (10, [(i, j) for i in (0, 1) for j in range(2, 10)]),
        (200, [(i // 2, i) for i in range(1, 200)]),
        (900, [(i // 2, i) for i in range(1, 900)]),
        (7000, [(i // 2, i) for i in range(1, 7000)]),
    ],
    ids=[
        *("one", "two", "no edges", "parts", "star", "complete", "two hubs"),
        *("large", "larger", "largest"),
    ],
)
def test_any_graph_has_places(size, links):
    xy = laid(size, links)
    assert xy.shape == (size, 2)
    assert np.isfinite(xy).all()
    if 1 < size <= 200:
        assert (distances(xy) + 9 * np.eye(size)).min() > 0.5


def test_without_networkx_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match="plot"):
        laid(3, cycle(3))


@pytest.mark.parametrize("name", ["mutag", "mutagenicity", "proteins"])
@pytest.mark.usefixtures("data_dir")
def test_nothing_overlaps_in_real_graphs(name):
    for graph in load_graphs(name).graphs[::60]:
        links = np.unique(np.sort(graph.edge_index.t().numpy(), axis=1), axis=0)
        size = graph.x.size(0)
        xy = places(size, links[links[:, 0] != links[:, 1]])
        assert (distances(xy) + 9 * np.eye(size)).min() > 0.5
