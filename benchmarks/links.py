"""How long explanations of links take, beside explanations of nodes on the same graph.

    python benchmarks/links.py

Trains a link predictor and PyG's GAE on Cora (a split of its links), then explains test links, one
that is there and one that is not in turn, and as many of the paper's query nodes with the paper's
GCN, each in turn with the others, in one process with one thread. What is measured is kept in
build/links; `--fresh` forgets it. Writes results/links.md.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from statistics import median

import torch
import torch_geometric.nn as gnn
from timing import kept_rows
from timing.cells import Row
from timing.machine import describe
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro import Zorro, data, models
from zorro.models import LinkSplit, LinkTrainingSettings, checkpoint
from zorro.models.link_split import drawn_with

ROWS = Path(__file__).parents[1] / "build" / "links" / "rows.jsonl"
RESULTS = Path(__file__).parent / "results"
SEED = 0  # of the split, of the trainings and of the order of test links
Query = int | tuple[int, int]  # a node, or a link
SUBJECTS = ("GCN, inner product", "PyG's GAE", "nodes, the paper's GCN")
_HEADER = (
    "asked of",
    "AUC",
    "queries",
    "certified",
    "share",
    "nothing needed",
    "traced",
    "candidates",
    "nodes",
    "features",
    "seconds",
    "worst",
    "by a node's",
)
_ABOUT = (
    "Cora's links split at random (seed 0): 85 % carry messages and are trained on, 5 % choose the "
    "epoch, 10 % test, with as many pairs that are no links. *GCN, inner product* is "
    "`zorro train --dataset cora --model gcn --links`; *GAE* is PyG's, trained by its own loss. "
    "Test links, half of them there and half not, are explained with all defaults (τ = .85, "
    "δ = .05); in turn with them the paper's query nodes, of the paper's GCN. Medians; the last "
    "column is the median of seconds by that of a node's."
)


class Encoder(nn.Module):
    """Two graph convolutions."""

    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = gnn.GCNConv(features, 2 * width), gnn.GCNConv(2 * width, width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return what the nodes are encoded in."""
        encoded: Tensor = self.conv2(self.conv1(x, edge_index).relu(), edge_index)
        return encoded


def trained_autoencoder(split: LinkSplit, settings: LinkTrainingSettings) -> nn.Module:
    """Return PyG's autoencoder, trained by its own loss."""
    part = split.train
    with drawn_with(settings.seed, part.x.device):
        model: nn.Module = gnn.GAE(Encoder(part.num_features, settings.width))
        optimiser = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
        for _ in range(settings.epochs):
            optimiser.zero_grad()
            encoded = model.encode(part.x, part.edge_index)  # type: ignore[operator]
            loss = model.recon_loss(encoded, part.edge_label_index)  # type: ignore[operator]
            loss.backward()
            optimiser.step()
    return model.eval()


def asked_links(test: Data, count: int) -> list[tuple[int, int]]:
    """Return random test links, one that is there and one that is not in turn."""
    generator = torch.Generator().manual_seed(SEED)
    halves = []
    for there in (1, 0):
        pairs = test.edge_label_index[:, test.edge_label == there].t()
        halves.append(pairs[torch.randperm(len(pairs), generator=generator)].tolist())
    return [(int(u), int(v)) for u, v in chain.from_iterable(zip(*halves, strict=False))][:count]


def explained(zorro: Zorro, query: Query) -> Row:
    """Return what came of a query, and how long it took."""
    started = time.perf_counter()
    found = zorro.explain(query)
    return {
        "seconds": time.perf_counter() - started,
        "status": found.status,
        "certified": found.certified,
        "evaluator": found.evaluator,
        "candidates": found.graph.candidates,
        "nodes": len(found.nodes),
        "features": len(found.features),
    }


