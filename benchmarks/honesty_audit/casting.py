"""Models and their data in another precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from honesty_audit.graphs import Graph


def in_precision(dtype: torch.dtype) -> Callable[[nn.Module, Any], tuple[nn.Module, Any]]:
    """Return what puts a model and its data into a precision; other data are made."""
    return lambda model, data: (model.to(dtype), cast(data, dtype))


def cast(data: Any, dtype: torch.dtype) -> Any:
    """Return a graph of any kind, or several, whose floating-point numbers have a type."""
    if isinstance(data, list):
        return [cast(each, dtype) for each in data]
    if isinstance(data, Graph):
        kwargs = {name: _cast(values, dtype) for name, values in data.kwargs.items()}
        return replace(data, x=_cast(data.x, dtype), kwargs=kwargs)
    return data.clone().apply(lambda values: _cast(values, dtype))


def _cast(values: Tensor, dtype: torch.dtype) -> Tensor:
    return values.to(dtype) if values.is_floating_point() else values
