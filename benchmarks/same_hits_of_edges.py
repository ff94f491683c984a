"""Do both evaluators and a plain loop give the same hits where edges come and go?

    python benchmarks/same_hits_of_edges.py
    python benchmarks/same_hits_of_edges.py --models gin

For each architecture 50 queries: hits of three sets of edges (none, half of what the search finds,
all of it), sample by sample, by both evaluators and by a loop that runs the model on the whole
graph without the edges that a sample lacks; and the hits of 20 edges toggled by both evaluators.
Writes benchmarks/results/same_hits_of_edges.md and .json, model by model: those that are not chosen
stay as they are there.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro import Zorro, data, models
from zorro.elements import EDGES, Element
from zorro.evaluation import Evaluator

RESULTS = Path(__file__).parent / "results"
QUERIES, SAMPLES = 50, 100
TOGGLED = 20
LOOPED = 20  # samples that are run on the whole graph, which is slow
# Of a graph with so many features, all nodes' together, a copy takes tens of milliseconds: there
# are fewer samples and toggled edges then, of as many queries.
LARGE = 1 << 20
SAMPLES_OF_LARGE, TOGGLED_OF_LARGE, LOOPED_OF_LARGE = 25, 8, 8


@dataclass(frozen=True)
class Cell:
    """A model and what it is asked about."""

    name: str
    dataset: str
    zorro: Callable[[str], Zorro]  # by the evaluator's name
    queries: list[int]
    output: Callable[[int, Tensor], Tensor]  # for a query, without columns (e,) of its graph
    entries: int  # features of all nodes of a graph
    keys: Callable[[int], list[tuple[int, int]]]  # the ends of each column of a query's graph


def of_nodes(name: str, dataset: str, model: nn.Module) -> Cell:
    """Return a classifier of the nodes of a graph."""
    graph = data.load(dataset)
    nodes = list(data.paper_nodes(dataset))
    random.Random(0).shuffle(nodes)

    def zorro(evaluator: Any) -> Zorro:
        return Zorro(model, graph.x, graph.edge_index, keep=("edges",), evaluator=evaluator)

    def output(query: int, kept: Tensor) -> Tensor:
        scores: Tensor = model(graph.x, graph.edge_index[:, kept])[query]
        return scores

    keys = sorted_ends(graph.edge_index)
    return Cell(name, dataset, zorro, nodes[:QUERIES], output, graph.x.numel(), lambda query: keys)


def of_graphs(name: str, dataset: str, model: nn.Module, graphs: list[Data]) -> Cell:
    """Return a classifier of graphs."""

    def zorro(evaluator: Any) -> Zorro:
        return Zorro.of_graphs(model, graphs, keep=("edges",), evaluator=evaluator)

    def output(query: int, kept: Tensor) -> Tensor:
        graph = graphs[query]
        batch = torch.zeros(len(graph.x), dtype=torch.long)
        scores: Tensor = model(graph.x, graph.edge_index[:, kept], batch=batch)[0]
        return scores

    def keys(query: int) -> list[tuple[int, int]]:
        return sorted_ends(graphs[query].edge_index)

    entries = max(graph.x.numel() for graph in graphs)
    return Cell(name, dataset, zorro, list(range(QUERIES)), output, entries, keys)


def sorted_ends(edge_index: Tensor) -> list[tuple[int, int]]:
    """Return the ends of each column, the smaller first."""
    return [(min(u, v), max(u, v)) for u, v in edge_index.t().tolist()]


def paper(dataset: str, architecture: str) -> Cell:
    """Return one of the paper's models."""
    graph = data.load(dataset)
    model = models.build(architecture, graph.x.size(1), int(graph.y.max()) + 1)
    models.checkpoint.load(model, models.checkpoint.paper_checkpoint(dataset, architecture))
    return of_nodes(architecture, dataset, model.eval())


def trained(name: str, make: type[nn.Module], **options: Any) -> Cell:
    """Return a model of PyG's, trained a little on Cora."""
    graph = data.load("cora")
    torch.manual_seed(0)
    model = make(graph.num_features, 16, 2, 7, **options)
    optimiser = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(40):
        optimiser.zero_grad()
        out = model(graph.x, graph.edge_index)[graph.train_mask]
        loss = nn.functional.cross_entropy(out, graph.y[graph.train_mask])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return of_nodes(name, "cora", model.eval())


def pooled(architecture: str) -> Cell:
    """Return a classifier of MUTAG's molecules."""
    molecules = data.load_graphs("mutag")
    settings = models.GraphTrainingSettings(epochs=20)
    model = models.train_graphs(architecture, molecules, settings)
    return of_graphs(f"{architecture}, pooled", "mutag", model.eval(), list(molecules.graphs))


