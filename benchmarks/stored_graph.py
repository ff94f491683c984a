"""How much memory and time does a graph on disk take? Random graphs of 20 and 100 million edges.

    python benchmarks/stored_graph.py [--edges 20000000 100000000] [--folder DIR]

Each step runs in a process of its own: one makes a graph in memory and converts it, one opens what
was written, none of it in the page cache, and explains some nodes. Where the graph has 20 million
edges or fewer, another one explains the same nodes on the graph in memory, and the explanations
must be equal. Writes benchmarks/results/stored_graph.{json,md}.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import torch
from timing.memory import forget_peak, held_mb
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from zorro import Explanation, Zorro
from zorro.data import open_stored, store

RESULTS = Path(__file__).parent / "results"
EDGES = [20_000_000, 100_000_000]
EDGES_PER_NODE = 10
BLOCKS, BLOCK = 8, 8  # each node has one non-zero in each block of features
QUERIES = 20
MODES = {"stored": False, "stored, read_ahead=True": True}
MOST_IN_MEMORY = 20_000_000


class Net(nn.Module):
    """A GCN of two layers with random weights."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.first = GCNConv(BLOCKS * BLOCK, 16)
            self.second = GCNConv(16, 4)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        scores: Tensor = self.second(self.first(x, edge_index).relu(), edge_index)
        return scores


def a_graph(edges: int) -> Data:
    """Return a graph of random edges whose nodes have a few random features, as sparse CSR."""
    generator = torch.Generator().manual_seed(edges)
    nodes = edges // EDGES_PER_NODE
    edge_index = torch.randint(nodes, (2, edges), generator=generator)
    columns = torch.randint(BLOCK, (nodes, BLOCKS), generator=generator)
    columns += BLOCK * torch.arange(BLOCKS)
    values = torch.rand(nodes * BLOCKS, generator=generator) + 0.5
    start = BLOCKS * torch.arange(nodes + 1)
    size = (nodes, BLOCKS * BLOCK)
    x = torch.sparse_csr_tensor(start, columns.flatten(), values, size, check_invariants=False)
    return Data(x=x, edge_index=edge_index)


def convert(edges: int, folder: Path) -> dict[str, Any]:
    """Make a graph and store it."""
    data = a_graph(edges)
    parts = [data.x.crow_indices(), data.x.col_indices(), data.x.values(), data.edge_index]
    before = held_mb("VmHWM")
    seconds, _ = timed(lambda: store(data, folder))
    return {
        "nodes": data.x.size(0),
        "values": data.x.values().numel(),
        "data_mb": sum(part.numel() * part.element_size() for part in parts) / 1e6,
        "made_mb": before,
        "convert_s": seconds,
        "convert_mb": held_mb("VmHWM"),
    }


def explain_stored(edges: int, folder: Path, read_ahead: bool) -> dict[str, Any]:
    """Open the stored graph and explain, twice."""
    small = a_graph(1000)
    Zorro(Net(), small.x, small.edge_index).explain(0)  # whatever is loaded on first use
    libraries, pages = held_mb("VmHWM"), held_mb("RssFile")
    opening, graph = timed(lambda: open_stored(folder, read_ahead=read_ahead))
    set_up, zorro = timed(lambda: Zorro(Net(), graph.x, graph.edge_index))
    first, explanations = timed(lambda: explained(zorro, graph.num_nodes))
    row = {
        "libraries_mb": libraries,
        "open_s": opening,
        "set_up_s": set_up,
        "explain_first_s": first,
        "explain_mb": held_mb("VmHWM"),
        "graph_pages_mb": held_mb("RssFile") - pages,
        "explanations": explanations,
    }
    row["explain_s"], _ = timed(lambda: explained(zorro, graph.num_nodes))
    return row


def explain_in_memory(edges: int, folder: Path) -> dict[str, Any]:
    """Explain the same nodes of the same graph in memory, its edges in the stored order."""
    data = a_graph(edges)
    order = data.edge_index[1].argsort(stable=True)
    data.edge_index = data.edge_index[:, order]
    del order
    forget_peak()
    set_up, zorro = timed(lambda: Zorro(Net(), data.x, data.edge_index))
    seconds, explanations = timed(lambda: explained(zorro, data.x.size(0)))
    return {
        "set_up_s": set_up,
        "explain_s": seconds,
        "explain_mb": held_mb("VmHWM"),
        "explanations": explanations,
    }


