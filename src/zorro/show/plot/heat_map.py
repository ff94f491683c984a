"""The values that an explanation rests on: selected nodes × selected features."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zorro.elements import FEATURES, NODES
from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.explanation.written import hundredths
from zorro.graph.features import Features, features_of
from zorro.graph.names import Labels, check_labels
from zorro.show import palette
from zorro.show.plot.arguments import check_explanation
from zorro.show.plot.canvas import new_figure
from zorro.show.plot.names import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

_CELL = 0.3  # inches
_LONGEST = 11.0  # inches that all cells may take in one direction
_LEAST = 1.2
_LINE = 0.14  # inches between the ticks' labels
_LETTER = 0.068  # inches, of the ticks' labels
_LONGEST_BAR = 3.0
_ABSENT = "#EEF1F3"
_LIGHT_TO_DARK = (_ABSENT, palette.PLAIN, "#00243A")
_MOST_NUMBERS = 120  # cells in which the value is written


def features(
    explanation: Explanation,
    x: Tensor | Features,
    *,
    feature_names: Labels | None = None,
    node_names: Labels | None = None,
) -> Figure:
    """Draw the selected features' values at the selected nodes, what matters most first.

    That is without which most fidelity is lost; where that was not measured, the query's values
    come first and others by their ids.

    Where sets are of features alone, these are the values of the query, of both ends of a link, or
    of all nodes of a graph; where they are of nodes alone, of all features.

    Values that are all 0 or 1 are drawn as absent and present, signed values around 0, others on
    a scale from light to dark.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.data import karate_club
    >>> from zorro.plot import features
    >>> club = karate_club()
    >>> found = Zorro(SimpleConv(), club.x, club.edge_index).explain(12)
    >>> features(found, club.x, node_names={0: "Mr. Hi"}).savefig("values.png")

    Args:
        explanation: whose values are drawn.
        x: (N, d), of the whole graph; dense, sparse or stored.
        feature_names: shown instead of numbers.
        node_names: shown instead of ids.
    """
    check_explanation(explanation)
    check_labels("feature_names", feature_names or {}, explanation.graph.num_features)
    check_labels("node_names", node_names or {}, explanation.graph.num_nodes)
    asked = explanation.query.seeds[:2]
    every = asked or range(explanation.graph.num_nodes)
    kept = explanation.nodes if NODES in explanation.selected else tuple(every)
    nodes = sorted(kept, key=lambda node: (node not in asked, node))
    if explanation.losses is not None and NODES in explanation.selected:
        nodes = _flat(explanation, NODES)
    every_feature = range(explanation.graph.num_features)
    chosen = _flat(explanation, FEATURES) if FEATURES in explanation.selected else [*every_feature]
    values = _values(explanation, x, nodes, chosen)  # (nodes, features)
    if values.size == 0:
        return _nothing(explanation)
    rows = [name_of(node_names, node) for node in nodes]
    columns = [name_of(feature_names, feature) for feature in chosen]
    cell_width, cell_height = (_cell(count) for count in reversed(values.shape))
    inner = (cell_width * len(columns), cell_height * len(rows))
    left = 0.6 + _LETTER * max(map(len, rows))
    below = 0.5 + _LETTER * max(map(len, columns))
    width, height = max(4.0, left + inner[0] + 1.4), below + inner[1] + 0.6
    figure = new_figure(width, height)
    axes = figure.add_axes((left / width, below / height, inner[0] / width, inner[1] / height))
    mesh = _draw_cells(axes, values, lines=min(cell_width, cell_height) > 0.1)
    _name_ticks(axes, rows, columns, cell_width=cell_width, cell_height=cell_height)
    for label, node in zip(axes.get_yticklabels(), nodes, strict=False):
        label.set_fontweight("bold" if node in asked else "normal")
    if _is_binary(values):
        _draw_key(axes, mesh)
    else:
        tall = min(inner[1], _LONGEST_BAR)
        bar = figure.add_axes(
            (
                (left + inner[0] + 0.15) / width,
                (below + inner[1] - tall) / height,
                0.12 / width,
                tall / height,
            )
        )
        figure.colorbar(mesh, cax=bar).ax.tick_params(labelsize=8)
        if values.size <= _MOST_NUMBERS and min(cell_width, cell_height) >= _CELL:
            _write_values(axes, values, mesh)
    axes.set_title(f"{explanation.query}: what the prediction rests on", fontsize=10, loc="left")
    axes.set_xlabel("feature")
    axes.set_ylabel("node")
    return figure


def _flat(explanation: Explanation, kind: str) -> list[int]:
    """Return what is kept of a kind, that first without which most is lost."""
    elements = explanation.ordered(kind)
    return [member for members in elements for member in members if isinstance(member, int)]


def _values(
    explanation: Explanation, x: Tensor | Features, nodes: list[int], features: list[int]
) -> NDArray[np.float64]:
    expected = (explanation.graph.num_nodes, explanation.graph.num_features)
    if not isinstance(x, (Tensor, Features)) or tuple(x.shape) != expected:
        came = tuple(x.shape) if isinstance(x, (Tensor, Features)) else type(x).__name__
        raise InputError(f"x: expected the explained graph's features, {expected}, got {came}")
    source = features_of(x)
    rows = source.rows(torch.tensor(nodes, dtype=torch.int64, device=source.device))
    chosen = torch.tensor(features, dtype=torch.int64, device=rows.device)
    values = rows[:, chosen].detach().double().cpu().numpy()
    if not np.isfinite(values).all():
        raise InputError("x: expected finite values, got some that are not")
    return np.asarray(values, np.float64)


def _cell(count: int) -> float:
    """Return the size of a cell, in inches, where so many are side by side."""
    return min(max(_CELL, _LEAST / count), _LONGEST / count)


def _is_binary(values: NDArray[np.float64]) -> bool:
    return bool(np.isin(values, (0.0, 1.0)).all())


def _draw_cells(axes: Axes, values: NDArray[np.float64], *, lines: bool) -> QuadMesh:
    from matplotlib.colors import Colormap, LinearSegmentedColormap, ListedColormap

    colours: Colormap | str
    if _is_binary(values):
        colours, low, high = ListedColormap([_ABSENT, palette.PLAIN]), 0.0, 1.0
    elif values.min() < 0:
        high = float(np.abs(values).max())
        colours, low = "RdBu_r", -high
    else:
        colours = LinearSegmentedColormap.from_list("values", _LIGHT_TO_DARK)
        low, high = 0.0, float(values.max())
    mesh = axes.pcolormesh(
        values,
        cmap=colours,
        vmin=low,
        vmax=high,
        edgecolors="white" if lines else "none",
        linewidth=0.8 if lines else 0,
    )
    axes.invert_yaxis()
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0, labelsize=8)
    return mesh


def _name_ticks(
    axes: Axes, rows: list[str], columns: list[str], *, cell_width: float, cell_height: float
) -> None:
    """Name rows and columns, so many of them as can be read."""
    # A letter and a half between two labels, or they read as one.
    fits = _LETTER * (max(map(len, columns)) + 1.5) < cell_width
    for axis, names, cell, turn in (
        (axes.xaxis, columns, cell_width, 0 if fits else 90),
        (axes.yaxis, rows, cell_height, 0),
    ):
        step = math.ceil(_LINE / cell)
        places = range(0, len(names), step)
        axis.set_ticks(
            [place + 0.5 for place in places],
            labels=[names[place] for place in places],
            rotation=turn,
            parse_math=False,
        )


def _draw_key(axes: Axes, mesh: QuadMesh) -> None:
    from matplotlib.patches import Patch

    axes.legend(
        handles=[
            Patch(facecolor=mesh.cmap(1.0), label="1"),
            Patch(facecolor=mesh.cmap(0.0), edgecolor=palette.LINE, label="0"),
        ],
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize=8,
    )


def _write_values(axes: Axes, values: NDArray[np.float64], mesh: QuadMesh) -> None:
    shades = mesh.to_rgba(values)
    for (row, column), value in np.ndenumerate(values):
        dark = float(shades[row, column, :3] @ (0.299, 0.587, 0.114)) < 0.5
        axes.text(
            column + 0.5,
            row + 0.5,
            hundredths(value) if abs(value) < 10 else f"{value:.3g}",
            ha="center",
            va="center",
            fontsize=6,
            color="white" if dark else palette.INK,
        )


def _nothing(explanation: Explanation) -> Figure:
    figure = new_figure(4, 1)
    missing = "node" if explanation.selected.get(NODES) == () else "feature"
    figure.text(0.5, 0.5, f"no {missing} is selected", ha="center", va="center", fontsize=11)
    return figure
