"""An explanation of a small graph, without a model behind it."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg

from zorro.evaluation import FidelityEstimate
from zorro.explanation import Explanation, GraphSummary, Parameters, Step
from zorro.question import Query
from zorro.search.certificate import Certificate


@pytest.fixture
def edge_index():
    """A query 0 with neighbours 1 … 4, each with three of its own, and 20 beyond them."""
    pairs = [(0, near) for near in range(1, 5)]
    pairs += [(near, 1 + 4 * near + i) for near in range(1, 5) for i in range(3)]
    pairs += [(5, 20)]
    one, other = zip(*pairs, strict=True)
    return torch.tensor([[*one, *other], [*other, *one]])


@pytest.fixture
def found():
    """Node 0's explanation: nodes 0, 1 and 5, features 2 and 7."""
    return Explanation(
        query=Query("node", 0),
        predicted_class=1,
        probabilities=(0.1, 0.7, 0.2),
        selected={"nodes": (0, 1, 5), "features": (2, 7)},
        steps=(
            Step(None, (), 0.2),
            Step("nodes", (0,), 0.4),
            Step("features", (2,), 0.6),
            Step("nodes", (1,), 0.7),
            Step("nodes", (3,), 0.75),
            Step("nodes", (5,), 0.8),
            Step("features", (7,), 0.9),
            Step("nodes", (3,), 0.88, added=False),
        ),
        fidelity=FidelityEstimate(hits=870, samples=1000),
        search_fidelity=FidelityEstimate(hits=88, samples=100),
        status="certified",
        parameters=Parameters("guided", 0.85, 10, 100, 1000, 0.95, "column-marginals", 0, 0.05),
        graph=GraphSummary(21, 0, 34, 2, 1, "whole", False, False, 21, 9),
        evaluator="traced",
        evaluations=100,
        seconds=0.1,
        version="0",
        certificate=Certificate(0.85, 0.05, True, 0.852, 870, 1000, 1),
    )


@pytest.fixture
def crowd(found):
    """A star with 260 neighbours, of which 200 are selected, and its edges."""
    pairs = torch.tensor([[0] * 260, list(range(1, 261))])
    large = dataclasses.replace(
        found,
        selected={"nodes": tuple(range(1, 201)), "features": tuple(range(0, 400, 2))},
        steps=(
            Step(None, (), 0.0),
            *(Step("nodes", (node,), node / 201) for node in range(1, 201)),
        ),
        graph=dataclasses.replace(found.graph, num_nodes=261, num_features=400, hops=1),
    )
    return large, torch.cat([pairs, pairs.flip(0)], dim=1)


@pytest.fixture
def named():
    """Return what was drawn on axes under a name."""
    return lambda axes, gid: [each for each in axes.get_children() if each.get_gid() == gid]


@pytest.fixture
def boxes_of():
    """Return where texts of a figure are printed, in pixels."""

    def measure(figure, texts):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return [text.get_window_extent(canvas.get_renderer()) for text in texts]

    return measure
