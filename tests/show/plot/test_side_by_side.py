"""Several methods on one layout."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

from zorro.errors import InputError
from zorro.methods import Masks
from zorro.show import palette, plot
from zorro.show.scene import scene_of


def places(axes, named):
    every = [*named(axes, "marked"), *named(axes, "context")]
    return sorted(tuple(point) for drawn in every for point in drawn.get_offsets().tolist())


def labels_of(axes):
    return {text.get_text() for text in axes.texts}


def marked(axes, scene, named):
    """Return the colour of each node that is marked."""
    at = {(node.x, node.y): node.id for node in scene.nodes}
    (drawn,) = named(axes, "marked")
    points = drawn.get_offsets().tolist()
    return {
        at[tuple(point)]: to_hex(face)
        for point, face in zip(points, drawn.get_facecolors(), strict=True)
    }


def test_all_panels_have_the_layout_of_what_is_selected_by_any(found, edge_index, named):
    figure = plot.compare({"zorro": found, "mine": [9], "none": []}, 0, edge_index, most_context=0)
    scene = scene_of(0, [0, 1, 5, 9], edge_index, hops=2, most_context=0)
    expected = sorted((node.x, node.y) for node in scene.nodes)
    assert all(np.allclose(places(axes, named), expected) for axes in figure.axes)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["zorro\n3 nodes", "mine\n1 node", "none\n0 nodes"]
    assert [axes.get_xlim() for axes in figure.axes] == [figure.axes[0].get_xlim()] * 3


def test_hard_masks_are_filled_and_labelled_and_so_is_the_query(found, edge_index, named):
    figure = plot.compare({"zorro": found, "mine": [9]}, 0, edge_index)
    scene = scene_of(0, [0, 1, 5, 9], edge_index, hops=2)
    full = palette.PLAIN.lower()
    assert marked(figure.axes[0], scene, named) == {0: full, 1: full, 5: full}
    assert marked(figure.axes[1], scene, named) == {9: full}
    assert labels_of(figure.axes[0]) == {"0", "1", "5"}
    assert labels_of(figure.axes[1]) == {"0", "9"}


def test_soft_masks_are_shaded_by_value_and_have_a_bar(found, edge_index, named):
    soft = {1: 4.0, 5: 2.0, 9: 0.4, 10: 0.0}
    figure = plot.compare({"soft": soft}, 0, edge_index, hops=2, node_names={5: "$five$"})
    scene = scene_of(0, [1, 5, 9], edge_index, hops=2)
    colours = marked(figure.axes[0], scene, named)
    assert set(colours) == {1, 5, 9}
    light = {node: int(colour[1:3], 16) for node, colour in colours.items()}
    assert light[1] < light[5] < light[9]
    assert colours[1] == palette.PLAIN.lower()
    (drawn,) = named(figure.axes[0], "marked")
    assert len(set(drawn.get_sizes().tolist())) == 3
    assert labels_of(figure.axes[0]) == {"0", "1", "$five$"}
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == ["0", "highest"]


def test_only_the_top_of_a_soft_mask_decides_what_is_shown(found, edge_index, named):
    soft = {node: 1.0 / node for node in range(1, 17)}
    figure = plot.compare({"soft": soft}, 0, edge_index, hops=2, top=2, most_context=0)
    shown = scene_of(0, [1, 2], edge_index, hops=2, most_context=0)
    assert np.allclose(places(figure.axes[0], named), sorted((n.x, n.y) for n in shown.nodes))
    assert "+14 more nodes" in labels_of(figure.axes[0])


def test_masks_speak_of_the_candidates(found, edge_index, named):
    candidates = torch.tensor([0, 1, 2, 3])
    masks = {"hard": Masks(nodes=torch.tensor([0.0, 1, 0, 1])), "features": Masks()}
    figure = plot.compare(masks, 0, edge_index, hops=2, candidates=candidates)
    scene = scene_of(0, [1, 3], edge_index, hops=2)
    assert set(marked(figure.axes[0], scene, named)) == {1, 3}
    assert figure.axes[1].get_title() == "features\ndoes not rank nodes"


def test_panels_are_spread_over_rows(edge_index):
    figure = plot.compare({f"$m_{i}$": [i] for i in range(5)}, 0, edge_index, hops=2)
    corners = [(axes.get_position().x0, axes.get_position().y0) for axes in figure.axes]
    assert len({round(x, 3) for x, _ in corners}) == 3
    assert len({round(y, 3) for _, y in corners}) == 2
    assert figure.axes[3].get_title() == "$m_3$\n1 node"
    assert not figure.axes[3].title.get_parse_math()


@pytest.mark.parametrize(
    ("answers", "options", "message"),
    [
        ({}, {}, "answers: expected one or more"),
        ([1, 2], {}, "answers: expected one or more .* got list"),
        ({"a": [1]}, {"hops": None}, "hops: expected a number"),
        ({"a": "12"}, {}, r"answers\['a'\]: expected an explanation.* got str"),
        ({"a": [1.5]}, {}, r"answers\['a'\]: expected node numbers from 0, got 1.5"),
        ({"a": {1: -1.0}}, {}, r"answers\['a'\]: expected values from 0, got -1.0"),
        ({"a": Masks(nodes=torch.ones(3))}, {}, r"candidates: .* answers\['a'\]"),
        (
            {"a": Masks(nodes=torch.ones(3))},
            {"candidates": [0, 1]},
            r"answers\['a'\]: expected a mask of 2 candidates, got 3",
        ),
        ({"a": [1]}, {"top": 0}, "top: expected a whole number from 1, got 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(edge_index, answers, options, message):
    with pytest.raises(InputError, match=message):
        plot.compare(answers, 0, edge_index, **{"hops": 2, **options})


def test_an_explanation_of_another_node_or_graph_is_refused(found, edge_index):
    with pytest.raises(InputError, match="expected an explanation of node 3, got one of node 0"):
        plot.compare({"zorro": found}, 3, edge_index)
    smaller = dataclasses.replace(found, graph=dataclasses.replace(found.graph, num_nodes=6))
    with pytest.raises(InputError, match="edge_index: expected edges between the 6 nodes"):
        plot.compare({"zorro": smaller}, 0, edge_index)
