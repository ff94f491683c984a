"""What refills the entries that an explanation does not keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.noise.column_marginals import ColumnMarginals, SparseDraws
from zorro.noise.distributions import (
    Constant,
    FromFunction,
    Gaussian,
    NoiseFunction,
    PublishedDraw,
    WholeRows,
    column_means,
)
from zorro.noise.draws import DenseDraws, Draws

__all__ = ["NOISES", "Draws", "Noise", "NoiseFunction", "draws_of", "resolve"]


@runtime_checkable
class Noise(Protocol):
    """A distribution of feature values whose draws are fixed by seed, query and sample."""

    name: str

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d) of `samples` for candidates with features (n, d)."""
        ...


_BY_NAME: dict[str, Callable[[Tensor], Noise]] = {
    "column-marginals": ColumnMarginals,
    "rows": WholeRows,
    "zeros": lambda x: Constant("zeros", torch.zeros(x.size(1), dtype=x.dtype, device=x.device)),
    "means": lambda x: Constant("means", column_means(x)),
    "gaussian": Gaussian,
    "published": PublishedDraw,
}
NOISES = tuple(_BY_NAME)
_DENSE_ONLY = ("gaussian", "published")


def resolve(noise: str | Noise | NoiseFunction, x: Tensor) -> Noise:
    """Return the noise that a name, a noise object or a user's function stands for.

    Args:
        noise: one of `NOISES`; an object with `draw`; or a function
            `(candidates (n, d), samples, torch.Generator) -> (samples, n, d)`.
        x: (N, d), the feature matrix of the whole data set, dense or sparse.
    """
    if isinstance(noise, str):
        if noise not in _BY_NAME:
            raise InputError(f"noise: expected one of {', '.join(NOISES)}, got {noise!r}")
        if noise in _DENSE_ONLY and x.layout != torch.strided:
            raise InputError(f"noise: {noise!r} needs dense features: pass x.to_dense()")
        return _BY_NAME[noise](x)
    if isinstance(noise, Noise):
        return noise
    if callable(noise):
        return FromFunction(noise)
    raise InputError(
        f"noise: expected a name, a function or an object with draw, got {type(noise).__name__}"
    )


def draws_of(
    noise: Noise, candidates: Tensor, *, seed: int, query: int, samples: range, memory: int
) -> Draws:
    """Draw the noise of one query, sparse where the distribution is.

    Args:
        noise: the distribution.
        candidates: (n, d), the candidates' true features.
        seed: of the noise.
        query: the node that is explained.
        samples: which samples.
        memory: bytes that sparse noise may keep; past that it is drawn again when asked for.
    """
    if isinstance(noise, ColumnMarginals):
        return SparseDraws(
            noise, candidates.size(0), seed=seed, query=query, samples=samples, memory=memory
        )
    return DenseDraws(noise.draw(candidates, seed=seed, query=query, samples=samples))
