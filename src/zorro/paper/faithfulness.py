"""Does a better model get better explanations? Precision during the training on BA-Community."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from zorro.data.ba_community import motif_nodes
from zorro.metrics import faithfulness
from zorro.models import accuracy
from zorro.paper.cells import SYNTHETIC, NodeCell
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.jobs import loaded
from zorro.paper.measuring import Row, measure
from zorro.paper.paper_values import published, published_by
from zorro.paper.report import Report, as_table, triple
from zorro.paper.synthetic import mean_precision
from zorro.paper.variants import in_both_settings, variants_of, wanted
from zorro.show import palette
from zorro.show.plot.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# As the paper names them, and the saved state of each.
EPOCHS: Mapping[str, int | None] = {
    "1": 0,
    "200": 200,
    "400": 400,
    "600": 600,
    "1400": 1400,
    "2000": None,
}
_NOT_THERE = ("subgraphx", "empty", "guided .85")  # not in the paper's table
_COUNTS = {"pgm cut": 40, "pgm reference cut": 40}


def cell_at(epoch: str) -> NodeCell:
    """Return the model as it was after so much training."""
    return NodeCell(SYNTHETIC.dataset, SYNTHETIC.model, EPOCHS[epoch])


def run(settings: Settings) -> Report:
    """Measure precision with every saved state of the model."""
    values = published_by("syn2_faith", "method", "epoch")
    accuracies = {epoch: _accuracies(cell_at(epoch)) for epoch in EPOCHS}
    test = [accuracies[epoch]["test"] for epoch in EPOCHS]
    jobs = {
        (variant.name, setting, epoch): job
        for variant in variants_of(settings)
        for epoch in EPOCHS
        for setting, job in in_both_settings(cell_at(epoch), variant, "cut").items()
    }
    jobs = {key: job for key, job in jobs.items() if wanted(job, settings, without=_NOT_THERE)}
    found = measure(list(jobs.values()), settings, counts=_COUNTS)
    rows: list[dict[str, object]] = []
    lines: list[list[object]] = []
    curves: dict[str, list[float | None]] = {}
    for method in dict.fromkeys(name for name, *_ in jobs):
        rows_of = {
            setting: [found.of(jobs[method, setting, epoch]) for epoch in EPOCHS]
            for setting in ("reference", "ours")
        }
        nodes = _common(rows for each in rows_of.values() for rows in each)
        precision = {
            setting: [
                mean_precision([row for row in rows if row["node"] in nodes]) for rows in each
            ]
            for setting, each in rows_of.items()
        }
        curves[method] = precision["ours"]
        taus = {setting: _kendall(some, test) for setting, some in precision.items()}
        line: list[object] = [method, len(nodes)]
        for place, epoch in enumerate(EPOCHS):
            each = {
                "paper": values.get((method, epoch)),
                "reference": precision["reference"][place],
                "ours": precision["ours"][place],
            }
            line.append(triple(*each.values()))
            rows.append({"method": method, "epoch": epoch, "measure": "precision", **each})
        each = {"paper": values.get((method, "kendall")), **taus}
        line.append(triple(*each.values()))
        rows.append({"method": method, "measure": "kendall", **each})
        lines.append(line)
    header = ["method", "nodes", *EPOCHS, "Kendall's τ"]
    return Report(
        FAITHFULNESS.title,
        rows,
        "\n".join([_TEXT, as_table(header, lines), "", _accuracy_table(accuracies)]),
        {"figure": partial(_figure, accuracies, curves)},
        found.made_with,
    )


_TEXT = (
    "Precision of the explanations against the houses, with the model as it was after 1 to 2,000 "
    "epochs, and its rank correlation with the test accuracy. Entries are *paper* / *reference "
    "graph* / *ours*; on the reference graph another class than the model's is explained for most "
    "nodes. The nodes are a random part of the 800 house nodes, the same at all epochs; "
    "explanations that are empty are left out, and where all are the precision is 0.\n"
)


def _accuracies(cell: NodeCell) -> dict[str, float]:
    model, data = loaded(cell)
    motif = torch.zeros(data.num_nodes, dtype=torch.bool)
    motif[motif_nodes()] = True
    return {"test": accuracy(model, data, data.test_mask), "motif": accuracy(model, data, motif)}


def _accuracy_table(accuracies: Mapping[str, Mapping[str, float]]) -> str:
    theirs = {row["epoch"]: row for row in published("roar_accuracy")}
    lines = []
    for epoch, ours in accuracies.items():
        row = theirs.get("0" if epoch == "1" else epoch, {})
        lines.append(
            [epoch, *(f"{row.get(kind, '–')} / {ours[kind]:.2f}" for kind in ("test", "motif"))]
        )
    header = ["epoch", "test accuracy: paper / its model here", "on the houses: paper / here"]
    return as_table(header, lines)


def _kendall(precisions: Sequence[float | None], test: Sequence[float]) -> float | None:
    known = [(one, other) for one, other in zip(precisions, test, strict=True) if one is not None]
    if len(known) < len(test):
        return None
    tau = faithfulness([one for one, _ in known], accuracies=[other for _, other in known])
    return None if math.isnan(tau) else tau


def _common(runs: Iterable[Sequence[Row]]) -> set[int]:
    """Return the nodes that all hold: precisions are compared on the same ones."""
    return set.intersection(*({row["node"] for row in rows} for rows in runs))


def _figure(
    accuracies: Mapping[str, Mapping[str, float]], curves: Mapping[str, list[float | None]]
) -> Figure:
    figure = new_figure(8.5, 3.4)
    left, right = figure.subplots(1, 2)
    epochs = [int(epoch) for epoch in accuracies]
    for place, (kind, name) in enumerate({"test": "test nodes", "motif": "house nodes"}.items()):
        values = [accuracies[epoch][kind] for epoch in accuracies]
        left.plot(epochs, values, marker="o", color=palette.CLASSES[place], label=name)
    left.set(title="The model", xlabel="epoch", ylabel="accuracy", ylim=(-0.02, 1.02))
    left.legend(frameon=False)
    for place, (method, some) in enumerate(curves.items()):
        points = [(e, v) for e, v in zip(epochs, some, strict=True) if v is not None]
        if points:
            style = "-" if method.startswith("zorro") else "--"
            colour = palette.CLASSES[place % len(palette.CLASSES)]
            right.plot(*zip(*points, strict=True), style, marker=".", color=colour, label=method)
    right.set(title="Its explanations", xlabel="epoch", ylabel="precision", ylim=(-0.02, 1.02))
    right.legend(frameon=False, fontsize=7, ncols=2)
    figure.tight_layout()
    return figure


FAITHFULNESS = Experiment(
    "faithfulness", "Precision during training (BA-Community)", "tab:syn2_faith", run
)
