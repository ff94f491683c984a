"""The cells of the tables: a model on a graph, which nodes are asked about, and what for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dense_graphs.graphs import FEATURES
from zorro.models import TrainingSettings

CUT, WHOLE = "gnn_explainer_cut", "gnn_explainer_whole"
OURS, AGAINST, FEWEST = "ours", "against", "fewest_samples"
METHODS = (OURS, AGAINST, CUT, WHOLE, FEWEST)
WIDTHS = (16, 32, 64, 128, 256)
SAMPLES = (50, 100, 200, 400, 800)
AXES = ("features", "width", "samples")
SETTINGS = TrainingSettings(weight_decay=0.0005)


@dataclass(frozen=True)
class Cell:
    """A model on a graph and the queries about it.

    Args:
        name: by which it is asked for.
        graph: a name of `graphs.load`.
        model: a name of `models.BUILDS`.
        hidden: the model's width.
        settings: of its training.
        nodes: how many random test nodes are explained.
        hubs: the nodes at these places of the order by falling degree are explained too.
        on_the_whole_graph: how many of the first nodes GNNExplainer also gets the whole graph for.
        methods: what is measured of each node.
        options: of `Zorro`.
        growth: the quantity and its value, where the cell is a point of a growth curve.
    """

    name: str
    graph: str
    model: str
    hidden: int = 64
    settings: TrainingSettings = SETTINGS
    nodes: int = 30
    hubs: tuple[int, ...] = ()
    on_the_whole_graph: int = 0
    methods: tuple[str, ...] = METHODS
    options: Mapping[str, Any] = field(default_factory=dict)
    growth: tuple[str, int] | None = None


def _computers(model: str) -> Cell:
    return Cell(
        f"computers-{model}",
        "amazon-computers",
        model,
        hubs=(0, 1, 2, 3, 4),
        on_the_whole_graph=2,
    )


def _cora(model: str) -> Cell:
    return Cell(
        f"cora-{model}",
        "cora",
        model,
        settings=replace(SETTINGS, epochs=100),
        nodes=20,
        methods=(OURS, AGAINST),
        options={"max_seconds": 30.0},
    )


def _growth(axis: str, value: int) -> Cell:
    return Cell(
        f"growth-{axis}-{value}",
        f"small-{value if axis == 'features' else 128}",
        "gcn",
        hidden=value if axis == "width" else 64,
        nodes=7,
        methods=(OURS, AGAINST, CUT),
        options={"samples": value} if axis == "samples" else {},
        growth=(axis, value),
    )


ARXIV = Cell(
    "arxiv-gcn",
    "arxiv-shape",
    "gcn",
    settings=replace(SETTINGS, epochs=30, learning_rate=0.02),
    nodes=1000,
    hubs=(0, 30, 100, 300, 1000),  # all of them see more than 10,000 nodes
    on_the_whole_graph=1,
)

CELLS = {
    cell.name: cell
    for cell in (
        *map(_computers, ("gcn", "gat", "sage")),
        ARXIV,
        *map(_cora, ("sage-max", "pna", "edgeconv", "gcnii", "gps")),
        *(
            _growth(axis, value)
            for axis, values in zip(AXES, (FEATURES, WIDTHS, SAMPLES), strict=True)
            for value in values
        ),
    )
}
