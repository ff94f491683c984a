"""Does the size of the graph matter? One query in graphs of 100 thousand to 10 million edges.

    python benchmarks/graph_size.py

The query's component is the same in each graph, its nodes and edges spread over a growing rest:
random edges between nodes that repeat the component's features, so that the noise is the same,
too, and so is every step of the search. Measured are the passes over the whole graph, made once,
and the cost of a query, whose runs alternate between the sizes. Writes
benchmarks/results/graph_size.{json,md}.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from timing.memory import forget_peak, held_mb
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from zorro import Explanation, Zorro
from zorro.cut import Extractor
from zorro.data import check_graph
from zorro.elements import NODES
from zorro.graph.graph import Graph
from zorro.graph.grouping import ranges
from zorro.model.predictor import Predictor
from zorro.noise import resolve

RESULTS = Path(__file__).parent / "results"
EDGES = [100_000, 1_000_000, 10_000_000]
EDGES_PER_NODE = 10
COMPONENT = 400  # nodes
FEATURES = 500
DENSITY = 0.015
QUERY = 0
RUNS = 11

Result = TypeVar("Result")


class Net(nn.Module):
    """A GCN of two layers with random weights."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.first = GCNConv(FEATURES, 32)
            self.second = GCNConv(32, 4)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = self.first(x, edge_index).relu()
        scores: Tensor = self.second(hidden, edge_index)
        return scores


def component() -> tuple[Tensor, Tensor]:
    """Return the features (n, d) of zeros and ones and the edges of the query's component.

    Each node links to three earlier ones, preferably to those with many links; the query is the
    last to come and has the lowest id.
    """
    chance = random.Random(0)
    ends = [0, 1]
    links = [(0, 1)]
    for new in range(2, COMPONENT):
        for old in sorted({chance.choice(ends) for _ in range(3)}):
            links.append((new, old))
            ends += [new, old]
    edges = COMPONENT - 1 - torch.tensor(links).t()  # (2, links)
    generator = torch.Generator().manual_seed(0)
    x = (torch.rand(COMPONENT, FEATURES, generator=generator) < DENSITY).float()
    return x, torch.cat([edges, edges.flip(0)], dim=1)


