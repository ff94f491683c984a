"""Figures of explanations of whole graphs."""

import dataclasses

import numpy as np
import pytest
import torch

from zorro import plot
from zorro.errors import InputError
from zorro.question import Query
from zorro.show.graph_scene import graph_scene, layout_of

RING = [(i, (i + 1) % 6) for i in range(6)] + [(5, 6), (6, 7)]
NAMES = list("CCCCCCNO")
BONDS = ["aromatic"] * 6 + ["single", "double"]


@pytest.fixture
def edges():
    return torch.tensor(RING).t()


@pytest.fixture
def molecule(found):
    """Graph 5's explanation: atoms 5 and 6 of eight, nothing said of features."""
    return dataclasses.replace(
        found,
        query=Query("graph", 5),
        selected={"nodes": (5, 6)},
        steps=(),
        graph=dataclasses.replace(found.graph, num_nodes=8, num_features=3, hops=0),
    )


def marks(figure, kind):
    (found,) = [one for one in figure.axes[0].collections if one.get_gid() == kind]
    return found


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def lines(figure):
    return sum(len(one.get_segments()) for one in figure.axes[0].collections[:2])


def test_a_molecule_is_drawn_with_letters_and_bonds(molecule, edges):
    figure = plot.explanation(molecule, edges, node_names=NAMES, edge_names=BONDS)
    scene = graph_scene([5, 6], layout_of(edges, 8))
    places = {node.id: (node.x, node.y) for node in scene.nodes}
    drawn = np.asarray(marks(figure, "selected").get_offsets())
    assert np.allclose(drawn, [places[5], places[6]], atol=1e-6)
    assert len(marks(figure, "context").get_offsets()) == 6
    assert sorted(texts(figure)) == sorted(NAMES)
    assert lines(figure) == 6 * 2 + 1 + 2
    assert not [one for one in figure.axes[0].collections if one.get_gid() == "query"]


def test_without_names_kept_nodes_have_their_numbers(molecule, edges):
    figure = plot.explanation(molecule, edges)
    assert sorted(texts(figure)) == ["5", "6"]
    assert lines(figure) == 8
    assert not figure.axes[0].patches, "there are no rings"


def test_the_title_says_graph_and_only_what_sets_are_of(molecule, edges):
    title = plot.explanation(molecule, edges, class_names=["no", "yes", "maybe"]).texts[0]
    assert title.get_text().startswith("graph 5 → yes\n2 nodes, fidelity ≥ 0.85")


def test_other_figures_say_graph_too(molecule):
    assert "graph 5" in plot.curve(molecule).axes[0].get_title(loc="left")
    both = dataclasses.replace(molecule, selected={"nodes": (5, 6), "features": (2,)})
    figure = plot.features(both, torch.ones(8, 3))
    assert "graph 5" in figure.axes[0].get_title(loc="left")


def test_of_a_kind_that_sets_are_not_of_all_values_are_shown(molecule):
    of_atoms = plot.features(molecule, torch.ones(8, 3)).axes[0]
    assert [len(of_atoms.get_yticks()), len(of_atoms.get_xticks())] == [2, 3]
    types = dataclasses.replace(molecule, selected={"features": (0, 2)})
    of_types = plot.features(types, torch.ones(8, 3)).axes[0]
    assert [len(of_types.get_yticks()), len(of_types.get_xticks())] == [8, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hops": 2}, "hops: expected none for an explanation of a graph, got 2"),
        ({"edge_names": ["single"]}, "edge_names: expected one for each of 8 edges, got 1"),
        ({"edge_index": torch.tensor([[0], [8]])}, "edge_index: expected edges between the 8"),
        ({"edge_index": torch.tensor([[0.0], [1.0]])}, "edge_index: expected int64 numbers"),
        ({"edge_index": torch.tensor([[0], [-1]])}, "edge_index: expected node numbers from 0"),
        ({"node_names": ["C"]}, "node_names: expected 8 texts, got 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(molecule, edges, options, message):
    with pytest.raises(InputError, match=message):
        plot.explanation(molecule, **{"edge_index": edges, **options})


def test_edges_of_a_nodes_neighbourhood_have_no_names(found, edge_index):
    with pytest.raises(InputError, match="edge_names: expected None for an explanation of a node"):
        plot.explanation(found, edge_index, edge_names=["single"])
