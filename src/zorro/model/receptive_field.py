"""How many hops away a model looks, read off its layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torch_geometric.nn import MessagePassing

# Layers that pass messages more than once per call. Every other layer passes them once.
_HOPS_PER_LAYER: dict[str, Callable[[Any], int]] = {
    "APPNP": lambda layer: int(layer.K),
    "ARMAConv": lambda layer: int(layer.num_layers),
    "AntiSymmetricConv": lambda layer: int(layer.num_iters),
    "ChebConv": lambda layer: len(layer.lins) - 1,
    "GatedGraphConv": lambda layer: int(layer.num_layers),
    "LGConv": lambda layer: 1,
    "MixHopConv": lambda layer: int(max(layer.powers)),
    "SGConv": lambda layer: int(layer.K),
    "SSGConv": lambda layer: int(layer.K),
    "TAGConv": lambda layer: int(layer.K),
}


def hops_of(model: nn.Module) -> int:
    """Count the hops of the message-passing layers of `model`.

    A layer that is used twice is counted once; layers beside one another are counted as if one
    followed the other, but for those of relations, which are one layer; and message passing
    written without PyG's layers is not seen: it is where the search for the model's reach begins
    (see `cut.reach`).
    """
    total = 0
    inside: set[int] = set()  # layers that belong to another layer, which counts for both
    for layer in model.modules():
        if _is_by_relation(layer) and id(layer) not in inside:
            total += max(hops_of(each) for each in layer.children())
            inside.update(id(part) for part in layer.modules())
        elif isinstance(layer, MessagePassing) and id(layer) not in inside:
            total += _HOPS_PER_LAYER.get(type(layer).__name__, lambda _: 1)(layer)
            inside.update(id(part) for part in layer.modules())
    return total


def _is_by_relation(module: nn.Module) -> bool:
    """Whether a module holds a layer for each relation, as PyG names them: a__to__b."""
    return isinstance(module, nn.ModuleDict) and any(
        len(name.strip("<>").split("___" if "___" in name else "__")) == 3
        for name, _ in module.named_children()
    )


def flow_of(model: nn.Module) -> str:
    """Message direction of the model's layers (PyG's default where there are none)."""
    for layer in model.modules():
        if isinstance(layer, MessagePassing):
            return str(layer.flow)
    return "source_to_target"
