"""How many disjoint explanations a prediction has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from zorro.paper.cells import CITATION, NodeCell
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.jobs import MultiplicityJob
from zorro.paper.measuring import measure
from zorro.paper.report import Report, as_table
from zorro.show import palette
from zorro.show.plot.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 10
_NODES = 100  # of each cell unless said otherwise


def run(settings: Settings) -> Report:
    """Count explanations at τ = .85, up to ten."""
    jobs = [MultiplicityJob(cell, most=_MOST) for cell in CITATION]
    count = settings.nodes or _NODES
    found = measure(jobs, settings, counts={jobs[0].name: count})
    rows: list[dict[str, object]] = []
    lines: list[list[object]] = []
    counted: dict[NodeCell, list[int]] = {}
    for job in jobs:
        numbers = [row["explanations"] for row in found.of(job)]
        counted[job.cell] = numbers
        rows += [
            {"cell": str(job.cell), "explanations": number, "queries": numbers.count(number)}
            for number in range(_MOST + 1)
        ]
        several = sum(number > 1 for number in numbers)
        lines.append(
            [
                str(job.cell),
                len(numbers),
                *(numbers.count(number) for number in (0, 1)),
                several,
                f"{several / max(1, len(numbers)):.0%}",
                sum(numbers) / max(1, len(numbers)),
            ]
        )
    header = ["cell", "queries", "none", "one", "2 to 10", "share of 2 to 10", "mean"]
    text = (
        "Explanations that the paper's recursion finds at τ = .85, each disjoint in nodes or in "
        "features from those it descends from; sets found on two branches count once, and the "
        "recursion ends at ten. The paper: about half of the 300 queries have 2 to 10 with every "
        "model.\n\n"
    )
    return Report(
        MULTIPLICITY.title,
        rows,
        text + as_table(header, lines),
        {"figure": partial(_figure, counted)},
        found.made_with,
    )


def _figure(counted: Mapping[NodeCell, list[int]]) -> Figure:
    sets = list(dict.fromkeys(cell.dataset for cell in counted))
    figure = new_figure(3.6 * len(sets), 3)
    every = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for axes, dataset in zip(every, sets, strict=True):
        of_set = [cell for cell in counted if cell.dataset == dataset]
        width = 0.8 / len(of_set)
        for place, cell in enumerate(of_set):
            numbers = counted[cell]
            shares = [numbers.count(n) / max(1, len(numbers)) for n in range(_MOST + 1)]
            at = [n - 0.4 + (place + 0.5) * width for n in range(_MOST + 1)]
            axes.bar(at, shares, width, color=palette.CLASSES[place], label=cell.model.upper())
        axes.set(title=dataset, xlabel="explanations", xticks=range(0, _MOST + 1, 2))
    every[0].set_ylabel("share of the queries")
    every[-1].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return figure


MULTIPLICITY = Experiment(
    "multiplicity", "Number of disjoint explanations", "fig:multiplicity", run
)