def explained(zorro: Zorro, nodes: int) -> list[Explanation]:
    queries = random.Random(0).sample(range(nodes), QUERIES)
    return [replace(zorro.explain(node), seconds=0.0) for node in queries]


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def alone(function: Callable[..., dict[str, Any]], *args: Any) -> dict[str, Any]:
    """Call a function in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1, torch.set_num_threads, (1,)) as fresh:
        return fresh.apply(function, args)


def out_of_cache(folder: Path) -> float:
    """Write a folder to disk and drop it from the page cache; return its size in MB."""
    size = 0
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        size += path.stat().st_size
    return size / 1e6


def measure(edges: int, folder: Path) -> dict[str, Any]:
    """Measure one size."""
    row: dict[str, Any] = {"edges": edges, **alone(convert, edges, folder)}
    row["disk_mb"] = out_of_cache(folder)
    for name, read_ahead in MODES.items():
        out_of_cache(folder)
        row[name] = alone(explain_stored, edges, folder, read_ahead)
        found = row[name].pop("explanations")
    row["certified"] = sum(explanation.status == "certified" for explanation in found)
    if edges <= MOST_IN_MEMORY:
        row["in_memory"] = alone(explain_in_memory, edges, folder)
        if row["in_memory"].pop("explanations") != found:
            raise RuntimeError("the graph in memory gave other explanations than the stored one")
    row["load"] = os.getloadavg()[0]
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    per_node = f"{BLOCKS} non-zeros of {BLOCKS * BLOCK} features"
    lines = [
        "# Graphs on disk",
        "",
        "`python benchmarks/stored_graph.py` (`make stored-graph`): random edges, "
        f"{EDGES_PER_NODE} to a node, {per_node} (sparse), a 2-layer GCN with random weights, one "
        f"thread, torch {torch.__version__}. Each row of a table is a process of its own; memory "
        "is the most that was resident at a time (VmHWM of Linux).",
        "",
        "Converting a PyG `Data` that lies in memory:",
        "",
        "| edges | nodes | the `Data` | process, `Data` made | process, at most | converting | "
        "on disk |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        lines.append(
            f"| {row['edges']:,} | {row['nodes']:,} | {_mb(row['data_mb'])} | "
            f"{_mb(row['made_mb'])} | {_mb(row['convert_mb'])} | {row['convert_s']:.1f} s | "
            f"{_mb(row['disk_mb'])} |"
        )
    lines += [
        "",
        f"Opening it and explaining {QUERIES} random nodes (defaults: guided search, certified, "
        "1,000 fresh samples). At first nothing of the graph is in the system's page cache; again "
        "means the same nodes a second time. Pages of the graph's files are counted in the memory "
        "of the process, but the system takes them back when memory is short. The rest is the "
        "queries' own: noise, cut-out graphs.",
        "",
        "| edges | `read_ahead` | opening | setting up | explaining, at first | again | "
        "memory, at most | of it Python, torch, a first explanation | pages of the graph | "
        "the rest |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row, name in product(rows, MODES):
        stored = row[name]
        rest = stored["explain_mb"] - stored["libraries_mb"] - stored["graph_pages_mb"]
        lines.append(
            f"| {row['edges']:,} | {'yes' if MODES[name] else 'no'} | "
            f"{1e3 * stored['open_s']:.0f} ms | {1e3 * stored['set_up_s']:.0f} ms | "
            f"{stored['explain_first_s']:.1f} s | {stored['explain_s']:.1f} s | "
            f"{_mb(stored['explain_mb'])} | {_mb(stored['libraries_mb'])} | "
            f"{_mb(stored['graph_pages_mb'])} | {_mb(rest)} |"
        )
    lines += ["", "The same nodes of the same graph in memory; the explanations are equal:", ""]
    lines += ["| edges | setting up | explaining | memory, at most |", "| --- | --- | --- | --- |"]
    for row in rows:
        if "in_memory" in row:
            inside = row["in_memory"]
            lines.append(
                f"| {row['edges']:,} | {inside['set_up_s']:.1f} s | {inside['explain_s']:.1f} s | "
                f"{_mb(inside['explain_mb'])} |"
            )
    certified = ", ".join(f"{row['certified']} of {QUERIES}" for row in rows)
    lines += ["", f"Explanations that are certified: {certified}."]
    loads = ", ".join(f"{row['load']:.1f}" for row in rows)
    lines += [
        "",
        f"Load average of the machine ({os.cpu_count()} cores) when each size was done: {loads}. "
        "The benchmark itself is 1 of it; what is above that slowed it down.",
    ]
    return "\n".join(lines) + "\n"


def _mb(size: float) -> str:
    return f"{size:,.0f} MB"


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, nargs="+", default=EDGES)
    parser.add_argument("--folder", type=Path, help="where the graphs are written for the time")
    options = parser.parse_args()
    rows = []
    for edges in options.edges:
        with tempfile.TemporaryDirectory(dir=options.folder) as place:
            rows.append(measure(edges, Path(place) / "graph"))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "stored_graph.json").write_text(json.dumps(rows, indent=1) + "\n")
    (RESULTS / "stored_graph.md").write_text(table(rows))
    print(table(rows))


if __name__ == "__main__":
    main()
