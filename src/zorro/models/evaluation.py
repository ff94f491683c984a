"""Look at a model's predictions without changing the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.data.validation import check_labels, check_mask
from zorro.errors import InputError, ModelError


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put `model` in eval mode without gradients inside, and every module's mode back after."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training


def accuracy(model: nn.Module, data: Data, mask: Tensor) -> float:
    """Return the share of the nodes in `mask` whose predicted class is their label."""
    check_labels(data.y, nodes=data.num_nodes)
    check_mask("mask", mask, nodes=data.num_nodes)
    if not bool(mask.any()):
        raise InputError("mask must hold at least one node, got none")
    with evaluating(model):
        scores = model(data.x, data.edge_index)  # (N, C)
    if not isinstance(scores, Tensor) or scores.dim() != 2 or scores.size(0) != data.num_nodes:
        got = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        raise ModelError(
            f"model must return scores of shape ({data.num_nodes}, classes), got {got}"
        )
    right = scores.argmax(dim=1) == data.y  # (N,)
    return float(right[mask].double().mean())
