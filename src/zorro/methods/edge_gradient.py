"""The gradient of the prediction with respect to weights of one on all edges."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.explain.algorithm.utils import set_masks

from zorro.errors import ModelError
from zorro.methods.pyg_algorithm import LogProbabilities
from zorro.methods.subject import Subject
from zorro.model.predictor import log_probabilities
from zorro.model.signature import names, parameters_of

_WEIGHT = "edge_weight"


def edge_gradient(subject: Subject) -> Tensor:
    """Return ∂ log p_class / ∂w at w = 1 for each column of the edge index, (e,).

    w is a factor on the model's `edge_weight`, with which degrees and normalisations move too; of a
    model that has no such argument, a factor on the messages of all its layers.
    """
    edge_index = subject.graph.edge_index
    factor = torch.ones(
        edge_index.size(1),
        dtype=subject.graph.x.dtype,
        device=edge_index.device,
        requires_grad=True,
    )
    weighed = _WEIGHT in names(parameters_of(subject.model) or ())
    logs = _by_weights(subject, factor) if weighed else _by_messages(subject, factor)  # (C,)
    if not logs.requires_grad:
        raise ModelError("the model's output has no gradient: it must not run under no_grad")
    aim = logs[subject.predicted_class]
    (result,) = subject.predictor.gradients(aim, [factor])
    if result is None:
        raise ModelError("the model's output has no gradient with respect to its edges")
    return result.detach()


def _by_weights(subject: Subject, factor: Tensor) -> Tensor:
    graph = subject.graph
    given = graph.further_inputs
    weight = given.get(_WEIGHT)
    scores = subject.predictor.scores(
        graph.x,
        graph.edge_index,
        {**given, _WEIGHT: factor if weight is None else factor * weight},
        rows=graph.readout.count(1, graph.x.size(0)),
        differentiable=True,
    )
    return log_probabilities(graph.readout.rows(scores, 1)[0])


def _by_messages(subject: Subject, factor: Tensor) -> Tensor:
    graph = subject.graph
    model = LogProbabilities(subject)  # a copy, on which PyG may write
    set_masks(model, factor, graph.edge_index, apply_sigmoid=False)
    logs = model(graph.x, graph.edge_index, **graph.further_inputs)
    return graph.readout.rows(logs, 1)[0]
