"""A setting made of what a user has at hand: one graph's parts, or several graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from zorro.audit.setting import UNKNOWN, GraphSetting, GraphsSetting, Labels, Mask, Setting
from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features, size_of
from zorro.model.predictor import Model, Predictor
from zorro.question import Level
from zorro.question.reading import Reading, Value


def setting_of(
    level: Level,
    explanations: Iterable[Explanation],
    *,
    x: Tensor | Features | None = None,
    edge_index: Tensor | Edges | None = None,
    y: Tensor | None = None,
    train_mask: Tensor | None = None,
    graphs: Sequence[Data] | None = None,
    model: Model | None = None,
    model_kwargs: Mapping[str, Any] | None = None,
    reading: Reading | None = None,
) -> Setting | None:
    """Return what explanations lie in; None if neither a graph nor graphs are given.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.audit import setting_of
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> setting = setting_of(
    ...     "node", [], x=club.x, edge_index=club.edge_index, y=club.y, model=SimpleConv()
    ... )
    >>> int(setting.predicted[9]), int(setting.labels[9])
    (0, 1)
    >>> print(setting_of("node", []))  # without the graph
    None

    Args:
        level: of the queries.
        explanations: whose answers are the classes of their nodes, where no model tells them.
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
        y: (N,), the true classes of nodes.
        train_mask: (N,), which nodes the model was trained on.
        graphs: instead of these, if graphs are asked about.
        model: that tells the classes of all nodes.
        model_kwargs: its further arguments.
        reading: what its output means.
    """
    if graphs is not None:
        return GraphsSetting(graphs, _classes_of_graphs(graphs))
    if x is None or edge_index is None:
        if x is not None or edge_index is not None:
            raise InputError("x and edge_index: expected both or neither, got only one")
        return None
    nodes = size_of(x)[0]
    training = None if train_mask is None else _mask("train_mask", train_mask, nodes)
    if level == "link":  # whose classes are not those of nodes
        return GraphSetting(x, edge_index, training=training)
    classes = None
    if model is not None:
        classes = classes_of_nodes(model, x, edge_index, model_kwargs=model_kwargs, reading=reading)
    predicted = _as_explained(explanations, nodes) if classes is None else classes.numpy()
    return GraphSetting(x, edge_index, predicted, _labels(y, nodes), training)


def truth_of(
    explanations: Iterable[Explanation],
    setting: Setting | None,
    known: Mapping[int, float] | None,
) -> Mapping[int, float] | None:
    """Return the true classes by the queries' keys: those of the setting, or else those known.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import setting_of, truth_of
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> found = [Zorro(SimpleConv(), club.x, club.edge_index).explain(9)]
    >>> setting = setting_of("node", found, x=club.x, edge_index=club.edge_index, y=club.y)
    >>> truth_of(found, setting, None)
    {9: 1}
    >>> truth_of(found, None, {9: 0})
    {9: 0}

    Args:
        explanations: whose queries are asked about.
        setting: the graph or graphs, which may know true classes.
        known: classes or values by the queries' keys, for where the setting knows none.
    """
    truths = None if setting is None else setting.truths()
    if truths is None:
        return known
    indices = [e.query.index for e in explanations if e.query.to is None]
    return {index: int(truths[index]) for index in indices if truths[index] != UNKNOWN}


def classes_of_nodes(
    model: Model,
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    *,
    model_kwargs: Mapping[str, Any] | None = None,
    reading: Reading | None = None,
) -> Tensor | None:
    """Return the model's class of each node (N,), on the CPU.

    None where its output is no class, and where it need not be able to run on the whole graph: for
    sparse features, and for a graph that is not in memory.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.audit import classes_of_nodes
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> classes = classes_of_nodes(SimpleConv(), club.x, club.edge_index)
    >>> (classes != club.y).nonzero().flatten()  # the wrong ones
    tensor([ 9, 28])

    Args:
        model: called as `model(x, edge_index, **model_kwargs)`.
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
        model_kwargs: further arguments of the model.
        reading: what its output means; class scores when None.
    """
    everything = x if isinstance(x, Tensor) else x.in_memory
    edges = edge_index if isinstance(edge_index, Tensor) else edge_index.in_memory
    if isinstance(reading, Value) or everything is None or edges is None:
        return None
    if everything.layout != torch.strided:
        return None
    predictor = Predictor(model, reading=reading)
    return predictor.scores(everything, edges, model_kwargs or {}).argmax(dim=1).cpu()


def _as_explained(explanations: Iterable[Explanation], nodes: int) -> Labels:
    predicted = np.full(nodes, UNKNOWN, dtype=np.int64)
    for e in explanations:
        if e.predicted_class is not None and e.query.to is None:
            predicted[e.query.index] = e.predicted_class
    return predicted


def _labels(y: Tensor | None, nodes: int) -> Labels | None:
    """Return true classes, None if there are none; what is no whole number is not known."""
    if y is None or y.dim() != 1:
        return None
    if y.size(0) != nodes:
        raise InputError(f"y: expected shape ({nodes},), got {tuple(y.shape)}")
    values = y.detach().cpu().double()
    is_class = (values >= 0) & (values == values.floor())
    return torch.where(is_class, values, torch.full_like(values, UNKNOWN)).long().numpy()


def _classes_of_graphs(graphs: Sequence[Data]) -> Labels | None:
    classes = [graph.y for graph in graphs]
    if any(y is None or y.numel() != 1 or y.is_floating_point() for y in classes):
        return None
    return np.array([int(y) for y in classes], dtype=np.int64)


def _mask(name: str, mask: Tensor, nodes: int) -> Mask:
    if tuple(mask.shape) != (nodes,) or mask.dtype != torch.bool:
        raise InputError(
            f"{name}: expected a mask of shape ({nodes},), got {mask.dtype} of shape "
            f"{tuple(mask.shape)}"
        )
    found: Mask = mask.cpu().numpy()
    return found
