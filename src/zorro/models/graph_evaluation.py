"""How well a model of whole graphs does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from zorro.data.graph_dataset import GraphDataset
from zorro.errors import InputError, ModelError
from zorro.model.model_state import undisturbed
from zorro.models.edge_inputs import EdgeInputs, edge_inputs
from zorro.models.graph_batches import GraphBatch, in_order


def graph_accuracy(model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
    """Return the share of graphs whose predicted class is theirs, for each part that has some.

    The model is called as `model(x, edge_index, batch=…)`, and gets those of `edge_weight`,
    `edge_attr` and `edge_type` that the graphs have and it takes. It is left as it was.

    >>> import torch
    >>> from torch import nn
    >>> from torch_geometric.data import Data
    >>> from torch_geometric.nn import global_add_pool
    >>> from zorro.data import load_graphs
    >>> from zorro.models import graph_accuracy
    >>> class MostFrequent(nn.Module):
    ...     def forward(self, x, edge_index, batch):
    ...         return global_add_pool(x, batch)
    >>> alone = torch.empty(2, 0, dtype=torch.long)
    >>> graphs = [
    ...     Data(x=torch.eye(2)[[c]], edge_index=alone, y=torch.tensor(c)) for c in (0, 1) * 10
    ... ]
    >>> graph_accuracy(MostFrequent(), load_graphs(graphs))
    {'train': 1.0, 'val': 1.0, 'test': 1.0}

    Args:
        model: called as `model(x, edge_index, batch=…)`.
        dataset: graphs with classes, and a split.
    """
    if not dataset.has_classes:
        raise InputError(f"dataset: expected graphs with classes, got {dataset.name} without")
    return {
        name: float((scores.argmax(dim=1) == targets).double().mean())
        for name, scores, targets in _by_part(model, dataset)
    }


def graph_errors(model: nn.Module, dataset: GraphDataset) -> dict[str, dict[str, float]]:
    """Return how far a model's values are from the graphs' own, for each part that has some.

    `rmse` is the root of the mean squared error, `r2` the share of the part's variance that is not
    in these errors. The model is called as for `graph_accuracy`.

    >>> import torch
    >>> from torch import nn
    >>> from torch_geometric.data import Data
    >>> from torch_geometric.nn import global_add_pool
    >>> from zorro.data import load_graphs
    >>> from zorro.models import graph_errors
    >>> class Size(nn.Module):
    ...     def forward(self, x, edge_index, batch):
    ...         return global_add_pool(x, batch)
    >>> alone = torch.empty(2, 0, dtype=torch.long)
    >>> graphs = [
    ...     Data(x=torch.ones(n, 1), edge_index=alone, y=torch.tensor(n + 0.5))
    ...     for n in range(1, 21)
    ... ]
    >>> errors = graph_errors(Size(), load_graphs(graphs))  # each is half a node off
    >>> errors["test"]["rmse"], list(errors)
    (0.5, ['train', 'val', 'test'])

    Args:
        model: called as `model(x, edge_index, batch=…)`, returns one value per graph (B, 1).
        dataset: graphs with values, and a split.
    """
    if dataset.has_classes:
        raise InputError(f"dataset: expected graphs with values, got {dataset.name} with classes")
    found = {}
    for name, scores, targets in _by_part(model, dataset):
        squared = float((values_in(scores).double() - targets.double()).square().mean())
        variance = float(targets.double().var(correction=0))
        found[name] = {
            "rmse": math.sqrt(squared),
            "r2": 1 - squared / variance if variance else math.nan,
        }
    return found


def _by_part(model: nn.Module, dataset: GraphDataset) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield each part that has graphs, with a model's scores (k, C) and the targets (k,)."""
    for name, members in dataset.parts.items():
        if members.numel():
            yield name, graph_scores(model, dataset, members), dataset.targets[members]


def values_in(scores: Tensor) -> Tensor:
    """Return the values (k,) in a model's output (k, 1)."""
    if scores.size(1) != 1:
        raise ModelError(
            f"the model must return one value per graph, ({len(scores)}, 1); it returned "
            f"{tuple(scores.shape)}"
        )
    return scores[:, 0]


def graph_scores(model: nn.Module, dataset: GraphDataset, members: Tensor) -> Tensor:
    """Return the model's scores (k, C) for the graphs with the numbers `members` (k,)."""
    inputs = list(graph_inputs(model, dataset).passed)
    with undisturbed(model), torch.no_grad():
        return torch.cat([scores_of(model, some) for some in in_order(dataset, members, inputs)])


def graph_inputs(model: nn.Module, dataset: GraphDataset) -> EdgeInputs:
    """Return what the graphs have for their edges and the model takes, of the first of them."""
    return edge_inputs(model, dataset.graphs[0], given=["batch"])


def scores_of(model: nn.Module, some: GraphBatch) -> Tensor:
    """Return the model's scores (B, C), or raise `ModelError` if they are of another shape."""
    try:
        scores: Any = model(some.x, some.edge_index, batch=some.batch, **some.inputs)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        raise ModelError(f"the model raised {type(error).__name__}: {error}") from error
    graphs = some.targets.numel()
    if not isinstance(scores, Tensor) or scores.dim() != 2 or scores.size(0) != graphs:
        came = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        raise ModelError(
            f"the model must return one row of class scores per graph, ({graphs}, classes); it "
            f"returned {came}"
        )
    return scores
