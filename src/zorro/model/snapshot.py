"""Everything by which a model's answers may change, as it stands: to notice when it did."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_modules

_MOST_STEPS = 3  # from an attribute to what that holds, and what this holds
_MOST_PARTS = 1000  # of a list or dictionary that are looked at
_LIBRARIES = ("torch", "torch_geometric", "numpy", "inspect", "builtins")


class Snapshot:
    """Parameters, buffers, attributes, hooks and methods of a model at one moment.

    Tensors are compared by what they are and by a sum, since some optimisers, and whoever writes to
    `.data`, change values without a trace in a tensor's version. Numbers and texts are compared by
    value, in lists and in a function's closure too; other objects by identity.

    >>> from torch import nn
    >>> from zorro.model.snapshot import Snapshot
    >>> model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    >>> before = Snapshot(model)
    >>> model[1].p = 0.1
    >>> Snapshot(model).differs_in(before)
    {'1.p'}

    Args:
        model: as it stands.
    """

    def __init__(self, model: nn.Module) -> None:
        self._parts: dict[str, list[Any]] = {"torch's hooks": list(_global_hooks())}
        every = chain(model.named_parameters(), model.named_buffers())
        self._tensors = {name for name, _ in every}
        for path, module in model.named_modules():
            for name, parts in _attributes_of(module):
                self._parts[f"{path}.{name}" if path else name] = parts

    def attributes(self, names: set[str]) -> set[str]:
        """Return which names are of plain attributes, neither parameters nor buffers."""
        return names - self._tensors

    def differs_in(self, other: Snapshot) -> set[str]:
        """Return the names of what has changed since another one, as `layer.hops`."""
        here, there = self._parts, other._parts
        return (here.keys() ^ there.keys()) | {
            name
            for name in here.keys() & there.keys()
            if len(here[name]) != len(there[name])
            or not all(map(_is_same, here[name], there[name]))
        }


@dataclass(frozen=True)
class _Stand:
    """A tensor as it stands: the object, where it lies, and what is in it."""

    tensor: Tensor
    version: int
    place: int
    dtype: torch.dtype
    total: float

    def is_as(self, other: _Stand) -> bool:
        """Whether nothing has happened between two looks at a tensor."""
        same_number = self.total == other.total or (
            self.total != self.total and other.total != other.total
        )
        return (
            self.tensor is other.tensor
            and (self.version, self.place, self.dtype) == (other.version, other.place, other.dtype)
            and same_number
        )


@dataclass(frozen=True, eq=False)
class _Object:
    """An object of which it is asked only whether it is the same one."""

    held: Any


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, _Stand) and isinstance(other, _Stand):
        return one.is_as(other)
    if isinstance(one, _Object) and isinstance(other, _Object):
        return one.held is other.held
    return type(one) is type(other) and bool(one == other or (one != one and other != other))


def _stand_of(tensor: Tensor) -> _Stand:
    """Return a tensor as it stands."""
    value = tensor.detach()
    numbers = value.abs() if value.is_complex() else value
    exact = numbers.element_size() >= 4  # a sum in half precision may overflow
    total = float(numbers.sum() if exact else numbers.sum(dtype=torch.float64))
    # Inference tensors keep no account of writes; their sum is what tells a change.
    version = -1 if tensor.is_inference() else tensor._version
    place = tensor.data_ptr() if tensor.layout == torch.strided else 0
    return _Stand(tensor, version, place, tensor.dtype, total)


def _attributes_of(module: nn.Module) -> Iterator[tuple[str, list[Any]]]:
    """Yield the names of a module's tensors, attributes and methods, and what tells them apart."""
    kind = type(module)
    method = inspect.getattr_static(kind, "forward", None)  # TorchScript's cannot be asked for
    yield "forward", [_Object(module), _Object(kind), _Object(method)]
    for name, value in vars(module).items():
        if name in ("_parameters", "_buffers"):
            for of_tensor, tensor in value.items():
                yield of_tensor, list(_looked_at(tensor))
        elif "hooks" in name:
            if value:  # what a hook has collected is no part of the model
                yield name, list(map(_Object, value.values()))
        elif name not in ("training", "_modules"):
            yield name, list(_looked_at(value))


def _global_hooks() -> Iterator[_Object]:
    """Yield the hooks that torch calls for every module."""
    for name, value in vars(torch_modules).items():
        if name.startswith("_global_") and isinstance(value, dict):
            yield from map(_Object, value.values())


def _looked_at(value: Any, steps: int = 0) -> Iterator[Any]:
    """Yield what tells an attribute's value from others."""
    if isinstance(value, Tensor):
        # Those of lazy layers get their values with the first input.
        yield None if nn.parameter.is_lazy(value) else _stand_of(value)
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes):
        yield value
    elif isinstance(value, np.ndarray):
        yield from (_Object(value), value.dtype, hash(value.tobytes()))
    else:
        is_container = isinstance(value, list | tuple | set | dict)
        yield type(value) if is_container else _Object(value)
        if steps < _MOST_STEPS and not isinstance(value, nn.Module | type):
            for part in islice(_parts_of(value), _MOST_PARTS):
                yield from _looked_at(part, steps + 1)


def _parts_of(value: Any) -> Iterator[Any]:
    """Yield what an object holds that may hold numbers."""
    if isinstance(value, dict):
        yield from chain.from_iterable(value.items())
    elif isinstance(value, list | tuple | set):
        yield from value
    elif isinstance(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, types.MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            with_contents = [cell.cell_contents] if _is_assigned(cell) else []
            yield from with_contents
        yield from (value.__defaults__, value.__kwdefaults__)
    elif type(value).__module__.partition(".")[0] not in _LIBRARIES and hasattr(value, "__dict__"):
        yield from vars(value).values()


def _is_assigned(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - reading it is the test
    except ValueError:
        return False
    return True
