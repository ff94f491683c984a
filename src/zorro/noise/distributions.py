"""Other ways to refill what is not selected, behind the same interface as the paper's."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.graph.features import Features
from zorro.noise.streams import BLOCK, generator, parts_of
from zorro.question.agreement import tolerance

NoiseFunction = Callable[[Tensor, torch.Generator], Tensor]
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
    """Draws each sample by a call of a user's `function(candidates, generator) -> (n, d)`.

    Samples of a claim must be independent. So they are by construction: what a call draws comes
    from a generator that no other call has, and is copied before the next one.
    """

    def __init__(self, function: NoiseFunction) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function = function

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d); refuse a function that draws otherwise when asked again."""
        noise = candidates.new_empty(len(samples), *candidates.shape)
        for place, sample in enumerate(samples):
            noise[place] = self._one(candidates, generator(seed, query, sample))
        if len(samples) > 1:
            again = self._one(candidates, generator(seed, query, samples[0]))
            allowed = tolerance(noise.dtype)
            if not torch.allclose(noise[0], again, rtol=allowed, atol=allowed, equal_nan=True):
                raise InputError(
                    f"noise: expected {self.name} to draw with its generator alone, got other "
                    "values from the same one"
                )
        return noise

    def _one(self, candidates: Tensor, own: torch.Generator) -> Tensor:
        """Return one sample (n, d) of the candidates' type."""
        drawn = self._function(candidates, own)
        expected = tuple(candidates.shape)
        if not isinstance(drawn, Tensor) or tuple(drawn.shape) != expected:
            came = tuple(drawn.shape) if isinstance(drawn, Tensor) else type(drawn).__name__
            raise InputError(f"noise: expected a tensor {expected} of {self.name}, got {came}")
        # Cut to integers, most draws would be zero.
        if not candidates.is_floating_point() and drawn.dtype != candidates.dtype:
            raise InputError(
                f"noise: expected {candidates.dtype} of {self.name}, as the features are, got "
                f"{drawn.dtype}"
            )
        return drawn.detach().to(candidates)


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
