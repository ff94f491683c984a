"""The paper's noise: each entry is drawn from its feature's own column of the data set."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.noise.streams import BLOCK, blocks, child_keys, key_of, uniforms


class ColumnMarginals:
    """Draws entry (i, j) from the values that feature j takes in the data set.

    Only non-zero values are drawn: along the entries of a column, the gap from one non-zero to
    the next is geometric with the column's density. Each (seed, query, block of samples, column)
    has a stream of its own, so that any column and any block can be drawn again alone.

    Args:
        x: (N, d), the feature matrix of the whole data set.
    """

    name = "column-marginals"

    def __init__(self, x: Tensor) -> None:
        column, row = x.t().nonzero(as_tuple=True)  # by column
        self._features = x.size(1)
        self._dtype = x.dtype
        self._values = x[row, column]  # (nnz,), by column
        self._count = torch.bincount(column, minlength=x.size(1))  # (d,)
        self._first = self._count.cumsum(0) - self._count  # (d,)
        self._density = self._count.double() / x.size(0)  # (d,)

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d) of `samples` for the candidates' features (n, d)."""
        drawn = [
            self._block(candidates.size(0), key_of(seed, query, block))[part]
            for block, part in blocks(samples)
        ]
        return torch.cat(drawn)  # (S, n, d)

    def _block(self, nodes: int, key: int) -> Tensor:
        position, column, values = self.entries(nodes, key)
        noise = torch.zeros(BLOCK * nodes, self._features, dtype=self._dtype, device=values.device)
        noise[position, column] = values
        return noise.view(BLOCK, nodes, self._features)

    def entries(self, nodes: int, key: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return the non-zeros of a block: position (sample · nodes + node), column, value."""
        positions = BLOCK * nodes
        device = self._density.device
        keys = child_keys(key, self._features, device=device)  # (d,)
        expected = positions * self._density
        slack = 4.0
        while True:
            draws = (expected + slack * (expected.sqrt() + 1)).ceil().long()
            draws[self._count == 0] = 0
            column = torch.arange(self._features, device=device).repeat_interleave(draws)  # (t,)
            first = draws.cumsum(0) - draws
            counter = torch.arange(column.numel(), device=device) - first[column]
            position = self._positions(keys, column, counter, first, positions)
            last = (first + draws - 1)[draws > 0]
            if bool((position[last] >= positions).all()):
                break
            slack *= 2.0  # counters address the draws, so the first ones stay as they were
        inside = position < positions
        position, column, counter = position[inside], column[inside], counter[inside]
        chosen = uniforms(keys[column], 2 * counter + 1) * self._count[column]
        return position, column, self._values[self._first[column] + chosen.long()]

    def _positions(
        self, keys: Tensor, column: Tensor, counter: Tensor, first: Tensor, positions: int
    ) -> Tensor:
        waiting = uniforms(keys[column], 2 * counter).log() / torch.log1p(-self._density)[column]
        step = waiting.clamp_(max=positions).long() + 1  # (t,) one more than the geometric gap
        reached = step.cumsum(0)
        before = torch.zeros_like(reached)
        before[1:] = reached[:-1]
        return reached - before[first[column]] - 1
