"""Models that return more than the scores: which part of it is explained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from torch import Tensor, nn

from zorro.errors import InputError
from zorro.model.as_module import as_module
from zorro.model.function_model import FunctionModel

_MOST_ADVISED = 4  # ways to pick a part, in an error
Part: TypeAlias = Callable[[Any], Any] | str  # a function of what the model returns, or a name


def picked(model: Any, output: object) -> nn.Module:
    """Return the module that gives the part of a model's output that is explained.

    Args:
        model: that is explained.
        output: a function or a name picks a part; a number is a column of a value, and None all
            there is.
    """
    module = as_module(model)
    return PickedOutput(module, output) if isinstance(output, str) or callable(output) else module


class PickedOutput(nn.Module):
    """Calls a model and returns a part of what it returns.

    Args:
        model: any module.
        part: a function of the output, or the name of what a dictionary or an object holds.
    """

    def __init__(self, model: nn.Module, part: Part) -> None:
        super().__init__()
        self.model = model
        self.part = part if isinstance(part, str | nn.Module) else FunctionModel(part)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the part."""
        return part_of(self.model(*args, **kwargs), self.part)

    def extra_repr(self) -> str:
        """Return the name of the part; a function shows itself."""
        return repr(self.part) if isinstance(self.part, str) else ""


def part_of(output: Any, part: Part) -> Any:
    """Return a part of what a model returned."""
    return _named(output, part) if isinstance(part, str) else part(output)


def _named(output: Any, name: str) -> Any:
    if isinstance(output, Mapping):
        if name in output:
            return output[name]
        raise InputError(
            f"output: expected one of {', '.join(map(repr, output))}, which the model returns, "
            f"got {name!r}"
        )
    if isinstance(output, Tensor) or not hasattr(output, name):
        raise InputError(
            f"output: expected a column or a function, since the model returns "
            f"{type(output).__name__}, got {name!r}, which names a part of a dictionary"
        )
    return getattr(output, name)


def advice(output: Any, rows: int) -> str:
    """Return the option that picks the scores of what a model returned.

    Args:
        output: what it returned, which is no tensor.
        rows: that scores have; parts that have as many may be them.
    """
    parts = list(_parts(output))
    fitting = [way for way, part in parts if _has_rows(part, rows)]
    ways = fitting or [way for way, part in parts if isinstance(part, Tensor)]
    either = " or ".join(f"output={way}" for way in ways[:_MOST_ADVISED] or ["lambda out: …"])
    return f"pass {either}, which{'ever' if len(ways) > 1 else ''} picks the scores"


def _parts(output: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of an output, each after what picks it."""
    if isinstance(output, Mapping):
        yield from ((_key(key), part) for key, part in output.items())
    elif isinstance(output, tuple) and hasattr(output, "_fields"):
        yield from ((repr(name), getattr(output, name)) for name in output._fields)
    elif isinstance(output, tuple | list):
        yield from ((f"lambda out: out[{place}]", part) for place, part in enumerate(output))
    elif hasattr(output, "__dict__"):
        yield from ((repr(name), part) for name, part in vars(output).items())


def _key(key: object) -> str:
    return repr(key) if isinstance(key, str) else f"lambda out: out[{key!r}]"


def _has_rows(part: Any, rows: int) -> bool:
    return isinstance(part, Tensor) and part.dim() in (1, 2) and part.size(0) == rows
