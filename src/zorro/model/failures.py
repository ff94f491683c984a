"""Which failures are a model's own, and which of them may be read as an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import TypeVar

import torch

from zorro.errors import ModelError, ZorroError

T = TypeVar("T")

# What computing raises. Anything else that is raised while a model runs, such as a time-out, may
# be no word of the model's: it is raised on as it is.
COMPUTING_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
)


@contextmanager
def backward_passes() -> Iterator[None]:
    """Raise a `ModelError` where a model's backward pass fails within; other failures stay.

    Layers may have none of this kind: those that recompute values with torch's reentrant
    checkpoints, say, and functions whose derivative nobody wrote.
    """
    try:
        yield
    except (torch.OutOfMemoryError, ZorroError):
        raise
    except COMPUTING_ERRORS as error:
        frames = (frame for frame, _ in walk_tb(error.__traceback__))
        if not any(frame.f_globals.get("__name__") == "torch.autograd" for frame in frames):
            raise
        raise ModelError(
            "the model gives no gradient, without which some methods cannot explain it: its "
            f"backward pass raised {type(error).__name__}: {error}"
        ) from error


class RepeatedFailure(Exception):  # noqa: N818 - no error: whoever tried reads it as an answer
    """What was tried failed twice in the same way; `error` is the first failure."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def try_twice(compute: Callable[[], T], failures: tuple[type[Exception], ...] = (ModelError,)) -> T:
    """Return what `compute` gives, or raise `RepeatedFailure` where it fails twice alike.

    It is called where a failure is read as an answer, as that a model has no gradient. A failure
    that comes from outside, as a time-out that strikes while the model runs, does not come again
    on the same input: it is raised on.

    Args:
        compute: gives the same each time.
        failures: what may be read as an answer.
    """
    first: Exception | None = None
    try:
        try:
            return compute()
        except failures as error:
            first = error
        try:
            compute()
        except failures as error:
            if _kind_of(error) == _kind_of(first):
                raise RepeatedFailure(first) from first
        raise first
    finally:
        del first  # its traceback holds this frame, and all tensors of those below


def _kind_of(error: Exception) -> tuple[type, type]:
    """Return what an error is, and what it was in the model."""
    return type(error), type(error.__cause__)
