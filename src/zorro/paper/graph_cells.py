"""The cells of tables about whole graphs: models that are trained here, on sets of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from zorro import data, models
from zorro.data.graph_dataset import GraphDataset
from zorro.models import checkpoint
from zorro.models.graph_evaluation import graph_scores
from zorro.models.graph_training import GraphTrainingSettings, loss_of, usual_settings


@dataclass(frozen=True)
class GraphCell:
    """A model on a set of graphs; `str` names it.

    Args:
        dataset: by its name.
        model: by its name.
        weights: the file that holds them.
    """

    dataset: str
    model: str
    weights: str

    def __str__(self) -> str:
        return f"{self.dataset} {self.model}"

    def load(self) -> tuple[nn.Module, GraphDataset]:
        """Return the trained model and its graphs."""
        graphs = data.load_graphs(self.dataset)
        options = self.record["options"]
        model = models.build(
            self.model, graphs.num_features, graphs.num_outputs, level="graph", **options
        )
        checkpoint.load(model, self.weights)
        return model.eval(), graphs

    @property
    def record(self) -> dict[str, Any]:
        """How the model was trained, and how well it does."""
        return checkpoint.read_record(self.weights)

    def drawn(self, count: int, *, seed: int) -> tuple[int, ...]:
        """Return the numbers of some graphs in a random order, of the whole set."""
        total = len(data.load_graphs(self.dataset).graphs)
        every = np.random.default_rng(seed).permutation(total)
        return tuple(int(number) for number in every[:count])


@cache
def loaded_graphs(cell: GraphCell, device: str = "cpu") -> tuple[nn.Module, GraphDataset]:
    """Return a cell's model and graphs on a device."""
    model, graphs = cell.load()
    return model.to(device), replace(graphs, graphs=[each.to(device) for each in graphs.graphs])


def trained(
    dataset: str,
    model: str,
    folder: Path,
    *,
    poolings: Sequence[str] = ("add",),
    rates: Sequence[float] | None = None,
    seed: int = 0,
) -> GraphCell:
    """Return a cell whose weights are kept in a folder, training the model if need be.

    Of all poolings and learning rates those are taken whose loss on the validation graphs is least.

    Args:
        dataset: by its name.
        model: by its name.
        folder: where the weights are, or go.
        poolings: to choose from.
        rates: learning rates to choose from; the data set's usual one when None.
        seed: of the training.
    """
    path = (folder / f"{dataset}-{model}{checkpoint.SUFFIX}").absolute()
    if not path.exists():
        graphs = data.load_graphs(dataset)
        usual = usual_settings(dataset, seed=seed)
        tried = [
            _tried(model, graphs, pooling, replace(usual, learning_rate=rate))
            for pooling in poolings
            for rate in ([usual.learning_rate] if rates is None else rates)
        ]
        _, network, record = min(tried, key=lambda one: one[0])
        checkpoint.save(path, network, record)
    return GraphCell(dataset, model, str(path))


def _tried(
    model: str, graphs: GraphDataset, pooling: str, settings: GraphTrainingSettings
) -> tuple[float, nn.Module, dict[str, Any]]:
    """Return the loss on the validation graphs after a training, the model, and its record."""
    options = {"pooling": pooling}
    network = models.train_graphs(model, graphs, settings, options=options)
    scores = graph_scores(network, graphs, graphs.val)  # (k, C)
    loss = loss_of(scores, graphs.targets[graphs.val]).item()
    record = checkpoint.describe_graphs(network, model, graphs, settings=settings, options=options)
    return loss, network, record
