"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from timing.cells import Row

NOTES = (
    "- **published (scaled)**: every fidelity draws its noise anew (a row of the data set per "
    "sample, node and feature) and runs its 100 samples one by one on the small graph without "
    "halo. Three evaluations per node are timed and multiplied by the number that the search "
    "makes for it, counted from the search's own moves: 1 + nodes + features + up to 2 K per "
    "step. It is an extrapolation, not a run.",
    "- **any-model**: whole explanations with the evaluator that runs the model on batches of "
    "copies; nodes that would have gone over the time set aside are left out (30 s a cell, 120 s "
    "for Cora GCN), so its median is of smaller queries than the others'.",
    "- **traced**: whole explanations: extraction, noise, the check of the traced model against "
    "the model itself, search. Searches that stall, with hundreds of steps, are included.",
    "- **ratio**: the median over nodes of published (scaled) / ours, on the nodes that ours ran "
    "on.",
    "- **GNNExplainer**: PyG's, 200 epochs, masks of edges and features; on the graph that we cut "
    "out and, for two or three nodes, on the whole graph.",
    "- Not counted: loading, and what a model needs once (reading the graph, tracing). Fidelity on "
    "fresh samples is cut to one sample, since the published procedure measures none. Memory is "
    "the process's at its peak, libraries and data set included.",
)


def report(about: Row, cells: Sequence[Row], jobs: dict[str, Row]) -> str:
    """Return the whole report."""
    setting = about["setting"]
    lines = [
        "# Seconds per explained node",
        "",
        f"`{about['command']}` (`make bench`) on {about['machine']}; {about['versions']}.",
        "",
        f"The paper's search, models and query nodes: τ = {setting['tau']}, K = {setting['k']}, "
        f"{setting['samples']} samples. A fixed sample of the paper's query nodes, the same for "
        "each method; in brackets the number of nodes where a method ran on fewer.",
        "",
        *NOTES,
        "",
        "## Medians",
        "",
        *medians(cells),
        "",
        "![Seconds per node](speed_cells.png)",
        "",
        "## Means, worst nodes, steps and memory",
        "",
        *spreads(cells),
        "",
        *growth_section(jobs),
        *large_section(jobs),
        *other_section(jobs),
    ]
    return "\n".join(lines).rstrip() + "\n"


def growth_section(jobs: dict[str, Row]) -> list[str]:
    """Return the growth curves, or nothing where they were not measured."""
    if not any(name.startswith("growth ") for name in jobs):
        return []
    return [
        "## Growth",
        "",
        "Medians over three Cora nodes with the GCN, one quantity changed at a time; fewer "
        "features are a random subset of the columns, more are the columns repeated with their "
        "weights divided, which keeps the predictions. Candidate nodes: one dot per query. The "
        "number of steps of a search changes along with these quantities.",
        "",
        "![Growth](speed_growth.png)",
        "",
    ]


def large_section(jobs: dict[str, Row]) -> list[str]:
    """Return the queries with thousands of candidates, or nothing where none was measured."""
    queries = jobs.get("large queries")
    if queries is None:
        return []
    rows = []
    for query in queries["rows"]:
        traced = jobs.get(f"large {query['node']}")
        scaled = jobs.get(f"large published {query['node']}")
        if traced is None:
            continue
        found = (traced["rows"] or [{}])[0]
        rows.append(
            [
                str(query["node"]),
                traced["ended"],
                whole(query["candidates"]),
                number(found.get("seconds")),
                str(found.get("steps", "–")),
                whole(traced["peak_mb"]),
                ("" if found else "over ") + number(scaled["rows"][0]["seconds"])
                if scaled and scaled["rows"]
                else "–",
            ]
        )
    accuracy = queries["setup"].get("test_accuracy", float("nan"))
    return [
        "## Large computational graphs",
        "",
        "Amazon Computers (13,752 nodes, 767 features, 35 % of them non-zero), a GCN trained with "
        f"the paper's settings (test accuracy {accuracy:.3f}); each query in a process of its own "
        "with a limit of 15 minutes. The published procedure is scaled from ten samples of one "
        "evaluation.",
        "",
        *table(
            [
                "node",
                "traced",
                "candidate nodes",
                "seconds",
                "steps",
                "MB at peak",
                "published (scaled)",
            ],
            rows,
        ),
        "",
    ]


