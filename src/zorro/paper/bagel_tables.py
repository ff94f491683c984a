"""The tables of `zorro reproduce bagel`."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zorro.elements import KEPT, NODES, Kind
from zorro.paper.graph_cells import GraphCell
from zorro.paper.graph_jobs import variant_name
from zorro.paper.measuring import Row, mean
from zorro.paper.paper_values import published_by
from zorro.paper.report import as_table, triple

# The paper's two, and one at which sets keep as much as the largest masks of others do.
TAUS: Mapping[tuple[Kind, ...], tuple[float, ...]] = {
    (NODES,): (0.85, 0.98, 0.995),
    KEPT: (0.85, 0.98),
}
BESIDE = 0.98  # τ of the sets whose graphs and sizes other tables and random sets take
OTHERS = ("gnnexplainer", "pgm", "grad", "grad-input", "empty")
MEASURES = {"fidelity": "RDT-fidelity", "node_entropy": "Entropy of the node mask"}


@dataclass(frozen=True)
class Column:
    """What was measured in one cell.

    Args:
        cell: model and graphs.
        rows: by the method's name in the tables.
    """

    cell: GraphCell
    rows: Mapping[str, Sequence[Row]]

    def of(self, method: str, graphs: Iterable[int] | None = None) -> list[Row]:
        """Return a method's rows of all graphs, or of some of them."""
        these = None if graphs is None else set(graphs)
        return [row for row in self.rows.get(method, ()) if these is None or row["node"] in these]

    def mean(self, method: str, name: str, graphs: Iterable[int] | None = None) -> float | None:
        """Return a method's mean of a measure."""
        return mean(self.of(method, graphs), name)

    def seconds(self, method: str, graphs: Iterable[int] | None = None) -> float | None:
        """Return the median time that a method took for a graph."""
        times = [row["seconds"] for row in self.of(method, graphs)]
        return statistics.median(times) if times else None

    def in_need(self, tau: float) -> list[int]:
        """Return the graphs for which it was not shown that nothing needs to be kept."""
        rows = self.of(variant_name("certified", tau, [NODES]))
        return [row["node"] for row in rows if row["status"] != "nothing needed"]

    def best_of_the_others(self, ours: str, graphs: Sequence[int]) -> tuple[str, float] | None:
        """Return which other method has the greatest fidelity on some graphs, and that.

        Random sets among them are as large as those of `ours`.
        """
        every = {method: self.mean(method, "fidelity", graphs) for method in OTHERS}
        every["random"] = self.mean(ours, "random fidelity", graphs)
        known = {method: value for method, value in every.items() if value is not None}
        return max(known.items(), key=lambda item: item[1]) if known else None

    def is_better(self, tau: float) -> bool:
        """Whether certified sets, no larger than GNNExplainer's, have the greatest fidelity."""
        ours, graphs = variant_name("certified", tau, [NODES]), self.in_need(tau)
        fidelity, best = self.mean(ours, "fidelity", graphs), self.best_of_the_others(ours, graphs)
        size, theirs = (
            self.mean(method, "node_entropy", graphs) for method in (ours, "gnnexplainer")
        )
        if fidelity is None or best is None or size is None or theirs is None:
            return False
        return fidelity > best[1] and size <= theirs


def entries(columns: Sequence[Column]) -> Iterator[dict[str, object]]:
    """Yield the tidy table: a measure of a method in a cell each."""
    values = published_by("bagel", "measure", "method", "dataset", "model")
    for column in columns:
        cell = column.cell
        for method, rows in column.rows.items():
            ours = {
                **{name: mean(rows, name) for name in (*MEASURES, "feature_entropy")},
                **{
                    f"{name} in need": column.mean(method, name, column.in_need(BESIDE))
                    for name in MEASURES
                },
                "seconds": column.seconds(method) if method != "random" else None,
                "certified": mean(rows, "certified") if method != "random" else None,
            }
            for name, value in ours.items():
                if value is not None:
                    yield {
                        "dataset": cell.dataset,
                        "model": cell.model,
                        "method": method,
                        "measure": name,
                        "graphs": len(rows),
                        "published": values.get((name, method, cell.dataset, cell.model)),
                        "ours": value,
                    }


def table(columns: Sequence[Column], name: str) -> str:
    """Return a measure of all methods, a line for each source of its values."""
    values = published_by("bagel", "measure", "method", "dataset", "model")
    lines: list[list[object]] = []
    for method in _methods(columns):
        cells = [column.cell for column in columns]
        theirs = [values.get((name, method, cell.dataset, cell.model)) for cell in cells]
        if any(value is not None for value in theirs):
            lines.append([method, "BAGEL", *theirs])
        lines.append([method, "ours", *(column.mean(method, name) for column in columns)])
    header = ["method", "source", *(str(column.cell) for column in columns)]
    return f"## {MEASURES[name]}\n\n{as_table(header, lines)}"


def _methods(columns: Sequence[Column]) -> list[str]:
    return list(dict.fromkeys(method for column in columns for method in column.rows))


def comparison(columns: Sequence[Column]) -> str:
    """Return certified sets beside the best of the other methods, where something is needed."""
    lines: list[list[object]] = []
    for column in columns:
        for tau in TAUS[NODES,]:
            ours, graphs = variant_name("certified", tau, [NODES]), column.in_need(tau)
            fidelity = column.mean(ours, "fidelity", graphs)
            best = column.best_of_the_others(ours, graphs)
            lines.append(
                [
                    str(column.cell),
                    f"{tau:g}",
                    f"{len(graphs)} of {len(column.of(ours))}",
                    None if fidelity is None else f"{fidelity:.3f}",
                    None if best is None else f"{best[1]:.3f} {best[0]}",
                    column.mean(ours, "node_entropy", graphs),
                    column.mean("gnnexplainer", "node_entropy", graphs),
                    "yes" if column.is_better(tau) else "",
                ]
            )
    header = [
        "cell",
        "τ",
        "graphs",
        "fidelity, certified",
        "best of the others",
        "node entropy, certified",
        "GNNExplainer",
        "better",
    ]
    return as_table(header, lines)


def certificates(columns: Sequence[Column]) -> str:
    """Return how often certificates were given, what they say, and how long that took."""
    lines: list[list[object]] = []
    for column in columns:
        for keep, taus in TAUS.items():
            for tau in taus:
                name = variant_name("certified", tau, keep)
                rows = column.of(name)
                graphs = [row["node"] for row in rows]
                seconds, theirs = column.seconds(name), column.seconds("gnnexplainer", graphs)
                lines.append(
                    [
                        str(column.cell),
                        name,
                        *(_share(row[part] == value for row in rows) for part, value in _SHOWN),
                        _share(row["fidelity"] > tau for row in column.of("empty", graphs)),
                        triple(seconds, theirs),
                        seconds / theirs if seconds and theirs else None,
                    ]
                )
    header = [
        "cell",
        "sets",
        "certified",
        "nothing needed",
        "everything needed",
        "empty above τ",
        "seconds, certified / GNNExplainer",
        "ratio",
    ]
    return as_table(header, lines)


_SHOWN = (
    ("certified", True),
    ("status", "nothing needed"),
    ("status", "everything needed"),
)


def _share(values: Iterable[bool]) -> str:
    every = list(values)
    return f"{sum(every) / len(every):.0%}" if every else "–"
