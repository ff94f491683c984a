"""How a layer computes a few rows of its output, split where it stops being linear."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from zorro.fidelity.traced.change import Change, ChangedRows

# Matrices with more non-zeros than this are multiplied as dense ones, and so are small ones.
_DENSE_SHARE = 0.1
_SMALL = 1 << 14
_EDGES_AT_ONCE = 1 << 12


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
        total = self.shape[0] * self.shape[1]
        self._dense: Tensor | None = None
        self._sparse: Tensor | None = None
        if total <= _SMALL or csr.nnz > _DENSE_SHARE * total:
            self._dense = torch.as_tensor(csr.toarray(), dtype=dtype, device=device)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch calls its CSR tensors a beta
                self._sparse = torch.sparse_csr_tensor(
                    torch.as_tensor(csr.indptr).long(),
                    torch.as_tensor(csr.indices).long(),
                    torch.as_tensor(csr.data, dtype=dtype),
                    size=self.shape,
                    device=device,
                    check_invariants=False,
                )
        self._columns = sp.csc_matrix(csr)
        self._device = device
        self._dtype = dtype

    def times(self, values: Tensor) -> Tensor:
        """Return the product with values (m, …), as (r, …)."""
        if self._picked is not None:
            return values[self._picked]
        flat = values.reshape(values.size(0), -1)
        matrix = self._sparse if self._dense is None else self._dense
        assert matrix is not None
        return (matrix @ flat).view(-1, *values.shape[1:])

    def transposed_times(self, values: Tensor) -> Tensor:
        """Return the product of the transposed matrix with values (r, …), as (m, …)."""
        flat = values.reshape(values.size(0), -1)
        if self._dense is not None:
            return (self._dense.t() @ flat).view(-1, *values.shape[1:])
        matrix = self._columns.tocoo()
        row = torch.as_tensor(matrix.row, device=self._device).long()
        column = torch.as_tensor(matrix.col, device=self._device).long()
        weight = torch.as_tensor(matrix.data, device=self._device, dtype=self._dtype)
        product = flat.new_zeros(self.shape[1], flat.size(1))
        for some in range(0, row.numel(), _EDGES_AT_ONCE):
            part = slice(some, some + _EDGES_AT_ONCE)
            product.index_add_(0, column[part], weight[part].unsqueeze(1) * flat[row[part]])
        return product.view(-1, *values.shape[1:])

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
        restricted._dense = self._dense[:, columns]
        return restricted


@dataclass(frozen=True)
class Plan:
    """Some rows of a layer's output: a linear state Σ_k A_k X W_k + b, and what follows it.

    The state has rows of its own: those of the output for layers that mix linearly, those of the
    input for attention, which is linear only up to its projections.
    """

    needs: Tensor  # (m,) rows of the input, ascending
    mixings: tuple[Mixing, ...]  # A_k, each (q, m)
    weights: tuple[Tensor | None, ...]  # W_k, each (d, h); None is the identity
    bias: Tensor | None  # (h,)
    after: Callable[[Tensor], Tensor] | None = None  # of each row: (…, h) → (…, o)
    combine: Callable[[Tensor], Tensor] | None = None  # of all rows: (q, B, h) → (r, B, o)
    combine_change: Callable[[Change], ChangedRows] | None = None  # what a change does to them

    def finish(self, state: Tensor) -> Tensor:
        """Return the output (r, B, o) of a state (q, B, h)."""
        if self.combine is not None:
            return self.combine(state)
        if self.after is None:
            return state
        rows, batch = state.shape[:2]
        return self.after(state.flatten(0, 1)).view(rows, batch, -1)

    def state(self, values: Tensor) -> Tensor:
        """Return the state (q, B, h) of input values (m, B, d)."""
        parts = [
            mixing.times(values if weight is None else values @ weight)
            for mixing, weight in zip(self.mixings, self.weights, strict=True)
        ]
        total = torch.stack(parts).sum(0) if len(parts) > 1 else parts[0]
        return total if self.bias is None else total + self.bias


@dataclass(frozen=True)
class Rows:
    """What a layer's plan may depend on: the rows asked for, in a graph of `nodes` nodes."""

    wanted: Tensor  # (r,) ascending
    nodes: int
    device: torch.device
    dtype: torch.dtype

    def matrix(self, edge_index: Tensor, weight: Tensor | None, *, flow: str) -> sp.csr_matrix:
        """Return the matrix (nodes, nodes) that sums weighted messages at their receivers."""
        receiver, sender = (1, 0) if flow == "source_to_target" else (0, 1)
        edges = edge_index.cpu().numpy()
        values = np.ones(edges.shape[1]) if weight is None else _numbers(weight)
        return sp.csr_matrix(
            (values, (edges[receiver], edges[sender])), shape=(self.nodes, self.nodes)
        )

    def of(self, matrix: sp.csr_matrix) -> sp.csr_matrix:
        """Return the wanted rows of a matrix."""
        return matrix[self.wanted.cpu().numpy()]

    def identity(self) -> sp.csr_matrix:
        """Return the wanted rows of the identity."""
        return self.of(sp.csr_matrix(sp.eye_array(self.nodes)))

    def mixed(
        self,
        terms: Sequence[tuple[Any, Tensor | None]],
        *,
        bias: Tensor | None = None,
        after: Callable[[Tensor], Tensor] | None = None,
    ) -> Plan:
        """Plan a layer Σ_k A_k X W_k + b followed by a row-wise function.

        Args:
            terms: pairs of A_k, the wanted rows (r, nodes), and W_k (d, h), None for the identity.
            bias: (h,).
            after: maps (rows, h) to (rows, o).
        """
        used = np.unique(np.concatenate([sp.csr_matrix(matrix).indices for matrix, _ in terms]))
        needs = torch.as_tensor(used, device=self.device).long()
        mixings = tuple(
            Mixing(sp.csr_matrix(matrix)[:, used], device=self.device, dtype=self.dtype)
            for matrix, _ in terms
        )
        weights = tuple(None if weight is None else weight.detach() for _, weight in terms)
        return Plan(needs, mixings, weights, bias if bias is None else bias.detach(), after)

    def attended(
        self,
        edge_index: Tensor,
        weights: Sequence[Tensor],
        biases: Sequence[Tensor | None],
        *,
        flow: str,
        combine: Callable[[list[Tensor], Edges], Tensor],
        combine_change: Callable[[Change, Edges], ChangedRows] | None = None,
    ) -> Plan:
        """Plan a layer that projects its input and then weighs messages by what they say.

        Args:
            edge_index: (2, e), self-loops included where the layer adds them.
            weights: the projections, each (d, h_i).
            biases: of the projections, each (h_i,) or None.
            flow: PyG's message direction.
            combine: maps the projected rows, each (m, B, h_i), and the edges into the wanted rows
                to the output (r, B, o).
            combine_change: gives the rows of the output that a change of the state reaches.
        """
        receiver, sender = (1, 0) if flow == "source_to_target" else (0, 1)
        wanted = self.wanted
        place = torch.full((self.nodes,), -1, device=self.device)
        place[wanted] = torch.arange(wanted.numel(), device=self.device)
        kept = (place[edge_index[receiver]] >= 0).nonzero().flatten()
        is_needed = torch.zeros(self.nodes, dtype=torch.bool, device=self.device)
        is_needed[wanted] = True
        is_needed[edge_index[sender][kept]] = True
        needs = is_needed.nonzero().flatten()
        row = torch.searchsorted(needs, edge_index)
        edges = Edges(
            ids=kept,
            sender=row[sender][kept],
            receiver=place[edge_index[receiver][kept]],
            own=torch.searchsorted(needs, wanted),
        )
        widths = [weight.size(1) for weight in weights]
        identity = Mixing(sp.eye_array(needs.numel()), device=self.device, dtype=self.dtype)
        given = [
            torch.zeros(width, device=self.device, dtype=self.dtype) if bias is None else bias
            for bias, width in zip(biases, widths, strict=True)
        ]

        return Plan(
            needs=needs,
            mixings=(identity,),
            weights=(torch.cat([weight.detach() for weight in weights], dim=1),),
            bias=torch.cat([bias.detach() for bias in given]),
            combine=lambda state: combine(list(torch.split(state, widths, dim=-1)), edges),
            combine_change=(
                None if combine_change is None else lambda change: combine_change(change, edges)
            ),
        )


