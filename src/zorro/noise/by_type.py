"""Noise of several types: each is refilled from its own nodes, and has columns of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from zorro.elements.types import Types
from zorro.noise.draws import Draws, JoinedDraws


@dataclass(frozen=True)
class OfType:
    """The noise of one type.

    Args:
        noise: a distribution over its features (n, k).
        columns: where these stand among those of all types.
    """

    noise: Any  # a `zorro.noise.Noise`
    columns: slice


class NoiseByType:
    """Draws the features of each node from those of its type; other types' columns are zero.

    Args:
        types: of the nodes.
        each: the noise of each type; None of one that has no features.
        name: of all of them.
    """

    def __init__(self, types: Types, each: Sequence[OfType | None], *, name: str) -> None:
        self.types = types
        self.each = tuple(each)
        self.name = name

    def rows(self, types: Tensor) -> list[tuple[int, OfType, Tensor]]:
        """Return each type that has features, with its number and its places among types (n,)."""
        found = []
        for number, one in enumerate(self.each):
            places = (types == number).nonzero().flatten()
            if one is not None and places.numel():
                found.append((number, one, places))
        return found

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Refuse: what is drawn depends on which nodes they are, see `zorro.noise.redraw`."""
        raise AssertionError("noise of several types is drawn for nodes, not for features alone")


@dataclass(frozen=True, eq=False)
class PlacedDraws:
    """The noise of some nodes in some columns."""

    draws: Draws
    rows: Tensor  # (k,) ascending
    columns: slice


class DrawsByType:
    """The noise of one query's nodes of several types: blocks beside one another.

    Args:
        parts: of each type.
        nodes: n, of all types.
        columns: d, of all types.
        samples: how many.
    """

    def __init__(
        self, parts: Sequence[PlacedDraws], *, nodes: int, columns: int, samples: int
    ) -> None:
        self._parts = tuple(parts)
        self._shape = samples, nodes, columns

    @property
    def shape(self) -> tuple[int, int, int]:
        """Samples, candidate nodes and features."""
        return self._shape

    @property
    def cost_per_sample(self) -> float:
        """What all of them cost."""
        return sum(part.draws.cost_per_sample for part in self._parts)

    def columns(self, columns: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return some columns of some nodes (v,), all when None, as (k, v, S)."""
        samples, nodes, _ = self._shape
        every = torch.arange(nodes, device=columns.device) if rows is None else rows
        found: Tensor | None = None
        for part in self._parts:
            mine = ((columns >= part.columns.start) & (columns < part.columns.stop)).nonzero()
            at = torch.full((nodes,), -1, device=columns.device)
            at[part.rows] = torch.arange(part.rows.numel(), device=columns.device)
            here = at[every]  # (v,)
            there = (here >= 0).nonzero().flatten()
            values = part.draws.columns(columns[mine.flatten()] - part.columns.start, here[there])
            if found is None:
                found = values.new_zeros(columns.numel(), every.numel(), samples)
            found[mine, there] = values
        assert found is not None
        return found

    def matrices(self, samples: Tensor) -> Tensor:
        """Return some samples whole, (q, n, d)."""
        _, nodes, columns = self._shape
        found: Tensor | None = None
        for part in self._parts:
            values = part.draws.matrices(samples)  # (q, k, c)
            if found is None:
                found = values.new_zeros(samples.numel(), nodes, columns)
            found[:, part.rows, part.columns] = values
        assert found is not None
        return found

    def times(self, weight: Tensor) -> Tensor:
        """Return Z W for a weight (d, h), as (n, S, h)."""
        samples, nodes, _ = self._shape
        product = weight.new_zeros(nodes, samples, weight.size(1))
        for part in self._parts:
            product[part.rows] = part.draws.times(weight[part.columns])
        return product

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s Z_sᵀ V_s over some rows (v,) of Z, for values (v, S, h), as (d, h)."""
        _, nodes, columns = self._shape
        product = values.new_zeros(columns, values.size(2))
        for part in self._parts:
            at = torch.full((nodes,), -1, device=rows.device)
            at[part.rows] = torch.arange(part.rows.numel(), device=rows.device)
            mine = (at[rows] >= 0).nonzero().flatten()
            if mine.numel():
                product[part.columns] = part.draws.transposed_times(values[mine], at[rows[mine]])
        return product

    def only(self, samples: Tensor) -> DrawsByType:
        """Return the noise of some samples (q,), ascending, alone."""
        parts = [
            PlacedDraws(part.draws.only(samples), part.rows, part.columns) for part in self._parts
        ]
        _, nodes, columns = self._shape
        return DrawsByType(parts, nodes=nodes, columns=columns, samples=samples.numel())

    def joined(self, others: Sequence[Draws]) -> JoinedDraws:
        """Return this noise and that of other samples of the same query, one after the other."""
        return JoinedDraws([self, *others])
