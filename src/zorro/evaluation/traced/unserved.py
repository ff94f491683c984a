"""What the traced evaluator raises where it cannot serve."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from torch import Tensor

from zorro.model.failures import RepeatedFailure, try_twice

T = TypeVar("T")


class Unserved(Exception):  # noqa: N818 - not an error of the caller's: the other evaluator serves
    """The traced evaluator cannot serve this model; the message says why."""


_FAILURES = (Unserved, RuntimeError, TypeError, ValueError, LookupError, AttributeError)


def in_what_they_differ(traced: Tensor, true: Tensor) -> str:
    """Return the reason that traced scores (C,) of an input are not the model's."""
    ours, theirs = ([round(float(score), 4) for score in scores] for scores in (traced, true))
    return f"its traced scores {ours} are not the model's {theirs}"


def unless_it_fails(
    compute: Callable[[], T],
    *,
    failures: tuple[type[Exception], ...] = _FAILURES,
    what: str = "it failed when traced",
) -> T:
    """Return what is computed, or raise `Unserved` where that fails, and fails once more.

    Args:
        compute: gives the same each time.
        failures: of which kinds.
        what: failed, as the reason says.
    """
    try:
        return try_twice(compute, failures)
    except RepeatedFailure as failure:
        error = failure.error
        if isinstance(error, Unserved):
            raise error from None
        raise Unserved(f"{what}: {type(error).__name__}: {error}") from error
