"""Do the nodes of an explanation have the query's label? True and predicted homophily."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.stats import gaussian_kde

from zorro.metrics import homophily
from zorro.paper.cells import CITATION, NodeCell
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.jobs import MethodJob, loaded
from zorro.paper.measuring import measure
from zorro.paper.report import Report, as_table
from zorro.paper.variants import ZORRO
from zorro.show import palette
from zorro.show.plot.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CELLS = tuple(cell for cell in CITATION if cell.dataset == "pubmed")
_SETTINGS = ("reference graph", "ours")
_GRID = 80  # points a side at which a density is drawn
_LEAST = 5  # queries for a density

Points = np.ndarray[tuple[int, int], np.dtype[np.float64]]  # (2, m): true, predicted


def run(settings: Settings) -> Report:
    """Compare labels in Zorro's explanations (τ = .85) on PubMed."""
    variant = ZORRO[0]
    jobs = {
        (cell, setting): MethodJob(
            cell, variant.referring() if setting == "reference graph" else variant
        )
        for cell in _CELLS
        for setting in _SETTINGS
    }
    found = measure(list(jobs.values()), settings)
    rows: list[dict[str, object]] = []
    lines: list[list[object]] = []
    figures: dict[str, Any] = {}
    for setting in _SETTINGS:
        points: dict[tuple[str, str], Points] = {}
        for cell in _CELLS:
            job = jobs[cell, setting]
            some = found.of(job)
            for outcome, those in _by_outcome(cell, some).items():
                if not those.size:
                    continue
                points[cell.model, outcome] = those
                entry = {
                    "setting": setting,
                    "model": cell.model,
                    "prediction": outcome,
                    "queries": those.shape[1],
                    "true homophily": float(those[0].mean()),
                    "predicted homophily": float(those[1].mean()),
                    "true high, predicted low": int(((those[0] > 0.8) & (those[1] < 0.2)).sum()),
                    "both high": int(((those[0] > 0.8) & (those[1] > 0.8)).sum()),
                    "true low, predicted high": int(((those[0] < 0.2) & (those[1] > 0.8)).sum()),
                }
                rows.append(entry)
                lines.append(list(entry.values()))
        if points:
            figures[setting.replace(" ", "_")] = partial(_figure, points, setting)
    return Report(
        HOMOPHILY.title,
        rows,
        _TEXT + as_table(list(rows[0]) if rows else [], lines),
        figures,
        found.made_with,
    )


_TEXT = (
    "Of the nodes in an explanation, the query aside, the share that has the query's label: by "
    "true labels, and by those that the model predicts. Queries whose explanation holds no other "
    "node are left out. High is above .8, low below .2. The paper shows densities and gives no "
    "numbers; it says that some wrong predictions have a high true and a low predicted homophily, "
    "that with GIN and APPNP some wrong ones have both high, and that some right ones have a low "
    "true and a high predicted one, fewer with APPNP than with GCN.\n\n"
)


def _by_outcome(cell: NodeCell, rows: Sequence[Mapping[str, Any]]) -> dict[str, Points]:
    """Return true and predicted homophily of right and of wrong predictions."""
    model, data = loaded(cell)
    with torch.no_grad():
        predicted = model(data.x, data.edge_index).argmax(dim=1)
    by_outcome: dict[str, list[tuple[float, float]]] = {"right": [], "wrong": []}
    for row in rows:
        query = row["node"]
        ids = torch.tensor([query, *(node for node in row["chosen"] if node != query)])
        if ids.numel() == 1:
            continue
        everyone = torch.ones(ids.numel(), dtype=torch.bool)
        pair = tuple(
            homophily(everyone, query=0, labels=labels[ids]) for labels in (data.y, predicted)
        )
        outcome = "right" if predicted[query] == data.y[query] else "wrong"
        by_outcome[outcome].append((pair[0], pair[1]))
    return {name: np.array(pairs).reshape(-1, 2).T for name, pairs in by_outcome.items()}


def _figure(points: Mapping[tuple[str, str], Points], setting: str) -> Figure:
    models = list(dict.fromkeys(model for model, _ in points))
    figure = new_figure(3.1 * len(models), 3.6)
    every = figure.subplots(1, len(models), sharex=True, sharey=True, squeeze=False)[0]
    colours = {"right": palette.CLASSES[1], "wrong": palette.CLASSES[0]}
    for axes, model in zip(every, models, strict=True):
        for outcome, colour in colours.items():
            those = points.get((model, outcome), np.zeros((2, 0)))
            jitter = np.random.default_rng(0).normal(0, 0.012, those.shape)
            axes.scatter(*(those + jitter), s=5, color=colour, alpha=0.35, linewidths=0)
            _contours(axes, those, colour)
            axes.plot([], [], color=colour, label=f"{outcome} ({those.shape[1]})")
        axes.set(title=model.upper(), xlabel="true homophily")
        axes.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), aspect="equal")
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=8, frameon=False, ncols=2
        )
    every[0].set_ylabel("predicted homophily")
    figure.suptitle(f"PubMed, explanations with τ = .85, {setting}", fontsize=10)
    figure.tight_layout()
    return figure


def _contours(axes: Any, those: Points, colour: str) -> None:
    if those.shape[1] < _LEAST:
        return
    # A little noise: a density needs points that are not all on one line.
    spread = those + np.random.default_rng(1).normal(0, 0.03, those.shape)
    side = np.linspace(-0.1, 1.1, _GRID)
    grid = np.stack(np.meshgrid(side, side))
    density = gaussian_kde(spread, bw_method=0.3)(grid.reshape(2, -1)).reshape(_GRID, _GRID)
    levels = density.max() * np.array([0.1, 0.3, 0.6])
    axes.contour(*grid, density, levels=levels, colors=colour, linewidths=1)


HOMOPHILY = Experiment(
    "homophily", "Homophily in explanations (PubMed)", "fig:homophily_predictions", run
)
