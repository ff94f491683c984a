"""Train a model on a data set's training graphs, reproducibly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from zorro.arguments import check_at_least
from zorro.data.graph_dataset import GraphDataset
from zorro.data.spelling import known_as
from zorro.errors import InputError
from zorro.model.randomness import seeded
from zorro.models.best_weights import BestWeights
from zorro.models.edge_inputs import EdgeInputs
from zorro.models.graph_batches import batch_of, shuffled
from zorro.models.graph_evaluation import graph_inputs, graph_scores, scores_of, values_in
from zorro.models.graph_options import fitting_options
from zorro.models.registry import Factory, construct
from zorro.models.training import TrainingSettings, adam, refuse_divergence

_USUAL: dict[str, dict[str, Any]] = {
    "ba-2motifs": {"epochs": 200, "batch_size": 64, "learning_rate": 0.003},
    "benzene": {"epochs": 60, "batch_size": 64, "learning_rate": 0.002},
    "crippen": {"epochs": 100, "learning_rate": 0.002},
    "mutag": {"epochs": 300},
    "mutagenicity": {"epochs": 60, "batch_size": 64},
    "proteins": {"epochs": 60, "batch_size": 64},
}


@dataclass(frozen=True, kw_only=True)
class GraphTrainingSettings(TrainingSettings):
    """How a model of graphs is trained.

    >>> from zorro.models import GraphTrainingSettings
    >>> GraphTrainingSettings(epochs=5).batch_size
    32

    Args:
        epochs: passes over the training graphs.
        learning_rate: of Adam.
        weight_decay: of Adam, on all weights.
        seed: of the initial weights, the dropout and the order of the batches.
        batch_size: graphs in a batch.
    """

    epochs: int = 100
    learning_rate: float = 0.01
    weight_decay: float = 0.0
    batch_size: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least("batch_size", self.batch_size, 1)


def usual_settings(dataset: str, *, seed: int = 0) -> GraphTrainingSettings:
    """Return settings that suit a data set: few graphs are seen more often, in smaller batches.

    >>> usual_settings("mutag").epochs > usual_settings("benzene").epochs
    True
    """
    given = _USUAL.get(known_as(dataset, _USUAL) or "", {})
    return GraphTrainingSettings(seed=seed, **given)


def train_graphs(
    architecture: str | Factory,
    dataset: GraphDataset,
    settings: GraphTrainingSettings,
    *,
    options: Mapping[str, Any] | None = None,
    on_inputs: Callable[[EdgeInputs], None] | None = None,
    on_epoch: Callable[[int, float], None] | None = None,
) -> nn.Module:
    """Return a model trained with Adam on batches of `dataset.train`, in eval mode.

    Its weights are those of the epoch after which the loss on `dataset.val` was least; of the
    last where there are no such graphs. Training runs on the device that holds the graphs.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from zorro.data import load_graphs
    >>> from zorro.models import GraphTrainingSettings, graph_accuracy, train_graphs
    >>> pair = torch.tensor([[0, 1], [1, 0]])
    >>> graphs = [
    ...     Data(x=torch.eye(2)[[c, c]], edge_index=pair, y=torch.tensor(c)) for c in (0, 1) * 10
    ... ]
    >>> dataset = load_graphs(graphs)
    >>> model = train_graphs("gcn", dataset, GraphTrainingSettings(epochs=10))
    >>> graph_accuracy(model, dataset)
    {'train': 1.0, 'val': 1.0, 'test': 1.0}

    Args:
        architecture: what `build` takes at graph level.
        dataset: graphs with classes, or with values, for which squared errors are made small.
        settings: of the training.
        options: what else the architecture is built with; `edge_dim` and `regression` are read off
            the graphs.
        on_inputs: told what the model gets for each edge, before training begins.
        on_epoch: called as `on_epoch(epoch, loss)` after each epoch, the first being 1.
    """
    if not dataset.train.numel():
        raise InputError("train: expected at least one graph to train on, got none")
    device = dataset.graphs[0].x.device
    order = torch.Generator().manual_seed(settings.seed)
    with seeded(settings.seed, device):
        model = construct(
            architecture,
            dataset.num_features,
            dataset.num_outputs,
            level="graph",
            **fitting_options(architecture, dataset, options or {}),
        )
        model.to(device).train()
        inputs = graph_inputs(model, dataset)
        if on_inputs is not None:
            on_inputs(inputs)
        optimizer = adam(model, settings)
        best = BestWeights()
        for epoch in range(1, settings.epochs + 1):
            loss = 0.0
            for members in shuffled(dataset.train, settings.batch_size, order):
                some = batch_of(dataset, members, list(inputs.passed))
                optimizer.zero_grad()
                batch_loss = loss_of(scores_of(model, some), some.targets)
                torch.autograd.backward(batch_loss)
                optimizer.step()
                loss += batch_loss.item() * members.numel() / dataset.train.numel()
            refuse_divergence(loss, epoch, settings)
            if dataset.val.numel():
                best.offer(model, _loss_on_validation(model, dataset))
            if on_epoch is not None:
                on_epoch(epoch, loss)
        best.restore(model)
    return model.eval()


def loss_of(scores: Tensor, targets: Tensor) -> Tensor:
    """Return the mean loss of a model's scores (k, C) where targets (k,) are classes or values."""
    if targets.is_floating_point():
        return functional.mse_loss(values_in(scores), targets.to(scores.dtype))
    # Cross-entropy takes logits, and leaves log-probabilities as they are.
    return functional.cross_entropy(scores, targets)


def _loss_on_validation(model: nn.Module, dataset: GraphDataset) -> float:
    """Return the loss by which the best epoch is told.

    Where validation graphs are few, many epochs have as many of them right, and the loss still
    tells which is better.
    """
    scores = graph_scores(model, dataset, dataset.val)  # (k, C)
    return loss_of(scores, dataset.targets[dataset.val]).item()
