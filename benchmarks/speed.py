"""How long an explanation takes: the published procedure, our two evaluators, and others.

    python benchmarks/speed.py

Measures seconds per node on a fixed sample of the paper's query nodes, how they grow, very large
queries, and another package; writes results/speed.json, speed.md and the figures. Finished
measurements are kept: an interrupted run goes on where it was (`--fresh` begins anew, as it should
once the library has changed). On two quiet cores the whole run takes about an hour and a quarter:
30 minutes for the cells, 8 for the other package, 8 for growth, up to 30 for the large queries.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

import torch
from timing import (
    gnn_explainer,
    growth,
    large_queries,
    machine,
    other_package,
    ours,
    published,
    summary,
    tables,
)
from timing.cells import CELLS, SAMPLES, TAU, Cell, K, Row, sample
from timing.process import FINISHED
from timing.store import Store

RESULTS = Path(__file__).parent / "results"
BUILD = Path(__file__).parents[1] / "build" / "speed"  # a model that is trained on the way
FIRST = CELLS[0]
PARTS = ("cells", "other", "growth", "large")
OTHER_NODES = (2521, 658, 131)  # of Cora: 4, 7 and 8 candidate nodes
OTHER_LIMIT = 300.0
LARGE_LIMIT = 900.0
CELL_LIMIT = 1800.0
GROWTH_LIMIT = 300.0


def main() -> None:
    """Measure what is asked for and not known yet, and write the report after each part."""
    arguments = _arguments()
    torch.set_num_threads(1)
    about = {
        "command": shlex.join(["python", "benchmarks/speed.py", *sys.argv[1:]]),
        **machine.describe(),
        "setting": {"search": "paper", "tau": TAU, "k": K, "samples": SAMPLES},
    }
    store = Store(arguments.out / "speed.json", about, fresh=arguments.fresh)
    cells = [cell for cell in CELLS if str(cell) in arguments.cells]
    for cell in cells if "cells" in arguments.parts else []:
        _measure_cell(store, cell, _count(cell, arguments.nodes))
        _report(store, about, arguments.out)
    if "other" in arguments.parts:
        _measure_other(store)
    if "growth" in arguments.parts:
        _measure_growth(store)
        _report(store, about, arguments.out)
    if "large" in arguments.parts:
        _measure_large(store)
    _report(store, about, arguments.out)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [str(cell) for cell in CELLS]
    parser.add_argument("--cells", nargs="+", default=names, help="such as 'cora gcn'")
    parser.add_argument("--nodes", type=int, help="nodes per cell (30 for cora gcn, 8 elsewhere)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--fresh", action="store_true", help="forget earlier measurements")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    return parser.parse_args()


def _count(cell: Cell, asked: int | None) -> int:
    return asked or (30 if cell == FIRST else 8)


def _measure_cell(store: Store, cell: Cell, count: int) -> None:
    nodes = sample(cell.dataset, count)
    traced = store.measured(f"traced {cell}", ours.measure, cell, nodes, limit=CELL_LIMIT)
    rows = traced["rows"]
    store.measured(
        f"published {cell}",
        published.measure,
        cell,
        [(row["node"], row["evaluations"]) for row in rows],
        limit=CELL_LIMIT,
    )
    store.measured(
        f"any_model {cell}",
        ours.measure_any_model,
        cell,
        [(row["node"], row["inputs"]) for row in rows],
        most_per_node=120.0,
        most_in_all=120.0 if cell == FIRST else 30.0,
        limit=CELL_LIMIT,
    )
    for name, some, whole in (
        ("gnn_explainer_cut", nodes, False),
        ("gnn_explainer_whole", nodes[: 3 if cell == FIRST else 2], True),
    ):
        store.measured(
            f"{name} {cell}", gnn_explainer.measure, cell, some, whole=whole, limit=CELL_LIMIT
        )


def _measure_other(store: Store) -> None:
    store.measured("traced other", ours.measure, FIRST, OTHER_NODES, limit=CELL_LIMIT)
    with tempfile.TemporaryDirectory() as folder:
        failure = other_package.install(Path(folder))
        sys.path.append(folder)  # passed on to the measuring processes
        for node in OTHER_NODES:
            name = f"other {node}"
            job = store.measured(name, other_package.measure, FIRST, node, limit=OTHER_LIMIT)
            if failure and job["ended"] != FINISHED:
                job["ended"] = f"failed: it could not be installed: {failure}"
        sys.path.remove(folder)


def _measure_growth(store: Store) -> None:
    for axis, values in growth.VALUES.items():
        fewer = [value for value in values if value <= growth.MOST_ANY_MODEL[axis]]
        for group, chosen, evaluator, some in (
            ("traced_small", growth.SMALL, "traced", values),
            ("traced_medium", growth.MEDIUM, "traced", values),
            ("any_model_small", growth.SMALL, "any-model", fewer),
        ):
            store.measured(
                f"growth {axis} {group}",
                growth.measure,
                axis,
                chosen,
                evaluator=evaluator,
                values=some,
                limit=GROWTH_LIMIT,
            )
    for cell in (Cell("cora", "gcn"), Cell("pubmed", "gcn")):
        sizes = store.measured(f"sizes {cell}", growth.nodes_by_size, cell, 16, limit=CELL_LIMIT)
        nodes = [row["node"] for row in sizes["rows"]]
        name = f"growth candidates traced_{cell.dataset}"
        traced = store.measured(name, ours.measure, cell, nodes, limit=CELL_LIMIT)
        if cell == FIRST:
            store.measured(
                f"growth candidates any_model_{cell.dataset}",
                ours.measure_any_model,
                cell,
                [(row["node"], row["inputs"]) for row in traced["rows"]],
                most_per_node=60.0,
                most_in_all=120.0,
                limit=CELL_LIMIT,
            )


def _measure_large(store: Store) -> None:
    cell = large_queries.cell(BUILD)
    assert cell.checkpoint is not None
    if not Path(cell.checkpoint).exists():
        store.jobs.pop("large queries", None)
    chosen = store.measured("large queries", large_queries.train, cell, limit=CELL_LIMIT)
    for row in chosen["rows"]:
        node = row["node"]
        traced = store.measured(f"large {node}", ours.measure, cell, [node], limit=LARGE_LIMIT)
        # Where the search did not finish, the rankings alone are a lower bound of its work.
        least = 1 + row["candidates"] + row["features"]
        known = [found["evaluations"] for found in traced["rows"]] or [least]
        store.measured(
            f"large published {node}",
            published.measure,
            cell,
            [(node, known[0])],
            samples=10,
            repeats=1,
            limit=LARGE_LIMIT,
        )


def _report(store: Store, about: Row, folder: Path) -> None:
    # Here, since matplotlib would count in the memory of the measuring processes.
    from timing import plots

    cells = [summary.of_cell(c, store.jobs) for c in CELLS if f"traced {c}" in store.jobs]
    curves: dict[str, dict[str, list[Row]]] = {}
    for name, job in store.jobs.items():
        if name.startswith("growth "):
            _, axis, series = name.split(" ")
            curves.setdefault(axis, {})[series] = job["rows"]
    if cells:
        plots.draw_cells(cells, folder)
    if growth.VALUES.keys() <= curves.keys():
        plots.draw_growth(curves, folder)
    (folder / "speed.md").write_text(tables.report(about, cells, store.jobs))
    store.write(cells=cells)


if __name__ == "__main__":
    main()
