"""The cells of the tables: the paper's models on the paper's data sets, and their query nodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from zorro import data, models

Row = dict[str, Any]  # one measured line, ready for JSON

TAU, K, SAMPLES = 0.85, 10, 100  # the paper's setting
SEED = 0  # of the sample of query nodes


@dataclass(frozen=True)
class Cell:
    """A model on a data set; `checkpoint` is a file of our own, the paper's where it is None."""

    dataset: str
    model: str
    checkpoint: str | None = None

    def __str__(self) -> str:
        return f"{self.dataset} {self.model}"


@dataclass(frozen=True)
class ModelOnGraph:
    """A trained model, the graph it predicts on, and a way to wait for the device."""

    model: nn.Module
    x: Tensor  # (N, d)
    edge_index: Tensor  # (2, E)

    def wait(self) -> None:
        """Let the device finish what it was asked for, so that a clock can be read."""
        if self.x.is_cuda:
            torch.cuda.synchronize()


CELLS = (
    *(
        Cell(dataset, model)
        for dataset in ("cora", "citeseer", "pubmed")
        for model in ("gcn", "gat", "gin", "appnp")
    ),
    Cell("ba-community-paper", "gcn3"),
)


def load(cell: Cell, device: str = "cpu") -> ModelOnGraph:
    """Return a cell's trained model and graph."""
    graph = data.load(cell.dataset)
    model = models.build(cell.model, graph.num_features, int(graph.y.max()) + 1)
    path = cell.checkpoint or models.checkpoint.paper_checkpoint(cell.dataset, cell.model)
    models.checkpoint.load(model, path)
    return ModelOnGraph(model.eval().to(device), graph.x.to(device), graph.edge_index.to(device))


def sample(dataset: str, count: int) -> list[int]:
    """Return `count` of the paper's query nodes, always the same: a larger sample begins alike."""
    order = np.random.default_rng(SEED).permutation(data.paper_nodes(dataset))
    return [int(node) for node in order[:count]]


def seconds(work: Callable[[], object], loaded: ModelOnGraph) -> tuple[float, Any]:
    """Return how long `work` took, and what it gave."""
    loaded.wait()
    start = time.perf_counter()
    result = work()
    loaded.wait()
    return time.perf_counter() - start, result
