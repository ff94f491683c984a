"""What modules do to each row on its own."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch_geometric.nn as gnn
from torch import Tensor, nn
from torch.nn import functional

from zorro.evaluation.traced.unserved import Unserved

_LOOK_AT_ALL_NODES = (
    gnn.GraphNorm,
    gnn.GraphSizeNorm,
    gnn.MeanSubtractionNorm,
    gnn.PairNorm,
)
_LINEAR = (nn.Linear.forward, gnn.Linear.forward)  # not what others made of these classes


def refuse_if_it_looks_at_all_nodes(module: nn.Module) -> None:
    """Raise `Unserved` for a norm whose rows depend on other rows, also when not training."""
    name = type(module).__name__
    if isinstance(module, _LOOK_AT_ALL_NODES):
        raise Unserved(f"{name} looks at all nodes at once")
    if isinstance(module, gnn.LayerNorm) and module.mode == "graph":
        raise Unserved(f"{name}(mode='graph') looks at all nodes at once")
    if isinstance(module, gnn.InstanceNorm) and not module.track_running_stats:
        raise Unserved(f"{name}(track_running_stats=False) looks at all nodes at once")


def split_first_linear(module: Any) -> tuple[Any, Callable[[Tensor], Tensor]]:
    """Split a row-wise module into its first linear map and the rest (None where it has none)."""
    if isinstance(module, nn.Module) and type(module).forward in _LINEAR:
        return module, nn.Identity()
    if isinstance(module, nn.Sequential) and len(module) > 0:
        first, rest = split_first_linear(module[0])
        return first, nn.Sequential(_as_module(rest), *list(module)[1:])
    if isinstance(module, gnn.MLP) and len(module.lins) > 0:
        rest = copy.copy(module)
        rest._modules = dict(module._modules)
        rest.lins = nn.ModuleList([nn.Identity(), *list(module.lins)[1:]])
        return module.lins[0], rest
    return None, module


def by_row(function: Callable[[Tensor], Tensor], values: Tensor) -> Tensor:
    """Apply a function of rows (rows, h) to values (…, h)."""
    return function(values.flatten(0, -2)).view(*values.shape[:-1], -1)


def unit_length(rows: Tensor) -> Tensor:
    """Scale each row to length one."""
    return functional.normalize(rows, p=2.0, dim=-1)


class _Function(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: Tensor) -> Tensor:
        return self._function(x)


def _as_module(function: Callable[[Tensor], Tensor]) -> nn.Module:
    return function if isinstance(function, nn.Module) else _Function(function)
