"""Which nodes a scene shows, and where they stand."""

from __future__ import annotations

import itertools
import math
import sys

import networkx as nx
import numpy as np
import pytest
import torch

from zorro.errors import InputError
from zorro.graph.edge_index import EdgesByReceiver, edges_of
from zorro.show.scene import scene_of


def both_ways(pairs):
    one, other = zip(*pairs, strict=True)
    return torch.tensor([[*one, *other], [*other, *one]])


def ids_of(scene):
    return [node.id for node in scene.nodes]


def crowded(nodes=6000, edges=60_000, selected=200):
    generator = np.random.default_rng(0)
    pairs = generator.integers(0, nodes, (edges, 2))
    chosen = generator.choice(nodes, selected, replace=False).tolist()
    return both_ways(pairs.tolist()), chosen


def distances(scene):
    xy = np.array([(node.x, node.y) for node in scene.nodes])
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    return apart + np.diag(np.full(len(xy), np.inf))


def test_hops_and_edges_are_those_of_an_independent_search():
    graph = nx.gnp_random_graph(60, 0.05, seed=3)
    selected = [7, 11, 30]
    scene = scene_of(0, selected, both_ways(graph.edges), hops=3, most_context=60)
    expected = nx.single_source_shortest_path_length(graph, 0, cutoff=3)
    within = {node.id: node.hop for node in scene.nodes if node.hop <= 3}
    assert within == expected
    assert {node.id for node in scene.nodes if node.selected} == set(selected)
    drawn = {frozenset((scene.nodes[a].id, scene.nodes[b].id)) for a, b in scene.edges}
    assert drawn == {frozenset(pair) for pair in graph.subgraph(ids_of(scene)).edges}
    assert len(drawn) == len(scene.edges)
    assert scene.hidden == 0


def test_the_query_is_the_first_and_in_the_centre_and_others_are_on_their_ring():
    edges, selected = crowded()
    scene = scene_of(5, selected, edges, hops=3)
    assert scene.nodes[0].id == 5
    assert (scene.nodes[0].x, scene.nodes[0].y) == (0.0, 0.0)
    for node in scene.nodes[1:]:
        assert abs(math.hypot(node.x, node.y) - node.hop) < 0.5


def test_paths_are_kept_whatever_the_cap_and_the_rest_is_counted():
    #  0 - 1 - 2 - 3 with leaves 4 … 9 at the query
    edges = both_ways([(0, 1), (1, 2), (2, 3), *((0, leaf) for leaf in range(4, 10))])
    scene = scene_of(0, [3], edges, hops=3, most_context=0)
    assert ids_of(scene) == [0, 1, 2, 3]
    assert scene.hidden == 6


def test_a_path_goes_through_selected_nodes_and_is_shared():
    #  4 is reached by 1, 2 and 3; 5 by 2 and 3, 6 by 3
    near = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (2, 5), (3, 5), (3, 6)]
    shared = scene_of(0, [4, 5, 6], both_ways(near), hops=2, most_context=0)
    assert ids_of(shared) == [0, 3, 4, 5, 6]
    selected = scene_of(0, [1, 4], both_ways(near), hops=2, most_context=0)
    assert ids_of(selected) == [0, 1, 4]


def test_neighbours_of_selected_nodes_come_before_nearer_strangers():
    #  1 is selected, 2 and 3 hang on it; 4 and 5 are the query's other neighbours
    edges = both_ways([(0, 1), (1, 2), (1, 3), (0, 4), (0, 5)])
    scene = scene_of(0, [1], edges, hops=2, most_context=3)
    assert ids_of(scene) == [0, 1, 4, 2, 3]
    assert scene.hidden == 1


def test_hops_count_against_the_direction_of_messages():
    one_way = torch.tensor([[1, 2, 0], [0, 1, 3]])  # 2 → 1 → 0 → 3
    scene = scene_of(0, [2], one_way, hops=2)
    assert [(node.id, node.hop) for node in scene.nodes] == [(0, 0), (1, 1), (2, 2)]
    backwards = EdgesByReceiver(edges_of(one_way, 4), flow="target_to_source")
    assert ids_of(scene_of(0, [], backwards, hops=2)) == [0, 3]


def test_a_selected_node_out_of_reach_stands_on_a_ring_of_its_own():
    edges = both_ways([(0, 1), (1, 2), (2, 3), (8, 9)])
    scene = scene_of(0, [3, 9], edges, hops=2)
    assert [(node.id, node.hop) for node in scene.nodes] == [(0, 0), (1, 1), (2, 2), (3, 3), (9, 3)]
    assert (2, 3) in scene.edges


