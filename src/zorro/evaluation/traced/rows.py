"""What a layer's plan may depend on, and the two ways of making one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from zorro.evaluation.traced.change import Change, ChangedRows
from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.heard import Heard
from zorro.evaluation.traced.looked_up import LookedUp
from zorro.evaluation.traced.plan import Mixing, Plan
from zorro.evaluation.traced.presence import Presence


class Projection(NamedTuple):
    """A linear map of each row."""

    weight: Tensor  # (d, h)
    bias: Tensor | None = None  # (h,)

    @classmethod
    def of(cls, layer: Any) -> Projection:
        """Return what a linear layer does."""
        return cls(layer.weight.detach().t(), None if layer.bias is None else layer.bias.detach())

    @classmethod
    def unchanged(cls, width: int, rows: RowPlanner) -> Projection:
        """Return the map that gives the input itself, to stand beside others."""
        return cls(torch.eye(width, device=rows.device, dtype=rows.dtype))


@dataclass(frozen=True)
class RowPlanner:
    """What a layer's plan may depend on: the rows asked for, in a graph of `nodes` nodes."""

    wanted: Tensor  # (r,) ascending
    nodes: int
    device: torch.device
    dtype: torch.dtype
    edges_vary: bool = False  # whether inputs differ in which edges there are

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

    def picking(self, numbers: Tensor) -> Plan:
        """Plan rows that are others by their numbers (k,): the wanted ones of X[numbers]."""
        chosen = numbers[self.wanted.to(numbers.device)].cpu().numpy()
        ones, places = np.ones(chosen.size), np.arange(chosen.size)
        matrix = sp.csr_matrix((ones, (places, chosen)), shape=(chosen.size, self.nodes))
        return self.mixed([(matrix, None)])

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
            bias: (h,), or (r, h) where it is another for each row.
            after: maps (rows, h) to (rows, o).
        """
        used = np.unique(np.concatenate([sp.csr_matrix(matrix).indices for matrix, _ in terms]))
        if used.size == 0:  # one row that counts for nothing is easier than none
            used = self.wanted[:1].cpu().numpy()
        needs = torch.as_tensor(used, device=self.device).long()
        mixings = tuple(
            Mixing(sp.csr_matrix(matrix)[:, used], device=self.device, dtype=self.dtype)
            for matrix, _ in terms
        )
        weights = tuple(None if weight is None else weight.detach() for _, weight in terms)
        return Plan(needs, mixings, weights, bias if bias is None else bias.detach(), after)

    def heard(
        self,
        edge_index: Tensor,
        edge_weight: Tensor | None,
        aggregate: Callable[[Tensor, LocalEdges], Tensor],
        projection: Projection,
        *,
        own: Tensor | None,
        flow: str,
        after: Callable[[Tensor], Tensor] | None = None,
    ) -> Plan:
        """Plan a layer a(X) W + X V + b on the features, a an aggregation column by column.

        Args:
            edge_index: (2, e).
            edge_weight: (e,), of the messages.
            aggregate: maps messages (e, B, c) to (r, B, K · c), K values of each column.
            projection: W (K · d, h) and b (h,).
            own: V (d, h), of the rows themselves.
            flow: PyG's message direction.
            after: maps (rows, h) to (rows, o).
        """
        needs, edges = self._edges(edge_index, flow=flow)
        weight, bias = projection
        return Plan(
            needs=needs,
            mixings=() if own is None else (self._picking(edges.own, needs.numel()),),
            weights=() if own is None else (own.detach(),),
            bias=None,
            after=after,
            heard=Heard(edges, aggregate, weight, bias, edge_weight),
        )

    def attended(
        self,
        edge_index: Tensor,
        projections: Sequence[Projection],
        combine: Callable[[list[Tensor], LocalEdges], Tensor],
        *,
        flow: str,
        in_parts: bool = False,
        combine_change: Callable[[Change, LocalEdges], ChangedRows] | None = None,
        origin: Tensor | None = None,
        senders_only: bool = False,
    ) -> Plan:
        """Plan a layer that projects its input and is not linear in what it then does.

        Args:
            edge_index: (2, e), self-loops included where the layer adds them.
            projections: of the input; none stand for the input itself.
            combine: maps the projected rows, each (m, B, h_i), and the edges into the wanted rows
                to the output (r, B, o).
            flow: PyG's message direction.
            in_parts: give `combine` few edges at a time, for it makes a message of each.
            combine_change: gives the rows of the output that a change of the state reaches.
            origin: (e,) which column of the graph's edge index each edge is, −1 for added loops;
                the columns themselves when None.
            senders_only: whether `combine` takes no notice of the wanted rows' own input.
        """
        needs, edges = self._edges(edge_index, flow=flow, senders_only=senders_only)
        if self.edges_vary:
            edges = replace(edges, origin=edges.ids if origin is None else origin[edges.ids])
            combine_change = None  # it knows of no edges that come and go

        def combined(state: Tensor, presence: Presence | None) -> Tensor:
            parts = _split(state, projections)
            there = edges.within(presence)
            rows = [combine(parts, some) for some in (there.parts(state) if in_parts else [there])]
            return rows[0] if len(rows) == 1 else torch.cat(rows)

        return Plan(
            needs=needs,
            mixings=(self._unmixed(needs),),
            weights=(self._weight(projections),),
            bias=self._bias(projections),
            combine=combined,
            combine_change=(
                None if combine_change is None else lambda change: combine_change(change, edges)
            ),
            near=(edges, lambda state, some: combine(_split(state, projections), some)),
        )

    def over_all(
        self, projections: Sequence[Projection], combine: Callable[[list[Tensor], Tensor], Tensor]
    ) -> Plan:
        """Plan a layer in which each row looks at all rows of its projected input.

        Args:
            projections: of the input; none stand for the input itself.
            combine: maps the projected rows, each (nodes, B, h_i), and the wanted ones' numbers
                (r,) to the output (r, B, o).
        """
        needs = torch.arange(self.nodes, device=self.device)
        return Plan(
            needs=needs,
            mixings=(self._unmixed(needs),),
            weights=(self._weight(projections),),
            bias=self._bias(projections),
            combine=lambda state, _: combine(_split(state, projections), self.wanted),
            looks_at_all_nodes=True,
        )

    def looked_up(self, table: LookedUp) -> Plan:
        """Plan what a table has for numbers among the features."""
        return Plan(needs=self.wanted, mixings=(), weights=(), bias=None, looked_up=table)

    def pooled(self, members: Sequence[Any], reduce: Callable[[Tensor], Tensor]) -> Plan:
        """Plan what some rows give together, for each wanted output.

        Args:
            members: of each wanted output the numbers of its rows.
            reduce: maps rows (k, B, d) to (B, d').
        """
        used = np.unique(np.concatenate([*members, np.empty(0, dtype=np.int64)]))
        needs = torch.as_tensor(used, device=self.device).long()
        places = [self._as_slice(np.searchsorted(used, each)) for each in members]
        return Plan(
            needs=needs,
            mixings=(self._unmixed(needs),),
            weights=(None,),
            bias=None,
            combine=lambda state, _: torch.stack([reduce(state[each]) for each in places]),
        )

    def _as_slice(self, places: Any) -> Tensor | slice:
        """Return places (k,), as a slice where they follow each other: no copy is made of these."""
        first = int(places[0]) if places.size else 0
        if np.array_equal(places, np.arange(first, first + places.size)):
            return slice(first, first + places.size)
        return torch.as_tensor(places, device=self.device)

    def _picking(self, rows: Tensor, count: int) -> Mixing:
        """Return the matrix (r, count) that picks some rows (r,)."""
        ones = np.ones(rows.numel())
        places = (np.arange(rows.numel()), rows.cpu().numpy())
        matrix = sp.csr_matrix((ones, places), shape=(rows.numel(), count))
        return Mixing(matrix, device=self.device, dtype=self.dtype)

    def _unmixed(self, needs: Tensor) -> Mixing:
        return Mixing(sp.eye_array(needs.numel()), device=self.device, dtype=self.dtype)

    def _weight(self, projections: Sequence[Projection]) -> Tensor | None:
        return torch.cat([weight for weight, _ in projections], dim=1) if projections else None

    def _bias(self, projections: Sequence[Projection]) -> Tensor | None:
        biases = [
            weight.new_zeros(weight.size(1)) if bias is None else bias
            for weight, bias in projections
        ]
        return torch.cat(biases) if biases else None

    def _edges(
        self, edge_index: Tensor, *, flow: str, senders_only: bool = False
    ) -> tuple[Tensor, LocalEdges]:
        """Return the rows that are read, (m,), and the edges into the wanted ones."""
        receiver, sender = (1, 0) if flow == "source_to_target" else (0, 1)
        place = torch.full((self.nodes,), -1, device=self.device)
        place[self.wanted] = torch.arange(self.wanted.numel(), device=self.device)
        kept = (place[edge_index[receiver]] >= 0).nonzero().flatten()
        kept = kept[torch.argsort(place[edge_index[receiver][kept]], stable=True)]
        is_needed = torch.zeros(self.nodes, dtype=torch.bool, device=self.device)
        is_needed[edge_index[sender][kept]] = True
        if not senders_only or kept.numel() == 0:
            is_needed[self.wanted] = True
        needs = is_needed.nonzero().flatten()
        return needs, LocalEdges(
            ids=kept,
            sender=torch.searchsorted(needs, edge_index[sender][kept]),
            receiver=place[edge_index[receiver][kept]],
            own=torch.searchsorted(needs, self.wanted),
        )


def _split(state: Tensor, projections: Sequence[Projection]) -> list[Tensor]:
    """Return what each projection gave, (m, B, h_i), of a state (m, B, h)."""
    widths = [weight.size(1) for weight, _ in projections]
    return list(torch.split(state, widths, dim=-1)) if widths else [state]


def _numbers(tensor: Tensor) -> Any:
    return tensor.detach().cpu().double().flatten().numpy()
