"""Dataclasses rebuilt from plain values that somebody else wrote, each checked against its type."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

T = TypeVar("T")
_PLAIN = frozenset((int, float, str, bool))


def rebuilt(kind: type[T], values: Any) -> T:
    """Return a dataclass made of plain values, as `dataclasses.asdict` gives them.

    Raises `ValueError` that names the first value of another type, and of none that is missing.
    Lists stand for tuples, whole numbers for any numbers.
    """
    return typing.cast(T, _rebuilt(kind, values, ""))


def _rebuilt(kind: Any, value: Any, name: str) -> Any:
    if type(value) is kind and kind in _PLAIN:  # most values; a run has hundreds of thousands
        return value
    origin = typing.get_origin(kind)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, name)
    if origin in (types.UnionType, typing.Union):
        kinds = typing.get_args(kind)
        if value is None and types.NoneType in kinds:
            return None
        others = [each for each in kinds if each is not types.NoneType]
        # Of several only one can be a list.
        is_list = isinstance(value, list | tuple)
        fitting = [each for each in others if (typing.get_origin(each) is tuple) == is_list]
        return _rebuilt((fitting or others)[0], value, name)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise _other(name, "a list", value)
        each = typing.get_args(kind)[0]
        return tuple(_rebuilt(each, item, f"{name}[{i}]") for i, item in enumerate(value))
    if origin is collections.abc.Mapping:
        if not isinstance(value, Mapping):
            raise _other(name, "an object", value)
        each = typing.get_args(kind)[1]
        return {str(key): _rebuilt(each, item, f"{name}.{key}") for key, item in value.items()}
    if origin is Literal:
        if not isinstance(value, str) or value not in typing.get_args(kind):
            choices = ", ".join(map(repr, typing.get_args(kind)))
            raise _other(name, f"one of {choices}", value)
        return value
    if kind in (int, float) and isinstance(value, bool):
        raise _other(name, "a number", value)
    if kind is float and isinstance(value, int) and abs(value) < 1 << 1023:
        return value
    if not isinstance(value, kind):
        words = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
        raise _other(name, words[kind], value)
    return value


def _dataclass(kind: Any, value: Any, name: str) -> Any:
    if not isinstance(value, Mapping):
        raise _other(name or "values", "an object", value)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    prefix = f"{name}." if name else ""
    for key in value:
        if key not in fields:
            raise ValueError(f"{prefix}{str(key)[:40]} is unknown")
    given = {}
    for key, field in fields.items():
        if key in value:
            given[key] = _rebuilt(_hints(kind)[key], value[key], f"{prefix}{key}")
        elif field.default is dataclasses.MISSING:
            raise ValueError(f"{prefix}{key} is missing")
    return kind(**given)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _other(name: str, expected: str, value: Any) -> ValueError:
    shown = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return ValueError(f"{name}: expected {expected}, got {shown[:40]}")
