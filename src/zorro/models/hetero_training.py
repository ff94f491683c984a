"""Train a model on one type's training nodes of a graph of several types, reproducibly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import HeteroData

from zorro.arguments import check_at_least
from zorro.data.hetero_catalogue import chosen_target
from zorro.errors import InputError, ModelError
from zorro.graph.validation import check_labels, check_mask
from zorro.model.model_state import undisturbed
from zorro.model.randomness import seeded
from zorro.models.best_weights import BestWeights
from zorro.models.registry import HeteroFactory, construct_hetero
from zorro.models.training import TrainingSettings, adam, refuse_divergence

_MOSTLY_ZERO = 0.05  # share of entries other than 0 up to which features are multiplied as sparse


@dataclass(frozen=True, kw_only=True)
class HeteroTrainingSettings(TrainingSettings):
    """How a model of several types is trained.

    Training ends when the loss on the validation nodes has not fallen for `patience` epochs.

    >>> from zorro.models import HeteroTrainingSettings
    >>> HeteroTrainingSettings(epochs=50).patience
    15

    Args:
        epochs: the most passes over the training nodes.
        learning_rate: of Adam.
        weight_decay: of Adam, on all weights.
        seed: of the initial weights and the dropout.
        patience: epochs without a lower loss on the validation nodes after which training ends.
    """

    epochs: int = 100
    learning_rate: float = 0.005
    weight_decay: float = 0.001
    patience: int = 15

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least("patience", self.patience, 1)


def train_hetero(
    architecture: str | HeteroFactory,
    data: HeteroData,
    target: str,
    settings: HeteroTrainingSettings | None = None,
    *,
    on_epoch: Callable[[int, float], None] | None = None,
) -> nn.Module:
    """Return a model trained with Adam on all training nodes of a type at once, in eval mode.

    Its weights are those of the epoch after which the loss on the type's `val_mask` was least; of
    the last where there is none. Training runs on the device that holds the graph.

    >>> import torch
    >>> from torch_geometric.data import HeteroData
    >>> from zorro.models import HeteroTrainingSettings, hetero_accuracy, train_hetero
    >>> data = HeteroData()
    >>> data["paper"].x = torch.eye(2).repeat(6, 1)  # twelve papers of two fields
    >>> data["author"].x, data["author"].y = torch.ones(12, 1), torch.tensor([0, 1]).repeat(6)
    >>> data["author"].train_mask = torch.arange(12) < 8
    >>> data["author"].test_mask = torch.arange(12) >= 8
    >>> data["paper", "by", "author"].edge_index = torch.arange(12).repeat(2, 1)  # one each
    >>> model = train_hetero("hetero-sage", data, "author", HeteroTrainingSettings(epochs=20))
    >>> hetero_accuracy(model, data, "author")
    {'train': 1.0, 'test': 1.0}

    Args:
        architecture: one of `HETERO_MODELS`, "package.module:Class" or a function, called with the
            graph, the type and the number of classes.
        data: with `y` and `train_mask` of the type, perhaps `val_mask`.
        target: the type.
        settings: of the training.
        on_epoch: called as `on_epoch(epoch, loss)` after each epoch, the first being 1.
    """
    settings = HeteroTrainingSettings() if settings is None else settings
    labels, train, val = _labels(data, target)
    with seeded(settings.seed, labels.device):
        model = construct_hetero(architecture, data, target, num_classes(data, target))
        model.to(labels.device).train()
        # A class of the user's may take dense features alone.
        own = not isinstance(architecture, str) or ":" in architecture
        inputs = (data.x_dict if own else _light(data), data.edge_index_dict)
        optimizer = adam(model, settings)
        best, since = BestWeights(), 0
        for epoch in range(1, settings.epochs + 1):
            optimizer.zero_grad()
            scores = _scores(model, *inputs, target=target, nodes=labels.numel())  # (N, C)
            # Cross-entropy takes logits, and leaves log-probabilities as they are.
            loss = functional.cross_entropy(scores[train], labels[train])
            torch.autograd.backward(loss)
            optimizer.step()
            refuse_divergence(loss.item(), epoch, settings)
            if on_epoch is not None:
                on_epoch(epoch, loss.item())
            if val is None:
                continue
            with undisturbed(model), torch.no_grad():
                scores = _scores(model, *inputs, target=target, nodes=labels.numel())
            left = functional.cross_entropy(scores[val], labels[val]).item()
            since = 0 if best.offer(model, left) else since + 1
            if since == settings.patience:
                break
        best.restore(model)
    return model.eval()


def hetero_accuracy(model: nn.Module, data: HeteroData, target: str) -> dict[str, float]:
    """Return the share of a type's nodes whose class is their label, for each part of the split.

    The model is left as it was.

    >>> import torch
    >>> from torch import nn
    >>> from torch_geometric.data import HeteroData
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.models import hetero_accuracy
    >>> data = HeteroData()
    >>> data["paper"].x = torch.eye(2)  # two papers of two fields
    >>> data["author"].x, data["author"].y = torch.ones(4, 1), torch.tensor([0, 1, 1, 1])
    >>> data["author"].test_mask = torch.ones(4, dtype=torch.bool)
    >>> data["paper", "by", "author"].edge_index = torch.tensor([[0, 1, 1, 0], [0, 1, 2, 3]])
    >>> class FieldsOfPapers(nn.Module):
    ...     def forward(self, x_dict, edge_index_dict):
    ...         both = x_dict["paper"], x_dict["author"]
    ...         return SimpleConv()(both, edge_index_dict["paper", "by", "author"])
    >>> hetero_accuracy(FieldsOfPapers(), data, "author")
    {'test': 0.75}

    Args:
        model: called with the graph's dictionaries.
        data: with `y` and masks of the type.
        target: the type.
    """
    labels = data[target].y
    with undisturbed(model), torch.no_grad():
        scores = _scores(
            model, data.x_dict, data.edge_index_dict, target=target, nodes=labels.numel()
        )
    right = (scores.argmax(dim=1) == labels).double()  # (N,)
    masks = {name: data[target].get(f"{name}_mask") for name in ("train", "val", "test")}
    return {
        name: float(right[mask].mean())
        for name, mask in masks.items()
        if mask is not None and bool(mask.any())
    }


def num_classes(data: HeteroData, target: str) -> int:
    """Return how many classes the nodes of a type have."""
    return int(data[target].y.max()) + 1


def _labels(data: HeteroData, target: str) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return a type's classes, its training nodes, and those to choose by, if there are some."""
    if not isinstance(data, HeteroData):
        raise InputError(f"data: expected PyG's HeteroData, got {type(data).__name__}")
    target = chosen_target(data, target)
    store, nodes = data[target], data[target].num_nodes
    if store.get("y") is None:
        labelled = [each for each in data.node_types if data[each].get("y") is not None]
        raise InputError(
            f"target: expected a type with classes y ({', '.join(labelled) or 'none has any'}), "
            f"got {target!r}"
        )
    check_labels(store.y, nodes=nodes)
    check_mask("train_mask", store.get("train_mask"), nodes=nodes)
    if not bool(store.train_mask.any()):
        raise InputError("train_mask: expected at least one node, got none")
    val = store.get("val_mask")
    if val is not None:
        check_mask("val_mask", val, nodes=nodes)
        val = val if bool(val.any()) else None
    return store.y, store.train_mask, val


