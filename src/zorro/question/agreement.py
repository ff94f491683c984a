"""When two outputs of one model count as the same."""

from __future__ import annotations

import torch
from torch import Tensor

_TOLERANCE = 1e-4  # of sums in another order, in single precision or better
_ROUNDINGS = 4  # in half precision a rounding is larger than that; so many of them add up
_SHARE = 1e-3  # of the distance between scores: less hardly ever decides which is the highest
_LAST_DIGITS = 64  # roundings that a score may be off, whatever the distance


def tolerance(dtype: torch.dtype) -> float:
    """Return how far two runs of one model on one input may differ, relative to the output."""
    if not dtype.is_floating_point:
        return _TOLERANCE
    return max(_TOLERANCE, _ROUNDINGS * torch.finfo(dtype).eps)


def unseen(score: Tensor) -> float:
    """Return up to what difference scores of a size are taken for equal, however little decides.

    Args:
        score: one, of no dimension.
    """
    if not score.is_floating_point():
        return 0.0
    size = abs(float(score))
    last_digits = _LAST_DIGITS * torch.finfo(score.dtype).eps * size
    return min(last_digits, tolerance(score.dtype) * (1 + size))


def rounding(scores: Tensor) -> Tensor:
    """Return how far roundings alone may move scores (…, C) of such a size, (…).

    Of half precision fewer are allowed for: layers add up in single precision and round once.
    """
    eps = _eps(scores.dtype)
    roundings = _LAST_DIGITS if _LAST_DIGITS * eps < _TOLERANCE else _ROUNDINGS
    return roundings * eps * _size(scores)


def limit(scores: Tensor, *, spread: Tensor | None = None) -> Tensor:
    """Return up to what difference scores (…, C) count as equal, (…) in double precision.

    Args:
        scores: of queries.
        spread: (…) the distance that decides; that of the columns when None.
    """
    if spread is None:
        known, values = scores.isfinite(), scores.double()
        highest = torch.where(known, values, -torch.inf).amax(-1)
        lowest = torch.where(known, values, torch.inf).amin(-1)
        spread = (highest - lowest).clamp(min=0)
    allowed, size = tolerance(scores.dtype), _size(scores)
    share = max(_SHARE, allowed if allowed > _TOLERANCE else 0.0)
    last_digits = _LAST_DIGITS * _eps(scores.dtype) * size
    return torch.minimum(share * spread + last_digits, allowed * (1 + size))


def _size(scores: Tensor) -> Tensor:
    """Return the largest of the finite scores (…, C) by absolute value, (…)."""
    return torch.where(scores.isfinite(), scores.abs(), 0).amax(-1).double()


def _eps(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).eps if dtype.is_floating_point else 0.0


def close(one: Tensor, other: Tensor, *, spread: Tensor | None = None) -> bool:
    """Whether scores (…, C) are equal up to rounding.

    Scores that lie close together are held to a finer measure: what decides is the distance
    between them, however small they are.

    Args:
        one: scores.
        other: scores of the same queries.
        spread: (…) the distance that decides; that of the columns when None.
    """
    if one.shape != other.shape:
        return False
    allowed = tolerance(one.dtype)
    if not torch.allclose(one, other, rtol=allowed, atol=allowed, equal_nan=True):
        return False
    known = one.isfinite() & other.isfinite()
    if not bool(known.any()):
        return True
    difference = torch.where(known, (one - other).abs(), 0).amax(-1)  # (…)
    return bool((difference <= limit(one, spread=spread)).all())


def same_output(one: Tensor, other: Tensor, *, spread: Tensor | None = None) -> bool:
    """Whether scores (…, C) are equal up to rounding and predict the same classes."""
    return close(one, other, spread=spread) and bool((one.argmax(-1) == other.argmax(-1)).all())
