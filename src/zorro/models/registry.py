"""Build a model from its name: one of the architectures known here or a user's own class."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from torch import nn

from zorro.arguments import check_choice, check_seed
from zorro.data.spelling import hint
from zorro.errors import InputError, ModelError
from zorro.model.randomness import seeded
from zorro.models.architectures import APPNP, GAT, GCN, GCN3, GIN
from zorro.models.graph_architectures import (
    GraphAPPNP,
    GraphGAT,
    GraphGCN,
    GraphGCN3,
    GraphGIN,
    GraphGINE,
)
from zorro.models.link_architectures import LinkGCN
from zorro.question import Level

Factory = Callable[..., nn.Module]  # called with in_channels, out_channels and its options

_ARCHITECTURES: dict[Level, dict[str, Factory]] = {
    "node": {
        "appnp": APPNP,
        "gat": GAT,
        "gcn": GCN,
        "gcn3": GCN3,
        "gin": GIN,
    },
    "graph": {
        "appnp": GraphAPPNP,
        "gat": GraphGAT,
        "gcn": GraphGCN,
        "gcn3": GraphGCN3,
        "gin": GraphGIN,
        "gine": GraphGINE,
    },
    "link": {"gcn": LinkGCN},
}

MODELS = tuple(_ARCHITECTURES["node"])
GRAPH_MODELS = tuple(_ARCHITECTURES["graph"])
LINK_MODELS = tuple(_ARCHITECTURES["link"])


def build(
    architecture: str | Factory,
    in_channels: int,
    out_channels: int,
    *,
    level: Level = "node",
    seed: int = 0,
    **options: Any,
) -> nn.Module:
    """Return an untrained model whose initial weights are drawn with `seed`.

    >>> type(build("gcn", 10, 2)).__name__
    'GCN'
    >>> type(build("gcn", 10, 2, level="graph", pooling="max")).__name__
    'GraphGCN'

    Args:
        architecture: one of `MODELS`, at graph level of `GRAPH_MODELS`, at link level of
            `LINK_MODELS`, "package.module:Class" for a class or function of your own, or such a
            function itself.
        in_channels: how many features a node has.
        out_channels: how many classes there are; of links, in how many numbers a node is encoded.
        level: whether the model is asked about nodes, graphs or links.
        seed: of the initial weights.
        options: what else the architecture is called with, besides the two numbers.
    """
    with seeded(check_seed(seed)):
        return construct(architecture, in_channels, out_channels, level=level, **options)


def construct(
    architecture: str | Factory,
    in_channels: int,
    out_channels: int,
    *,
    level: Level = "node",
    **options: Any,
) -> nn.Module:
    """Return an untrained model whose weights come from torch's generators as they stand."""
    check_choice("level", level, _ARCHITECTURES)
    for name, value in (("in_channels", in_channels), ("out_channels", out_channels)):
        if value < 1:
            raise InputError(f"{name} must be at least 1, got {value}")
    factory = factory_of(architecture, level=level)
    try:
        model = factory(in_channels, out_channels, **options)
    except InputError:
        raise
    except Exception as error:
        given = [f"{in_channels}, {out_channels}", *(f"{k}={v!r}" for k, v in options.items())]
        raise ModelError(
            f"model {architecture!r} could not be built with ({', '.join(given)}): "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(model, nn.Module):
        raise ModelError(
            f"model {architecture!r} must give a torch.nn.Module when called with "
            f"(in_channels, out_channels), got {type(model).__name__}"
        )
    return model


def factory_of(architecture: str | Factory, *, level: Level = "node") -> Factory:
    """Return what builds models of an architecture, by its name or as it is given."""
    return _find(architecture, level) if isinstance(architecture, str) else architecture


def _find(name: str, level: Level) -> Factory:
    if ":" in name:
        return _imported(name)
    known = _ARCHITECTURES[level]
    if name.lower() in known:
        return known[name.lower()]
    raise InputError(
        f'model must be one of {", ".join(known)} or "package.module:Class", got '
        f"{name!r}{hint(name, known)}"
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
