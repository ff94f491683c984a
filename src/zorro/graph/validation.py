"""What a graph must look like before anything is computed on it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.graph.model_inputs import MAKE_ADJACENCY

_FEATURES = "x: expected a {} {} tensor of shape (nodes, features), both at least 1"
_SPARSE = (torch.sparse_coo, torch.sparse_csr)
_ROWS_AT_ONCE = 1 << 16  # so that the check takes little memory itself
_EDGES = "edge_index: expected a dense int64 tensor of shape (2, edges)"


def check_graph(
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    *,
    sparse: bool = False,
    integers: bool = False,
) -> None:
    """Raise `InputError` unless the features and edges describe one usable graph.

    `x` is a dense, floating, finite (N, d) tensor with N, d ≥ 1; `edge_index` is a dense (2, E)
    int64 tensor of node numbers in [0, N), on the same device.

    >>> import torch
    >>> from zorro.data import check_graph
    >>> check_graph(torch.ones(3, 2), torch.tensor([[0, 1], [1, 2]]))
    >>> check_graph(torch.ones(3, 2), torch.tensor([[0, 1], [1, 3]]))
    Traceback (most recent call last):
        ...
    zorro.errors.InputError: edge_index: expected nodes from 0 to 2 (x has 3 rows), got 3

    Args:
        x: (N, d).
        edge_index: (2, E).
        sparse: whether `x` may also be a sparse COO or CSR tensor, or the graph a stored one,
            whose content was checked when it was written.
        integers: whether `x` may also hold integers or truth values. Files and stored graphs hold
            floats.
    """
    if sparse and isinstance(x, Features) and isinstance(edge_index, Edges):
        _check_one_graph(x, edge_index)
        return
    features = _FEATURES.format(
        "dense, sparse COO or sparse CSR" if sparse else "dense",
        "floating, integer or bool" if integers else "floating",
    )
    if not (sparse and isinstance(x, Tensor) and x.layout in _SPARSE):
        x = _dense(x, features)
    edge_index = _dense(edge_index, _EDGES, hint=MAKE_ADJACENCY)
    if edge_index.device != x.device:
        raise InputError(
            f"x and edge_index: expected both on one device, got {x.device} and "
            f"{edge_index.device}: move both with .to(device)"
        )
    _check_features(x, features, integers=integers)
    _check_edges(edge_index, nodes=x.size(0))


def check_labels(y: Tensor | None, *, nodes: int) -> None:
    """Raise `InputError` unless `y` holds one class number per node."""
    expected = f"y: expected an int64 tensor of shape ({nodes},) with class numbers from 0"
    y = _dense(y, expected)
    if y.dtype != torch.int64 or y.shape != (nodes,):
        raise InputError(f"{expected}, got {_describe(y)}")
    if y.min() < 0:
        raise InputError(f"{expected}, got {int(y.min())} as the smallest")


def check_mask(name: str, mask: Tensor | None, *, nodes: int) -> None:
    """Raise `InputError` unless `mask` is a truth value per node; `name` is used in the message."""
    expected = f"{name}: expected a bool tensor of shape ({nodes},)"
    mask = _dense(mask, expected)
    if mask.dtype != torch.bool or mask.shape != (nodes,):
        raise InputError(f"{expected}, got {_describe(mask)}")


def check_edge_tensor(name: str, values: Any, *, edges: int) -> None:
    """Raise `InputError` unless `values` are finite numbers, one row per edge.

    Args:
        name: used in the message.
        values: (E, …).
        edges: how many there are.
    """
    expected = f"{name}: expected a dense tensor of numbers with one row per edge ({edges})"
    if not isinstance(values, Tensor) or values.layout != torch.strided:
        raise InputError(f"{expected}, got {type(values).__name__}")
    if values.dim() == 0 or values.size(0) != edges:
        raise InputError(f"{expected}, got shape {tuple(values.shape)}")
    if values.dtype == torch.bfloat16 or values.is_complex():
        raise InputError(f"{expected}, got {values.dtype}: convert it with .float()")
    for first, some in enumerate(torch.split(values, _ROWS_AT_ONCE)):
        broken = ~torch.isfinite(some)
        if bool(broken.any()):
            edge = first * _ROWS_AT_ONCE + int(broken.nonzero()[0, 0])
            raise InputError(
                f"{name}: expected finite numbers, got {some[broken][0].item()} at edge {edge}: "
                "replace or drop it"
            )


def _check_one_graph(features: Features, edges: Edges) -> None:
    if features.shape[0] != edges.num_nodes:
        raise InputError(
            f"x and edge_index: expected both of one stored graph, got {features.shape[0]} and "
            f"{edges.num_nodes} nodes"
        )


def _check_features(x: Tensor, expected: str, *, integers: bool) -> None:
    if x.dim() != 2 or x.size(0) < 1 or x.size(1) < 1:
        raise InputError(f"{expected}, got shape {tuple(x.shape)}")
    if x.is_complex() or not (integers or x.is_floating_point()):
        remedy = "" if x.is_complex() else ": convert it with x.float()"
        raise InputError(f"{expected}, got {x.dtype}{remedy}")
    values = x if x.layout == torch.strided else _sparse_values(x)
    if not all(bool(torch.isfinite(some).all()) for some in torch.split(values, _ROWS_AT_ONCE)):
        broken = ~torch.isfinite(values)  # (N, d), or (nnz,) of sparse features
        first = broken.nonzero()[0]
        if x.layout != torch.strided:
            first = x.to_sparse(layout=torch.sparse_coo).coalesce().indices()[:, int(first)]
        node, feature = first.tolist()
        raise InputError(
            f"x: expected finite numbers, got {values[broken][0].item()} at node {node}, feature "
            f"{feature} ({int(broken.sum())} such entries): replace or drop them"
        )


def _sparse_values(x: Tensor) -> Tensor:
    """Return the stored values (nnz,), once the indices beside them are known to be sound."""
    try:
        if x.layout == torch.sparse_csr:
            torch.sparse_csr_tensor(
                x.crow_indices(), x.col_indices(), x.values(), x.shape, check_invariants=True
            )
            return x.values()
        if x.dense_dim() > 0:
            raise InputError(
                "x: expected a tensor that is sparse in both dimensions, got a hybrid one"
            )
        x = x.coalesce()
        torch.sparse_coo_tensor(x.indices(), x.values(), x.shape, check_invariants=True)
        return x.values()
    except RuntimeError as error:
        raise InputError(
            f"x: expected a sound sparse tensor, got one that is not: {error}"
        ) from None


def _check_edges(edge_index: Tensor, *, nodes: int) -> None:
    if edge_index.dim() != 2 or edge_index.size(0) != 2 or edge_index.dtype != torch.int64:
        raise InputError(f"{_EDGES}, got {_describe(edge_index)}")
    if edge_index.numel() == 0:
        return
    low, high = int(edge_index.min()), int(edge_index.max())
    if low < 0 or high >= nodes:
        raise InputError(
            f"edge_index: expected nodes from 0 to {nodes - 1} (x has {nodes} rows), "
            f"got {low if low < 0 else high}"
        )


def _dense(value: Any, expected: str, *, hint: str = "") -> Tensor:
    if not isinstance(value, Tensor) or value.layout != torch.strided:
        is_sparse = isinstance(value, Tensor) or type(value).__name__ == "SparseTensor"
        remedy = f": {hint}" if hint and is_sparse else ""
        raise InputError(f"{expected}, got {_describe(value)}{remedy}")
    return value


def _describe(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, Tensor):
        layout = "" if value.layout == torch.strided else f"{value.layout} "
        return f"{layout}{value.dtype} of shape {tuple(value.shape)}"
    return type(value).__name__
