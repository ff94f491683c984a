"""The cells of the paper's tables: its models on its data sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn
from torch_geometric.data import Data

from zorro import data, models
from zorro.models import TrainingSettings, checkpoint


@dataclass(frozen=True)
class NodeCell:
    """A model of the paper's on a data set; `str` names it.

    Args:
        dataset: by its name.
        model: by its name.
        epoch: of the training that left the model; the last one when None.
        weights: a file of our own with the weights; the paper's when None.
    """

    dataset: str
    model: str
    epoch: int | None = None
    weights: str | None = None

    def __str__(self) -> str:
        name = f"{self.dataset} {self.model}"
        return name if self.epoch is None else f"{name} epoch {self.epoch}"

    def load(self) -> tuple[nn.Module, Data]:
        """Return the trained model and its graph."""
        graph = data.load(self.dataset)
        model = models.build(self.model, graph.num_features, int(graph.y.max()) + 1)
        path = self.weights or checkpoint.paper_checkpoint(
            self.dataset, self.model, epoch=self.epoch
        )
        checkpoint.load(model, path)
        return model.eval(), graph

    @property
    def record(self) -> dict[str, Any]:
        """How a model of our own was trained, and how well it does."""
        assert self.weights is not None, "one of the paper's models"
        return checkpoint.read_record(self.weights)

    def nodes(self) -> list[int]:
        """Return the paper's query nodes; the first ones are a fair part of all.

        On the citation graphs they are in no order; those of the houses, which are, are shuffled,
        always in the same way.
        """
        every = [int(node) for node in data.paper_nodes(self.dataset)]
        if self.model == "gcn3":
            every = np.random.default_rng(0).permutation(every).tolist()
        return every


def trained(dataset: str, model: str, folder: Path, settings: TrainingSettings) -> NodeCell:
    """Return a cell whose weights are kept in a folder, training the model if need be.

    Args:
        dataset: by its name.
        model: by its name.
        folder: where the weights are, or go.
        settings: of the training.
    """
    path = (folder / f"{dataset}-{model}{checkpoint.SUFFIX}").absolute()
    if not path.exists():
        graph = data.load(dataset)
        network = models.train(model, graph, settings)
        record = checkpoint.describe(network, model, graph, dataset=dataset, settings=settings)
        checkpoint.save(path, network, record)
    return NodeCell(dataset, model, weights=str(path))


CITATION = tuple(
    NodeCell(dataset, model)
    for dataset in ("cora", "citeseer", "pubmed")
    for model in ("gcn", "gat", "gin", "appnp")
)
SYNTHETIC = NodeCell("ba-community-paper", "gcn3")
