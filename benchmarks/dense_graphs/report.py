"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from timing.cells import Row
from timing.tables import number, ratio, table, whole

from dense_graphs.cells import AGAINST, CELLS, CUT, FEWEST, METHODS, OURS, WHOLE
from dense_graphs.summary import by_candidates, groups

NOTES = (
    "- **ours**: `Zorro(model, x, edge_index).explain(node)` with all defaults (on Cora "
    "`max_seconds=30`): cut, search, certificate, reported fidelity.",
    "- **GNNExplainer**: PyG's, 200 epochs, masks of edges and features, on the graph that we cut "
    "out (the cut is counted in) and, for the first nodes, on the whole graph.",
    "- **ratio**: our seconds over theirs, query by query, measured one after the other; below 1 "
    "we are faster. Median and worst.",
    "- What went over the limit counts with the limit, and is counted beside; a ratio with it is a "
    "bound. Not counted: loading, and what a model needs once (reading the graph, tracing, how far "
    "the model sees), for which a node that is not asked about is explained first.",
    "- Each method runs in a process of its own, on one thread; *above*: its resident memory at "
    "the peak of the worst query over what it held before the first one.",
)


def page(rows: Sequence[Row], abouts: Sequence[Row]) -> str:
    """Return the whole report.

    Args:
        rows: the queries.
        abouts: what stands beside them, one for each run.
    """
    every = groups(rows)
    tables = [group for group in every if CELLS[group["cell"]].growth is None]
    beside = [group for group in tables if CUT in CELLS[group["cell"]].methods]
    limited = [group for group in tables if group not in beside]
    lines = [
        "# Dense features, models as they come",
        "",
        *_runs(abouts),
        "",
        *NOTES,
        *_section("Seconds", _times(beside)),
        *_section("By number of candidates", _by_candidates(rows)),
        *_section("Answers", _answers(tables)),
        *_section("Where the time goes", _splits(tables)),
        *_section("Memory", _memory(beside)),
        *_section("*Nothing needed*", _nothing_needed(beside)),
        *_section("Cora, with 30 seconds a query", _within_limit(limited)),
        *_section("Against another checkout", _against(every)),
        *_section("CPU seconds", _cpu(every)),
        *_growth(every),
        *_section("What failed", _failures(rows)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _runs(abouts: Sequence[Row]) -> list[str]:
    lines = []
    for about in abouts:
        against = f" against commit {about['against']}" if about.get("against") else ""
        lines.append(
            f"`{about['command']}` (`make bench-dense`) at commit {about['library']}{against}, on "
            f"{about['machine']}; {about['versions']}."
        )
    return list(dict.fromkeys(lines))


def _section(title: str, content: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *content] if content else []


def _times(every: Sequence[Row]) -> list[str]:
    head = [
        "cell",
        "nodes",
        "test accuracy",
        "queries",
        "ours: median",
        "worst",
        "over the limit",
        "GNNExplainer, cut: median",
        "worst",
        "ratio: median",
        "worst",
        "GNNExplainer, whole graph",
        "ratio: median",
    ]
    return _table(
        head,
        [
            [
                *_name(group),
                f"{group['accuracy']:.3f}",
                str(group["queries"]),
                *_spread(group["methods"][OURS]),
                str(group["methods"][OURS]["over"]),
                *_spread(group["methods"][CUT]),
                *_ratio(group["ratio_cut"]),
                _counted(group["methods"][WHOLE]),
                _ratio(group["ratio_whole"])[0],
            ]
            for group in every
        ],
    )


def _by_candidates(rows: Sequence[Row]) -> list[str]:
    head = [
        "graph",
        "candidates",
        "queries",
        "ours: median",
        "worst",
        "over the limit",
        "GNNExplainer, cut: median",
        "ratio: median",
        "worst",
        "ours: MB above",
    ]
    lines = []
    graphs = {CELLS[row["cell"]].graph for row in rows if CELLS[row["cell"]].growth is None}
    for graph in sorted(graphs - {"cora"}):
        some = [row for row in rows if CELLS[row["cell"]].graph == graph]
        for group in by_candidates(some):
            ours = group["methods"][OURS]
            most = f"to {whole(group['most'] - 1)}" if group["most"] else "or more"
            lines.append(
                [
                    graph,
                    f"{whole(group['least'])} {most}",
                    str(group["queries"]),
                    *_spread(ours),
                    str(ours["over"]),
                    number(group["methods"][CUT]["median"]),
                    *_ratio(group["ratio_cut"]),
                    whole(ours["above_mb"]),
                ]
            )
    return _table(head, lines)


def _answers(every: Sequence[Row]) -> list[str]:
    head = [
        "cell",
        "nodes",
        "answered",
        "certified",
        "traced",
        "set: nodes × features, medians",
        "candidates: median",
        "most",
        "statuses",
    ]
    return _table(
        head,
        [
            [
                *_name(group),
                str(group["answered"]),
                str(group["certified"]),
                str(group["traced"]),
                f"{whole(group['nodes'])} × {whole(group['features'])}",
                whole(group["candidates"]),
                whole(group["most_candidates"]),
                ", ".join(f"{status} {count}" for status, count in group["statuses"].items()),
            ]
            for group in every
        ],
    )


def _splits(every: Sequence[Row]) -> list[str]:
    head = ["cell", "nodes", "until the search's first step", "its steps", "after its last one"]
    lines = [
        [*_name(group), *(number(group[part]) for part in ("before", "search", "after"))]
        for group in every
    ]
    return [
        "Medians in seconds; tests on unseen noise between two steps count with the steps.",
        "",
        *_table(head, lines),
    ]


def _memory(every: Sequence[Row]) -> list[str]:
    shown = [(OURS, "ours"), (CUT, "GNNExplainer, cut"), (WHOLE, "whole graph"), (AGAINST, "other")]
    head = [
        "cell",
        "nodes",
        *(f"{label}: MB {what}" for _, label in shown for what in ("above", "at the peak")),
    ]
    return _table(
        head,
        [
            [
                *_name(group),
                *(
                    whole(group["methods"][name][what])
                    for name, _ in shown
                    for what in ("above_mb", "peak_mb")
                ),
            ]
            for group in every
        ],
    )


def _nothing_needed(every: Sequence[Row]) -> list[str]:
    head = ["cell", "nodes", "queries", "fewest samples: median", "ratio: median", "worst"]
    lines = [
        [
            *_name(group),
            str(group["ratio_fewest"]["count"]),
            number(group["methods"][FEWEST]["median"]),
            *_ratio(group["ratio_fewest"]),
        ]
        for group in every
        if group["ratio_fewest"]["count"]
    ]
    if not lines:
        return []
    return [
        "Our seconds over those of the cut, of drawing as few samples as suffice if every one is a "
        "hit, and of evaluating the empty set on them.",
        "",
        *_table(head, lines),
    ]


def _within_limit(every: Sequence[Row]) -> list[str]:
    head = ["cell", "nodes", "test accuracy", "queries", "median seconds", "worst", "certified"]
    return _table(
        head,
        [
            [
                *_name(group),
                f"{group['accuracy']:.3f}",
                str(group["queries"]),
                *_spread(group["methods"][OURS]),
                f"{group['certified'] / group['queries']:.0%}",
            ]
            for group in every
        ],
    )


def _against(every: Sequence[Row]) -> list[str]:
    head = [
        "cell",
        "nodes",
        "queries",
        "ours: median",
        "the other's: median",
        "its worst",
        "its over the limit",
        "times faster: median",
        "least",
        "most",
    ]
    return _table(
        head,
        [
            [
                *_name(group),
                str(group["times_faster"]["count"]),
                number(group["methods"][OURS]["median"]),
                *_spread(group["methods"][AGAINST]),
                str(group["methods"][AGAINST]["over"]),
                *(
                    ratio(group["times_faster"][what]) + ("" if what == "least" else _bound(group))
                    for what in ("median", "least", "most")
                ),
            ]
            for group in every
            if group["times_faster"]["count"]
        ],
    )


def _cpu(every: Sequence[Row]) -> list[str]:
    head = [
        "cell",
        "nodes",
        "ours: median",
        "worst",
        "other: median",
        "worst",
        "times less: median",
    ]
    lines = []
    for group in every:
        ours, other = group["methods"][OURS], group["methods"][AGAINST]
        if ours["cpu"] is not None:
            figures = (ours["cpu"], ours["most_cpu"], other["cpu"], other["most_cpu"])
            less = group["times_less_cpu"]
            lines.append([*_name(group), *map(number, figures), ratio(less) if less else "–"])
    return (
        [
            "What the process used, whatever else ran on the machine; only of queries that ended.",
            "",
            *_table(head, lines),
        ]
        if lines
        else []
    )


def _growth(every: Sequence[Row]) -> list[str]:
    if not any(CELLS[group["cell"]].growth for group in every):
        return []
    return [
        "",
        "## Growth",
        "",
        "Medians over the random nodes of a planted graph of 3,000 nodes (128 features, width 64, "
        "100 samples unless it is varied); candidates: a dot for each query of the large graphs.",
        "",
        "![Growth](dense_growth.png)",
    ]


def _failures(rows: Sequence[Row]) -> list[str]:
    return [
        f"- {row['cell']}, node {row['node']}, {name}: {row[name]['error']}"
        for row in rows
        for name in METHODS
        if "error" in row.get(name, {})
    ]


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    return table(head, lines) if lines else []


def _name(group: Row) -> tuple[str, str]:
    return group["cell"], "hubs" if group["kind"] == "hub" else "random"


def _spread(method: Row) -> tuple[str, str]:
    return number(method["median"]), number(method["worst"])


def _counted(method: Row) -> str:
    over = f", {method['over']} over the limit" if method["over"] else ""
    return f"{number(method['median'])} (of {len(method['seconds'])}{over})"


def _ratio(found: Row) -> tuple[str, str]:
    return number(found["median"]), number(found["most"])


def _bound(group: Row) -> str:
    return " or more" if group["times_faster"]["over"] else ""
