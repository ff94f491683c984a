"""From measured rows to the figures of the tables."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean, median
from typing import Any

from timing.cells import Cell, Row

METHODS = ("published", "any_model", "traced", "gnn_explainer_cut", "gnn_explainer_whole")


def of_cell(cell: Cell, jobs: dict[str, Row]) -> Row:
    """Gather what was measured of a cell.

    A ratio is the median over nodes of (published, scaled) / ours, on the nodes that ours ran on.
    """
    summary: Row = {"cell": str(cell)}
    times: dict[str, dict[int, float]] = {}
    for method in METHODS:
        job = jobs.get(f"{method} {cell}")
        if job is None:
            continue
        rows = [row for row in job["rows"] if row["seconds"] is not None]
        times[method] = {row["node"]: row["seconds"] for row in rows}
        summary[method] = {
            **of_times(times[method].values()),
            "asked": len(job["rows"]),
            "peak_mb": job["peak_mb"],
            "loaded_mb": job["loaded_mb"],
            "ended": job["ended"],
        }
        if method == "traced":
            summary["steps"] = [row["steps"] for row in rows]
            summary["traced_nodes"] = sum(row["evaluator"] == "traced" for row in rows)
    for method in ("any_model", "traced"):
        both = times.get(method, {}).keys() & times.get("published", {}).keys()
        ratios = [times["published"][node] / times[method][node] for node in both]
        summary[f"ratio_{method}"] = median(ratios) if ratios else None
    return summary


def of_times(values: Iterable[float]) -> dict[str, Any]:
    """Return the median, mean and worst of some times, and the times."""
    times = list(values)
    return {
        "seconds": times,
        "median": median(times) if times else None,
        "mean": fmean(times) if times else None,
        "worst": max(times, default=None),
    }