def _light(data: HeteroData) -> dict[str, Tensor]:
    """Return the features by type, those that are mostly zero as sparse ones: the same numbers."""
    light = {}
    for name, x in data.x_dict.items():
        wide = x.dim() == 2 and x.layout == torch.strided and x.is_floating_point()
        is_sparse = wide and int(x.count_nonzero()) <= _MOSTLY_ZERO * x.numel()
        light[name] = x.to_sparse_coo() if is_sparse else x
    return light


def _scores(
    model: nn.Module,
    x_dict: dict[str, Tensor],
    edge_index_dict: dict[tuple[str, str, str], Tensor],
    *,
    target: str,
    nodes: int,
) -> Tensor:
    """Return the model's scores (N, C) of a type's nodes, or raise `ModelError` if it has none."""
    try:
        output: Any = model(x_dict, edge_index_dict)
    except InputError:
        raise
    except Exception as error:
        raise ModelError(f"the model raised {type(error).__name__}: {error}") from error
    scores = output.get(target) if isinstance(output, dict) else output
    if not isinstance(scores, Tensor) or scores.dim() != 2 or scores.size(0) != nodes:
        came = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        raise ModelError(
            f"the model must return class scores ({nodes}, classes) for {target!r} to be trained, "
            f"it returned {came}"
        )
    return scores
