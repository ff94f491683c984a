"""Test accuracies of the paper's trained models."""

from __future__ import annotations

from zorro.models import accuracy
from zorro.paper.cells import CITATION
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.paper_values import published_by
from zorro.paper.report import Report, as_table

_STATISTICS = ("classes", "features", "nodes", "edges")


def run(settings: Settings) -> Report:
    """Load every model that the paper published and let it predict."""
    values = published_by("dataset_stats", "dataset", "quantity")
    rows: list[dict[str, object]] = []
    lines = []
    for cell in CITATION:
        model, data = cell.load()
        ours = accuracy(model, data, data.test_mask)
        theirs = values[cell.dataset, cell.model]
        counts = (int(data.y.max()) + 1, data.num_features, data.num_nodes, data.num_edges)
        agree = all(
            values[cell.dataset, name] == count
            for name, count in zip(_STATISTICS, counts, strict=True)
        )
        rows.append(
            {"dataset": cell.dataset, "model": cell.model, "published": theirs, "ours": ours}
        )
        lines.append(
            [cell.dataset, cell.model, f"{theirs:.3f}", f"{ours:.3f}", "yes" if agree else "no"]
        )
    header = [
        "data set",
        "model",
        "paper",
        "its model here",
        "classes, features, nodes, edges agree",
    ]
    note = (
        "\nUnstated details of the architectures were chosen so that these accuracies come out; "
        "`make accuracy` tells which, and has our own training beside it."
    )
    return Report(ACCURACY.title, rows, as_table(header, lines) + "\n" + note)


ACCURACY = Experiment("accuracy", "Test accuracy of the paper's models", "tab:dataset_stats", run)
