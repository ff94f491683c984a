"""Sets of edges in figures."""

import dataclasses

import pytest

from zorro.explanation import Step
from zorro.show import plot


@pytest.fixture
def of_edges(found):
    """Node 0's explanation by two edges, one of them beyond what is near."""
    return dataclasses.replace(
        found,
        selected={"edges": ((0, 1), (5, 20))},
        steps=(Step(None, (), 0.2), Step("edges", ((0, 1),), 0.6), Step("edges", ((5, 20),), 0.9)),
    )


def test_kept_edges_are_thick(of_edges, edge_index, named):
    figure = plot.explanation(of_edges, edge_index)
    (strong,), (faint,) = (named(figure.axes[0], gid) for gid in ("strong", "faint"))
    assert len(strong.get_segments()) == 2
    assert min(strong.get_linewidths()) > 3 * max(faint.get_linewidths())
    labels = {text.get_text() for text in figure.axes[0].texts}
    assert {"0", "1", "5", "20"} <= labels
    assert any("2 edges, fidelity" in text.get_text() for text in figure.texts)


def test_steps_of_edges_are_named(of_edges):
    axes = plot.curve(of_edges).axes[0]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names[:3] == ["start", "+ edge 0–1", "+ edge 5–20"]
    key = axes.get_legend()
    assert key is not None
    assert "edge added" in [text.get_text() for text in key.get_texts()]


def test_edges_are_compared_with_nodes_on_one_layout(of_edges, found, edge_index, named):
    figure = plot.compare({"edges": of_edges, "nodes": found}, 0, edge_index)
    one, other = figure.axes[:2]
    assert "2 edges" in one.get_title()
    assert "3 nodes" in other.get_title()
    (thick,), (plain,) = named(one, "strong"), named(other, "strong")
    assert max(thick.get_linewidths()) > max(plain.get_linewidths())
