"""Other ways to refill what is not selected, behind the same interface as the paper's."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.graph.features import Features
from zorro.noise.streams import BLOCK, generator, parts_of

NoiseFunction = Callable[[Tensor, int, torch.Generator], Tensor]
_COLUMNS = 64


class WholeRows:
    """Replaces a node's unselected entries by those of one random node of the data set."""

    name = "rows"

    def __init__(self, features: Features) -> None:
        self._features = features

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d)."""
        rows = torch.cat(
            [
                torch.randint(
                    self._features.shape[0],
                    (BLOCK, candidates.size(0)),
                    generator=generator(seed, query, block),
                )[part]
                for block, part in parts_of(samples)
            ]
        )  # (S, n)
        return self._features.rows(rows.flatten().to(candidates.device)).view(*rows.shape, -1)


class Constant:
    """Replaces every unselected entry of a column by one value."""

    def __init__(self, name: str, columns: Tensor) -> None:
        self.name = name
        self._columns = columns  # (d,)

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d): the same for each sample."""
        return self._columns.expand(len(samples), candidates.size(0), -1)


class Gaussian:
    """Draws from a normal distribution with the column's mean and standard deviation."""

    name = "gaussian"

    def __init__(self, x: Tensor) -> None:
        self._mean = x.mean(0)  # (d,)
        self._deviation = x.std(0, correction=0)  # (d,)

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d)."""
        standard = torch.cat(
            [
                torch.randn((BLOCK, *candidates.shape), generator=generator(seed, query, block))[
                    part
                ]
                for block, part in parts_of(samples)
            ]
        )  # (S, n, d)
        return standard.to(self._mean) * self._deviation + self._mean


class FromFunction:
    """Wraps a user's `function(candidates, samples, generator) -> (samples, n, d)`."""

    def __init__(self, function: NoiseFunction) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function = function

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d)."""
        return torch.cat(
            [
                self._checked(
                    self._function(candidates, BLOCK, generator(seed, query, block)), candidates
                )[part]
                for block, part in parts_of(samples)
            ]
        )

    def _checked(self, drawn: Tensor, candidates: Tensor) -> Tensor:
        expected = (BLOCK, *candidates.shape)
        if not isinstance(drawn, Tensor) or tuple(drawn.shape) != expected:
            came = tuple(drawn.shape) if isinstance(drawn, Tensor) else type(drawn).__name__
            raise InputError(f"noise: expected a tensor {expected} of {self.name}, got {came}")
        # Cut to integers, most draws would be zero.
        return drawn.to(candidates) if candidates.is_floating_point() else drawn


class PublishedDraw:
    """The draw of the paper's published code, for parity: one generator, row indices per entry.

    The first sample takes the generator's first n·d numbers, and so on; the query plays no part.
    The last draw is kept, since the same samples serve to search and to measure.
    """

    name = "published"

    def __init__(self, x: Tensor) -> None:
        self._x = x
        self._kept: tuple[object, Tensor] | None = None

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d)."""
        asked = (seed, tuple(candidates.shape), samples)
        kept = self._kept  # threads may share this noise
        if kept is None or kept[0] != asked:
            kept = self._kept = (asked, self._drawn(tuple(candidates.shape), seed, samples))
        return kept[1]

    def _drawn(self, shape: tuple[int, ...], seed: int, samples: range) -> Tensor:
        stream = torch.Generator("cpu").manual_seed(seed)
        drawn = []
        for sample in range(samples.stop):
            rows = torch.randint(self._x.size(0), shape, generator=stream)
            if sample >= samples.start:
                drawn.append(rows)
        rows = torch.cat(drawn).to(self._x.device)  # (S · n, d)
        values = self._x.new_empty(rows.shape)
        # Some columns at a time, so that their values stay in the processor's cache.
        for first in range(0, shape[1], _COLUMNS):
            part = slice(first, first + _COLUMNS)
            values[:, part] = self._x[:, part].contiguous().gather(0, rows[:, part])
        return values.reshape(len(samples), *shape)
