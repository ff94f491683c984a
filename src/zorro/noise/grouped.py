"""Noise that draws groups of columns together, each from one random row of the data set."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.graph.features import Features
from zorro.noise.streams import BLOCK, generator, parts_of


class GroupMarginals:
    """Replaces a node's unselected groups of columns, each by that of a random node of its own.

    Columns of one group stay together, so that a one-hot group stays one-hot; groups are
    independent of one another, as columns are in the paper's noise.

    Args:
        features: (N, d), of the whole data set.
        groups: (d,) each column's group, 0, 1, ….
    """

    name = "group-marginals"

    def __init__(self, features: Features, groups: Tensor) -> None:
        self._features = features
        self._columns = [
            (groups == group).nonzero().flatten() for group in range(int(groups.max()) + 1)
        ]

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d)."""
        noise = candidates.new_empty(len(samples), *candidates.shape)
        for group, columns in enumerate(self._columns):
            rows = torch.cat(
                [
                    torch.randint(
                        self._features.shape[0],
                        (BLOCK, candidates.size(0)),
                        generator=generator(seed, query, block, group),
                    )[part]
                    for block, part in parts_of(samples)
                ]
            )  # (S, n)
            drawn = self._at(rows.flatten().to(candidates.device), columns)
            noise[:, :, columns] = drawn.view(*rows.shape, -1)
        return noise

    def _at(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return some columns of some rows, (t, k), reading no others where they are in memory."""
        x = self._features.in_memory
        if x is None or x.layout != torch.strided:
            return self._features.rows(rows)[:, columns]
        return x[rows.unsqueeze(1), columns]
