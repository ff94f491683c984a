"""Do the traced evaluator, the any-model evaluator and a plain loop give the same hits?

    python benchmarks/same_hits.py

For each architecture, 50 of the paper's query nodes that the golden files do not hold: hits of
three selections along the search's path, sample by sample, by both evaluators and by running one
perturbed input after the other; and the hits of every candidate of one step by both evaluators.
Writes benchmarks/results/same_hits.{json,md}.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import torch
from torch import Tensor

from zorro import data, models
from zorro.cut import ComputationalGraph, Extractor
from zorro.elements import FEATURES, NODES, Kind, Selection
from zorro.evaluation import EvaluatorChoice
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import Draws, draws_of, resolve
from zorro.search import Found, greedy_search

RESULTS = Path(__file__).parent / "results"
CELLS = [
    ("cora", "gcn"),
    ("cora", "gat"),
    ("citeseer", "gin"),
    ("pubmed", "appnp"),
    ("ba-community-paper", "gcn3"),
]
GOLDEN = {2521, 17934, 1861, 1003, 301, 305, 520}
QUERIES, SAMPLES, MEMORY = 50, 100, 1 << 30
MOST_CANDIDATES = 150  # the plain loop is slow; larger queries are left out, and said so


def one_by_one(
    predictor: Predictor, graph: ComputationalGraph, draws: Draws, selection: Selection
) -> Tensor:
    """Return the hits (S,) by running one perturbed input after the other."""
    mask = selection.nodes.unsqueeze(1) & selection.features
    hits = []
    for sample in range(draws.shape[0]):
        noise = draws.matrices(torch.tensor([sample]))[0]
        x = graph.x.clone()
        x[: graph.candidates.numel()] = torch.where(mask, graph.candidate_x, noise)
        scores = predictor.scores(x, graph.edge_index, {})[graph.target]
        hits.append(scores.argmax() == graph.predicted_class)
    return torch.stack(hits)


def along(found: Found, shape: tuple[int, int]) -> list[Selection]:
    """Return the search's selection at its start, halfway and at its end."""
    path = [Selection.empty(*shape)]
    for move in found.moves[1:]:
        if move.element is not None:
            path.append(path[-1].toggled(move.element))
    return [path[0], path[len(path) // 2], path[-1]]


def compare(dataset: str, architecture: str) -> dict[str, object]:
    """Count equal and unequal hits of one model."""
    graph = data.load(dataset)
    model = models.build(architecture, graph.x.size(1), int(graph.y.max()) + 1)
    models.checkpoint.load(model, models.checkpoint.paper_checkpoint(dataset, architecture))
    predictor = Predictor(model)
    extractor = Extractor(predictor, Graph(graph.x, graph.edge_index))
    noise = resolve("column-marginals", graph.x)
    nodes = [node for node in data.paper_nodes(dataset) if node not in GOLDEN]
    random.Random(0).shuffle(nodes)
    counts = {"queries": 0, "left_out": 0, "loop": 0, "loop_unequal": 0, "pairs": 0, "unequal": 0}
    for node in nodes:
        if counts["queries"] == QUERIES:
            break
        cut = extractor.extract(node)
        if cut.candidates.numel() > MOST_CANDIDATES:
            counts["left_out"] += 1
            continue
        counts["queries"] += 1
        draws = draws_of(
            noise, cut.candidate_x, seed=7, query=node, samples=range(SAMPLES), memory=MEMORY
        )
        traced, plain = (
            EvaluatorChoice(predictor, wanted=wanted, memory=MEMORY).evaluator(cut, draws)
            for wanted in ("traced", "any-model")
        )
        path = along(greedy_search(traced, tau=0.85), traced.shape)
        for selection in path:
            loop = one_by_one(predictor, cut, draws, selection)
            counts["loop"] += loop.numel()
            for evaluator in (traced, plain):
                counts["loop_unequal"] += int((evaluator.hits(selection) != loop).sum())
        rows = torch.arange(min(10, traced.shape[0]))
        columns = torch.randperm(traced.shape[1], generator=torch.Generator().manual_seed(node))[
            :50
        ]
        members: dict[Kind, torch.Tensor] = {NODES: rows, FEATURES: columns}
        for kind, some in members.items():
            ours, theirs = (one.hits_toggling(path[1], kind, some) for one in (traced, plain))
            counts["pairs"] += ours.numel()
            counts["unequal"] += int((ours != theirs).sum())
    return {"dataset": dataset, "model": architecture, **counts}


def main() -> None:
    """Compare every architecture and write the counts."""
    torch.set_num_threads(1)
    rows = []
    for cell in CELLS:
        rows.append(compare(*cell))
        print(rows[-1], flush=True)
    lines = [
        "# Hits by three ways of evaluation, sample by sample",
        "",
        "`python benchmarks/same_hits.py` (`make same-hits`): the paper's models, "
        f"{QUERIES} query nodes each, {SAMPLES} samples, three selections along each search. "
        f"Queries with more than {MOST_CANDIDATES} candidate nodes are left out.",
        "",
        "| data set | model | queries | left out | hits run one by one | of these unlike the "
        "traced or any-model evaluator's | further hits of candidates | of these unlike between "
        "the two |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "same_hits.json").write_text(json.dumps(rows, indent=1) + "\n")
    (RESULTS / "same_hits.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
