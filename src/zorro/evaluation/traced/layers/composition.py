"""Layers that are spelled out in several steps while a model is traced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import fx, nn

from zorro.evaluation.traced.plan import Plan

Value = Any  # what stands in a trace for a node-level value, (N, …)
Composition = Callable[..., Value]
COMPOSITIONS: dict[type[nn.Module], Composition] = {}
# Of layers that are called with a value for senders and another one for receivers.
OF_TWO: dict[type[nn.Module], Composition] = {}


class Step:
    """A part of a layer that has a plan of its own; it stands in a trace as a function.

    Args:
        name: for messages.
        plan: takes the wanted rows and what the step is called with after `x`.
        heeds_edges: whether the plan heeds which edges there are in each input.
    """

    def __init__(self, name: str, plan: Callable[..., Plan], *, heeds_edges: bool = False) -> None:
        self.__name__ = name
        self.plan = plan
        self.heeds_edges = heeds_edges

    def __call__(self, x: fx.Proxy, *args: Any) -> Value:
        """Take the step in the model that is being traced."""
        return x.tracer.create_proxy("call_function", self, (x, *args), {})


@dataclass(frozen=True)
class Pair:
    """What a layer of two types is called with: values of senders and of receivers.

    Args:
        sender: None where there are none.
        receiver: likewise.
        types: the numbers of the two types.
    """

    sender: Value
    receiver: Value
    types: tuple[int, int]


def composes(
    layer: type[nn.Module], *, of_two: bool = False
) -> Callable[[Composition], Composition]:
    """Register a function that does what a layer does, in steps and row-wise operations.

    It is called while a model is traced, with the layer and what the model calls it with.

    Args:
        layer: its type.
        of_two: whether the function is for a layer that is called with a pair of values, those
            of senders and those of receivers; before its other arguments it gets a `Pair`.
    """

    def register(function: Composition) -> Composition:
        (OF_TWO if of_two else COMPOSITIONS)[layer] = function
        return function

    return register
