"""Which edges there are in each input of a batch, where that differs."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import torch
from torch import Tensor


class Presence:
    """How much of each edge there is in each input: 1 or 0, and between them a gradient.

    Args:
        columns: (e, B), of the columns of the graph's edge index.
    """

    def __init__(self, columns: Tensor) -> None:
        self.columns = columns
        # A last row for loops that layers add, which are always there.
        self._with_loops = torch.cat([columns, torch.ones_like(columns[:1])])
        self._made: dict[Hashable, Tensor] = {}
        self._parts: dict[int, tuple[Tensor, Presence]] = {}

    def of(self, origin: Tensor) -> Tensor:
        """Return that of a layer's edges (k, B), which are columns of the graph's, or −1."""
        return self._with_loops[origin]

    def made(self, key: Hashable, make: Callable[[], Tensor]) -> Tensor:
        """Return what `make` made of it the first time it was asked for, for all layers alike."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def part(self, columns: Tensor) -> Presence:
        """Return that of some columns (k,) of the graph's edge index, for layers that see these."""
        known = self._parts.get(id(columns))
        if known is None or known[0] is not columns:
            known = self._parts[id(columns)] = (columns, Presence(self.columns[columns]))
        return known[1]