CELLS: dict[str, Callable[[], Cell]] = {
    "gcn": partial(paper, "cora", "gcn"),
    "gat": partial(paper, "cora", "gat"),
    "gin": partial(paper, "cora", "gin"),
    "appnp": partial(paper, "cora", "appnp"),
    "gcn3": partial(paper, "ba-community-paper", "gcn3"),
    "sage": partial(trained, "PyG's GraphSAGE", gnn.GraphSAGE),
    "gatv2": partial(trained, "PyG's GAT, v2", gnn.GAT, v2=True),
    "pooled-gcn": partial(pooled, "gcn"),
    "pooled-gin": partial(pooled, "gin"),
}


@torch.no_grad()
def one_by_one(cell: Cell, query: int, evaluator: Evaluator, present: Tensor) -> Tensor:
    """Return the hits (S,) of edges (S, m), each sample on the whole graph."""
    labels = evaluator.graph.edges.labels
    place = {label[:2]: number for number, label in enumerate(labels)}
    at = torch.tensor([place.get(key, -1) for key in cell.keys(query)])  # edges further away stay
    every = torch.ones(at.numel(), dtype=torch.bool)
    predicted = int(cell.output(query, every).argmax())
    hits = [
        int(cell.output(query, torch.cat([sample, every[:1]])[at]).argmax()) == predicted
        for sample in present
    ]
    return torch.tensor(hits)


def compare(cell: Cell) -> dict[str, Any]:
    """Count equal and unequal hits of one model."""
    names = ("queries", "traced", "large", "loop", "loop unlike", "compared", "unlike")
    counts = dict.fromkeys(names, 0)
    explainers = {name: cell.zorro(name) for name in ("auto", "any-model")}
    for query in cell.queries:
        found = explainers["auto"].explain(query)
        is_large = found.graph.candidates * found.graph.num_features > LARGE
        samples = SAMPLES_OF_LARGE if is_large else SAMPLES
        looped = LOOPED_OF_LARGE if is_large or cell.entries > LARGE else LOOPED
        toggled = TOGGLED_OF_LARGE if is_large else TOGGLED
        meters = [zorro.meter(query, samples=samples) for zorro in explainers.values()]
        evaluators = [meter.evaluator for meter in meters]
        counts["large"] += is_large
        counts["queries"] += 1
        counts["traced"] += evaluators[0].name == "traced"
        half = found.edges[: len(found.edges) // 2]
        sets: list[tuple[tuple[int, ...], ...]] = [(), half, found.edges]
        for edges in sets:
            selection = meters[0].selection(edges=edges)
            under = evaluators[0].edges_under(selection)
            assert under is not None
            loop = one_by_one(cell, query, evaluators[0], under.present[:looped])
            hits = [evaluator.hits(selection) for evaluator in evaluators]
            counts["loop"] += 2 * loop.numel()
            counts["loop unlike"] += sum(int((each[:looped] != loop).sum()) for each in hits)
            counts["compared"] += hits[0].numel()
            counts["unlike"] += int((hits[0] != hits[1]).sum())
        size = evaluators[0].space.sizes[EDGES]
        if size == 0:
            continue  # a node by itself
        start = evaluators[0].nothing.toggled(Element(EDGES, 0))
        draw = torch.Generator().manual_seed(query)
        members = torch.randperm(size, generator=draw)[:toggled].sort().values
        ours, theirs = (one.hits_toggling(start, EDGES, members) for one in evaluators)
        counts["compared"] += ours.numel()
        counts["unlike"] += int((ours != theirs).sum())
    return {"data set": cell.dataset, "model": cell.name, **counts}


def page(rows: list[dict[str, Any]]) -> str:
    """Return the counts as a page."""
    names = list(rows[0])
    lines = [
        "# Hits of sets of edges by three ways of evaluation, sample by sample",
        "",
        f"`python benchmarks/same_hits_of_edges.py` (`make same-hits`): {QUERIES} queries a model, "
        f"{SAMPLES} samples, three sets of edges each, by both evaluators and by a loop over the "
        f"whole graph without the edges that a sample lacks (*loop*, on {LOOPED} samples, and how "
        f"many are *unlike* it); these sets on all samples and {TOGGLED} edges toggled by both "
        "evaluators (*compared*, and how many are *unlike*). Queries that see more than a million "
        f"features of nodes (*large*) have {SAMPLES_OF_LARGE} samples and {TOGGLED_OF_LARGE} edges "
        f"toggled; where the whole graph has more than that the loop runs {LOOPED_OF_LARGE}.",
        "",
        "| " + " | ".join(names) + " |",
        "| " + " | ".join("---" for _ in names) + " |",
    ]
    lines += ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compare the chosen architectures and write the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=list(CELLS), default=list(CELLS))
    chosen = parser.parse_args().models
    torch.set_num_threads(1)
    RESULTS.mkdir(exist_ok=True)
    kept = RESULTS / "same_hits_of_edges.json"
    rows: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    for name in chosen:
        rows[name] = compare(CELLS[name]())
        print(rows[name], flush=True)
        kept.write_text(json.dumps(rows, indent=1) + "\n")
        every = [rows[each] for each in CELLS if each in rows]
        (RESULTS / "same_hits_of_edges.md").write_text(page(every))


if __name__ == "__main__":
    main()
