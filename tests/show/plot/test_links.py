"""Figures of explanations of links, of labels and of values."""

import dataclasses

import numpy as np
import pytest
import torch

from zorro import plot
from zorro.errors import InputError
from zorro.explanation import PredictedValue
from zorro.question import Query
from zorro.question.decision import StaysAhead
from zorro.show.link_scene import link_scene


@pytest.fixture
def link(found):
    """The explanation of the link 0–1, which is an edge of the graph."""
    return dataclasses.replace(found, query=Query("link", 0, 1), probabilities=(0.3, 0.7))


@pytest.fixture
def ahead(found):
    """That of why the link 0–1 is ahead of 0–2."""
    return dataclasses.replace(
        found,
        query=Query("link", 0, 1, (2,)),
        predicted_class=None,
        probabilities=(),
        ahead=StaysAhead(1),
    )


def title(figure) -> str:
    return figure.texts[-1].get_text()


def asked(figure):
    return [line for line in figure.axes[0].lines if line.get_gid() == "asked"]


def test_both_ends_stand_in_rings_and_the_link_between_them_is_dashed(link, edge_index):
    figure = plot.explanation(link, edge_index)
    (line,) = asked(figure)
    assert line.get_linestyle() == "--"
    rings = [one for one in figure.axes[0].collections if one.get_gid() == "query"][-1]
    assert np.allclose(rings.get_offsets(), [(-0.7, 0.0), (0.7, 0.0)])
    assert np.allclose(line.get_xydata(), rings.get_offsets())
    assert title(figure).startswith("link 0–1 → link\n")


def test_the_places_are_those_of_the_scene(link, edge_index):
    figure = plot.explanation(link, edge_index)
    scene = link_scene(link.query, link.nodes, edge_index, hops=2)
    (selected,) = [one for one in figure.axes[0].collections if one.get_gid() == "selected"]
    expected = [(node.x, node.y) for node in scene.nodes if node.selected]
    assert np.allclose(selected.get_offsets(), expected)


def test_classes_of_nodes_are_none_of_links(link, edge_index):
    names = ["Theory", "Practice"]
    figure = plot.explanation(
        link, edge_index, classes=[0] * 21, class_names=names, node_names={0: "Ann"}
    )
    assert title(figure).startswith("Ann–1 → link\n")
    assert "Theory" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_link_that_is_ahead_has_the_other_beside_it(ahead, edge_index):
    figure = plot.explanation(ahead, edge_index)
    assert len(asked(figure)) == 2
    assert title(figure).startswith("link 0–1 → ahead of 0–2\n")
    keys = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"ends", "asked about", "compared with"} <= set(keys)


def test_the_ends_values_come_first(link):
    link = dataclasses.replace(link, query=Query("link", 5, 0))
    figure = plot.features(link, torch.zeros(21, 9))
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    weights = [label.get_fontweight() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["0", "5", "1"]
    assert weights == ["bold", "bold", "normal"]


def test_methods_are_compared_on_a_link(link, edge_index):
    figure = plot.compare({"zorro": link, "mine": [3]}, (0, 1), edge_index)
    assert len([line for axes in figure.axes for line in axes.lines]) == 2
    with pytest.raises(
        InputError, match="expected an explanation of link 0–3, got one of link 0–1"
    ):
        plot.compare({"zorro": link}, (0, 3), edge_index)
    with pytest.raises(InputError, match="expected an explanation of node 0, got one of link 0–1"):
        plot.compare({"zorro": link}, 0, edge_index)


def test_bad_arguments_are_named(link, edge_index):
    with pytest.raises(InputError, match="edge_names: expected None for an explanation of a link"):
        plot.explanation(link, edge_index, edge_names=["double"])


@pytest.mark.parametrize(("there", "said"), [(1, "sports"), (0, "not sports")])
def test_a_label_is_called_by_its_name(found, edge_index, there, said):
    label = dataclasses.replace(found, label=2, predicted_class=there, probabilities=(0.4, 0.6))
    figure = plot.explanation(label, edge_index, class_names=["a", "b", "sports"])
    assert title(figure).startswith(f"node 0 → {said}\n")


def test_a_value_is_told_with_its_tolerance(found, edge_index):
    value = PredictedValue(2.0, 0.5, "up")
    made = dataclasses.replace(found, predicted_class=None, probabilities=(), value=value)
    figure = plot.explanation(made, edge_index, class_names=["a", "b"])
    assert title(figure).startswith("node 0 → 2 − 0.5\n")
