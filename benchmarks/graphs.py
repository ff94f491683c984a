"""How long explanations of whole graphs take, beside PyG's GNNExplainer on the same graphs.

    python benchmarks/graphs.py

Trains small models on MUTAG, PROTEINS and benzene (kept in build/graphs), then explains test graphs
one after the other: by zorro with all defaults, by zorro with nodes alone and one-hot columns as
one, and by GNNExplainer with 200 epochs, in turn, in one process with one thread. What is measured
is kept; `--fresh` forgets it. Writes results/graphs.md.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from timing import kept_rows
from timing.cells import Row
from timing.machine import describe
from torch import nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer, GNNExplainer

from zorro import Zorro, models
from zorro.data import GraphDataset, load_graphs
from zorro.elements.groups import one_hot_groups
from zorro.models import checkpoint
from zorro.models.graph_evaluation import graph_inputs
from zorro.models.graph_training import usual_settings

FOLDER = Path(__file__).parents[1] / "build" / "graphs"
RESULTS = Path(__file__).parent / "results"
EPOCHS = 200
SEED = 0  # of the order of test graphs
METHODS = ("default", "nodes", "gnnexplainer")
_HEADER = (
    "model",
    "asked",
    "graphs",
    "nodes",
    "ours",
    "worst",
    "GNNExplainer",
    "ratio",
    "worst ratio",
    "something needed",
    "certified",
    "traced",
)
_ABOUT = (
    "Random test graphs (of MUTAG, which has 19, validation graphs too); models trained on the "
    "spot, with their test accuracy in brackets. Seconds of a certified explanation, and of PyG's "
    f"GNNExplainer with {EPOCHS} epochs on the same graph, in turn, in one process with one "
    "thread; medians, and ours at worst. *All defaults* selects nodes and columns; *nodes alone* "
    'is `keep=("nodes",)` with the one-hot columns as one of `feature_groups`. A ratio is ours by '
    "theirs for one graph: below 1 ours is faster. *Something needed* is the median ratio without "
    "graphs for which *nothing is needed*, and how many these are."
)


@dataclass(frozen=True)
class Cell:
    """A model on a set of graphs."""

    dataset: str
    model: str

    def __str__(self) -> str:
        return f"{self.dataset} {self.model}"


CELLS = tuple(
    Cell(dataset, model)
    for dataset, isomorphism in (("mutag", "gin"), ("proteins", "gin"), ("benzene", "gine"))
    for model in (isomorphism, "gcn")
)


def trained(cell: Cell, graphs: GraphDataset) -> tuple[nn.Module, Row]:
    """Return a cell's model and its record, trained once and kept."""
    path = FOLDER / f"{cell.dataset}-{cell.model}.safetensors"
    if not path.exists():
        settings = usual_settings(cell.dataset)
        model = models.train_graphs(cell.model, graphs, settings)
        record = checkpoint.describe_graphs(model, cell.model, graphs, settings=settings)
        checkpoint.save(path, model, record)
    record = checkpoint.read_record(path)
    channels = record["in_channels"], record["out_channels"]
    model = models.build(cell.model, *channels, level="graph", **record["options"])
    checkpoint.load(model, path)
    return model.eval(), record


def asked(graphs: GraphDataset, count: int) -> list[int]:
    """Return random test graphs, and of a small set random validation graphs after them."""
    generator = torch.Generator().manual_seed(SEED)
    order = [
        number
        for part in (graphs.test, graphs.val)
        for number in part[torch.randperm(part.numel(), generator=generator)].tolist()
    ]
    return order[:count]