def a_graph(edges: int) -> tuple[Tensor, Tensor]:
    """Return features, as sparse CSR, and edges of a graph that holds the component.

    Nodes come in blocks of equal features; the first node of block i is the component's node i.
    """
    x, own = component()
    block = edges // EDGES_PER_NODE // COMPONENT
    generator = torch.Generator().manual_seed(edges)
    shape = (2, (edges - own.size(1)) // 2)
    other = torch.randint(COMPONENT * (block - 1), shape, generator=generator)
    other += other // (block - 1) + 1  # leaves out the first of each block
    other = torch.cat([other, other.flip(0)], dim=1)
    total = own.size(1) + other.size(1)
    is_own = torch.zeros(total, dtype=torch.bool)
    is_own[torch.randperm(total, generator=generator)[: own.size(1)]] = True
    edge_index = torch.empty(2, total, dtype=torch.long)
    edge_index[:, is_own] = own * block  # in their order, as sums depend on it in the last digit
    edge_index[:, ~is_own] = other
    row, column = x.nonzero(as_tuple=True)
    count = torch.bincount(row, minlength=COMPONENT)
    start, count = ((part.repeat_interleave(block)) for part in (count.cumsum(0) - count, count))
    columns = column[ranges(start, count)]
    rows = torch.cat([count.new_zeros(1), count.cumsum(0)])
    size = (COMPONENT * block, FEATURES)
    ones = torch.ones(columns.numel())
    features = torch.sparse_csr_tensor(rows, columns, ones, size, check_invariants=False)
    return features, edge_index


def timed(function: Callable[..., Result], *args: Any) -> tuple[float, Result]:
    """Return how long a call takes, and its result."""
    started = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - started, result


def once(x: Tensor, edge_index: Tensor) -> dict[str, float]:
    """Time the passes over the whole graph, the median of three."""
    passes: dict[str, Callable[[], Any]] = {
        "input_check_s": lambda: check_graph(x, edge_index, sparse=True),
        "index_s": lambda: Extractor(Predictor(Net()), Graph(x, edge_index)),
        "noise_s": lambda: resolve("column-marginals", x),
    }
    return {
        name: statistics.median(timed(function)[0] for _ in range(3))
        for name, function in passes.items()
    }


def memory(edges: int) -> dict[str, float]:
    """Return what the graph takes and what set-up and query take on top at most, in MB."""
    torch.set_num_threads(1)
    x, edge_index = a_graph(edges)
    a_zorro(*a_graph(EDGES[0])).explain(QUERY)  # whatever is loaded on first use
    ctypes.CDLL(None).malloc_trim(0)  # so that what was freed is not taken for free
    graph = held_mb()
    forget_peak()
    zorro = a_zorro(x, edge_index)
    set_up = held_mb("VmHWM") - graph
    before = held_mb()
    forget_peak()
    zorro.explain(QUERY)
    query = held_mb("VmHWM") - before
    stored = [x.crow_indices(), x.col_indices(), x.values(), edge_index]
    size = sum(part.numel() * part.element_size() for part in stored)
    return {"graph_mb": size / 1e6, "set_up_mb": set_up, "query_mb": query}


def a_zorro(x: Tensor, edge_index: Tensor) -> Zorro:
    return Zorro(Net(), x, edge_index, tau=0.85, seed=0)


def measure() -> dict[str, Any]:
    """Measure all sizes."""
    rows: dict[int, dict[str, Any]] = {}
    zorros: dict[int, Zorro] = {}
    extractors: dict[int, Extractor] = {}
    for edges in EDGES:
        with multiprocessing.get_context("spawn").Pool(1) as fresh:
            rows[edges] = fresh.apply(memory, (edges,))
        x, edge_index = a_graph(edges)
        rows[edges] |= {"edges": edge_index.size(1), "nodes": x.size(0), "values": x._nnz()}
        rows[edges] |= once(x, edge_index)
        zorros[edges] = a_zorro(x, edge_index)
        extractors[edges] = Extractor(Predictor(Net()), Graph(x, edge_index))
    extraction: dict[int, list[float]] = {edges: [] for edges in EDGES}
    explanation: dict[int, list[float]] = {edges: [] for edges in EDGES}
    found: list[Explanation] = []
    for run in range(RUNS + 1):
        for edges in EDGES:
            extracting = [timed(extractors[edges].extract, QUERY)[0] for _ in range(5)]
            explaining, explained = timed(zorros[edges].explain, QUERY)
            found.append(explained)
            if run > 0:  # the first one warms up
                extraction[edges] += extracting
                explanation[edges].append(explaining)
    first = found[0]
    if any(comparable(other) != comparable(first) for other in found):
        raise RuntimeError("the sizes gave different explanations: they cannot be compared")
    for edges, row in rows.items():
        row["extraction_s"] = statistics.median(extraction[edges])
        row["explanation_s"] = statistics.median(explanation[edges])
        row["extraction_runs_s"] = extraction[edges]
        row["explanation_runs_s"] = explanation[edges]
    small, large = rows[EDGES[0]], rows[EDGES[-1]]
    return {
        "torch": torch.__version__,
        "explanation": str(first),
        "steps": len(first.steps) - 1,
        "sizes": list(rows.values()),
        "extraction_ratio": large["extraction_s"] / small["extraction_s"],
        "explanation_ratio": large["explanation_s"] / small["explanation_s"],
    }


def comparable(explanation: Explanation) -> Explanation:
    """Return an explanation without what differs between sizes: time, number of nodes, ids."""
    block = explanation.graph.num_nodes // COMPONENT
    steps = tuple(
        step if step.node is None else replace(step, members=(step.node // block,))
        for step in explanation.steps
    )
    return replace(
        explanation,
        selected={
            **explanation.selected,
            NODES: tuple(node // block for node in explanation.nodes),
        },
        steps=steps,
        graph=replace(explanation.graph, num_nodes=0),
        seconds=0.0,
    )


def table(results: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    lines = [
        "# One query in graphs of growing size",
        "",
        "`python benchmarks/graph_size.py` (`make graph-size`): the same component "
        f"({COMPONENT} nodes, {FEATURES} features) in each graph, a 2-layer GCN, features sparse, "
        f"one thread, torch {results['torch']}. Set-up is paid once a graph; "
        f"extraction and explanation are the medians of {RUNS} runs that alternate between the "
        "sizes.",
        "",
        "| edges | nodes | non-zero features | once: check input | index edges | set up noise | "
        "a query: extraction | explanation, extraction included |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in results["sizes"]:
        lines.append(
            f"| {row['edges']:,} | {row['nodes']:,} | {row['values']:,} | "
            f"{row['input_check_s']:.3f} s | {row['index_s']:.3f} s | "
            f"{row['noise_s']:.3f} s | {1e3 * row['extraction_s']:.1f} ms | "
            f"{1e3 * row['explanation_s']:.0f} ms |"
        )
    lines += [
        "",
        f"The largest graph's cost over the smallest's: extraction "
        f"**{results['extraction_ratio']:.2f}**, explanation "
        f"**{results['explanation_ratio']:.2f}**.",
        "",
        "| edges | memory: the graph itself | set-up, at most on top | a query, at most on top |",
        "| --- | --- | --- | --- |",
    ]
    for row in results["sizes"]:
        lines.append(
            f"| {row['edges']:,} | {row['graph_mb']:.0f} MB | {row['set_up_mb']:.0f} MB | "
            f"{row['query_mb']:.0f} MB |"
        )
    lines += ["", "The explanation, the same in each:", "", "```", results["explanation"], "```"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the results."""
    torch.set_num_threads(1)
    results = measure()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "graph_size.json").write_text(json.dumps(results, indent=1) + "\n")
    (RESULTS / "graph_size.md").write_text(table(results))
    print(table(results))


if __name__ == "__main__":
    main()
