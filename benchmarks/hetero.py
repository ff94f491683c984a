"""Explanations of a graph of several types: DBLP, an author's field, beside PyG's GNNExplainer.

    python benchmarks/hetero.py [--workers 8]

Trains HGT and SAGE by relation on DBLP, then explains test authors: by nodes and features, by whole
types and by whole relations; in turn with the first GNNExplainer with 200 epochs explains the same
author on the same part of the graph. One thread in each process. For some authors the fidelity of
the set is counted again by a plain loop over the whole graph. What is measured is kept in
build/hetero; `--fresh` forgets it. Writes results/hetero.md.
"""

from __future__ import annotations

import argparse
import logging
import random
import resource
import shutil
import time
import warnings
from collections import Counter
from collections.abc import Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import torch
from hetero_dblp import gnn_explainer, plain_loop
from scipy.stats import binomtest
from timing import kept_rows
from timing.cells import Row
from timing.machine import describe
from torch import nn
from torch_geometric.data import HeteroData

from zorro import Zorro
from zorro.data import load_hetero
from zorro.graph.packed import pack
from zorro.models import build_hetero, hetero_accuracy, train_hetero

ROWS = Path(__file__).parents[1] / "build" / "hetero" / "rows.jsonl"
RESULTS = Path(__file__).parent / "results"
MODELS = ("hgt", "hetero-sage")
TARGET = "author"
KEPT: tuple[tuple[str, ...], ...] = (("nodes", "features"), ("types",), ("relations",))
SEED = 0  # of the trainings, of the order of test authors, and of the plain loop's noise
COMPARED = 20  # authors that GNNExplainer explains, too
_ABOUT = (
    "DBLP (4,057 authors, 14,328 papers, 20 venues, 7,723 terms): authors and papers have words "
    "for features, venues and terms only their numbers. Models are `zorro train --dataset dblp "
    "--model hgt` and `hetero-sage` with their defaults. Random test authors are explained with "
    "all defaults (τ = .85, δ = .05). *by GNNExplainer's*: of the first authors the median of our "
    "seconds by the median of those of PyG's GNNExplainer with 200 epochs and a mask of all "
    "features, on the computational graph that we look at, in turn with ours; its extraction is "
    "counted in with ours alone. *peak*: the most memory that a process has taken, GNNExplainer "
    "included."
)


class ExplainedModel:
    """A trained model and what explains it."""

    def __init__(self, name: str, data: HeteroData) -> None:
        self.data = data
        self.model = trained(name, data)
        self.accuracy = hetero_accuracy(self.model, data, TARGET)["test"]
        _, self.packing = pack(data, {}, directed=None)
        self.zorros: dict[tuple[str, ...], Zorro] = {
            keep: Zorro.of_hetero(self.model, data, TARGET, keep=keep) for keep in KEPT
        }

    def by_zorro(self, keep: tuple[str, ...], author: int) -> Row:
        """Return what came of a query, and how long it took."""
        started = time.perf_counter()
        found: Any = self.zorros[keep].explain(author)
        seconds = time.perf_counter() - started
        return {
            "seconds": seconds,
            "status": found.status,
            "certified": found.certified,
            "evaluator": found.evaluator,
            "candidates": found.graph.candidates,
            "fidelity": [found.fidelity.lower, found.fidelity.upper],
            "types": list(found.node_types),
            "relations": ["–".join(each) for each in found.relations],
            "nodes": {str(name): list(own) for name, own in found.nodes.items()},
            "features": {str(name): list(own) for name, own in found.features.items()},
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        }

    def by_gnn_explainer(self, author: int) -> float:
        """Return the seconds of GNNExplainer on the same cut."""
        zorro: Any = self.zorros[KEPT[0]]
        graph = zorro.meter(author, samples=1).graph
        started = time.perf_counter()
        gnn_explainer.explain(self.model, self.packing, graph)
        return time.perf_counter() - started


