"""The tables' times with model, graph and noise on a GPU.

    PYTHONPATH=src python benchmarks/gpu.py OUT.json

Needs torch, torch_geometric, numpy, scipy and safetensors, and the folders ZORRO_DATA and
ZORRO_PAPER. Measures what `speed.py` measures of each cell, after a warm-up and with the device
waited for at each reading of the clock; OUT.json is written after each measurement, and no new one
is begun after `--budget` seconds. `--device cpu` tries the script without a GPU.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from timing import machine, ours, published, summary, tables
from timing.cells import CELLS, SAMPLES, TAU, Cell, K, Row, sample
from timing.process import FINISHED
from timing.store import rounded_json

Measurement = Callable[[dict[str, Row]], Iterator[Row]]


def main() -> None:
    """Measure cell after cell, the most wanted first."""
    arguments = _arguments()
    torch.set_num_threads(1)
    deadline = time.monotonic() + arguments.budget
    about = {
        "command": shlex.join(["python", "benchmarks/gpu.py", *sys.argv[1:]]),
        **machine.describe(arguments.device),
        "setting": {"search": "paper", "tau": TAU, "k": K, "samples": SAMPLES},
    }
    print(about["machine"], about["versions"], sep="\n", flush=True)
    jobs: dict[str, Row] = {}
    done: list[Row] = []
    for cell, name, measure in _measurements(arguments):
        if time.monotonic() > deadline:
            print("the budget is spent", flush=True)
            break
        jobs[f"{name} {cell}"] = _collected(measure(jobs), arguments.device, deadline)
        done = [summary.of_cell(c, jobs) for c in CELLS if f"traced {c}" in jobs]
        arguments.out.write_text(rounded_json({**about, "cells": done, "jobs": jobs}))
        print(f"{name} {cell}: {_words(done, cell, name)}", flush=True)
    print("\n".join(tables.medians(done)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the JSON file to write")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--cells", nargs="+", default=[str(cell) for cell in CELLS])
    parser.add_argument("--first-nodes", type=int, default=30, help="nodes of cora gcn")
    parser.add_argument("--nodes", type=int, default=4, help="nodes of every other cell")
    parser.add_argument("--budget", type=float, default=480.0, help="seconds")
    return parser.parse_args()


def _measurements(arguments: argparse.Namespace) -> Iterator[tuple[Cell, str, Measurement]]:
    """Yield what is measured, in order; each takes the measurements before it."""
    for cell in CELLS:
        if str(cell) in arguments.cells:
            count = arguments.first_nodes if cell == CELLS[0] else arguments.nodes
            nodes = sample(cell.dataset, count)
            yield cell, "traced", partial(_traced, cell, nodes, arguments.device)
            yield cell, "published", partial(_published, cell, arguments.device)
            yield cell, "any_model", partial(_any_model, cell, arguments.device)


def _traced(cell: Cell, nodes: list[int], device: str, jobs: dict[str, Row]) -> Iterator[Row]:
    list(ours.measure(cell, nodes[:1], device=device))  # a GPU loads its kernels on first use
    return ours.measure(cell, nodes, device=device)


def _published(cell: Cell, device: str, jobs: dict[str, Row]) -> Iterator[Row]:
    rows = jobs[f"traced {cell}"]["rows"]
    counts = [(row["node"], row["evaluations"]) for row in rows]
    return published.measure(cell, counts, device=device)


def _any_model(cell: Cell, device: str, jobs: dict[str, Row]) -> Iterator[Row]:
    rows = jobs[f"traced {cell}"]["rows"]
    counts = [(row["node"], row["inputs"]) for row in rows]
    most = 60.0 if cell == CELLS[0] else 15.0
    return ours.measure_any_model(cell, counts, most_per_node=30.0, most_in_all=most, device=device)


def _collected(measured: Iterator[Row], device: str, deadline: float) -> Row:
    """Collect a measurement's rows until the deadline, and the device's memory."""
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats()
    setup = next(measured)
    rows: list[Row] = []
    ended = FINISHED
    for row in measured:
        rows.append(row)
        if time.monotonic() > deadline:
            ended = "out of time"
            break
    peak = torch.cuda.max_memory_allocated() / 2**20 if device != "cpu" else None
    return {"setup": setup, "rows": rows, "ended": ended, "peak_mb": peak, "loaded_mb": None}


def _words(done: list[Row], cell: Cell, name: str) -> str:
    found = next(row for row in done if row["cell"] == str(cell))[name]
    count = len(found["seconds"])
    return f"{count} nodes, median {tables.number(found['median'])} s, {found['ended']}"


if __name__ == "__main__":
    main()
