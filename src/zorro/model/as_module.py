"""The module that stands for a model, in whatever form that is given."""

from __future__ import annotations

from typing import Any

from torch import nn

from zorro.errors import InputError
from zorro.model.data_model import DataModel, takes_data
from zorro.model.function_model import FunctionModel


def as_module(model: Any) -> nn.Module:
    """Return the module that is called as `model(x, edge_index, …)`.

    It is the model itself, or one that calls a function, or one that makes a `Data` of its
    arguments for a model that takes that.
    """
    module = uncalled(model)
    return DataModel(module) if takes_data(module) else module


def uncalled(model: Any) -> nn.Module:
    """Return a module for a model, however that is called: itself, what was compiled, a function.

    A compiled model is run uncompiled: graphs of many sizes would each be compiled anew.
    """
    if type(model).__name__ == "OptimizedModule":  # torch.compile's, whose import takes seconds
        model = model._orig_mod
    if isinstance(model, nn.Module):
        return model
    if isinstance(model, type):
        raise InputError(
            f"model: expected a trained module, got the class {model.__name__}: pass an instance"
        )
    if callable(model):
        return FunctionModel(getattr(model, "_torchdynamo_orig_callable", model))
    raise InputError(
        "model: expected a torch.nn.Module or a function that is called as "
        f"model(x, edge_index), got {type(model).__name__}"
    )