def trained(name: str, data: HeteroData) -> nn.Module:
    """Return a trained model, kept for the next time."""
    path = ROWS.with_name(f"{name}.pt")
    if path.exists():
        model = build_hetero(name, data, TARGET, int(data[TARGET].y.max()) + 1)
        model.load_state_dict(torch.load(path, weights_only=True))
        return model.eval()
    model = train_hetero(name, data, TARGET)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), path)
    return model


def measure(name: str, places: Sequence[int], *, checked: int, samples: int) -> None:
    """Explain those of some authors that are missing.

    Args:
        name: of the model.
        places: of the authors, among test authors in their order.
        checked: how many of all authors are counted again.
        samples: of the plain loop.
    """
    _quietly()
    data = load_hetero("dblp")
    authors = data[TARGET].test_mask.nonzero().flatten().tolist()
    random.Random(SEED).shuffle(authors)
    kept = {(row["of"], row["author"]) for row in _of_model(name)}
    explained = ExplainedModel(name, data)
    explained.by_zorro(KEPT[0], authors[-1])  # loads what is loaded on first use
    for place in places:
        author = authors[place]
        for keep in KEPT:
            if ("-".join(keep), author) not in kept:
                kept_rows.append(ROWS, _measured(name, explained, keep, author, place))
    again = {authors[place] for place in places if place < checked}
    again -= {author for what, author in kept if what == "checked"}
    if again:
        check(name, explained, again, samples)


def _measured(
    name: str, explained: ExplainedModel, keep: tuple[str, ...], author: int, place: int
) -> Row:
    row: Row = {"model": name, "of": "-".join(keep), "author": author}
    row |= {"accuracy": explained.accuracy, **explained.by_zorro(keep, author)}
    if keep == KEPT[0] and place < COMPARED:
        row["gnn_explainer"] = explained.by_gnn_explainer(author)
    return row


def _of_model(name: str) -> list[Row]:
    return [row for row in kept_rows.read(ROWS) if row["model"] == name]


def _quietly() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.getLogger("zorro").setLevel(logging.ERROR)


def check(name: str, explained: ExplainedModel, authors: Set[int], samples: int) -> None:
    """Count the fidelity of some sets again, by a plain loop over the whole graph."""
    of = "-".join(KEPT[0])
    rows = [row for row in _of_model(name) if row["of"] == of and row["author"] in authors]
    sets = {row["author"]: {"nodes": row["nodes"], "features": row["features"]} for row in rows}
    counts = plain_loop.stayed(
        explained.model, explained.data, TARGET, sets, samples=samples, seed=SEED
    )
    for row in rows:
        found = {"stayed": counts[row["author"]], "samples": samples, "fidelity": row["fidelity"]}
        kept_rows.append(ROWS, {"model": name, "of": "checked", "author": row["author"], **found})


def page(rows: Sequence[Row], command: str) -> str:
    """Return the page."""
    machine = describe()
    parts = [f"# An author's field: DBLP\n\n`{command}`. {_ABOUT}\n", _sizes(rows)]
    parts += ["## Which types and relations do they rest on at all?\n", _grounds(rows)]
    parts += ["## The same fidelity by a plain loop\n", _checks(rows)]
    return "\n".join(parts) + f"\n{machine['machine']}; {machine['versions']}.\n"


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    ruled = [f"| {' | '.join(header)} |", f"| --- |{' ---: |' * (len(header) - 1)}"]
    return "\n".join([*ruled, *(f"| {' | '.join(line)} |" for line in lines)]) + "\n"


def _of(rows: Sequence[Row], model: str, what: str) -> list[Row]:
    return [row for row in rows if row["model"] == model and row["of"] == what]


