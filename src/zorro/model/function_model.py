"""A model given as a plain function, a partial, a method or an object that can be called."""

from __future__ import annotations

import functools
import hashlib
import pickle
import types
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from torch import Tensor, nn

_MOST_STEPS = 4  # from a function to what it uses, and what that uses
_MOST_PARTS = 1000  # of a list or dictionary: models are not kept among more


class FunctionModel(nn.Module):
    """Calls a function, and knows the modules that it uses.

    These are found where functions keep them: in closures, defaults, bound objects, arguments of
    partials, and global names. So they can be put into eval mode and their layers can be seen.

    Args:
        function: called as `function(x, edge_index, **kwargs)`, or as the caller says.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.parts = nn.ModuleList(_modules_of(function))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns."""
        return self.function(*args, **kwargs)

    def extra_repr(self) -> str:
        """Return what tells the function from others, the same in every process."""
        return _described(self.function)

    def __reduce__(self) -> tuple[Any, ...]:
        # A function travels by its name. What it finds by a global name over there is another
        # model, perhaps an untrained one.
        for name, value in _globals_of(self.function):
            if isinstance(value, nn.Module | Tensor):
                raise pickle.PicklingError(
                    f"the function uses {name!r} by its global name, which may mean something "
                    "else in another process: wrap it in a module that holds it"
                )
        return FunctionModel, (self.function,)


def _modules_of(function: Any) -> list[nn.Module]:
    """Return the modules that a function uses, each once, none inside another."""
    found: dict[int, nn.Module] = {}
    seen: set[int] = set()

    def visit(value: Any, steps: int) -> None:
        if steps > _MOST_STEPS or id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, nn.Module):
            found[id(value)] = value
            return
        for part in _parts_of(value):
            visit(part, steps + 1)

    visit(function, 0)
    inside = {
        id(part) for module in found.values() for part in module.modules() if part is not module
    }
    return [module for key, module in found.items() if key not in inside]


def _parts_of(value: Any) -> Iterator[Any]:
    """Yield what a function, or something that a function holds, holds itself."""
    if isinstance(value, types.FunctionType):
        yield from _held_by(value)
        yield from (part for _, part in _globals_of(value))
    elif isinstance(value, types.MethodType):
        yield value.__self__
        yield value.__func__
    elif isinstance(value, functools.partial):
        yield value.func
        yield from value.args
        yield from value.keywords.values()
    elif isinstance(value, list | tuple | set):
        yield from islice(value, _MOST_PARTS)
    elif isinstance(value, dict):
        yield from islice(value.values(), _MOST_PARTS)
    elif callable(value) and not isinstance(value, type) and hasattr(value, "__dict__"):
        yield from vars(value).values()
        yield type(value).__call__


def _held_by(function: types.FunctionType) -> Iterator[Any]:
    """Yield what stands in a function's closure and defaults."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue  # not assigned yet
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def _globals_of(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the global names that a function uses, and what they stand for."""
    if isinstance(function, functools.partial):
        yield from _globals_of(function.func)
    elif isinstance(function, types.MethodType):
        yield from _globals_of(function.__func__)
    elif isinstance(function, types.FunctionType):
        for name in sorted(_names_in(function.__code__)):
            if name in function.__globals__:
                yield name, function.__globals__[name]


def _names_in(code: types.CodeType) -> set[str]:
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def _described(value: Any, steps: int = 0) -> str:
    """Return a text that is the same for the same function, whatever the process."""
    if steps > _MOST_STEPS:
        return "…"
    if isinstance(value, types.FunctionType):
        held = ", ".join(_described(part, steps + 1) for part in _held_by(value))
        return f"{value.__module__}.{value.__qualname__}#{_digest_of(value.__code__)}({held})"
    if isinstance(value, types.MethodType):
        return f"{_described(value.__func__, steps + 1)} of {_described(value.__self__, steps + 1)}"
    if isinstance(value, functools.partial):
        named = sorted(value.keywords.items())
        parts = [_described(part, steps + 1) for part in (value.func, *value.args)]
        parts += [f"{name}={_described(part, steps + 1)}" for name, part in named]
        return f"partial({', '.join(parts)})"
    if isinstance(value, Tensor):
        raw = value.detach().cpu().contiguous().double().numpy().tobytes()
        return f"{value.dtype}{tuple(value.shape)}#{hashlib.sha256(raw).hexdigest()[:16]}"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _digest_of(code: types.CodeType) -> str:
    consts = [
        _digest_of(part) if isinstance(part, types.CodeType) else repr(part)
        for part in code.co_consts
    ]
    text = repr((code.co_code, code.co_names, consts))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
