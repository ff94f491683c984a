"""Dense features and models as they come: seconds, memory and answers beside GNNExplainer's.

    python benchmarks/dense.py
    python benchmarks/dense.py --cells computers-gcn --nodes 6 --hubs 0
    python benchmarks/dense.py --against CHECKOUT --most-seconds 60
    python benchmarks/dense.py --report

Amazon Computers with PyG's basic models, a generated graph of ogbn-arxiv's shape, models that are
rarely fast on Cora, and growth curves on small generated graphs. Graphs and models are made on the
way and kept under build/dense; each finished query is a line of build/dense.jsonl, so that an
interrupted run goes on where it was (`--fresh` begins anew, as it should once the library has
changed). Writes results/dense.{json,md} and the figure from what is kept.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import torch
from dense_graphs.cells import AGAINST, CELLS, METHODS, OURS
from dense_graphs.measuring import latest, measure
from dense_graphs.report import page
from dense_graphs.summary import groups
from timing import kept_rows, machine
from timing.cells import Row
from timing.store import rounded_json

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "dense"
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure what is asked for and not kept yet, and write the report after each cell."""
    arguments = _arguments()
    torch.set_num_threads(1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the workers too
    if arguments.fresh:
        arguments.rows.unlink(missing_ok=True)
    if not arguments.report:
        _run(arguments)
    _write(arguments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cells",
        nargs="+",
        default=list(CELLS),
        help="names, or how they begin: computers, growth-",
    )
    parser.add_argument(
        "--nodes", type=int, help="random nodes of each cell, if not its own number"
    )
    parser.add_argument("--hubs", type=int, default=len(CELLS), help="most hubs of each cell")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--against", type=Path, help="another checkout of the library, run as well")
    parser.add_argument("--most-seconds", type=float, default=600.0, help="for a query and method")
    parser.add_argument("--rows", type=Path, default=BUILD.with_suffix(".jsonl"))
    parser.add_argument("--fresh", action="store_true", help="forget the finished queries")
    parser.add_argument("--report", action="store_true", help="only write what is kept")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    return parser.parse_args()


def _run(arguments: argparse.Namespace) -> None:
    libraries = {OURS: ROOT}
    if arguments.against is not None:
        libraries[AGAINST] = arguments.against.resolve()
    given = [Path(word).name if word == str(arguments.against) else word for word in sys.argv[1:]]
    about = {
        "command": shlex.join(["python", "benchmarks/dense.py", *given]),
        "library": _commit(ROOT),
        "against": _commit(libraries[AGAINST]) if AGAINST in libraries else None,
        **machine.describe(),
    }
    kept_rows.append(arguments.rows, {"about": about})
    for cell in CELLS.values():
        if cell.name.startswith(tuple(arguments.cells)):
            measure(
                cell,
                libraries,
                folder=BUILD,
                rows=arguments.rows,
                methods=arguments.methods,
                nodes=arguments.nodes,
                hubs=arguments.hubs,
                limit=arguments.most_seconds,
            )
            _write(arguments)


def _commit(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def _write(arguments: argparse.Namespace) -> None:
    from dense_graphs.figures import draw_growth  # matplotlib, which only the report needs

    kept = kept_rows.read(arguments.rows)
    abouts = [row["about"] for row in kept if "about" in row]
    rows: list[Row] = list(latest(kept).values())
    arguments.out.mkdir(parents=True, exist_ok=True)
    content = {"runs": abouts, "cells": groups(rows), "queries": rows}
    (arguments.out / "dense.json").write_text(rounded_json(content))
    (arguments.out / "dense.md").write_text(page(rows, abouts))
    if any(CELLS[row["cell"]].growth for row in rows):
        draw_growth(rows, arguments.out)


if __name__ == "__main__":
    main()