def test_an_isolated_query_and_an_empty_selection():
    alone = scene_of(4, [4], torch.zeros((2, 0), dtype=torch.int64), hops=2)
    assert [(node.id, node.selected) for node in alone.nodes] == [(4, True)]
    assert alone.edges == ()
    empty = scene_of(0, [], both_ways([(0, 1), (1, 2)]), hops=2)
    assert ids_of(empty) == [0, 1, 2]
    assert not any(node.selected for node in empty.nodes)


def test_loops_and_repeated_edges_are_drawn_once_or_not_at_all():
    edges = torch.tensor([[0, 1, 1, 0, 1], [1, 0, 0, 0, 1]])
    assert scene_of(0, [1], edges, hops=1).edges == ((0, 1),)


def test_children_stand_closer_to_their_parent_than_to_the_parents_siblings():
    parents = [1, 2, 3, 4]
    children = {parent: [10 * parent + i for i in range(3)] for parent in parents}
    edges = both_ways(
        [(0, parent) for parent in parents]
        + [(parent, child) for parent in parents for child in children[parent]]
    )
    scene = scene_of(0, [10, 40], edges, hops=2)
    at = {node.id: (node.x, node.y) for node in scene.nodes}
    for parent, child in itertools.product(parents, itertools.chain(*children.values())):
        own = child // 10
        if own != parent:
            assert math.dist(at[child], at[own]) < math.dist(at[child], at[parent])


def test_a_few_selected_nodes_have_room_for_labels_and_many_do_not_coincide():
    star = both_ways([(0, leaf) for leaf in range(1, 31)])
    few = scene_of(0, [1, 2, 3, 4], star, hops=1)
    chosen = [place for place, node in enumerate(few.nodes) if node.selected]
    assert distances(few)[chosen].min() > 0.15
    assert distances(few)[np.ix_(chosen, chosen)].min() > 0.35
    edges, selected = crowded()
    assert distances(scene_of(5, selected, edges, hops=3)).min() > 0.02


def test_the_layout_does_not_depend_on_the_order_of_edges_or_of_the_selection():
    edges, selected = crowded(nodes=500, edges=1000, selected=20)
    shuffled = edges[:, torch.randperm(edges.size(1), generator=torch.Generator().manual_seed(0))]
    one = scene_of(5, selected, edges, hops=3)
    assert one == scene_of(5, selected[::-1], shuffled, hops=3)
    assert one == scene_of(5, selected, EdgesByReceiver(edges_of(edges, 500)), hops=3)


def calls_of_a_scene(nodes, edges):
    """Return how many functions are called for a scene of a graph that is grouped already."""
    pairs, selected = crowded(nodes, edges)
    grouped = EdgesByReceiver(edges_of(pairs, nodes))
    count = itertools.count()
    sys.setprofile(lambda frame, event, argument: event.endswith("call") and next(count))
    try:
        scene_of(5, selected, grouped, hops=4)
    finally:
        sys.setprofile(None)
    return next(count)


def test_what_a_scene_takes_grows_with_what_it_shows_and_not_with_the_graph():
    assert calls_of_a_scene(60_000, 600_000) < 2 * calls_of_a_scene(6000, 60_000)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": -1}, "query: expected node numbers from 0, got -1"),
        ({"selected": [0.5]}, "selected: expected node numbers from 0, got 0.5"),
        ({"selected": [-3]}, "selected: expected node numbers from 0, got -3"),
        ({"edge_index": torch.zeros(3, 4, dtype=torch.int64)}, r"edge_index: expected .* \(3, 4\)"),
        ({"edge_index": torch.zeros(2, 4)}, "edge_index: expected int64 numbers"),
        ({"edge_index": [[0], [1]]}, "edge_index: expected .* got list"),
        (
            {"edge_index": torch.tensor([[-1], [0]])},
            "edge_index: expected .* from 0, got -1",
        ),
        ({"hops": -1}, "hops: expected a whole number from 0, got -1"),
        ({"most_context": 1.5}, "most_context: expected a whole number from 0, got 1.5"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes, message):
    arguments = {
        "query": 0,
        "selected": [1],
        "edge_index": both_ways([(0, 1)]),
        "hops": 2,
        "most_context": 60,
        **changes,
    }
    query, selected, edges = (arguments.pop(name) for name in ("query", "selected", "edge_index"))
    with pytest.raises(InputError, match=message):
        scene_of(query, selected, edges, **arguments)


def test_a_node_that_the_graph_does_not_have_is_refused():
    grouped = EdgesByReceiver(edges_of(both_ways([(0, 1)]), 2))
    with pytest.raises(InputError, match="selected: expected nodes from 0 to 1, got 2"):
        scene_of(0, [2], grouped, hops=1)
