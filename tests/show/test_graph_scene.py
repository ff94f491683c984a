"""Which nodes of a graph are drawn, its bonds, and molecules as RDKit places them."""

import sys

import numpy as np
import pytest
import torch
from torch_geometric.utils import to_undirected

from zorro.errors import InputError, MissingExtraError
from zorro.show.bonds import strokes
from zorro.show.graph_scene import Layout, graph_scene, layout_of
from zorro.show.molecule import chemical_places

RING = torch.tensor([[0, 1, 2, 3, 4, 5, 5], [1, 2, 3, 4, 5, 0, 6]])


def long_path(size=400):
    here = torch.arange(size - 1)
    return layout_of(to_undirected(torch.stack([here, here + 1])), size)


def test_a_small_graph_is_drawn_whole():
    scene = graph_scene([6], layout_of(to_undirected(RING), 7))
    assert scene.centre == ()
    assert [node.id for node in scene.nodes] == list(range(7))
    assert [node.id for node in scene.nodes if node.selected] == [6]
    assert {tuple(sorted(edge)) for edge in scene.edges} == {
        (0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (5, 6),
    }  # fmt: skip
    assert scene.hidden == 0


def test_of_a_large_graph_the_kept_part_is_drawn_and_what_is_near():
    scene = graph_scene([200, 390], long_path())
    ids = {node.id for node in scene.nodes}
    assert len(ids) == 150
    assert ids >= set(range(180, 221)) | set(range(370, 400))
    assert 0 not in ids
    assert scene.hidden == 250


def test_places_do_not_depend_on_what_is_shown():
    layout = long_path()
    some = {node.id: (node.x, node.y) for node in graph_scene([5], layout).nodes}
    more = {node.id: (node.x, node.y) for node in graph_scene([5], layout, most=300).nodes}
    assert some.items() <= more.items()


def test_places_do_not_depend_on_the_order_and_direction_of_edges():
    edges = to_undirected(RING)
    xy = layout_of(edges, 7).xy
    assert (layout_of(edges.flip(1), 7).xy == xy).all()
    assert (layout_of(RING.flip(0), 7).xy == xy).all()


def test_without_anything_kept_it_begins_in_the_middle():
    layout = long_path()
    scene = graph_scene([], layout)
    assert len(scene.nodes) == 150
    middle = int(np.linalg.norm(layout.xy, axis=1).argmin())
    assert middle in {node.id for node in scene.nodes}


def test_all_that_is_kept_is_shown():
    scene = graph_scene(range(300), long_path())
    assert [node.id for node in scene.nodes] == list(range(300))


def test_bonds_go_with_their_edges():
    bonds = ["aromatic"] * 6 + ["double"]
    scene = graph_scene([], layout_of(RING, 7, bonds=bonds))
    ids = [tuple(sorted(edge)) for edge in scene.edges]
    assert dict(zip(ids, scene.bonds, strict=True))[5, 6] == "double"
    assert scene.bonds.count("aromatic") == 6
    with pytest.raises(InputError, match="bonds: expected one for each of 7 edges, got 6"):
        layout_of(RING, 7, bonds=bonds[:6])


def test_a_line_to_the_left_of_an_edge_lies_inside_of_its_ring():
    scene = graph_scene([], layout_of(RING, 7, bonds=["aromatic"] * 6 + ["single"]))
    at = np.array([(node.x, node.y) for node in scene.nodes])
    centre = at[:6].mean(0)
    for (one, other), bond in zip(scene.edges, scene.bonds, strict=True):
        if bond == "aromatic":
            along, inwards = at[other] - at[one], centre - at[one]
            assert along[0] * inwards[1] - along[1] * inwards[0] > 0


def test_bonds_are_drawn_as_so_many_lines():
    assert [len(strokes(bond)) for bond in (None, "single", "double", "triple", "other")] == [
        1, 1, 2, 3, 1,
    ]  # fmt: skip
    assert [dashed for _, dashed in strokes("aromatic")] == [False, True]


def test_a_node_that_the_graph_does_not_have_is_refused():
    with pytest.raises(InputError, match="selected: expected nodes from 0 to 2, got 3"):
        graph_scene([3], Layout(np.zeros((3, 2)), np.zeros((0, 2), np.int64)))


def test_atoms_stand_where_rdkit_puts_them():
    pytest.importorskip("rdkit", reason="rdkit is not installed: pip install rdkit")
    bonds = ["aromatic"] * 6 + ["single"]
    links = RING.t().numpy()
    xy = chemical_places(list("CCCCCCN"), links, bonds)
    assert xy is not None
    lengths = np.linalg.norm(xy[links[:, 0]] - xy[links[:, 1]], axis=1)
    assert lengths == pytest.approx(np.ones(7), abs=0.01)
    opposite = np.linalg.norm(xy[0] - xy[3])
    assert opposite == pytest.approx(2, abs=0.02)
    assert layout_of(RING, 7, bonds=bonds, atoms=list("CCCCCCN")).xy[0] == pytest.approx(xy[0])
    assert chemical_places(["no atom"], links[:0], []) is None


def test_without_rdkit_atoms_have_places_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtraError, match="molecules"):
        chemical_places(["C"], np.zeros((0, 2), np.int64), [])
    own = layout_of(RING, 7)
    named = layout_of(RING, 7, atoms=list("CCCCCCN"))
    assert (named.xy == own.xy).all()
