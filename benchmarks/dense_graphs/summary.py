"""From kept queries to the figures of the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from timing.cells import Row
from timing.summary import of_times

from dense_graphs.cells import AGAINST, CUT, FEWEST, METHODS, OURS, WHOLE

RANGES = ((0, 100), (100, 1000), (1000, 10_000), (10_000, None))  # of nodes within two hops


def groups(rows: Iterable[Row]) -> list[Row]:
    """Return a summary for the random nodes and one for the hubs of each cell, in their order."""
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row["cell"], row["kind"]), []).append(row)
    return [{"cell": cell, "kind": kind, **of_queries(g)} for (cell, kind), g in grouped.items()]


def by_candidates(rows: Sequence[Row]) -> list[Row]:
    """Return a summary for each range of candidates, the nodes within two hops, with any query."""
    found = []
    for least, most in RANGES:
        some = [
            row
            for row in rows
            if least <= row["within_two_hops"] and (most is None or row["within_two_hops"] < most)
        ]
        if some:
            found.append({"least": least, "most": most, **of_queries(some)})
    return found


def of_queries(rows: Sequence[Row]) -> Row:
    """Return times, ratios, memory and answers of some queries."""
    ours = [row[OURS] for row in rows if "seconds" in row.get(OURS, {})]
    return {
        "queries": len(rows),
        "accuracy": rows[0].get("accuracy"),
        "methods": {name: of_method(rows, name) for name in METHODS},
        # Of one query each: our seconds over theirs.
        "ratio_cut": ratios(rows, OURS, CUT),
        "ratio_whole": ratios(rows, OURS, WHOLE),
        "ratio_fewest": ratios(rows, OURS, FEWEST),
        "times_faster": ratios(rows, AGAINST, OURS),
        "times_less_cpu": middle(
            row[AGAINST]["cpu_seconds"] / row[OURS]["cpu_seconds"]
            for row in rows
            if all("cpu_seconds" in row.get(name, {}) for name in (OURS, AGAINST))
        ),
        "statuses": dict(Counter(part["status"] for part in ours).most_common()),
        "certified": sum(part["certified"] for part in ours),
        "answered": len(ours),
        "traced": sum(part["evaluator"] == "traced" for part in ours),
        "nodes": middle(part["nodes"] for part in ours),
        "features": middle(part["features"] for part in ours),
        "candidates": middle(part["candidates"] for part in ours),
        "most_candidates": max((part["candidates"] for part in ours), default=None),
        "before": middle(part["seconds_before"] for part in ours),
        "search": middle(part["seconds_search"] for part in ours),
        "after": middle(part["seconds_after"] for part in ours),
    }


def of_method(rows: Sequence[Row], name: str) -> Row:
    """Return a method's times and memory; what went over the limit counts with the limit."""
    parts = [row[name] for row in rows if name in row]
    times = of_times(time for part in parts if (time := at_least(part)) is not None)
    return {
        **times,
        "over": sum("over" in part for part in parts),
        "cpu": middle(part["cpu_seconds"] for part in parts if "cpu_seconds" in part),
        "most_cpu": max((p["cpu_seconds"] for p in parts if "cpu_seconds" in p), default=None),
        "failed": sum("error" in part for part in parts),
        "peak_mb": max((p["peak_mb"] for p in parts if "peak_mb" in p), default=None),
        "above_mb": max((p["peak_above_mb"] for p in parts if "peak_mb" in p), default=None),
    }


def ratios(rows: Sequence[Row], name: str, other: str) -> Row:
    """Return one method's seconds over another's, query by query.

    `over` counts the queries in which either ran into the limit: their ratio is a bound.
    """
    values, over = [], 0
    for row in rows:
        ours, theirs = (at_least(row.get(part, {})) for part in (name, other))
        if ours is not None and theirs is not None and not (_over(row, name) and _over(row, other)):
            values.append(ours / theirs)
            over += _over(row, name) or _over(row, other)
    return {
        "count": len(values),
        "median": middle(values),
        "least": min(values, default=None),
        "most": max(values, default=None),
        "over": over,
    }


def at_least(part: Row) -> float | None:
    """Return the seconds that a measurement took, at least; None where it has none."""
    seconds: float | None = part.get("seconds", part.get("over"))
    return seconds


def middle(values: Iterable[float]) -> float | None:
    """Return the median, None of nothing."""
    every = list(values)
    return median(every) if every else None


def _over(row: Row, name: str) -> bool:
    return "over" in row[name]
