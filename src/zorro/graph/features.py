"""A feature matrix read in parts: the rows of some nodes, or what its columns hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from zorro.graph.column_values import ColumnValues
from zorro.graph.grouping import ranges, repeated


@runtime_checkable
class Features(Protocol):
    """A feature matrix (N, d), wherever it lies."""

    @property
    def shape(self) -> tuple[int, int]:
        """N and d."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Of the values."""
        ...

    @property
    def device(self) -> torch.device:
        """Where rows are returned."""
        ...

    @property
    def in_memory(self) -> Tensor | None:
        """The whole matrix, dense or sparse, None where it is not to be loaded."""
        ...

    def rows(self, nodes: Tensor) -> Tensor:
        """Return the rows of `nodes` (n,), dense, (n, d), at the cost of what they hold."""
        ...

    def by_column(self) -> ColumnValues:
        """Return the non-zero values of each column."""
        ...

    def column_means(self) -> Tensor:
        """Return the mean (d,) of each column."""
        ...


class Rows(Protocol):
    """Something of which rows can be read."""

    def of(self, nodes: Tensor) -> Tensor:
        """Return the rows of `nodes` (n,), dense, (n, d)."""
        ...


@dataclass(frozen=True)
class DenseRows:
    """Rows of a dense matrix."""

    x: Tensor  # (N, d)

    def of(self, nodes: Tensor) -> Tensor:
        """Return the rows of `nodes` (n,), (n, d)."""
        return self.x[nodes]


@dataclass(frozen=True)
class SparseRows:
    """Rows of a sparse matrix: the entries of row i stand from start[i] to start[i + 1]."""

    start: Tensor  # (N + 1,)
    columns: Tensor  # (nnz,)
    values: Tensor  # (nnz,)
    width: int  # d

    def of(self, nodes: Tensor) -> Tensor:
        """Return the rows of `nodes` (n,), dense, (n, d)."""
        start = self.start[nodes].long()
        count = self.start[nodes + 1].long() - start
        at = ranges(start, count)
        row = repeated(torch.arange(nodes.numel(), device=nodes.device), count)
        rows = self.values.new_zeros(nodes.numel(), self.width)
        rows[row, self.columns[at].long()] = self.values[at]
        return rows


class TensorFeatures:
    """Features given as a tensor.

    Args:
        x: (N, d); dense, sparse COO or sparse CSR.
    """

    def __init__(self, x: Tensor) -> None:
        x = x.coalesce() if x.is_sparse else x  # once for all who read it
        self.in_memory: Tensor | None = x
        self.shape = (x.size(0), x.size(1))
        self.dtype = x.dtype
        self.device = x.device
        self._x = x
        self._rows = rows_of(x)

    def rows(self, nodes: Tensor) -> Tensor:
        """Return the rows of `nodes` (n,), dense, (n, d)."""
        return self._rows.of(nodes)

    def block(self, nodes: Tensor, columns: slice) -> Tensor:
        """Return some columns of some rows (n,), dense or sparse as all of them are."""
        if self._x.layout == torch.strided:
            return self._x[nodes][:, columns]
        rows = self._x if self._x.is_sparse else self._x.to_sparse(layout=torch.sparse_coo)
        some = rows.index_select(0, nodes).coalesce()
        row, column = some.indices()
        mine = (column >= columns.start) & (column < columns.stop)
        return torch.sparse_coo_tensor(
            torch.stack([row[mine], column[mine] - columns.start]),
            some.values()[mine],
            (nodes.numel(), columns.stop - columns.start),
            check_invariants=False,
        ).coalesce()

    def by_column(self) -> ColumnValues:
        """Return the non-zero values of each column."""
        return ColumnValues.of(self._x)

    def column_means(self) -> Tensor:
        """Return the mean (d,) of each column."""
        x = self._x.detach()
        return x.mean(0) if x.layout == torch.strided else self.by_column().means()


def features_of(x: Tensor | Features) -> Features:
    """Return the features that a matrix, or what stands for it, holds."""
    return TensorFeatures(x) if isinstance(x, Tensor) else x


def size_of(x: Tensor | Features) -> tuple[int, int]:
    """Return N and d."""
    nodes, features = x.shape
    return nodes, features


def rows_of(x: Tensor) -> Rows:
    """Return the rows of a matrix (N, d), dense, coalesced COO or CSR."""
    if x.layout == torch.strided:
        return DenseRows(x)
    if x.layout == torch.sparse_csr:
        return SparseRows(x.crow_indices(), x.col_indices(), x.values(), x.size(1))
    row, column = x.indices()
    count = torch.bincount(row, minlength=x.size(0))
    start = torch.cat([count.new_zeros(1), count.cumsum(0)])
    return SparseRows(start, column, x.values(), x.size(1))
