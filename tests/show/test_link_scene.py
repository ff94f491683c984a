"""Where a link's ends and what is around them stand."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
import torch

from zorro.errors import InputError
from zorro.question import Query
from zorro.show.link_scene import link_scene

INNER = 0.7


def both_ways(pairs):
    one = torch.tensor(pairs).t()
    return torch.cat([one, one.flip(0)], dim=1)


def random_graph(seed, nodes=60, edges=110):
    generator = random.Random(seed)
    return both_ways([generator.sample(range(nodes), 2) for _ in range(edges)])


def hops_from(ends, edge_index, without):
    """How far nodes are from the nearest end, one step at a time."""
    beside: dict[Any, Any] = {}
    for one, other in edge_index.t().tolist():
        if {one, other} != set(without):
            beside.setdefault(other, set()).add(one)
    hop, ring, step = dict.fromkeys(ends, 0), set(ends), 0
    while ring:
        step += 1
        ring = {n for node in ring for n in beside.get(node, ())} - hop.keys()
        hop.update(dict.fromkeys(ring, step))
    return hop


def at(scene):
    return {node.id: (node.x, node.y) for node in scene.nodes}


@pytest.mark.parametrize("seed", range(8))
def test_rings_are_hops_from_the_nearer_end(seed):
    edge_index = random_graph(seed)
    u, v = edge_index[:, 0].tolist()
    scene = link_scene(Query("link", u, v), [u], edge_index, hops=2, most_context=1000)
    known = hops_from((u, v), edge_index, (u, v))
    assert {node.id: node.hop for node in scene.nodes} == {n: h for n, h in known.items() if h <= 2}
    assert at(scene)[u] == (-INNER, 0.0)
    assert at(scene)[v] == (INNER, 0.0)
    for node in scene.nodes[2:]:
        assert abs(math.hypot(node.x, node.y) - node.hop - INNER) < 0.37


@pytest.mark.parametrize("seed", range(4))
def test_the_link_that_is_asked_about_is_no_edge(seed):
    edge_index = random_graph(seed)
    u, v = edge_index[:, 0].tolist()
    drawn = {}
    for carries in (False, True):
        scene = link_scene(
            Query("link", u, v), [], edge_index, hops=1, most_context=1000, carries_messages=carries
        )
        ids = [node.id for node in scene.nodes]
        drawn[carries] = {frozenset((ids[i], ids[j])) for i, j in scene.edges}
        assert scene.asked == ((0, 1),)
    assert drawn[True] - drawn[False] == {frozenset((u, v))}
    real = {frozenset(pair) for pair in edge_index.t().tolist()}
    assert drawn[True] == {pair for pair in real if len(pair) == 2 and pair <= set(ids)}


def test_what_both_ends_have_lies_between_them_and_the_rest_on_its_side():
    left, right, shared = [2, 3, 4], [5, 6], [7, 8]
    pairs = [(0, n) for n in (*left, *shared)] + [(1, n) for n in (*right, *shared)]
    place = at(link_scene(Query("link", 0, 1), [], both_ways(pairs), hops=1))
    assert all(place[node][0] < -1 for node in left)
    assert all(place[node][0] > 1 for node in right)
    assert all(abs(place[node][0]) < 0.7 for node in shared)
    assert place[7][1] * place[8][1] < 0, "one above, one below"


def test_the_end_of_a_link_that_it_is_compared_with_stands_there_too():
    edges = both_ways([(0, 3), (1, 4), (2, 5), (0, 2)])
    scene = link_scene(Query("link", 0, 1, (2,)), [4], edges, hops=1)
    assert scene.centre == (0, 1, 2)
    assert scene.asked == ((0, 1), (0, 2))
    ids = [node.id for node in scene.nodes]
    assert {frozenset((ids[i], ids[j])) for i, j in scene.edges} == {
        frozenset(pair) for pair in ((0, 3), (1, 4), (2, 5))
    }
    assert all(math.hypot(*at(scene)[node]) == pytest.approx(INNER, abs=1e-5) for node in (0, 1, 2))
    many = link_scene(Query("link", 0, 1, (2, 3, 4, 5)), [], edges, hops=1)
    assert many.centre == (0, 1, 2, 3)


def test_a_node_with_itself_is_one_node():
    scene = link_scene(Query("link", 1, 1), [], both_ways([(0, 1), (1, 2)]), hops=1)
    assert scene.centre == (1,)
    assert scene.asked == ()
    assert at(scene)[1] == (0.0, 0.0)


def test_ends_without_neighbours():
    scene = link_scene(Query("link", 0, 1), [0], torch.zeros(2, 0, dtype=torch.int64), hops=2)
    assert at(scene) == {0: (-INNER, 0.0), 1: (INNER, 0.0)}
    assert scene.edges == ()


def test_an_end_that_is_no_node_is_refused():
    with pytest.raises(InputError, match="link: expected node numbers from 0, got -1"):
        link_scene(Query("link", 0, -1), [], both_ways([(0, 1)]), hops=1)
