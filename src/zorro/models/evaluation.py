"""How well a model does."""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.errors import InputError
from zorro.graph.validation import check_labels, check_mask
from zorro.model.predictor import Predictor
from zorro.models.edge_inputs import edge_inputs


def accuracy(model: nn.Module, data: Data, mask: Tensor) -> float:
    """Return the share of the nodes in `mask` whose predicted class is their label.

    The model gets those of `edge_weight`, `edge_attr` and `edge_type` that `data` has and it takes.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.models import accuracy
    >>> club = karate_club()
    >>> round(accuracy(SimpleConv(), club, ~club.train_mask), 3)  # 28 of 30
    0.933
    >>> accuracy(SimpleConv(), club, club.y == 3)
    1.0

    Args:
        model: called as `model(x, edge_index, …)`.
        data: with labels `y`.
        mask: (N,), which nodes count.
    """
    check_labels(data.y, nodes=data.num_nodes)
    check_mask("mask", mask, nodes=data.num_nodes)
    if not bool(mask.any()):
        raise InputError("mask: expected at least one node, got none")
    inputs = edge_inputs(model, data).passed
    scores = Predictor(model).scores(data.x, data.edge_index, inputs)  # (N, C)
    right = scores.argmax(dim=1) == data.y  # (N,)
    return float(right[mask].double().mean())
