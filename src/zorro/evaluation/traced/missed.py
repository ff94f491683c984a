"""What a model does that its trace does not tell, or tells wrongly."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional

from zorro.evaluation.traced.unserved import Unserved

# Their hooks see to weights: to the shape of lazy ones, to norms of others.
_SEE_TO_WEIGHTS = ("torch.nn.", "torch_geometric.nn.")
_WRITING = (
    operator.iadd,
    operator.iand,
    operator.imul,
    operator.ior,
    operator.ipow,
    operator.isub,
    operator.itruediv,
    operator.setitem,
)
_SAME = (nn.Dropout, nn.Identity)
_SAME_FUNCTIONS = (functional.dropout, torch.dropout, operator.getitem, getattr)
_VIEWS = (
    *("chunk", "contiguous", "detach", "diagonal", "expand", "expand_as", "flatten", "float"),
    *("movedim", "narrow", "permute", "ravel", "reshape", "reshape_as", "select", "split"),
    *("squeeze", "swapaxes", "swapdims", "t", "to", "transpose", "type_as", "unbind"),
    *("unflatten", "unsqueeze", "view", "view_as"),
)


def refuse_what_is_added(model: nn.Module) -> None:
    """Raise `Unserved` for a model whose modules do more than the methods of their classes.

    A trace has a layer's call for what it is, and begins with the model's `forward`: neither hooks,
    nor methods that are put in the place of a class's, nor another `__call__` are seen in it.
    """
    if type(model).__call__ is not nn.Module.__call__ and not isinstance(model, fx.GraphModule):
        raise Unserved(f"{type(model).__name__} has a __call__() of its own")
    for name, module in model.named_modules():
        called = f"{type(module).__name__} {name}".strip()
        for kind, hooks in vars(module).items():
            if "forward" in kind and kind.endswith("_hooks") and any(map(_acts, hooks.values())):
                raise Unserved(f"{called} has hooks, which may change what it gives")
        of_class = type(module)
        for attribute in vars(module):
            if inspect.isroutine(getattr(of_class, attribute, None)):
                raise Unserved(f"{called} has another {attribute}() than its class")


def _acts(hook: Any) -> bool:
    return not str(getattr(hook, "__module__", "")).startswith(_SEE_TO_WEIGHTS)


def refuse_writing(traced: fx.Graph, modules: Mapping[str, nn.Module]) -> None:
    """Raise `Unserved` where something is written to that is read afterwards as what it was.

    A trace knows values by the steps that give them: what is changed where it stands is there
    another value for those alone who read what the step returned.
    """
    nodes = list(traced.nodes)
    place = {node: number for number, node in enumerate(nodes)}
    held: dict[fx.Node, fx.Node] = {}  # whose memory each value has
    for node in nodes:
        given = node.args[0] if node.args and node.op.startswith("call_") else None
        held[node] = node
        if not isinstance(given, fx.Node):
            continue
        writes = _writes(node, modules)
        if writes:
            owner = held[given]
            seen = (each for each in nodes[: place[node]] if held[each] is owner)
            is_read = any(place[user] > place[node] for each in seen for user in each.users)
            if is_read or owner.op in ("placeholder", "get_attr"):
                raise Unserved(f"{_name(node)} writes to {given}, which is read elsewhere")
        if writes or _is_same(node, modules):
            held[node] = held[given]


def _writes(node: fx.Node, modules: Mapping[str, nn.Module]) -> bool:
    """Whether a step writes to its first argument."""
    if node.op == "call_module":
        module = modules.get(str(node.target))
        return bool(getattr(module, "inplace", False)) and not isinstance(module, _SAME)
    if node.op == "call_function" and node.target in _WRITING:
        return True
    if node.op == "call_function" and node.target in _SAME_FUNCTIONS:
        return False
    name = _name(node)
    if name.endswith("_") and not name.endswith("__"):
        return True
    if not callable(node.target):
        return False
    try:
        called = inspect.signature(node.target).bind(*node.args, **node.kwargs)
    except (TypeError, ValueError):
        return False
    return called.arguments.get("inplace") is True


def _is_same(node: fx.Node, modules: Mapping[str, nn.Module]) -> bool:
    """Whether a step returns its first argument, or a part of it that has the same memory."""
    if node.op == "call_module":
        return isinstance(modules.get(str(node.target)), _SAME)
    if node.op == "call_function" and node.target in _SAME_FUNCTIONS:
        return True
    return _name(node) in _VIEWS


def _name(node: fx.Node) -> str:
    return str(getattr(node.target, "__name__", node.target))
