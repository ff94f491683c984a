"""Explanations in graphs of several types as figures."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2]))

from made_hetero import Convolved, library

from zorro import Zorro
from zorro.errors import InputError
from zorro.show import palette
from zorro.show.plot import explanation


@pytest.fixture(scope="module")
def data():
    return library()


@pytest.fixture(scope="module")
def found(data):
    zorro = Zorro.of_hetero(Convolved(data), data, "paper", keep=("nodes", "edges"), samples=50)
    return zorro.explain(5)


def words(figure):
    return [text.get_text() for text in figure.findobj(lambda it: hasattr(it, "get_text"))]


def test_each_type_has_a_colour_and_a_marker(data, found):
    figure = explanation(found, data)
    said = words(figure)
    assert {"author", "paper", "venue"} <= set(said)
    (legend,) = figure.legends
    looks = {
        text.get_text(): (line.get_marker(), line.get_color())
        for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
    }
    assert looks["author"] == ("o", palette.CLASSES[0])
    assert looks["paper"] == ("s", palette.CLASSES[1])
    assert looks["venue"] == ("D", palette.CLASSES[2])


def test_names_are_given_by_type(data, found):
    venue = 71 - 70
    names = {"venue": ["AAAI", "KDD", "VLDB", "WWW"]}
    figure = explanation(found, data, node_names=names, class_names=["a", "b", "c"])
    said = " ".join(words(figure))
    assert "paper 5 → " in said
    if any(node == 70 + venue for node in found.nodes):
        assert "venue KDD" in said


def test_bad_input_is_refused_in_one_line(data, found):
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"node_names": ["a"]}, "node_names: expected names by type"),
        ({"node_names": {"editor": ["a"]}}, "node_names: expected names by type"),
        ({"node_names": {"venue": ["a"]}}, r"node_names\['venue'\]: expected 4 texts, got 1"),
        ({"classes": [0] * 74}, "classes: expected None where types have the colours"),
    ]
    for change, message in wrong:
        with pytest.raises(InputError, match=message):
            explanation(found, data, **change)
    with pytest.raises(InputError, match="edge_index: expected the graph that was explained"):
        explanation(found, library(papers=41))
