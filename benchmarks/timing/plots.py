"""The two figures: seconds per node in every cell, and how they grow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from timing.cells import Row

# Okabe and Ito's colours, told apart by most colour-blind readers; markers differ as well.
BLUE, ORANGE, GREEN, BLACK, GREY = "#0072B2", "#D55E00", "#009E73", "#222222", "#999999"
SERIES = {
    "published": ("published procedure, scaled", BLACK, "D"),
    "any_model": ("Zorro, any-model evaluator", ORANGE, "s"),
    "gnn_explainer_cut": ("GNNExplainer on the cut", GREEN, "^"),
    "traced": ("Zorro, traced evaluator", BLUE, "o"),
}


def draw_cells(cells: Sequence[Row], folder: Path) -> None:
    """Draw each cell's nodes as dots, and their median as a large mark."""
    figure, axes = plt.subplots(figsize=(8, 0.42 * len(cells) + 1.3), layout="constrained")
    offsets = {name: 0.27 - 0.18 * place for place, name in enumerate(SERIES)}
    for place, cell in enumerate(cells):
        for name, (_, colour, marker) in SERIES.items():
            summary = cell.get(name)
            if not summary or not summary["seconds"]:
                continue
            y = place - offsets[name]
            axes.plot(
                summary["seconds"],
                [y] * len(summary["seconds"]),
                linestyle="none",
                marker=".",
                markersize=5,
                color=colour,
                alpha=0.45,
                markeredgewidth=0,
            )
            axes.plot(
                summary["median"],
                y,
                marker=marker,
                markersize=5.5,
                color=colour,
                markeredgecolor="white",
                markeredgewidth=0.6,
            )
        if place % 2:
            axes.axhspan(place - 0.5, place + 0.5, color="#f4f4f4", zorder=0, linewidth=0)
    handles = [
        Line2D([], [], linestyle="none", marker=marker, color=colour, label=label)
        for label, colour, marker in SERIES.values()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    axes.set_xscale("log")
    axes.set_ylim(len(cells) - 0.5, -0.5)
    axes.set_yticks(range(len(cells)), [_title(cell["cell"]) for cell in cells])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("seconds per node (dots: nodes; marks: medians)")
    _ready(axes, grid="x")
    save(figure, folder / "speed_cells")


def draw_growth(growth: dict[str, Any], folder: Path) -> None:
    """Draw a panel per quantity, on the same scale of seconds."""
    figure, panels = plt.subplots(2, 2, figsize=(8, 6.2), sharey=True, layout="constrained")
    titles = {
        "samples": "noise samples",
        "k": "K, elements tried per step",
        "features": "features",
    }
    lines = {
        "any_model_small": ("any-model, 7–10 candidate nodes", ORANGE, "s", "-"),
        "traced_small": ("traced, 7–10 candidate nodes", BLUE, "o", "-"),
        "traced_medium": ("traced, 55–96 candidate nodes", BLUE, "o", "--"),
    }
    for axes, (axis, title) in zip(panels.flat, titles.items(), strict=False):
        for name, (label, colour, marker, style) in lines.items():
            points = growth.get(axis, {}).get(name, [])
            axes.plot(
                [point["value"] for point in points],
                [point["seconds"] for point in points],
                color=colour,
                marker=marker,
                linestyle=style,
                markersize=5,
                markerfacecolor="white" if style == "--" else colour,
                label=label,
            )
        log_axes(axes, title, ticks=sorted({p["value"] for s in growth[axis].values() for p in s}))
    _draw_sizes(panels[1, 1], growth.get("candidates", {}))
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    for axes in panels[:, 0]:
        axes.set_ylabel("seconds per node")
    save(figure, folder / "speed_growth")


def _draw_sizes(axes: Axes, series: dict[str, Any]) -> None:
    marks = {
        "any_model_cora": ("any-model, Cora", ORANGE, "s"),
        "traced_cora": ("traced, Cora", BLUE, "o"),
        "traced_pubmed": ("traced, PubMed", GREEN, "^"),
    }
    for name, (label, colour, marker) in marks.items():
        points = [point for point in series.get(name, []) if point["seconds"] is not None]
        for stalled in (False, True):
            some = [point for point in points if (point["steps"] > 100) == stalled]
            axes.plot(
                [point["candidates"] for point in some],
                [point["seconds"] for point in some],
                linestyle="none",
                marker=marker,
                markersize=5.5,
                color=colour,
                markerfacecolor="white" if stalled else colour,
                label=None if stalled else label,
            )
    axes.plot([], [], "o", color=GREY, markerfacecolor="white", label="hollow: over 100 steps")
    axes.legend(fontsize=7.5, frameon=False, loc="lower right", borderpad=0.1, labelspacing=0.3)
    log_axes(axes, "candidate nodes of the query", ticks=(1, 10, 100, 1000))


def log_axes(axes: Axes, title: str, *, ticks: Sequence[int]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(title)
    _ready(axes, grid="y")


def _ready(axes: Axes, *, grid: str) -> None:
    axes.grid(axis=grid, color="#dddddd", linewidth=0.7)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _title(cell: str) -> str:
    names = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}
    dataset, model = cell.rsplit(" ", 1)
    return f"{names.get(dataset, 'BA-Community')} {model.upper()}"


def save(figure: Figure, path: Path) -> None:
    with matplotlib.rc_context({"svg.hashsalt": "zorro"}):
        figure.savefig(path.with_suffix(".png"), dpi=150)
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    plt.close(figure)
