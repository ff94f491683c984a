"""Tracing a model with torch.fx, down to the layers that have a plan."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch_geometric.nn import JumpingKnowledge, MessagePassing
from torch_geometric.nn.aggr import Aggregation

from zorro.cut import ComputationalGraph
from zorro.evaluation.traced.layers import COMPOSITIONS, OF_TWO, Pair
from zorro.evaluation.traced.layers.pooling import pooling_in_traces
from zorro.evaluation.traced.missed import refuse_what_is_added, refuse_writing
from zorro.evaluation.traced.typed import called_in_trace, ends_of
from zorro.evaluation.traced.unserved import Unserved, unless_it_fails
from zorro.model.hetero_model import HeteroModel
from zorro.model.model_state import undisturbed

# While a model is traced torch.fx stands in for the calls of all modules there are: one at a time.
_ONE_AT_A_TIME = threading.Lock()


class _LayerTracer(fx.Tracer):
    """Traces `model(x, edge_index, **arguments)` through a user's modules down to layers.

    Other threads may call models in the meantime, the same one too, and get what they always get.

    Args:
        arguments: further arguments of the model.
        varying: names of those that are others on another graph; they are inputs of the trace.
    """

    def __init__(self, arguments: Mapping[str, Any], varying: frozenset[str]) -> None:
        super().__init__()
        self._arguments = arguments
        self._varying = varying
        self._thread = threading.get_ident()

    @property
    def _is_another_thread(self) -> bool:
        return threading.get_ident() != self._thread

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return what stands for a module's attribute, or the attribute itself to others."""
        if self._is_another_thread:
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)

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
            if isinstance(model, HeteroModel):
                return called_in_trace(model, x, edge_index, **arguments)
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
        if self._is_another_thread:
            return forward(*args, **kwargs)
        if isinstance(m, MessagePassing) and (called := self._of_two(m, args, kwargs)):
            composition = OF_TWO.get(type(m))
            if composition is None:
                raise Unserved(f"{type(m).__name__} between nodes of two types")
            return composition(m, *called.args, **called.kwargs)
        composition = COMPOSITIONS.get(type(m))
        if composition is None:
            return super().call_module(m, forward, args, kwargs)
        return composition(m, *args, **kwargs)

    def _of_two(
        self, layer: MessagePassing, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> inspect.BoundArguments | None:
        """Return a call with a `Pair`, if that is with one value for senders and another one."""
        if not isinstance(self.root, HeteroModel):
            return None
        called = inspect.signature(layer.forward).bind(*args, **kwargs)
        given = called.arguments.get("x")
        if not isinstance(given, tuple | list) or len(given) != 2 or given[0] is given[1]:
            return None
        ends = ends_of(called.arguments.get("edge_index"))
        called.arguments["x"] = Pair(given[0], given[1], ends)
        return called

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
    arguments, following = graph.further_inputs, graph.model_inputs.following
    tensors = {name for name, value in arguments.items() if isinstance(value, Tensor)}
    # What the model sets in its forward pass would keep what stands for values while it is traced.
    attributes = [(vars(module), dict(vars(module))) for module in model.modules()]

    def traced_once() -> fx.Graph:
        try:
            with _ONE_AT_A_TIME, undisturbed(model), pooling_in_traces(), torch.no_grad():
                return _LayerTracer(arguments, following | tensors).trace(model)
        finally:
            for values, before in attributes:
                values.clear()
                values.update(before)

    traced = unless_it_fails(traced_once, failures=(Exception,), what="torch.fx cannot trace it")
    refuse_what_is_added(model)
    refuse_writing(traced, dict(model.named_modules()))
    return traced
