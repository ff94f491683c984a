"""The explanation drawn on its neighbourhood."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Circle

from zorro.errors import InputError
from zorro.graph.edge_index import EdgesByReceiver, edges_of
from zorro.show import palette, plot
from zorro.show.scene import scene_of

COLOURS = [colour.lower() for colour in palette.CLASSES]


def labels_of(axes):
    return [text for text in axes.texts if not text.get_text().startswith("+")]


def offsets(artists):
    return sorted(tuple(point) for artist in artists for point in artist.get_offsets().tolist())


def test_nodes_stand_where_the_scene_puts_them(found, edge_index, named):
    axes = plot.explanation(found, edge_index).axes[0]
    scene = scene_of(0, found.nodes, edge_index, hops=2)
    for gid, wanted in (("selected", True), ("context", False)):
        expected = sorted((node.x, node.y) for node in scene.nodes if node.selected == wanted)
        assert np.allclose(offsets(named(axes, gid)), expected)
    assert axes.get_aspect() == 1


def test_selected_nodes_have_the_colour_of_their_class(found, edge_index, named):
    classes = torch.zeros(21, dtype=torch.int64)
    classes[1], classes[5] = 1, 2
    axes = plot.explanation(found, edge_index, classes=classes).axes[0]
    at = {(node.x, node.y): node.id for node in scene_of(0, (0, 1, 5), edge_index, hops=2).nodes}
    (drawn,) = named(axes, "selected")
    colour = {
        at[tuple(point)]: to_hex(face)
        for point, face in zip(drawn.get_offsets().tolist(), drawn.get_facecolors(), strict=True)
    }
    assert colour == {0: COLOURS[0], 1: COLOURS[1], 5: COLOURS[2]}


def test_the_query_has_a_ring_and_is_hollow_when_it_is_not_selected(found, edge_index, named):
    axes = plot.explanation(found, edge_index).axes[0]
    (ring,) = named(axes, "query")
    assert ring.get_offsets().tolist() == [[0.0, 0.0]]
    assert ring.get_facecolors().size == 0
    without = dataclasses.replace(found, selected={**found.selected, "nodes": (1, 5)})
    hollow, _ = named(plot.explanation(without, edge_index).axes[0], "query")
    assert to_hex(hollow.get_facecolors()[0]) == "#ffffff"
    assert to_hex(hollow.get_edgecolors()[0]) == palette.PLAIN.lower()


def test_the_querys_label_does_not_touch_its_ring(found, edge_index, named, boxes_of):
    figure = plot.explanation(found, edge_index)
    axes = figure.axes[0]
    (label,) = (text for text in axes.texts if text.get_text() == "0")
    (box,) = boxes_of(figure, [label])
    (ring,) = named(axes, "query")
    radius = np.sqrt(ring.get_sizes()[0]) / 2 * figure.dpi / 72
    corners = np.array([(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)])
    away = np.linalg.norm(corners - axes.transData.transform((0, 0)), axis=1)
    assert away.min() > radius


def test_rings_are_drawn_for_every_hop_and_edges_between_selected_nodes_strongly(found, edge_index):
    axes = plot.explanation(found, edge_index).axes[0]
    assert [patch.radius for patch in axes.patches if isinstance(patch, Circle)] == [1, 2]
    faint, strong = (c for c in axes.collections if isinstance(c, LineCollection))
    assert len(strong.get_segments()) == 2  # 0 – 1 and 1 – 5
    assert len(faint.get_segments()) == 14
    assert np.min(strong.get_linewidth()) > np.max(faint.get_linewidth())


def test_labels_are_ids_or_names_and_a_dollar_is_a_dollar(found, edge_index, boxes_of):
    axes = plot.explanation(found, edge_index).axes[0]
    assert {text.get_text() for text in labels_of(axes)} == {"0", "1", "5"}
    figure = plot.explanation(
        found,
        edge_index,
        node_names={1: "$x_1$", 5: "costs $5"},
        classes=[1] * 21,
        class_names=["a", "_hidden $b$ $"],
        title="$$",
    )
    labels = labels_of(figure.axes[0])
    assert {text.get_text() for text in labels} == {"0", "$x_1$", "costs $5"}
    legend = list(figure.legends[0].get_texts())
    assert "_hidden $b$ $" in [text.get_text() for text in legend]
    assert not any(text.get_parse_math() for text in [*labels, *legend, *figure.texts])
    boxes_of(figure, labels)  # mathtext would stumble over these


def test_the_legend_names_the_classes_that_are_shown(found, edge_index):
    classes = torch.zeros(21, dtype=torch.int64)
    classes[5], classes[20] = 3, 4  # 20 is not within two hops
    figure = plot.explanation(found, edge_index, classes=classes, class_names={3: "three"})
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["query", "selected", "not selected", "1, 2, … hops away", "class 0", "three"]


def test_classes_beyond_the_colours_have_another_marker(found, edge_index, named):
    classes = torch.zeros(21, dtype=torch.int64)
    classes[1] = len(palette.CLASSES)
    axes = plot.explanation(found, edge_index, classes=classes).axes[0]
    first, second = named(axes, "selected")
    assert to_hex(first.get_facecolors()[0]) == to_hex(second.get_facecolors()[0]) == COLOURS[0]
    assert len(first.get_paths()[0].vertices) != len(second.get_paths()[0].vertices)


def test_nodes_that_are_left_out_are_counted(found, edge_index):
    axes = plot.explanation(found, edge_index, most_context=4).axes[0]
    assert [text.get_text() for text in axes.texts if "more" in text.get_text()] == [
        "+10 more nodes"
    ]
    everything = plot.explanation(found, edge_index).axes[0]
    assert not any("more" in text.get_text() for text in everything.texts)


def test_hops_and_title_can_be_given(found, edge_index):
    figure = plot.explanation(found, edge_index, hops=3, title="mine")
    assert len(figure.axes[0].patches) == 3
    assert [text.get_text() for text in figure.texts] == ["mine"]
    (title,) = plot.explanation(found, edge_index, class_names=["a", "b", "c"]).texts
    assert title.get_text() == "node 0 → b\n3 nodes × 2 features, fidelity ≥ 0.85"


def test_long_names_stay_inside_and_apart(found, edge_index, boxes_of):
    names = [f"a rather long name of node {node}" for node in range(21)]
    every = dataclasses.replace(found, selected={**found.selected, "nodes": tuple(range(17))})
    figure = plot.explanation(every, edge_index, node_names=names)
    boxes = boxes_of(figure, labels_of(figure.axes[0]))
    legend = figure.legends[0].get_window_extent()
    assert len(boxes) > 8
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= legend.x0
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_two_hundred_nodes_are_readable_on_a_figure_of_limited_size(crowd, boxes_of):
    large, edges = crowd
    figure = plot.explanation(large, edges)
    assert figure.get_size_inches().max() < 16
    boxes = boxes_of(figure, labels_of(figure.axes[0]))
    assert len(boxes) > 100
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_nothing_selected_and_no_edges_are_drawn_too(found, edge_index):
    empty = dataclasses.replace(found, selected={"nodes": (), "features": ()})
    axes = plot.explanation(empty, edge_index).axes[0]
    assert [text.get_text() for text in labels_of(axes)] == ["0"]
    alone = plot.explanation(empty, torch.zeros((2, 0), dtype=torch.int64)).axes[0]
    assert len(alone.patches) == 0


def test_grouped_edges_draw_the_same(found, edge_index, named):
    grouped = EdgesByReceiver(edges_of(edge_index, 21))
    one, other = (plot.explanation(found, edges).axes[0] for edges in (edge_index, grouped))
    assert offsets(named(one, "selected")) == offsets(named(other, "selected"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"classes": [0, 1]},
            r"classes: expected a class number for each of 21 nodes, got .*\(2,\)",
        ),
        ({"classes": [0.5] * 21}, "classes: expected .* got torch.float32"),
        ({"classes": [-1] * 21}, "classes: expected class numbers from 0, got -1"),
        ({"node_names": ["a"]}, "node_names: expected 21 texts, got 1"),
        ({"class_names": "abc"}, "class_names: expected a list of texts .* got str"),
        ({"hops": -2}, "hops: expected a whole number from 0, got -2"),
        ({"edge_index": torch.tensor([[0], [30]])}, "edge_index: .* the 21 nodes .* got node 30"),
        (
            {"edge_index": EdgesByReceiver(edges_of(torch.tensor([[0], [1]]), 5))},
            "edge_index: expected the edges of a graph with 21 nodes, got 5",
        ),
        ({"explanation": [0, 1]}, "explanation: expected an Explanation, got list"),
    ],
)
def test_what_cannot_be_drawn_is_refused(found, edge_index, changes, message):
    arguments = {"explanation": found, "edge_index": edge_index, **changes}
    with pytest.raises(InputError, match=message):
        plot.explanation(**arguments)
