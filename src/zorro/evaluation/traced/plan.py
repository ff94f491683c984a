"""How a layer computes a few rows of its output, split where it stops being linear."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from zorro.evaluation.traced.change import Change, ChangedRows
from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.heard import Heard
from zorro.evaluation.traced.looked_up import LookedUp
from zorro.evaluation.traced.presence import Presence

# Matrices with more non-zeros than this are multiplied as dense ones, and so are small ones.
_DENSE_SHARE = 0.1
_SMALL = 1 << 14
# But on a CPU not with many values at once, up to this share.
_THIN_SHARE = 0.25
_WIDE = 1 << 11


class Mixing:
    """A matrix over nodes, (r, m), kept in the form in which multiplying with it is cheapest.

    Args:
        matrix: anything scipy takes as a sparse matrix.
        device: of the products.
        dtype: of the products.
    """

    def __init__(self, matrix: Any, *, device: torch.device, dtype: torch.dtype) -> None:
        csr = sp.csr_matrix(matrix)
        csr.sum_duplicates()
        self.shape: tuple[int, int] = (int(csr.shape[0]), int(csr.shape[1]))
        ones = csr.nnz == self.shape[0] and bool((csr.data == 1).all())
        one_each = ones and bool((np.diff(csr.indptr) == 1).all())
        self._picked = torch.as_tensor(csr.indices, device=device).long() if one_each else None
        in_place = one_each and bool((csr.indices == np.arange(csr.nnz)).all())
        self.is_identity = in_place and self.shape[0] == self.shape[1]
        total = self.shape[0] * self.shape[1]
        self._dense: Tensor | None = None
        is_exact = dtype in (torch.float, torch.double)
        has_sparse = is_exact or device.type != "cpu"  # torch has none in half precision there
        if total <= _SMALL or csr.nnz > _DENSE_SHARE * total or not has_sparse:
            self._dense = torch.as_tensor(csr.toarray(), dtype=dtype, device=device)
        can_be_thin = device.type == "cpu" and is_exact
        self._is_thin = can_be_thin and csr.nnz <= _THIN_SHARE * total
        self._sparse: Tensor | None = None  # made when it is first asked for
        self._transposed: Tensor | None = None  # made when it is first asked for
        self._columns = sp.csc_matrix(csr)
        self._device = device
        self._dtype = dtype

    @property
    def non_zeros(self) -> int:
        """How many numbers it has that are not zero."""
        return int(self._columns.nnz)

    @property
    def _by_row(self) -> Tensor:
        if self._sparse is None:
            self._sparse = _compressed(self._columns, device=self._device, dtype=self._dtype)
        return self._sparse

    @property
    def dense(self) -> Tensor:
        """The matrix itself, (r, m)."""
        return self._by_row.to_dense() if self._dense is None else self._dense

    def times(self, values: Tensor) -> Tensor:
        """Return the product with values (m, …), as (r, …); it may be the values themselves."""
        if self.is_identity:
            return values
        if self._picked is not None:
            return values[self._picked]
        flat = values.reshape(values.size(0), math.prod(values.shape[1:]))
        is_wide = flat.size(1) >= _WIDE and not flat.requires_grad
        matrix = self._by_row if self._dense is None or (is_wide and self._is_thin) else self._dense
        return (matrix @ flat).view(self.shape[0], *values.shape[1:])

    def times_with(self, values: Tensor, weight: Tensor | None) -> Tensor:
        """Return A V W for values V (m, B, d) and a weight W (d, h), in the cheaper order."""
        if weight is None:
            return self.times(values)
        if self._pays_to_mix_first(*weight.shape):
            return self.times(values) @ weight
        return self.times(values @ weight)

    def _pays_to_mix_first(self, before: int, after: int) -> bool:
        """Whether A (V W) is more work than (A V) W, for a weight (before, after)."""
        rows, columns = self.shape
        saved = (columns - rows) * before * after
        return saved > self._products * (before - after)

    @property
    def _products(self) -> int:
        """How many numbers are multiplied for each column of values."""
        if self.is_identity or self._picked is not None:
            return 0
        return self.non_zeros if self._dense is None else self._dense.numel()

    def transposed_times(self, values: Tensor) -> Tensor:
        """Return the product of the transposed matrix with values (r, …), as (m, …)."""
        flat = values.reshape(values.size(0), math.prod(values.shape[1:]))
        if self._dense is not None:
            return (self._dense.t() @ flat).view(self.shape[1], *values.shape[1:])
        if self._transposed is None:
            self._transposed = _compressed(
                self._columns.transpose(), device=self._device, dtype=self._dtype
            )
        return (self._transposed @ flat).view(self.shape[1], *values.shape[1:])

    def columns(self, columns: Tensor) -> Tensor:
        """Return some columns, dense, (r, k)."""
        if self._dense is not None:
            return self._dense[:, columns]
        picked = self._columns[:, columns.cpu().numpy()].toarray()
        return torch.as_tensor(picked, dtype=self._dtype, device=self._device)

    def spread(self, needs: Tensor, count: int) -> Mixing:
        """Return the matrix (r, count) whose column needs[j] is column j, for needs below count."""
        inside = (needs < count).cpu().numpy()
        place = sp.csr_matrix(
            (np.ones(inside.sum()), (np.flatnonzero(inside), needs.cpu().numpy()[inside])),
            shape=(self.shape[1], count),
        )
        return Mixing(self._columns @ place, device=self._device, dtype=self._dtype)

    def restricted(self, columns: Tensor) -> Mixing:
        """Return the matrix of some columns, (r, k)."""
        if columns.numel() == self.shape[1]:
            return self
        if self._dense is None:
            matrix = self._columns[:, columns.cpu().numpy()]
            return Mixing(matrix, device=self._device, dtype=self._dtype)
        restricted = copy.copy(self)
        restricted.shape = (self.shape[0], columns.numel())
        restricted._picked = None
        restricted.is_identity = False
        restricted._dense = self._dense[:, columns]
        restricted._is_thin = False
        return restricted


def _compressed(matrix: Any, *, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return a matrix as torch's sparse rows."""
    csr = sp.csr_matrix(matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR tensors a beta
        return torch.sparse_csr_tensor(
            torch.as_tensor(csr.indptr).long(),
            torch.as_tensor(csr.indices).long(),
            torch.as_tensor(csr.data, dtype=dtype),
            size=csr.shape,
            device=device,
            check_invariants=False,
        )


@dataclass(frozen=True)
class Plan:
    """Some rows of a layer's output: a linear state Σ_k A_k X W_k + b, and what follows it.

    The state has rows of its own: those of the output for layers that mix linearly, those of the
    input for attention, which is linear only up to its projections.
    """

    needs: Tensor  # (m,) rows of the input, ascending
    mixings: tuple[Mixing, ...]  # A_k, each (q, m)
    weights: tuple[Tensor | None, ...]  # W_k, each (d, h); None is the identity
    bias: Tensor | None  # (h,), or (q, h) where it is another for each row
    after: Callable[[Tensor], Tensor] | None = None  # of each row: (…, h) → (…, o)
    # Of all rows, and of which edges there are: (q, B, h) → (r, B, o).
    combine: Callable[[Tensor, Presence | None], Tensor] | None = None
    combine_change: Callable[[Change], ChangedRows] | None = None  # what a change does to them
    # The edges into the rows, and what is made of any edges: `combine` with the edges of an input.
    near: tuple[LocalEdges, Callable[[Tensor, LocalEdges], Tensor]] | None = None
    looks_at_all_nodes: bool = False  # also in other parts of the graph
    heard: Heard | None = None  # a further term of the state, only of a plan on the features
    looked_up: LookedUp | None = None  # what the state is instead, only of a plan on the features
    on_features: Callable[[], Plan] | None = None  # the plan where the input is the features

    def finish(self, state: Tensor, presence: Presence | None = None) -> Tensor:
        """Return the output (r, B, o) of a state (q, B, h)."""
        if self.combine is not None:
            return self.combine(state, presence)
        if self.after is None:
            return state
        rows, batch = state.shape[:2]
        return self.after(state.flatten(0, 1)).view(rows, batch, -1)

    def state(self, values: Tensor) -> Tensor:
        """Return the state (q, B, h) of input values (m, B, d)."""
        parts = [
            mixing.times_with(values, weight)
            for mixing, weight in zip(self.mixings, self.weights, strict=True)
        ]
        total = torch.stack(parts).sum(0) if len(parts) > 1 else parts[0]
        if self.bias is None:
            return total
        return total + (self.bias if self.bias.dim() == 1 else self.bias.unsqueeze(1))
