"""The models whose output is a value that are audited, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric import nn as pyg
from torch_geometric.data import Batch, Data

from honesty_audit import graphs, many_graphs
from honesty_audit.graphs import Graph
from honesty_audit.plain_loop import (
    count_values_kept,
    count_values_kept_of_graph,
    evaluating,
)
from zorro import Explanation, Zorro

HIDDEN = 16
EPOCHS, RATE = 60, 0.02
SIZE = 200  # nodes of a graph


@dataclass(frozen=True)
class ValueEntry:
    """A kind of model of values, of nodes or of whole graphs.

    `build` makes it for a number of features; `finish` turns the trained module into what Zorro is
    given, and may change its data with it; `quick` entries are those of the test.
    """

    name: str
    of_graphs: bool
    build: Callable[[int], nn.Module]
    options: Mapping[str, Any] = field(default_factory=dict)
    finish: Callable[[nn.Module, Any], tuple[nn.Module, Any]] = lambda model, data: (model, data)
    epochs: int = EPOCHS
    quick: bool = False


@dataclass(frozen=True)
class NodeValuesCase:
    """A trained model of the nodes' values with its graph."""

    name: str
    model: nn.Module
    graph: Graph
    options: Mapping[str, Any]
    predicted: Tensor  # (N,), values in four equal ranges
    margins: Mapping[Any, float] = field(default_factory=dict)  # of none: a value is one answer

    def queries(self, count: int) -> list[Any]:
        """Return the nodes with the greatest values."""
        return torch.argsort(self.predicted, descending=True, stable=True)[:count].tolist()

    def zorro(self, **options: Any) -> Zorro:
        """Return what explains the model, with further options."""
        return Zorro(self.model, self.graph.x, self.graph.edge_index, **{**self.options, **options})

    def hits(self, explanation: Explanation, *, runs: int, seed: int) -> int:
        """Return how many inputs keep the value, by the plain loop."""
        return count_values_kept(
            self.model,
            self.graph.x,
            self.graph.edge_index,
            explanation.query.index,
            nodes=explanation.nodes,
            features=explanation.features,
            share=float(self.options["tolerance_share"]),
            side=str(self.options.get("side", "both")),
            samples=runs,
            seed=seed,
        )


@dataclass(frozen=True)
class GraphValuesCase:
    """A trained model of the graphs' values with its graphs."""

    name: str
    model: nn.Module
    graphs: list[Data]
    options: Mapping[str, Any]
    predicted: Tensor  # (G,), values in four equal ranges
    margins: Mapping[Any, float] = field(default_factory=dict)  # of none: a value is one answer

    def queries(self, count: int) -> list[Any]:
        """Return the graphs with the greatest values."""
        return torch.argsort(self.predicted, descending=True, stable=True)[:count].tolist()

    def zorro(self, **options: Any) -> Zorro:
        """Return what explains the model, with further options."""
        return Zorro.of_graphs(self.model, self.graphs, **{**self.options, **options})

    def hits(self, explanation: Explanation, *, runs: int, seed: int) -> int:
        """Return how many inputs keep the value, by the plain loop."""
        return count_values_kept_of_graph(
            self.model,
            self.graphs,
            explanation.query.index,
            nodes=explanation.nodes,
            share=float(self.options["tolerance_share"]),
            side=str(self.options.get("side", "both")),
            samples=runs,
            seed=seed,
        )


def prepare_values(entry: ValueEntry) -> NodeValuesCase | GraphValuesCase:
    """Build and train a model of values; the same one each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if entry.of_graphs:
            several = many_graphs.categories()
            batch = Batch.from_data_list(several)
            links = torch.bincount(batch.batch[batch.edge_index[0]], minlength=len(several))
            model = entry.build(batch.x.size(1))
            _fit(model, _in_one(several), links.float() / 10, entry.epochs)
            model, several = entry.finish(model, several)
            ranges = _ranges(model, _in_one(several))
            return GraphValuesCase(entry.name, model, several, entry.options, ranges)
        graph = graphs.dense(SIZE)
        model = entry.build(graph.features)
        _fit(model, (graph.x, graph.edge_index), graph.y.float(), entry.epochs)
        model, graph = entry.finish(model, graph)
        ranges = _ranges(model, (graph.x, graph.edge_index))
        return NodeValuesCase(entry.name, model, graph, entry.options, ranges)


def _in_one(several: list[Data]) -> tuple[Tensor, ...]:
    """Return the arguments of a model for graphs in one batch."""
    batch = Batch.from_data_list(several)
    return batch.x, batch.edge_index, batch.batch


class _Regressor(nn.Module):
    """Two convolutions that give each node a value."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.first, self.second = pyg.GCNConv(features, HIDDEN), pyg.GCNConv(HIDDEN, 1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        value: Tensor = self.second(self.first(x, edge_index).relu(), edge_index)
        return value


class _Pooled(nn.Module):
    """An isomorphism layer, summed over each graph, that gives it a value."""

    def __init__(self, features: int) -> None:
        super().__init__()
        perceptron = nn.Sequential(
            nn.Linear(features, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN)
        )
        self.conv, self.last = pyg.GINConv(perceptron), nn.Linear(HIDDEN, 1)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        pooled = pyg.global_add_pool(self.conv(x, edge_index).relu(), batch)
        value: Tensor = self.last(pooled)
        return value


def _fit(model: nn.Module, inputs: tuple[Tensor, ...], targets: Tensor, epochs: int) -> None:
    """Train a model to give targets (k,)."""
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(epochs):
        optimiser.zero_grad()
        loss = functional.mse_loss(model(*inputs).flatten(), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    model.eval()


def _ranges(model: nn.Module, inputs: tuple[Tensor, ...]) -> Tensor:
    """Return in which of four equal ranges each value (k,) of a model lies."""
    with evaluating(model):
        values = model(*inputs).flatten().double()
    low, high = float(values.min()), float(values.max())
    return torch.bucketize(values, torch.linspace(low, high, 5, dtype=values.dtype)[1:-1])


_NODES = {"keep": ("nodes",), "feature_groups": [list(range(many_graphs.KINDS))]}
VALUE_ZOO = [
    ValueEntry("values: GCN of nodes", False, _Regressor, {"tolerance_share": 1.0}, quick=True),
    ValueEntry(
        "values: GCN of nodes, up", False, _Regressor, {"tolerance_share": 0.5, "side": "up"}
    ),
    ValueEntry(
        "values: GIN of graphs", True, _Pooled, {"tolerance_share": 0.5, **_NODES}, quick=True
    ),
    ValueEntry(
        "values: GIN of graphs, down",
        True,
        _Pooled,
        {"tolerance_share": 0.25, "side": "down", **_NODES},
    ),
]
