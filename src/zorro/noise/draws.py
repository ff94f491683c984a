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

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s Z_sᵀ V_s over some rows (v,) of Z, for values (v, S, h), as (d, h)."""
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

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s Z_sᵀ V_s over some rows, (d, h)."""
        noise = self._values[:, rows].transpose(0, 1)  # (v, S, d)
        return noise.flatten(0, 1).t() @ values.flatten(0, 1)
