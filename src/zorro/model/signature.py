"""What a model's forward method, or a function, says that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from inspect import Parameter
from typing import Any

from torch import nn

from zorro.model.function_model import FunctionModel

_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def parameters_of(module: nn.Module) -> Sequence[Parameter] | None:
    """Return what a model is declared to take; None if that cannot be known."""
    called: Any = module.function if isinstance(module, FunctionModel) else module.forward
    if hasattr(called, "schema"):  # TorchScript's, of which Python knows no signature
        return [
            Parameter(
                each.name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=each.default_value if each.has_default_value() else Parameter.empty,
            )
            for each in called.schema.arguments
            if each.name != "self"
        ]
    try:
        return list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        return None


def by_position(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Return those that may be given without their names."""
    return [each for each in parameters if each.kind in _BY_POSITION]


def required(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Return those among named ones that must be given."""
    return [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]


def takes_any_name(parameters: Sequence[Parameter]) -> bool:
    """Whether there is a `**kwargs`."""
    return any(each.kind is each.VAR_KEYWORD for each in parameters)


def names(parameters: Sequence[Parameter]) -> list[str]:
    """Return the names that may be used."""
    named = (*_BY_POSITION, Parameter.KEYWORD_ONLY)
    return [each.name for each in parameters if each.kind in named]


def takes(module: nn.Module, name: str) -> bool:
    """Whether a model may be given an argument of that name, as far as is known."""
    parameters = parameters_of(module)
    return parameters is None or name in names(parameters) or takes_any_name(parameters)


def renaming_line(module: nn.Module, name: str, *, words: Sequence[str]) -> str:
    """Return the function to pass for a model that has another name for an argument.

    Args:
        module: the model.
        name: by which the argument is passed.
        words: one of which its name has in other models.
    """
    further = [each for each in parameters_of(module) or () if each.name in names([each])][2:]
    likely = required(further)
    if len(likely) != 1:
        likely = [each for each in further if any(word in each.name for word in words)]
    called = likely[0].name if len(likely) == 1 else "…"
    return (
        f"`lambda x, edge_index, {name}, **further: model(x, edge_index, {called}={name}, "
        "**further)`"
    )
