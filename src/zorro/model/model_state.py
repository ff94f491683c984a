"""What a model holds, which is kept as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn


def holds_inference_tensors(model: nn.Module) -> bool:
    """Whether a model was made under `torch.inference_mode()` and can give no gradient."""
    tensors = chain(model.parameters(), model.buffers())
    return any(tensor.is_inference() for tensor in tensors if _is_made(tensor))


def node_level_state(model: nn.Module, num_nodes: int) -> list[str]:
    """Return the names of parameters and buffers with one row per node of a graph.

    A model that holds such tensors (position encodings, an embedding of each node, a learned
    row of the adjacency) knows the nodes of its graph by their numbers, which a subgraph has not.
    """
    named = chain(model.named_parameters(), model.named_buffers())
    return [
        name
        for name, tensor in named
        if _is_made(tensor) and tensor.dim() > 0 and tensor.size(0) == num_nodes
    ]


@contextmanager
def undisturbed(model: nn.Module) -> Iterator[None]:
    """Run `model` in eval mode, uncompiled, without its caches, and leave it as it was.

    Restored are the training flag of every submodule, the normalised adjacency that layers built
    with `cached=True` remember, and buffers: the model gets copies, and what it writes is dropped.
    Other attributes that a forward pass sets are not known and stay as it leaves them.

    Flags are written past `Module.__setattr__`: an evaluation enters here hundreds of times.
    """
    training: list[dict[str, Any]] = []
    scripted: list[nn.Module] = []
    caches: list[tuple[dict[str, Any], str, Any]] = []
    buffers: list[dict[str, Any]] = []
    compiled = False
    for module in model.modules():
        values = vars(module)
        kind = _kind_of(module)
        if values.get("training"):
            training.append(values)
        if "cached" in values:
            caches += [
                (values, name, values[name])
                for name in values
                if name == "cached" or name.startswith("_cached_")
            ]
        if kind.is_scripted:
            scripted.append(module)
        elif kind.may_write and values["_buffers"]:
            buffers.append(values["_buffers"])
        compiled = compiled or kind.is_compiled or values.get("_compiled_call_impl") is not None
    scripted_training = [module for module in scripted if module.training]
    written = [(tensor, tensor.clone()) for tensor in _buffers_of(scripted)]
    with torch.compiler.set_stance("force_eager") if compiled else nullcontext():
        try:
            for values in training:
                values["training"] = False
            for module in scripted_training:
                module.training = False
            for values, name, _ in caches:
                values[name] = False if name == "cached" else None
            _lend_copies(buffers)
            yield
        finally:
            for values in training:
                values["training"] = True
            for module in scripted_training:
                module.training = True
            for values, name, value in caches:
                values[name] = value
            _take_back(buffers)
            for tensor, copy in written:
                if not torch.equal(tensor, copy):
                    with torch.no_grad():
                        tensor.copy_(copy)


@dataclass
class _Loan:
    """Buffers whose place is taken by copies, and for how many runs that go on."""

    before: dict[str, Any]
    runs: int = 1


# Runs of one model may go on within one another or in several threads: the last puts back.
_LOANS: dict[int, _Loan] = {}
_LOANS_LOCK = Lock()


def _lend_copies(buffers: list[dict[str, Any]]) -> None:
    """Put copies in the place of buffers."""
    if not buffers:
        return
    copies: dict[int, Tensor] = {}
    with _LOANS_LOCK:
        for held in buffers:
            loan = _LOANS.get(id(held))
            if loan is not None:
                loan.runs += 1
                continue
            _LOANS[id(held)] = _Loan(dict(held))
            held.update([(name, _copied(tensor, copies)) for name, tensor in held.items()])


def _take_back(buffers: list[dict[str, Any]]) -> None:
    """Put the buffers back in place."""
    if not buffers:
        return
    with _LOANS_LOCK:
        for held in buffers:
            loan = _LOANS.get(id(held))
            if loan is None:
                continue  # nothing was lent: what failed did so before
            loan.runs -= 1
            if loan.runs == 0:
                del _LOANS[id(held)]
                for name in set(held) - set(loan.before):
                    del held[name]
                held.update(loan.before)


def _copied(tensor: Tensor | None, copies: dict[int, Tensor]) -> Tensor | None:
    """Return a copy of a buffer, the same one for the same buffer."""
    if tensor is None or not _is_made(tensor):
        return tensor
    if id(tensor) not in copies:
        copies[id(tensor)] = tensor.detach().clone()
    return copies[id(tensor)]


@dataclass(frozen=True)
class _Kind:
    """What a class of modules is like."""

    is_scripted: bool
    is_compiled: bool
    may_write: bool  # to its buffers in eval mode; torch's own, as norms, do not


_KINDS: dict[type, _Kind] = {}


def _kind_of(module: nn.Module) -> _Kind:
    kind = type(module)
    if kind not in _KINDS:
        _KINDS[kind] = _Kind(
            is_scripted=issubclass(kind, torch.jit.ScriptModule),
            is_compiled=kind.__name__ == "OptimizedModule",
            may_write=not kind.__module__.startswith("torch.nn."),
        )
    return _KINDS[kind]


def _buffers_of(modules: Sequence[nn.Module]) -> list[Tensor]:
    found = (tensor for module in modules for tensor in module.buffers(recurse=False))
    return list({id(tensor): tensor for tensor in found}.values())


def _is_made(tensor: Tensor) -> bool:
    """Whether a tensor has values: those of lazy layers get theirs with the first input."""
    return not nn.parameter.is_lazy(tensor)
