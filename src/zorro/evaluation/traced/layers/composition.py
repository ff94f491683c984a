"""Layers that are spelled out in several steps while a model is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import fx, nn

from zorro.evaluation.traced.plan import Plan

Value = Any  # what stands in a trace for a node-level value, (N, …)
Composition = Callable[..., Value]
COMPOSITIONS: dict[type[nn.Module], Composition] = {}


class Step:
    """A part of a layer that has a plan of its own; it stands in a trace as a function.

    Args:
        name: for messages.
        plan: takes the wanted rows and what the step is called with after `x`.
    """

    def __init__(self, name: str, plan: Callable[..., Plan]) -> None:
        self.__name__ = name
        self.plan = plan

    def __call__(self, x: fx.Proxy, *args: Any) -> Value:
        """Take the step in the model that is being traced."""
        return x.tracer.create_proxy("call_function", self, (x, *args), {})


def composes(layer: type[nn.Module]) -> Callable[[Composition], Composition]:
    """Register a function that does what a layer does, in steps and row-wise operations.

    It is called while a model is traced, with the layer and what the model calls it with.
    """

    def register(function: Composition) -> Composition:
        COMPOSITIONS[layer] = function
        return function

    return register
