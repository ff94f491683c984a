"""Turn a PyG `Data` into a stored graph, some millions of edges at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from zorro.errors import InputError
from zorro.graph.column_values import column_sums, one_value_each
from zorro.graph.grouping import Grouping
from zorro.graph.stored.arrays import Array, ArrayFolder, new_folder, path_of
from zorro.graph.stored.layout import EDGE_TENSORS, MASKS, Record
from zorro.graph.validation import check_edge_tensor, check_graph, check_labels, check_mask

_AT_ONCE = 1 << 23  # numbers held at a time
_LEAST_COLUMNS = 16  # read together from dense features: they share a cache line

Integers = NDArray[np.integer[Any]]


def store(data: Data, folder: str | Path) -> None:
    """Write a graph as a folder of arrays that `open_stored` maps into memory.

    The folder appears whole or not at all. Edges are sorted by the node that they lead to, in
    their first order for each node; explanations are those of a graph in memory with its edges in
    that order. Kept are `x`, `edge_index` and, where there are such, `y`, the three masks,
    `edge_weight`, `edge_attr` and `edge_type`; nothing else of `data` is.

    >>> import torch
    >>> from zorro.data import karate_club, open_stored, store
    >>> store(karate_club(), "club")
    >>> open_stored("club").x.rows(torch.tensor([0, 33]))
    tensor([[0., 1., 0., 0.],
            [1., 0., 0., 0.]])

    Args:
        data: with features `x`, dense or sparse, which are stored as what they are.
        folder: a name that is free.
    """
    _check(data)
    with new_folder(Path(folder).absolute()) as unfinished:
        arrays = ArrayFolder(unfinished)
        _write_edges(arrays, data)
        if data.x.layout == torch.strided:
            one_each = _write_dense(arrays, _array(data.x))
        else:
            one_each = _write_sparse(arrays, data.x.detach().cpu())
        for name in ("y", *MASKS):
            if data.get(name) is not None:
                arrays.write(name, _array(data[name]))
        Record(
            nodes=data.x.size(0),
            edges=data.edge_index.size(1),
            features=data.x.size(1),
            sparse=data.x.layout != torch.strided,
            one_value_each=one_each,
            arrays=arrays.records,
        ).write(unfinished)


def _check(data: Data) -> None:
    if not isinstance(data, Data):
        raise InputError(f"data: expected a torch_geometric.data.Data, got {type(data).__name__}")
    check_graph(data.x, data.edge_index, sparse=True)
    if data.x.dtype not in (torch.float16, torch.float32, torch.float64):
        raise InputError(
            f"x: expected float16, float32 or float64 to be stored, got {data.x.dtype}: convert it "
            f"with x.float()"
        )
    if data.get("y") is not None:
        check_labels(data.y, nodes=data.x.size(0))
    for name in MASKS:
        if data.get(name) is not None:
            check_mask(name, data[name], nodes=data.x.size(0))
    for name in EDGE_TENSORS:
        if data.get(name) is not None:
            check_edge_tensor(name, data[name], edges=data.edge_index.size(1))


def _write_edges(arrays: ArrayFolder, data: Data) -> None:
    """Write the edges by receiver, what belongs to each, and their ids by sender."""
    nodes, edges = data.x.size(0), data.edge_index.size(1)
    senders, receivers = _array(data.edge_index)
    tensors = {name: _array(data[name]) for name in EDGE_TENSORS if data.get(name) is not None}
    start = _starts(receivers, nodes)
    arrays.write("in_indptr", start.astype(_index_type(edges)))
    with ExitStack() as files:
        senders_file = files.enter_context(arrays.array("in_senders", _index_type(nodes), (edges,)))
        others = {
            name: files.enter_context(arrays.array(name, values.dtype, values.shape))
            for name, values in tensors.items()
        }
        for _, ids in in_groups(receivers, start):
            senders_file.append(senders[ids])
            for name, file in others.items():
                file.append(tensors[name][ids])
    senders = np.load(path_of(arrays.folder, "in_senders"), mmap_mode="r")  # in their new order
    start = _starts(senders, nodes)
    arrays.write("out_indptr", start.astype(_index_type(edges)))
    with arrays.array("out_edges", _index_type(edges), (edges,)) as file:
        for _, ids in in_groups(senders, start):
            file.append(ids)


def _write_dense(arrays: ArrayFolder, x: Array) -> bool:
    """Write dense features and their columns; tell whether each column has one value at most."""
    nodes, features = x.shape
    with arrays.array("x", x.dtype, x.shape) as file:
        rows = max(1, _AT_ONCE // features)
        for first in range(0, nodes, rows):
            file.append(x[first : first + rows])
    counts = np.zeros(features, np.int64)
    one_each = True
    width = max(_LEAST_COLUMNS, _AT_ONCE // nodes)
    with arrays.array("column_values", x.dtype, (int(np.count_nonzero(x)),)) as file:
        for first in range(0, features, width):
            columns = np.ascontiguousarray(x[:, first : first + width].T)  # (k, N)
            filled = columns != 0
            counts[first : first + width] = filled.sum(1)
            values = columns[filled]
            file.append(values)
            one_each &= _one_value_each(values, counts[first : first + width])
    arrays.write("column_counts", counts)
    arrays.write("column_means", torch.from_numpy(x).mean(0).numpy())
    return one_each


def _write_sparse(arrays: ArrayFolder, x: Tensor) -> bool:
    """Write sparse features and their columns; tell whether each column has one value at most."""
    nodes, features = x.shape
    start, columns, values = _csr(x)
    arrays.write("x_indptr", start.astype(_index_type(values.size)))
    with arrays.array("x_columns", _index_type(features), columns.shape) as file:
        for first in range(0, columns.size, _AT_ONCE):
            file.append(columns[first : first + _AT_ONCE])
    arrays.write("x_values", values)
    counts = np.zeros(features, np.int64)
    sums = np.zeros(features)
    one_each = True
    with arrays.array("column_values", values.dtype, (int(np.count_nonzero(values)),)) as file:
        for some, ids in in_groups(columns, _starts(columns, features)):
            ids = ids[values[ids] != 0]
            count = np.bincount(columns[ids] - some.start, minlength=len(some))
            by_column = values[ids]
            file.append(by_column)
            counts[some.start : some.stop] = count
            one_each &= _one_value_each(by_column, count)
            sums[some.start : some.stop] = column_sums(
                torch.from_numpy(by_column), torch.from_numpy(count)
            ).numpy()
    arrays.write("column_counts", counts)
    arrays.write("column_means", (sums / nodes).astype(values.dtype))
    return one_each


def in_groups(keys: Integers, start: Integers) -> Iterator[tuple[range, NDArray[np.int64]]]:
    """Yield the numbers 0 … t−1 in the order of their keys, ascending where keys are equal.

    As many groups as `_AT_ONCE` numbers fill come together; the keys are read once for each.

    Args:
        keys: (t,).
        start: (groups + 1,), how many keys are smaller than each.

    Yields:
        Which groups, and the numbers in them.
    """
    groups = start.size - 1
    first = 0
    while first < groups:
        enough = int(np.searchsorted(start, start[first] + _AT_ONCE, side="right")) - 1
        last = max(first + 1, enough)
        ids = np.concatenate([begin + _between(part, first, last) for begin, part in _parts(keys)])
        mine = torch.from_numpy(keys[ids].astype(np.int64) - first)
        ordered = Grouping.by_key(mine, last - first).ordered
        assert ordered is not None
        yield range(first, last), ids[ordered.numpy()]
        first = last


def _between(keys: Integers, first: int, last: int) -> NDArray[np.int64]:
    return np.flatnonzero((keys >= first) & (keys < last))


def _parts(values: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield values some at a time, with the place of the first; of none, one empty part."""
    for first in range(0, max(1, values.size), _AT_ONCE):
        yield first, values[first : first + _AT_ONCE]


def _starts(keys: Integers, groups: int) -> NDArray[np.int64]:
    """Return how many keys are smaller than 0, 1, …, `groups`."""
    start = np.zeros(groups + 1, np.int64)
    for _, part in _parts(keys):
        start[1:] += np.bincount(part, minlength=groups)
    return np.cumsum(start, out=start)


def _csr(x: Tensor) -> tuple[Array, Array, Array]:
    """Return where rows begin, columns and values."""
    if x.layout == torch.sparse_csr:
        return x.crow_indices().numpy(), x.col_indices().numpy(), x.values().numpy()
    x = x.coalesce()
    rows, columns = x.indices().numpy()
    return _starts(rows, x.size(0)), columns, x.values().numpy()


def _one_value_each(values: Array, count: Array) -> bool:
    return one_value_each(torch.from_numpy(values), torch.from_numpy(count))


def _index_type(most: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if most <= np.iinfo(np.int32).max else np.int64


def _array(tensor: Tensor) -> Array:
    array: Array = tensor.detach().cpu().numpy()
    return array
