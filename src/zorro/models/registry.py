"""Build a model from its name: one of the paper's architectures or a user's own class."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import Any

from torch import nn

from zorro.data.validation import check_seed
from zorro.errors import InputError, ModelError
from zorro.models.architectures import APPNP, GAT, GCN, GCN3, GIN
from zorro.models.randomness import seeded

Factory = Callable[[int, int], nn.Module]

_ARCHITECTURES: dict[str, Factory] = {
    "appnp": APPNP,
    "gat": GAT,
    "gcn": GCN,
    "gcn3": GCN3,
    "gin": GIN,
}

MODELS = tuple(_ARCHITECTURES)


def build(
    architecture: str | Factory, in_channels: int, out_channels: int, *, seed: int = 0
) -> nn.Module:
    """Return an untrained model whose initial weights are drawn with `seed`.

    `architecture` is one of `MODELS`, "package.module:Class" for a class or function of your own,
    or such a function itself; it is called with `in_channels` and `out_channels`.

    >>> type(build("gcn", 10, 2)).__name__
    'GCN'
    """
    with seeded(check_seed(seed)):
        return construct(architecture, in_channels, out_channels)


def construct(architecture: str | Factory, in_channels: int, out_channels: int) -> nn.Module:
    """Return an untrained model whose weights come from torch's generators as they stand."""
    for name, value in (("in_channels", in_channels), ("out_channels", out_channels)):
        if value < 1:
            raise InputError(f"{name} must be at least 1, got {value}")
    factory = _find(architecture) if isinstance(architecture, str) else architecture
    try:
        model = factory(in_channels, out_channels)
    except Exception as error:
        raise ModelError(
            f"model {architecture!r} could not be built with ({in_channels}, {out_channels}): "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(model, nn.Module):
        raise ModelError(
            f"model {architecture!r} must give a torch.nn.Module when called with "
            f"(in_channels, out_channels), got {type(model).__name__}"
        )
    return model


def _find(name: str) -> Factory:
    if ":" in name:
        return _imported(name)
    if name.lower() in _ARCHITECTURES:
        return _ARCHITECTURES[name.lower()]
    close = difflib.get_close_matches(name.lower(), MODELS, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise InputError(
        f'model must be one of {", ".join(MODELS)} or "package.module:Class", got {name!r}{hint}'
    )


def _imported(name: str) -> Factory:
    module_name, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # whatever the module does when it is imported
        raise InputError(
            f"model {name!r}: {module_name!r} cannot be imported ({error}): install it, or put "
            f"its folder on PYTHONPATH"
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"model {name!r}: there is no {path!r} in {module_name!r}")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"model {name!r} must be a class or function, got {type(found).__name__}")
    factory: Factory = found
    return factory