def explainers(cora: Data, split: LinkSplit) -> dict[str, tuple[Zorro, float | None]]:
    """Return by name what explains, with the model's AUC on test links."""
    settings = LinkTrainingSettings(seed=SEED)
    test = split.test
    predictors = (
        (models.train_links("gcn", split, settings), 0.0),
        (trained_autoencoder(split, settings), 0.5),
    )
    made: dict[str, tuple[Zorro, float | None]] = {}
    for name, (model, threshold) in zip(SUBJECTS, predictors, strict=False):
        zorro = Zorro.of_links(model, test.x, test.edge_index, threshold=threshold)
        made[name] = (zorro, models.link_auc(model, test))
    papers = models.build("gcn", cora.num_features, int(cora.y.max()) + 1)
    checkpoint.load(papers, checkpoint.paper_checkpoint("cora", "gcn"))
    made[SUBJECTS[2]] = (Zorro(papers.eval(), cora.x, cora.edge_index), None)
    return made


def measure(count: int) -> None:
    """Explain what is missing, a query of each in turn."""
    cora = data.load("cora")
    split = models.split_links(cora, seed=SEED)
    links, nodes = asked_links(split.test, count), data.paper_nodes("cora")[:count]
    kept = {(row["of"], str(row["query"])) for row in kept_rows.read(ROWS)}
    every_query: list[tuple[str, Query]] = []
    for link, node in zip(links, nodes, strict=True):
        every_query += zip(SUBJECTS, (link, link, node), strict=True)
    missing = [
        (name, query) for name, query in every_query if (name, str(_plain(query))) not in kept
    ]
    if not missing:
        return
    every = explainers(cora, split)
    for name, last in every_query[-len(SUBJECTS) :]:
        explained(every[name][0], last)  # loads what is loaded on first use
    for name, query in missing:
        zorro, auc = every[name]
        row = {"of": name, "query": _plain(query), "auc": auc, **explained(zorro, query)}
        kept_rows.append(ROWS, row)


def _plain(query: Query) -> int | list[int]:
    """Return a query as JSON keeps it."""
    return list(query) if isinstance(query, tuple) else query


def line_of(name: str, rows: Sequence[Row], node_seconds: float) -> str:
    """Return a line of the table."""
    certified = sum(row["certified"] for row in rows)
    auc = rows[0]["auc"]
    seconds = median(row["seconds"] for row in rows)
    sizes = [
        f"{median(row[part] for row in rows):.0f}" for part in ("candidates", "nodes", "features")
    ]
    values = [
        name,
        "–" if auc is None else f"{auc:.3f}",
        f"{len(rows)}",
        f"{certified}",
        f"{certified / len(rows):.0%}",
        f"{sum(row['status'] == 'nothing needed' for row in rows)}",
        f"{sum(row['evaluator'] == 'traced' for row in rows)}",
        *sizes,
        f"{seconds:.3f}",
        f"{max(row['seconds'] for row in rows):.3f}",
        f"{seconds / node_seconds:.2f}",
    ]
    return f"| {' | '.join(values)} |"


def page(rows: Sequence[Row], command: str) -> str:
    """Return the page with the table."""
    machine = describe()
    by_name = {name: [row for row in rows if row["of"] == name] for name in SUBJECTS}
    of_nodes = median(row["seconds"] for row in by_name[SUBJECTS[2]])
    table = "\n".join(line_of(name, some, of_nodes) for name, some in by_name.items() if some)
    return f"""# Links beside nodes

`{command}`. {_ABOUT}

| {" | ".join(_HEADER)} |
| --- |{" ---: |" * (len(_HEADER) - 1)}
{table}

{machine["machine"]}; {machine["versions"]}.
"""


def main() -> None:
    """Measure what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100, help="of each model")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured")
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.getLogger("zorro").setLevel(logging.ERROR)
    if options.fresh:
        ROWS.unlink(missing_ok=True)
    measure(options.queries)
    RESULTS.mkdir(exist_ok=True)
    command = "python benchmarks/links.py"
    (RESULTS / "links.md").write_text(page(kept_rows.read(ROWS), command), encoding="utf-8")


if __name__ == "__main__":
    main()
