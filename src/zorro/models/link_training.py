"""Train a model on a graph's links, reproducibly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from scipy.stats import mannwhitneyu
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data

from zorro.arguments import check_at_least
from zorro.errors import InputError, ModelError
from zorro.graph.stored import StoredGraph
from zorro.model.link_model import as_link_model
from zorro.model.model_state import undisturbed
from zorro.models.best_weights import BestWeights
from zorro.models.edge_inputs import EdgeInputs, edge_inputs
from zorro.models.link_split import LinkSplit, drawn_with, pairs_without_links
from zorro.models.registry import Factory, construct
from zorro.models.training import TrainingSettings, adam, refuse_divergence


@dataclass(frozen=True, kw_only=True)
class LinkTrainingSettings(TrainingSettings):
    """How a model of links is trained.

    >>> from zorro.models import LinkTrainingSettings
    >>> LinkTrainingSettings(epochs=5).width
    64

    Args:
        epochs: passes over the training links.
        learning_rate: of Adam.
        weight_decay: of Adam, on all weights.
        seed: of the initial weights, the dropout and the pairs that are no links.
        width: in how many numbers a node is encoded.
    """

    epochs: int = 200
    weight_decay: float = 0.0
    width: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least("width", self.width, 1)


def train_links(
    architecture: str | Factory,
    split: LinkSplit,
    settings: LinkTrainingSettings,
    *,
    on_inputs: Callable[[EdgeInputs], None] | None = None,
    on_epoch: Callable[[int, float], None] | None = None,
) -> nn.Module:
    """Return a model trained with Adam to tell links from as many random pairs, in eval mode.

    Its weights are those of the epoch after which the AUC on `split.val` was greatest. Training
    runs on the device that holds the graph.

    >>> from zorro.data import karate_club
    >>> from zorro.models import LinkTrainingSettings, link_auc, split_links, train_links
    >>> split = split_links(karate_club())
    >>> model = train_links("gcn", split, LinkTrainingSettings(epochs=20, width=8))
    >>> link_auc(model, split.test) > 0.5
    True

    Args:
        architecture: what `build` takes at link level.
        split: of `split_links`.
        settings: of the training; `width` is what the architecture gets as `out_channels`.
        on_inputs: told what the model gets for each edge, before training begins.
        on_epoch: called as `on_epoch(epoch, loss)` after each epoch, the first being 1.
    """
    data = split.train
    with drawn_with(settings.seed, data.x.device):
        model = construct(architecture, data.num_features, settings.width, level="link")
        model.to(data.x.device).train()
        if on_inputs is not None:
            on_inputs(link_inputs(model, data))
        optimizer = adam(model, settings)
        best = BestWeights()
        for epoch in range(1, settings.epochs + 1):
            loss = _step(model, data, optimizer)
            refuse_divergence(loss, epoch, settings)
            best.offer(model, -link_auc(model, split.val))
            if on_epoch is not None:
                on_epoch(epoch, loss)
        best.restore(model)
    return model.eval()


def link_auc(model: nn.Module, part: Data) -> float:
    """Return the probability that a link scores higher than a pair that is none.

    The model gets those of `edge_weight`, `edge_attr` and `edge_type` that the graph has and it
    takes. It is left as it was.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from zorro.models import link_auc
    >>> class SameCommunity(torch.nn.Module):
    ...     def forward(self, x, edge_index, edge_label_index):
    ...         u, v = x[edge_label_index]
    ...         return (u * v).sum(1)
    >>> part = Data(x=torch.eye(2)[[0, 0, 1, 1]], edge_index=torch.empty(2, 0, dtype=torch.long))
    >>> part.edge_label_index = torch.tensor([[0, 2, 0, 0], [1, 3, 2, 3]])
    >>> part.edge_label = torch.tensor([1, 1, 0, 0])  # 0–1 and 2–3 are links, 0–2 and 0–3 are none
    >>> link_auc(SameCommunity(), part)
    1.0

    Args:
        model: of links, as `zorro.Zorro.of_links` takes it; returns one number per link.
        part: of a split, with links and with pairs that are none.
    """
    there = part.edge_label.bool()  # (k,)
    if bool(there.all()) or not bool(there.any()):
        raise InputError("part: expected links and pairs that are none, got only one of them")
    with undisturbed(model), torch.no_grad():
        logits = _logits(model, part, part.edge_label_index).cpu()  # (k,)
    there = there.cpu()
    links, others = logits[there].double().numpy(), logits[~there].double().numpy()
    return float(mannwhitneyu(links, others).statistic) / (len(links) * len(others))


def _step(model: nn.Module, data: Data, optimizer: torch.optim.Optimizer) -> float:
    """Learn from all training links and as many other pairs, and return the loss."""
    optimizer.zero_grad()
    links = data.edge_label_index  # (2, k)
    others = pairs_without_links(data, links.size(1))  # (2, k)
    logits = _logits(model, data, torch.cat([links, others], dim=1))
    there = torch.zeros_like(logits)
    there[: links.size(1)] = 1
    loss = functional.binary_cross_entropy_with_logits(logits, there)
    torch.autograd.backward(loss)
    optimizer.step()
    return loss.item()


def _logits(model: nn.Module, data: Data, links: Tensor) -> Tensor:
    """Return the model's logits (k,) of links (2, k), or raise `ModelError` if it has others."""
    inputs = link_inputs(model, data).passed
    try:
        logits = as_link_model(model)(data.x, data.edge_index, edge_label_index=links, **inputs)
    except InputError:
        raise
    except Exception as error:
        raise ModelError(f"the model raised {type(error).__name__}: {error}") from error
    count = links.size(1)
    if not isinstance(logits, Tensor) or logits.numel() != count:
        came = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise ModelError(f"the model must return a logit per link, ({count},); it returned {came}")
    return logits.reshape(count)


def link_inputs(model: nn.Module, data: Data | StoredGraph) -> EdgeInputs:
    """Return what the graph has for its edges and the model takes besides the links."""
    return edge_inputs(model, data, given=["edge_label_index"])
