"""The features of some nodes, at the cost of what these nodes hold."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.grouping import ranges


class FeatureRows:
    """Reads rows of a feature matrix, dense or sparse, into a dense one.

    Args:
        x: (N, d); dense, sparse COO or sparse CSR.
    """

    def __init__(self, x: Tensor) -> None:
        self._width = x.size(1)
        if x.layout == torch.strided:
            self._dense: Tensor | None = x
            return
        self._dense = None
        if x.layout == torch.sparse_csr:
            self._start, self._column = x.crow_indices(), x.col_indices()
        else:
            x = x.coalesce()
            row, self._column = x.indices()
            count = torch.bincount(row, minlength=x.size(0))
            self._start = torch.cat([count.new_zeros(1), count.cumsum(0)])  # (N + 1,)
        self._values = x.values()  # (nnz,), by row

    def of(self, nodes: Tensor) -> Tensor:
        """Return the rows of `nodes` (n,), dense, (n, d)."""
        if self._dense is not None:
            return self._dense[nodes]
        start = self._start[nodes]
        count = self._start[nodes + 1] - start
        at = ranges(start, count)
        row = torch.arange(nodes.numel(), device=nodes.device).repeat_interleave(count)
        rows = self._values.new_zeros(nodes.numel(), self._width)
        rows[row, self._column[at].long()] = self._values[at]
        return rows
