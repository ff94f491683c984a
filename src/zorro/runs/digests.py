"""Digests by which data and models are recognised."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.graph.stored import StoredEdges, StoredFeatures, StoredGraph
from zorro.graph.stored.verification import OnProgress
from zorro.model.as_module import as_module

_STORED = (StoredEdges, StoredFeatures, StoredGraph)


def digest(*values: object, on_progress: OnProgress = lambda done, total: None) -> str:
    """Return a SHA-256 of tensors and plain values: of their types, shapes and contents.

    A graph on the disk has had its digest taken when it was stored; that it is still the same
    graph is verified, or `DatasetError` raised.
    """
    for source in {value.source for value in values if isinstance(value, _STORED)}:
        source.verify(on_progress)
    total = hashlib.sha256()
    for value in values:
        _add(total, value)
    return total.hexdigest()


def _add(total: hashlib._Hash, value: object) -> None:
    if isinstance(value, _STORED):
        total.update(value.digest.encode())
    elif isinstance(value, Tensor) and value.layout == torch.sparse_csr:
        for part in (value.crow_indices(), value.col_indices(), value.values()):
            _add(total, part)
    elif isinstance(value, Tensor) and value.layout != torch.strided:
        value = value.coalesce()
        _add(total, value.indices())
        _add(total, value.values())
    elif isinstance(value, Tensor):
        total.update(f"{value.dtype} {tuple(value.shape)}".encode())
        raw = value.detach().cpu().contiguous().reshape(-1)
        total.update(raw.view(torch.uint8).numpy().data)
    else:
        total.update(repr(value).encode())


def data_digest(
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    model_kwargs: Mapping[str, Any],
    *,
    on_progress: OnProgress = lambda done, total: None,
) -> str:
    """Return a digest of a graph and of the model's further arguments, with their names."""
    further = (part for name in sorted(model_kwargs) for part in (name, model_kwargs[name]))
    return digest(x, edge_index, *further, on_progress=on_progress)


def graphs_digest(graphs: Sequence[Data], model_kwargs: Mapping[str, Any]) -> str:
    """Return a digest of several graphs, and of what the model gets of them besides, by names.

    Args:
        graphs: PyG's `Data`.
        model_kwargs: as `Zorro.of_graphs` takes them: a text names an attribute of the graphs.
    """
    named = sorted(model_kwargs.items())
    values: list[object] = list(named)
    for graph in graphs:
        values += [graph.x, graph.edge_index]
        values += [graph.get(each) for _, each in named if isinstance(each, str)]
    return digest(*values)


def model_digest(model: nn.Module) -> str:
    """Return a digest of weights, buffers and the printed structure."""
    model = as_module(model)
    state = model.state_dict()
    return digest(repr(model), *(part for name in sorted(state) for part in (name, state[name])))
