"""Runs about values: a model that weighs atoms, and one that adds up what neighbours have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from made_molecules import molecules
from made_runs import ring
from torch import nn

from zorro.data import GraphDataset
from zorro.runs import Run, explain_graphs, explain_many

WEIGHTS = (0.5, 2.0, -1.0)  # of carbon, nitrogen, oxygen
TOLERANCE = 1.5


class WeighsAtoms(nn.Module):
    """The weight of a molecule, in one column."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor(WEIGHTS))

    def forward(self, x, edge_index, batch=None):
        batch = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
        size = int(batch.max()) + 1
        return x.new_zeros(size).index_add(0, batch, x @ self.weights).unsqueeze(1)


class AddsNeighbours(nn.Module):
    """Two values of a node: the sums of its neighbours' first and second features."""

    def forward(self, x, edge_index):
        sums = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return sums[:, :2]


def weighed_molecules() -> GraphDataset:
    """Molecules whose target is their weight and a little more."""
    known = molecules()
    graphs = []
    for number, graph in enumerate(known.graphs):
        weighed = graph.clone()
        weighed.y = WeighsAtoms()(graph.x, graph.edge_index).detach()[0] + 0.1 * number
        graphs.append(weighed)
    return replace(known, graphs=graphs, class_names=())


def weighed_run(folder: Path, **options: Any) -> Run:
    """A real run about three molecules' weights."""
    asked = {"keep": ("nodes",), "feature_groups": [range(3)], "tolerance": TOLERANCE, **options}
    graphs = weighed_molecules().graphs
    return explain_graphs(
        WeighsAtoms().eval(), graphs, [0, 1, 4], out=folder, engine="in-process", **asked
    )


def summed_run(folder: Path, **options: Any) -> Run:
    """A real run about three nodes' sums."""
    graph, asked = ring(), {"tolerance": TOLERANCE, **options}
    return explain_many(
        AddsNeighbours(),
        graph["x"],
        graph["edge_index"],
        [6, 9, 11],
        out=folder,
        engine="in-process",
        **asked,
    )