@dataclass(frozen=True)
class Edges:
    """Edges into the wanted rows, in terms of the rows that a plan reads and writes."""

    ids: Tensor  # (e,) which of the layer's edges
    sender: Tensor  # (e,) rows read
    receiver: Tensor  # (e,) rows written
    own: Tensor  # (r,) where each written row stands among the rows read

    @cached_property
    def into(self) -> list[tuple[int, Tensor, Tensor]]:
        """For each written row: where it stands among the rows read, its senders, its edges."""
        order = torch.argsort(self.receiver, stable=True)
        counts = torch.bincount(self.receiver, minlength=self.own.numel()).tolist()
        senders = torch.split(self.sender[order], counts)
        return list(
            zip(self.own.tolist(), senders, torch.split(self.ids[order], counts), strict=True)
        )

    def softmax(self, logits: Tensor) -> Tensor:
        """Normalise logits (e, B, H) over the edges into each row."""
        rows = self.own.numel()
        shape = (rows, *logits.shape[1:])
        highest = logits.new_full(shape, -torch.inf)
        receiver = self.receiver.view(-1, *[1] * (logits.dim() - 1)).expand_as(logits)
        highest.scatter_reduce_(0, receiver, logits, "amax")
        weights = (logits - highest[self.receiver]).exp()
        total = logits.new_zeros(shape).index_add_(0, self.receiver, weights)
        return weights / (total + 1e-16)[self.receiver]

    def summed(self, messages: Tensor) -> Tensor:
        """Add up messages (e, B, …) at their receivers, (r, B, …)."""
        total = messages.new_zeros(self.own.numel(), *messages.shape[1:])
        return total.index_add_(0, self.receiver, messages)

    def weighted_sum(self, weights: Tensor, values: Tensor) -> Tensor:
        """Add up w_e · values[e's sender] at the receivers.

        Args:
            weights: (e, B, H), one per edge and head.
            values: (m, B, H, C), one per row that is read.

        Returns:
            (r, B, H, C).
        """
        total = values.new_zeros(self.own.numel(), *values.shape[1:])
        if values.is_cuda:
            return total.index_add_(0, self.receiver, weights.unsqueeze(-1) * values[self.sender])
        # A message at a time stays in the caches; all of them at once is several times slower.
        pairs = zip(self.sender.tolist(), self.receiver.tolist(), strict=True)
        for edge, (sender, receiver) in enumerate(pairs):
            total[receiver].addcmul_(weights[edge].unsqueeze(-1), values[sender])
        return total


def _numbers(tensor: Tensor) -> Any:
    return tensor.detach().cpu().double().flatten().numpy()
