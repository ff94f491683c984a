"""Explanations per second, by number of workers, on a CPU or a GPU.

    python benchmarks/throughput.py OUT.json --device cuda --workers 1 15 --cells cora computers

Cora with the paper's GCN and its 300 query nodes, and Amazon Computers with PyG's own GCN and 60
random test nodes; all defaults, certified. A worker's first two answers are not counted. Several
workers share a GPU well only under NVIDIA's MPS (`nvidia-cuda-mps-control -d`). The model of
Computers is trained on the way, or taken from build/dense.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from dense_graphs.cells import CELLS as DENSE
from dense_graphs.graphs import load as load_dense
from dense_graphs.queries import queries
from dense_graphs.training import loaded, trained
from timing import machine
from timing.cells import CELLS, ModelOnGraph, load
from timing.store import rounded_json

from zorro import data
from zorro.runs.engines import InProcess, Processes
from zorro.runs.engines.engine import Engine
from zorro.runs.given import OneGraph
from zorro.runs.task import LoadedTask, Query

FOLDER = Path(__file__).parents[1] / "build" / "dense"


def main() -> None:
    """Measure each cell with each number of workers, and write the figures after each."""
    arguments = _arguments()
    torch.set_num_threads(1)
    figures: list[dict[str, Any]] = []
    for cell in arguments.cells:
        on, nodes = _cora() if cell == "cora" else _computers()
        for workers in arguments.workers:
            row = {"cell": cell, "device": arguments.device, "workers": workers}
            row |= _measured(on, nodes[: arguments.nodes], arguments.device, workers)
            figures.append(row)
            print(row, flush=True)
            about = machine.describe(arguments.device)
            arguments.out.write_text(rounded_json({**about, "figures": figures}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the JSON file to write")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--cells", nargs="+", choices=("cora", "computers"), default=["cora"])
    parser.add_argument("--nodes", type=int, default=300, help="most nodes of a cell")
    return parser.parse_args()


def _cora() -> tuple[ModelOnGraph, list[int]]:
    return load(CELLS[0], "cpu"), [int(node) for node in data.paper_nodes("cora")]


def _computers() -> tuple[ModelOnGraph, list[int]]:
    cell = DENSE["computers-gcn"]
    graph = load_dense(cell.graph, FOLDER)
    trained(cell, graph, FOLDER)
    asked = queries(cell, graph, nodes=60, hubs=0)
    return loaded(cell, graph, FOLDER), [query.node for query in asked]


def _measured(on: ModelOnGraph, nodes: list[int], device: str, workers: int) -> dict[str, Any]:
    task = LoadedTask(on.model, OneGraph(on.x, on.edge_index), device=device)
    engine: Engine = InProcess() if workers == 1 else Processes(workers)
    warm_up = [Query(-1 - place, nodes[place % len(nodes)]) for place in range(2 * workers)]
    asked = [*warm_up, *(Query(position, node) for position, node in enumerate(nodes))]
    took: list[float] = []
    certified = 0
    started = time.perf_counter()
    for number, outcome in enumerate(engine.map(task, iter(asked)), start=1):
        values = json.loads(outcome.explanation or "{}")
        if number > len(warm_up):
            took.append(float(values.get("seconds", "nan")))
            certified += bool((values.get("certificate") or {}).get("certified"))
        elif number == len(warm_up):
            started = time.perf_counter()
    seconds = time.perf_counter() - started
    return {
        "queries": len(took),
        "certified": certified,
        "seconds": seconds,
        "per_second": len(took) / seconds,
        "median_seconds_of_one": statistics.median(took),
    }


if __name__ == "__main__":
    main()
