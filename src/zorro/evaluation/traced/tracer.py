"""Tracing a model with torch.fx, down to the layers that have a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, fx, nn
from torch_geometric.nn import JumpingKnowledge, MessagePassing
from torch_geometric.nn.aggr import Aggregation

from zorro.cut import ComputationalGraph
from zorro.evaluation.traced.layers import COMPOSITIONS, Unserved
from zorro.evaluation.traced.layers.pooling import pooling_in_traces
from zorro.model.model_state import undisturbed


class _LayerTracer(fx.Tracer):
    """Traces `model(x, edge_index, **arguments)` through a user's modules down to layers.

    Args:
        arguments: further arguments of the model.
        varying: names of those that are others on another graph; they are inputs of the trace.
    """

    def __init__(self, arguments: Mapping[str, Any], varying: frozenset[str]) -> None:
        super().__init__()
        self._arguments = arguments
        self._varying = varying

    def create_args_for_root(
        self,
        root_fn: Callable[..., Any],
        is_module: bool,
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Return the call as the model gets it, whatever its signature says."""
        x, edge_index = (self.create_proxy("placeholder", n, (), {}) for n in ("x", "edge_index"))
        arguments = {
            name: self.create_proxy("placeholder", name, (), {}) if name in self._varying else value
            for name, value in self._arguments.items()
        }

        def called(model: nn.Module) -> Any:
            return root_fn(model, x, edge_index, **arguments)

        return called, [self.root]

    def call_module(
        self,
        m: nn.Module,
        forward: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Trace what a layer is composed of, where it is, or else the call of a module."""
        composition = COMPOSITIONS.get(type(m))
        if composition is None:
            return super().call_module(m, forward, args, kwargs)
        return composition(m, *args, **kwargs)

    def is_leaf_module(self, module: nn.Module, module_qualified_name: str) -> bool:
        if isinstance(module, MessagePassing | JumpingKnowledge | Aggregation):
            return True
        if isinstance(module, nn.Sequential | nn.ModuleList | nn.ModuleDict):
            return False
        home = type(module).__module__
        return home.startswith(("torch.nn.", "torch_geometric.nn.dense", "torch_geometric.nn.norm"))


def trace(model: nn.Module, graph: ComputationalGraph) -> fx.Graph:
    """Trace a model down to its layers, called as it is for a query.

    Arguments that are the same on every graph are fixed to their values, and those that the model
    takes and does not get to their defaults.
    """
    arguments, following = graph.further_inputs, graph.extras.following
    tensors = {name for name, value in arguments.items() if isinstance(value, Tensor)}
    # What the model sets in its forward pass would keep what stands for values while it is traced.
    attributes = [(vars(module), dict(vars(module))) for module in model.modules()]
    try:
        with undisturbed(model), pooling_in_traces():
            return _LayerTracer(arguments, following | tensors).trace(model)
    except Unserved:
        raise
    except Exception as error:
        raise Unserved(f"torch.fx cannot trace it: {type(error).__name__}: {error}") from error
    finally:
        for values, before in attributes:
            values.clear()
            values.update(before)
