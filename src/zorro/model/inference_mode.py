"""Work with gradients for a caller who is inside `torch.inference_mode()`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def outside_inference_mode(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function run outside of `torch.inference_mode()`, in which nothing has a gradient."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if not torch.is_inference_mode_enabled():
            return function(*args, **kwargs)
        with torch.inference_mode(False):
            return function(*args, **kwargs)

    return run


def ordinary(value: T) -> T:
    """Return a value as it is, but for a tensor made in inference mode: that is copied.

    Such tensors may not take part in what has a gradient.
    """
    held: Any = value
    return held.clone() if isinstance(value, Tensor) and value.is_inference() else value
