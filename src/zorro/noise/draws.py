"""The noise of one query, drawn: a matrix per sample that is read by columns or multiplied."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class Draws(Protocol):
    """Noise Z (S, n, d) of one query, in whatever form suits its distribution."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Samples, candidate nodes and features."""
        ...

    def columns(self, columns: Tensor) -> Tensor:
        """Return some columns of every sample, (k, S, n)."""
        ...

    def matrices(self, samples: Tensor) -> Tensor:
        """Return some samples whole, (q, n, d)."""
        ...

    def times(self, weight: Tensor) -> Tensor:
        """Return Z W for a weight (d, h), as (n, S, h)."""
        ...


class DenseDraws:
    """Noise kept as it is."""

    def __init__(self, values: Tensor) -> None:
        self._values = values  # (S, n, d)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Samples, candidate nodes and features."""
        samples, nodes, features = self._values.shape
        return samples, nodes, features

    def columns(self, columns: Tensor) -> Tensor:
        """Return some columns of every sample, (k, S, n)."""
        return self._values[:, :, columns].permute(2, 0, 1)

    def matrices(self, samples: Tensor) -> Tensor:
        """Return some samples whole, (q, n, d)."""
        return self._values[samples]

    def times(self, weight: Tensor) -> Tensor:
        """Return Z W, (n, S, h)."""
        return (self._values @ weight).transpose(0, 1)
