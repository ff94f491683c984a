"""Build a model from its name: one of the architectures known here or a user's own class."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch_geometric.data import HeteroData

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
from zorro.models.hetero_architectures import HGT, HeteroSAGE
from zorro.models.link_architectures import LinkGCN
from zorro.question import Level

Factory = Callable[..., nn.Module]  # called with in_channels, out_channels and its options
HeteroFactory = Callable[[HeteroData, str, int], nn.Module]  # with a graph, a type, out_channels

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
_OF_SEVERAL_TYPES: dict[str, HeteroFactory] = {"hetero-sage": HeteroSAGE, "hgt": HGT}

MODELS = tuple(_ARCHITECTURES["node"])
GRAPH_MODELS = tuple(_ARCHITECTURES["graph"])
LINK_MODELS = tuple(_ARCHITECTURES["link"])
HETERO_MODELS = tuple(_OF_SEVERAL_TYPES)


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

    >>> from zorro.models import build
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
            raise InputError(f"{name}: expected at least 1, got {value}")
    factory = factory_of(architecture, level=level)
    given = [f"{in_channels}, {out_channels}", *(f"{k}={v!r}" for k, v in options.items())]
    return _built(
        architecture,
        lambda: factory(in_channels, out_channels, **options),
        given=", ".join(given),
        expected="(in_channels, out_channels)",
    )


def build_hetero(
    architecture: str | HeteroFactory,
    data: HeteroData,
    target: str,
    out_channels: int,
    *,
    seed: int = 0,
) -> nn.Module:
    """Return an untrained model of a graph of several types.

    >>> import torch
    >>> from torch_geometric.data import HeteroData
    >>> from zorro.models import build_hetero
    >>> data = HeteroData()
    >>> data["paper"].x = torch.eye(2).repeat(6, 1)  # twelve papers of two fields
    >>> data["author"].x = torch.arange(2)  # a vector is learnt for each
    >>> data["paper", "by", "author"].edge_index = torch.tensor([[0, 2, 1, 3, 5], [0, 0, 1, 1, 1]])
    >>> model = build_hetero("hetero-sage", data, "author", 2)
    >>> model(data.x_dict, data.edge_index_dict).shape
    torch.Size([2, 2])

    Args:
        architecture: one of `HETERO_MODELS`, "package.module:Class" for a class or function of
            your own, or such a function itself, called with the next three. Its lazy layers learn
            their sizes from the graph.
        data: PyG's.
        target: the type that it answers for.
        out_channels: how many classes there are.
        seed: of the initial weights.
    """
    with seeded(check_seed(seed)):
        return construct_hetero(architecture, data, target, out_channels)


def construct_hetero(
    architecture: str | HeteroFactory, data: HeteroData, target: str, out_channels: int
) -> nn.Module:
    """Return an untrained model whose weights come from torch's generators as they stand."""
    factory: HeteroFactory = (
        _find(architecture, _OF_SEVERAL_TYPES) if isinstance(architecture, str) else architecture
    )
    expected = "(data, target, out_channels)"
    given = f"data, {target!r}, {out_channels}"
    model = _built(
        architecture, lambda: factory(data, target, out_channels), given=given, expected=expected
    )
    if any(nn.parameter.is_lazy(it) for it in model.parameters()):
        try:
            with torch.no_grad():
                model(data.x_dict, data.edge_index_dict)
        except Exception as error:
            raise ModelError(f"the model raised {type(error).__name__}: {error}") from error
    return model


def _built(architecture: Any, build: Callable[[], Any], *, given: str, expected: str) -> nn.Module:
    """Return the model that a factory makes, or raise if it makes none.

    Args:
        architecture: as it was named.
        build: calls the factory.
        given: what it is called with.
        expected: what that is.
    """
    try:
        model = build()
    except InputError:
        raise
    except Exception as error:
        raise ModelError(
            f"model {architecture!r} could not be built with ({given}): "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(model, nn.Module):
        raise ModelError(
            f"model {architecture!r} must give a torch.nn.Module when called with "
            f"{expected}, got {type(model).__name__}"
        )
    return model


def factory_of(architecture: str | Factory, *, level: Level = "node") -> Factory:
    """Return what builds models of an architecture, by its name or as it is given."""
    if not isinstance(architecture, str):
        return architecture
    return _find(architecture, _ARCHITECTURES[level])


def _find(name: str, known: Mapping[str, Callable[..., nn.Module]]) -> Factory:
    if ":" in name:
        return _imported(name)
    if name.lower() in known:
        return known[name.lower()]
    raise InputError(
        f'model: expected one of {", ".join(known)} or "package.module:Class", got '
        f"{name!r}{hint(name, known)}"
    )


def _imported(name: str) -> Factory:
    module_name, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # whatever the module does when it is imported
        raise InputError(
            f"model: expected a module that can be imported, got {name!r} ({error}): install "
            f"{module_name!r}, or put its folder on PYTHONPATH"
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(
                f"model: expected a name in {module_name!r}, got {path!r}, which is not in it"
            )
        found = getattr(found, part)
    if not callable(found):
        raise InputError(
            f"model: expected a class or function, got {name!r}, a {type(found).__name__}"
        )
    factory: Factory = found
    return factory