def other_section(jobs: dict[str, Row]) -> list[str]:
    """Return the other package's figures, or nothing where it was not run."""
    traced = {row["node"]: row for row in jobs.get("traced other", {}).get("rows", [])}
    rows = []
    for node, ours in traced.items():
        job = jobs.get(f"other {node}")
        if job is None:
            continue
        found = (job["rows"] or [{}])[0]
        rows.append(
            [
                str(node),
                job["ended"],
                whole(ours["candidates"]),
                number(found.get("seconds")),
                f"{found['chosen_nodes']} × {found['chosen_features']}" if found else "–",
                f"{found['fidelity']:.2f}" if found else "–",
                number(ours["seconds"]),
            ]
        )
    if not rows:
        return []
    return [
        "## Another reimplementation",
        "",
        "`zorrito` 0.3.0 from PyPI, installed without its dependencies beside our versions, on "
        "three nodes of Cora with the GCN: τ = .85, K = 10, 100 samples, limit 300 s a node. It "
        "cuts without a halo and stops when no single element raises the fidelity.",
        "",
        *table(
            [
                "node",
                "zorrito",
                "candidate nodes",
                "seconds",
                "nodes × features",
                "fidelity it reports",
                "ours, traced: seconds",
            ],
            rows,
        ),
        "",
    ]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 2) -> list[str]:
    """Return a table whose first `words` columns are words and the others numbers."""
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return [f"| {' | '.join(line)} |" for line in (head, rule, *rows)]


def medians(cells: Sequence[Row]) -> list[str]:
    """Return the medians and ratios of every cell."""
    head = [
        "data set",
        "model",
        "nodes",
        "published (scaled)",
        "any-model",
        "traced",
        "ratio any-model",
        "ratio traced",
        "GNNExplainer, cut",
        "GNNExplainer, whole graph",
    ]
    return table(
        head,
        [
            [
                *cell["cell"].rsplit(" ", 1),
                str(len(cell["traced"]["seconds"])),
                number(_of(cell, "published", "median")),
                _some(cell, "any_model"),
                number(_of(cell, "traced", "median")),
                ratio(cell["ratio_any_model"]),
                ratio(cell["ratio_traced"]),
                _some(cell, "gnn_explainer_cut"),
                _some(cell, "gnn_explainer_whole"),
            ]
            for cell in cells
        ],
    )


def spreads(cells: Sequence[Row]) -> list[str]:
    """Return mean and worst times, steps and memory of every cell."""
    head = [
        "data set",
        "model",
        "published: mean",
        "worst",
        "any-model: mean",
        "worst",
        "traced: mean",
        "worst",
        "steps: median",
        "most",
        "MB at peak: published",
        "any-model",
        "traced",
        "MB before the first node",
    ]
    return table(
        head,
        [
            [
                *cell["cell"].rsplit(" ", 1),
                *(
                    number(_of(cell, method, what))
                    for method in ("published", "any_model", "traced")
                    for what in ("mean", "worst")
                ),
                str(sorted(cell["steps"])[len(cell["steps"]) // 2]) if cell["steps"] else "–",
                str(max(cell["steps"], default="–")),
                *(
                    whole(_of(cell, method, "peak_mb"))
                    for method in ("published", "any_model", "traced")
                ),
                whole(_of(cell, "traced", "loaded_mb")),
            ]
            for cell in cells
        ],
    )


def number(value: float | None) -> str:
    """Write seconds with two or three significant digits."""
    if value is None:
        return "–"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def ratio(value: float | None) -> str:
    """Write how many times faster."""
    return "–" if value is None else f"{value:,.0f}×" if value >= 10 else f"{value:.1f}×"


def whole(value: float | None) -> str:
    """Write a whole number."""
    return "–" if value is None else f"{value:,.0f}"


def _of(cell: Row, method: str, what: str) -> Any:
    return cell.get(method, {}).get(what)


def _some(cell: Row, method: str) -> str:
    """Write a median, and of how many nodes where it is not of all."""
    median = number(_of(cell, method, "median"))
    count = len(_of(cell, method, "seconds") or [])
    return median if count == len(cell["traced"]["seconds"]) else f"{median} ({count})"
