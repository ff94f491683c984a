"""How the time grows with candidates, features, the model's width and samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from timing.cells import Row
from timing.plots import BLUE, GREEN, log_axes, save

from dense_graphs.cells import AXES, CELLS, CUT, OURS
from dense_graphs.summary import at_least

TITLES = {"features": "features", "width": "width of the model", "samples": "noise samples"}
SERIES = {OURS: ("Zorro", BLUE, "o"), CUT: ("GNNExplainer on the cut", GREEN, "^")}


def draw_growth(rows: Sequence[Row], folder: Path) -> None:
    """Draw a panel per quantity, on the same scale of seconds."""
    figure, panels = plt.subplots(2, 2, figsize=(8, 6.2), sharey=True, layout="constrained")
    _draw_candidates(panels[0, 0], rows)
    for axes, axis in zip(panels.flat[1:], AXES, strict=True):
        _draw_axis(axes, axis, rows)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    for axes in panels[:, 0]:
        axes.set_ylabel("seconds per node")
    save(figure, folder / "dense_growth")


def _draw_candidates(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw the queries of the large graphs as dots; those over the limit stand at it."""
    some = [
        row
        for row in rows
        if CUT in CELLS[row["cell"]].methods and CELLS[row["cell"]].growth is None
    ]
    for name, (label, colour, marker) in SERIES.items():
        points = [
            (row["within_two_hops"], seconds)
            for row in some
            if (seconds := at_least(row.get(name, {}))) is not None
        ]
        axes.plot(
            [candidates for candidates, _ in points],
            [seconds for _, seconds in points],
            linestyle="none",
            marker=marker,
            markersize=4,
            color=colour,
            alpha=0.6,
            markeredgewidth=0,
            label=label,
        )
    log_axes(axes, "candidates: nodes within two hops", ticks=(10, 100, 1000, 10_000, 100_000))


def _draw_axis(axes: Axes, axis: str, rows: Sequence[Row]) -> None:
    ticks = set()
    for name, (_, colour, marker) in SERIES.items():
        times: dict[int, list[float]] = {}
        for row in rows:
            growth = CELLS[row["cell"]].growth
            seconds = at_least(row.get(name, {}))
            if growth is not None and growth[0] == axis and seconds is not None:
                times.setdefault(growth[1], []).append(seconds)
        values = sorted(times)
        ticks.update(values)
        middle = [median(times[value]) for value in values]
        axes.plot(values, middle, color=colour, marker=marker, markersize=5)
    log_axes(axes, TITLES[axis], ticks=sorted(ticks))
