"""What the columns of a feature matrix hold: their non-zero values."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.graph.grouping import Grouping, repeated


@dataclass(frozen=True)
class ColumnValues:
    """The non-zero values of a matrix (N, d), column after column, by ascending row in each.

    >>> ColumnValues.of(torch.tensor([[0.0, 2.0], [3.0, 4.0]])).values
    tensor([3., 2., 4.])
    """

    values: Tensor  # (nnz,)
    count: Tensor  # (d,), int64
    num_rows: int  # N
    one_each: bool  # no column has two different non-zero values

    @classmethod
    def of(cls, x: Tensor) -> ColumnValues:
        """Read the columns of a matrix, dense or sparse."""
        x = x.detach()
        if x.layout == torch.strided:
            column, row = x.t().nonzero(as_tuple=True)  # by column
            values = x[row, column]
        else:
            by_row = x.to_sparse(layout=torch.sparse_coo).coalesce()
            stored = by_row.values().nonzero().flatten()
            column = by_row.indices()[1][stored]
            values = by_row.values()[stored][Grouping.by_key(column, x.size(1)).ordered]
        count = torch.bincount(column, minlength=x.size(1))
        return cls(values, count, x.size(0), one_value_each(values, count))

    @property
    def first(self) -> Tensor:
        """Where each column's values begin, (d,)."""
        return self.count.cumsum(0) - self.count

    def means(self) -> Tensor:
        """Return the mean (d,) of each column, zeros included."""
        return column_sums(self.values, self.count).div(self.num_rows).to(self.values.dtype)


def one_value_each(values: Tensor, count: Tensor) -> bool:
    """Whether groups of `count` (d,) successive values (nnz,) hold one value each."""
    filled = count > 0
    first = values[(count.cumsum(0) - count)[filled]]
    return bool((values == repeated(first, count[filled])).all())


def column_sums(values: Tensor, count: Tensor) -> Tensor:
    """Return the sums (d,), as float64, of groups of `count` (d,) successive values (nnz,)."""
    sums = [group.double().sum() for group in torch.split(values, count.tolist())]
    return torch.stack(sums) if sums else values.new_zeros(0, dtype=torch.double)
