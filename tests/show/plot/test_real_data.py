"""The figures of a real explanation: the paper's model on Cora."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from zorro import Zorro
from zorro.paper.cells import NodeCell
from zorro.show import plot


@pytest.fixture(scope="module")
def cora(data_dir, paper_dir):
    model, graph = NodeCell("cora", "gcn").load()
    return Zorro(model, graph.x, graph.edge_index).explain(600), graph


def test_labels_of_the_selected_nodes_are_all_there_and_apart(cora, boxes_of):
    found, graph = cora
    figure = plot.explanation(found, graph.edge_index, classes=graph.y)
    texts = [text for text in figure.axes[0].texts if text.get_text().isdigit()]
    assert {int(text.get_text()) for text in texts} == {600, *found.nodes}
    boxes = boxes_of(figure, texts)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_the_heat_map_shows_which_words_the_papers_have(cora):
    found, graph = cora
    (mesh,) = plot.features(found, graph.x).axes[0].collections
    rows, columns = ([id for (id,) in found.ordered(kind)] for kind in ("nodes", "features"))
    assert (sorted(rows), sorted(columns)) == (list(found.nodes), list(found.features))
    drawn = mesh.get_array()
    assert drawn is not None
    assert np.array_equal(drawn, graph.x[rows][:, columns])


def test_the_curve_ends_above_the_threshold(cora):
    found, _ = cora
    axes = plot.curve(found).axes[0]
    search, tau = (np.asarray(line.get_ydata()) for line in axes.lines[:2])
    assert search[-1] > tau[0] == 0.85