def timed(explain: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long something took, and what it gave."""
    started = time.perf_counter()
    result = explain()
    return time.perf_counter() - started, result


def methods_of(model: nn.Module, graphs: GraphDataset) -> dict[str, Callable[[int], Row]]:
    """Return what explains a graph and tells how long it took, by name."""
    inputs = list(graph_inputs(model, graphs).passed)
    kwargs = {name: name for name in inputs}
    everything = torch.cat([graph.x for graph in graphs.graphs])
    searches = {
        "default": Zorro.of_graphs(model, graphs.graphs, model_kwargs=kwargs),
        "nodes": Zorro.of_graphs(
            model,
            graphs.graphs,
            model_kwargs=kwargs,
            keep=("nodes",),
            feature_groups=one_hot_groups(everything) or None,
        ),
    }

    def ours(name: str) -> Callable[[int], Row]:
        def explain(number: int) -> Row:
            seconds, found = timed(lambda: searches[name].explain(number))
            return {
                "seconds": seconds,
                "status": found.status,
                "certified": found.certified,
                "evaluator": found.evaluator,
                "nodes": found.graph.num_nodes,
                "chosen": len(found.nodes),
            }

        return explain

    def theirs(number: int) -> Row:
        torch.manual_seed(0)
        seconds, _ = timed(lambda: gnn_explained(model, graphs.graphs[number], inputs))
        return {"seconds": seconds}

    return {"default": ours("default"), "nodes": ours("nodes"), "gnnexplainer": theirs}


def gnn_explained(model: nn.Module, graph: Data, inputs: Sequence[str]) -> Any:
    """Return GNNExplainer's masks for a graph."""
    explainer = Explainer(
        model,
        GNNExplainer(epochs=EPOCHS),
        explanation_type="model",
        node_mask_type="common_attributes",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "graph",
            "return_type": "log_probs",
        },
    )
    batch = torch.zeros(graph.num_nodes, dtype=torch.long)
    return explainer(
        graph.x, graph.edge_index, batch=batch, **{name: graph[name] for name in inputs}
    )


def measure(cell: Cell, count: int, path: Path) -> None:
    """Explain what is missing of a cell's graphs, a graph by all methods in turn."""
    kept = {(row["cell"], row["graph"], row["method"]) for row in kept_rows.read(path)}
    graphs = load_graphs(cell.dataset)
    numbers = asked(graphs, count)
    if all((str(cell), number, name) in kept for number in numbers for name in METHODS):
        return
    model, record = trained(cell, graphs)
    methods = methods_of(model, graphs)
    for explain in methods.values():
        explain(int(graphs.train[0]))  # loads what is loaded on first use
    for number in numbers:
        for name, explain in methods.items():
            if (str(cell), number, name) not in kept:
                row = {"cell": str(cell), "graph": number, "method": name, **explain(number)}
                kept_rows.append(path, {**row, "accuracy": record["accuracy"]["test"]})
    print(cell, "measured", flush=True)


def lines_of(cell: Cell, rows: Sequence[Row]) -> list[str]:
    """Return a cell's lines of the table, one for each way to ask us."""
    by_method = {
        name: {row["graph"]: row for row in rows if row["method"] == name} for name in METHODS
    }
    theirs = by_method["gnnexplainer"]
    lines = []
    for name, title in (("default", "all defaults"), ("nodes", "nodes alone")):
        ours = by_method[name]
        both = sorted(ours.keys() & theirs.keys())
        if not both:
            continue
        ratio = {number: ours[number]["seconds"] / theirs[number]["seconds"] for number in both}
        some = [number for number in both if ours[number]["status"] != "nothing needed"]
        needing = f"{median(ratio[number] for number in some):.2f}" if some else "–"
        certified = sum(ours[number]["certified"] for number in both)
        traced = sum(ours[number]["evaluator"] == "traced" for number in both)
        values = [
            f"{cell} ({theirs[both[0]]['accuracy']:.2f})",
            title,
            f"{len(both)}",
            f"{median(ours[number]['nodes'] for number in both):.0f}",
            f"{median(ours[number]['seconds'] for number in both):.3f}",
            f"{max(ours[number]['seconds'] for number in both):.3f}",
            f"{median(theirs[number]['seconds'] for number in both):.3f}",
            f"{median(ratio.values()):.2f}",
            f"{max(ratio.values()):.2f}",
            f"{needing} ({len(some)})",
            f"{certified}",
            f"{traced}",
        ]
        lines.append(f"| {' | '.join(values)} |")
    return lines


def page(rows: Sequence[Row], command: str) -> str:
    """Return the page with the table."""
    machine = describe()
    table = "\n".join(
        line
        for cell in CELLS
        for line in lines_of(cell, [row for row in rows if row["cell"] == str(cell)])
    )
    return f"""# Whole graphs beside GNNExplainer

`{command}`. {_ABOUT}

| {" | ".join(_HEADER)} |
| --- | --- |{" ---: |" * (len(_HEADER) - 2)}
{table}

{machine["machine"]}; {machine["versions"]}.
"""


def main() -> None:
    """Measure what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=30, help="of each set")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured")
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.getLogger("zorro").setLevel(logging.ERROR)  # it proposes groups, which are measured too
    path = FOLDER / "rows.jsonl"
    if options.fresh:
        path.unlink(missing_ok=True)
    for cell in CELLS:
        measure(cell, options.graphs, path)
    command = f"python benchmarks/graphs.py --graphs {options.graphs}"
    text = page(kept_rows.read(path), command)
    (RESULTS / "graphs.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
