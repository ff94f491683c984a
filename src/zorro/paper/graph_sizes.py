"""How many nodes the predictions can see."""

from __future__ import annotations

import statistics

import torch

from zorro import data
from zorro.graph.edge_index import EdgesByReceiver, edges_of
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.paper_values import published
from zorro.paper.report import Report, as_table

_HOPS = 2  # of the paper's models
_RANDOM = 300  # nodes of Amazon Computers, of which the paper does not say which


def run(settings: Settings) -> Report:
    """Count the nodes within two hops of the paper's query nodes."""
    rows = []
    lines = []
    for row in published("size_computational_graph"):
        sizes = _sizes(row["dataset"], settings)
        ours = {
            "minimum": min(sizes),
            "median": statistics.median(sizes),
            "mean": statistics.mean(sizes),
            "maximum": max(sizes),
        }
        rows += [
            {"dataset": row["dataset"], "statistic": name, "published": row[name], "ours": value}
            for name, value in ours.items()
        ]
        lines.append(
            [row["dataset"], len(sizes), *(f"{row[name]} / {ours[name]:.6g}" for name in ours)]
        )
    header = ["data set", "nodes", *(f"{name}: paper / ours" for name in ours)]
    note = (
        "\nThe nodes of Amazon Computers are drawn anew (the paper's are not known), so that only "
        "the order of magnitude can agree."
    )
    return Report(SIZES.title, rows, as_table(header, lines) + "\n" + note)


def _sizes(dataset: str, settings: Settings) -> list[int]:
    graph = data.load(dataset)
    if dataset == "amazon-computers":
        nodes = data.parse_nodes(f"random:{_RANDOM}", graph, seed=settings.seed)
    else:
        nodes = data.paper_nodes(dataset)
    edges = EdgesByReceiver(edges_of(graph.edge_index, graph.num_nodes))
    few = [int(node) for node in nodes][: settings.nodes]
    return [edges.neighbourhood(torch.tensor([node]), _HOPS).numel() for node in few]


SIZES = Experiment(
    "graph-sizes",
    "Number of nodes in the computational graphs",
    "tab:size_computational_graph",
    run,
)
