"""Soft masks made hard in three ways, and the four variants of Fidelity+ and Fidelity−."""

from __future__ import annotations

from zorro.paper.cells import CITATION
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.jobs import MethodJob
from zorro.paper.measuring import mean, measure
from zorro.paper.paper_values import published_by
from zorro.paper.report import Report, as_table, shown
from zorro.paper.variants import variants_of, wanted

_MEASURES = (
    "feature_entropy",
    "node_entropy",
    "fidelity",
    "validity",
    "fidelity_plus_acc",
    "fidelity_minus_acc",
    "fidelity_plus_prob",
    "fidelity_minus_prob",
)
_TRANSFORMS = ("S-0.5", "S-0.7", "NT", "HM")
_ON_DEMAND = ("subgraphx", "pgexplainer", "empty", "guided .85")
_COUNTS = {"pgm hard": 10}


def run(settings: Settings) -> Report:
    """Measure every method after every transform in every cell."""
    jobs = [
        MethodJob(cell, variant, "hard") for variant in variants_of(settings) for cell in CITATION
    ]
    jobs = [job for job in jobs if wanted(job, settings, on_demand=_ON_DEMAND)]
    found = measure(jobs, settings, counts=_COUNTS)
    theirs = _published()
    rows: list[dict[str, object]] = []
    for job in jobs:
        some = found.of(job)
        for transform in _TRANSFORMS:
            for name in _MEASURES:
                value = mean(some, f"{transform} {name}")
                if value is None:
                    continue
                cell, method = job.cell, job.variant.name
                rows.append(
                    {
                        "measure": name,
                        "method": method,
                        "transform": transform,
                        "dataset": cell.dataset,
                        "model": cell.model,
                        "nodes": len(some),
                        "published": theirs.get(
                            (name, method, transform, cell.dataset, cell.model)
                        ),
                        "ours": value,
                    }
                )
    return Report(HARD_MASKS.title, rows, _TEXT + _tables(rows), made_with=found.made_with)


_TEXT = (
    "Entries are *paper* / *ours*, the prediction that the model makes on the whole graph being "
    "explained; the number of queries is in the last column. S-0.5 and S-0.7 keep half and three "
    "tenths of the elements of each mask, rounded down; queries with so few candidates that this "
    "is none are left out. NT keeps what is above .01 after a mask was stretched to 0 … 1. "
    "HM stands for methods whose masks are hard.\n"
)


def _published() -> dict[tuple[str, ...], float]:
    names = ("metric", "method", "transform", "dataset", "model")
    return published_by("additional_metrics_1", *names) | published_by(
        "additional_metrics_2", *names
    )


def _tables(rows: list[dict[str, object]]) -> str:
    parts = []
    for name in _MEASURES:
        lines: list[list[object]] = []
        mine = [row for row in rows if row["measure"] == name]
        for method, transform in dict.fromkeys((r["method"], r["transform"]) for r in mine):
            line: list[object] = [method, transform]
            counts: set[int] = set()
            for cell in CITATION:
                entry = next(
                    (
                        row
                        for row in mine
                        if (row["method"], row["transform"]) == (method, transform)
                        and (row["dataset"], row["model"]) == (cell.dataset, cell.model)
                    ),
                    None,
                )
                if entry is None:
                    line.append("–")
                    continue
                line.append(f"{shown(entry['published'])} / {shown(entry['ours'])}")
                counts.add(int(str(entry["nodes"])))
            lines.append([*line, min(counts)])
        header = ["method", "transform", *map(str, CITATION), "queries"]
        parts.append(f"\n## {name}\n\n{as_table(header, lines)}\n")
    return "".join(parts)


HARD_MASKS = Experiment(
    "hard-masks",
    "Hard masks, Fidelity+ and Fidelity−",
    "tab:additional_metrics_1, tab:additional_metrics_2",
    run,
)
