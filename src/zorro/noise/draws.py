"""The noise of one query, drawn: a matrix per sample that is read by columns or multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

_COST = 5.0  # nanoseconds a number that is read from memory and multiplied


class Draws(Protocol):
    """Noise Z (S, n, d) of one query, in whatever form suits its distribution.

    >>> import torch
    >>> from zorro.noise import draws_of, resolve
    >>> x = torch.tensor([[0.0, 5.0], [1.0, 5.0]])
    >>> draws = draws_of(
    ...     resolve("column-marginals", x), x, seed=0, query=0, samples=range(3), memory=1 << 20
    ... )
    >>> draws.shape
    (3, 2, 2)
    >>> draws.columns(torch.tensor([1]))  # all that column 1 has
    tensor([[[5., 5., 5.],
             [5., 5., 5.]]])
    >>> noise = draws.matrices(torch.arange(3))
    >>> torch.equal(draws.times(torch.eye(2)), noise.transpose(0, 1))
    True
    """

    @property
    def shape(self) -> tuple[int, int, int]:
        """Samples, candidate nodes and features."""
        ...

    @property
    def cost_per_sample(self) -> float:
        """What a sample costs in nanoseconds, roughly and by its size, never by the clock."""
        ...

    def columns(self, columns: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return some columns of some nodes (v,), all when None, as (k, v, S).

        Args:
            columns: (k,), which.
            rows: (v,), of which candidates.
        """
        ...

    def matrices(self, samples: Tensor) -> Tensor:
        """Return some samples whole, (q, n, d)."""
        ...

    def times(self, weight: Tensor) -> Tensor:
        """Return Z W for a weight (d, h), as (n, S, h)."""
        ...

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s Z_sᵀ V_s over some rows (v,) of Z, for values (v, S, h), as (d, h).

        Args:
            values: (v, S, h), by which each row's noise is multiplied.
            rows: (v,), which candidates they belong to.
        """
        ...

    def only(self, samples: Tensor) -> Draws:
        """Return the noise of some samples (q,), ascending, alone."""
        ...

    def joined(self, others: Sequence[Draws]) -> Draws:
        """Return this noise and that of other samples of the same query, one after the other."""
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

    @property
    def cost_per_sample(self) -> float:
        """What multiplying costs."""
        return _COST * self.shape[1] * self.shape[2]

    def columns(self, columns: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return some columns of some nodes (v,), all when None, as (k, v, S)."""
        values = self._values if rows is None else self._values[:, rows]
        return values[:, :, columns].permute(2, 1, 0)

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

    def only(self, samples: Tensor) -> DenseDraws:
        """Return the noise of some samples alone."""
        return DenseDraws(self._values[samples])

    def joined(self, others: Sequence[Draws]) -> JoinedDraws:
        """Return this noise and that of other samples."""
        return JoinedDraws([self, *others])


class TrueValues:
    """No noise at all: every sample has the true features, where these are not selectable.

    Args:
        x: (n, d).
        samples: how many.
    """

    def __init__(self, x: Tensor, samples: int) -> None:
        self._x = x
        self._samples = samples

    @property
    def shape(self) -> tuple[int, int, int]:
        """Samples, candidate nodes and features."""
        return self._samples, self._x.size(0), self._x.size(1)

    @property
    def cost_per_sample(self) -> float:
        """Nothing is drawn."""
        return 0.0

    def columns(self, columns: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return some columns of some nodes (v,), all when None, as (k, v, S)."""
        values = self._x if rows is None else self._x[rows]
        return values[:, columns].t().unsqueeze(2).expand(-1, -1, self._samples)

    def matrices(self, samples: Tensor) -> Tensor:
        """Return some samples whole, (q, n, d), which are one and the same."""
        return self._x.expand(samples.numel(), -1, -1)

    def times(self, weight: Tensor) -> Tensor:
        """Return X W for each sample, (n, S, h)."""
        return (self._x @ weight).unsqueeze(1).expand(-1, self._samples, -1)

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s Xᵀ V_s over some rows, (d, h)."""
        return self._x[rows].t() @ values.sum(1)

    def only(self, samples: Tensor) -> TrueValues:
        """Return some samples alone."""
        return TrueValues(self._x, samples.numel())

    def joined(self, others: Sequence[Draws]) -> TrueValues:
        """Return these samples and others."""
        return TrueValues(self._x, self._samples + sum(other.shape[0] for other in others))


class JoinedDraws:
    """The samples of several draws of one query, one after the other."""

    def __init__(self, parts: Sequence[Draws]) -> None:
        self._parts = parts
        self._counts = [part.shape[0] for part in parts]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Samples, candidate nodes and features."""
        return sum(self._counts), *self._parts[0].shape[1:]

    @property
    def cost_per_sample(self) -> float:
        """What the dearest of them costs."""
        return max(part.cost_per_sample for part in self._parts)

    def columns(self, columns: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return some columns of some nodes (v,), all when None, as (k, v, S)."""
        return torch.cat([part.columns(columns, rows) for part in self._parts], dim=2)

    def matrices(self, samples: Tensor) -> Tensor:
        """Return some samples whole, (q, n, d)."""
        result: list[tuple[Tensor, Tensor]] = []
        first = 0
        for part, count in zip(self._parts, self._counts, strict=True):
            place = ((samples >= first) & (samples < first + count)).nonzero().flatten()
            if place.numel():
                result.append((place, part.matrices(samples[place] - first)))
            first += count
        if not result:
            return self._parts[0].matrices(samples)
        order = torch.cat([place for place, _ in result]).argsort()
        return torch.cat([noise for _, noise in result])[order]

    def times(self, weight: Tensor) -> Tensor:
        """Return Z W, (n, S, h)."""
        return torch.cat([part.times(weight) for part in self._parts], dim=1)

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s Z_sᵀ V_s over some rows, (d, h)."""
        split = torch.split(values, self._counts, dim=1)
        products = [
            part.transposed_times(some, rows) for part, some in zip(self._parts, split, strict=True)
        ]
        return torch.stack(products).sum(0)

    def only(self, samples: Tensor) -> JoinedDraws:
        """Return the noise of some samples alone."""
        parts: list[Draws] = []
        first = 0
        for part, count in zip(self._parts, self._counts, strict=True):
            inside = samples[(samples >= first) & (samples < first + count)]
            if inside.numel():
                parts.append(part.only(inside - first))
            first += count
        return JoinedDraws(parts)

    def joined(self, others: Sequence[Draws]) -> JoinedDraws:
        """Return this noise and that of other samples."""
        return JoinedDraws([*self._parts, *others])