def _sizes(rows: Sequence[Row]) -> str:
    header = ["model", "accuracy", "sets of", "authors", "certified", "nothing needed", "traced"]
    header += ["candidates", "elements", "seconds", "worst", "by GNNExplainer's", "peak MB"]
    lines = []
    for model in MODELS:
        for keep in KEPT:
            some = _of(rows, model, "-".join(keep))
            if not some:
                continue
            seconds = median(row["seconds"] for row in some)
            lines.append(
                [
                    model,
                    f"{some[0]['accuracy']:.3f}",
                    " × ".join(keep),
                    f"{len(some)}",
                    f"{sum(row['certified'] for row in some)}",
                    f"{sum(row['status'] == 'nothing needed' for row in some)}",
                    f"{sum(row['evaluator'] == 'traced' for row in some)}",
                    f"{median(row['candidates'] for row in some):.0f}",
                    f"{median(_size(row) for row in some):.0f}",
                    f"{seconds:.2f}",
                    f"{max(row['seconds'] for row in some):.2f}",
                    _by_theirs(some),
                    f"{max(row['peak_mb'] for row in some):.0f}",
                ]
            )
    return _table(header, lines)


def _by_theirs(rows: Sequence[Row]) -> str:
    both = [row for row in rows if "gnn_explainer" in row]
    if not both:
        return "–"
    ours, theirs = (median(row[key] for row in both) for key in ("seconds", "gnn_explainer"))
    return f"{ours / theirs:.2f}"


def _size(row: Row) -> int:
    by_type = (*row["nodes"].values(), *row["features"].values())
    return sum(map(len, by_type)) + len(row["types"]) + len(row["relations"])


def _grounds(rows: Sequence[Row]) -> str:
    lines = []
    for model in MODELS:
        for what in ("types", "relations"):
            some = _of(rows, model, what)
            counted = Counter(each for row in some for each in row[what])
            lines += [
                [model, what, each, f"{number / len(some):.0%}"]
                for each, number in counted.most_common()
            ]
        some = _of(rows, model, "-".join(KEPT[0]))
        nodes = Counter(name for row in some for name in row["nodes"])
        lines += [
            [model, "nodes", name, f"{number / len(some):.0%}"]
            for name, number in nodes.most_common()
        ]
    said = (
        "The share of authors whose set has the type, the relation (with its way back), or a node "
        "of the type.\n\n"
    )
    return said + _table(["model", "sets of", "has", "authors"], lines)


def _checks(rows: Sequence[Row]) -> str:
    lines = []
    for model in MODELS:
        some = _of(rows, model, "checked")
        if not some:
            continue
        inside = sum(_fits(row) for row in some)
        share = sum(row["stayed"] for row in some) / sum(row["samples"] for row in some)
        lines.append([model, f"{len(some)}", f"{some[0]['samples']}", f"{share:.3f}", f"{inside}"])
    said = (
        "Every unselected feature and number of the whole graph is drawn anew, and the model is "
        "called as its user calls it; all sets see the same draws. *fit*: sets whose count has a "
        "99 % interval that meets the one that was reported.\n\n"
    )
    return said + _table(["model", "sets", "samples each", "stayed", "fit"], lines)


def _fits(row: Row) -> bool:
    interval = binomtest(row["stayed"], row["samples"]).proportion_ci(confidence_level=0.99)
    lower, upper = row["fidelity"]
    return bool(interval.low <= upper and lower <= interval.high)


def main() -> None:
    """Measure what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--authors", type=int, default=100, help="of each model")
    parser.add_argument("--checked", type=int, default=20, help="of them by a plain loop, too")
    parser.add_argument("--samples", type=int, default=60, help="of the plain loop")
    parser.add_argument("--workers", type=int, default=1, help="processes that measure at a time")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured")
    options = parser.parse_args()
    _quietly()
    if options.fresh:
        shutil.rmtree(ROWS.parent, ignore_errors=True)
    for name in MODELS:
        trained(name, load_hetero("dblp"))
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as workers:
        parts = [
            workers.submit(
                measure,
                name,
                range(first, options.authors, options.workers),
                checked=options.checked,
                samples=options.samples,
            )
            for first in range(options.workers)
            for name in MODELS
        ]
        for part in parts:
            part.result()
    RESULTS.mkdir(exist_ok=True)
    command = (
        f"python benchmarks/hetero.py --authors {options.authors} --samples {options.samples} "
        f"--workers {options.workers}"
    )
    (RESULTS / "hetero.md").write_text(page(kept_rows.read(ROWS), command), encoding="utf-8")


if __name__ == "__main__":
    main()
