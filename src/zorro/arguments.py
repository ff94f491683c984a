"""What an argument may be, and the error if it is something else."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable
from reprlib import repr as short
from typing import Any, SupportsIndex

import torch

from zorro.errors import InputError


def check_device(name: str, device: str | torch.device) -> None:
    """Refuse a device on which there can be no tensors."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{name}: expected a device that can be used here, got '{device}' ({reason})"
        ) from None


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse what is none of the choices."""
    if value not in choices:
        raise InputError(f"{name}: expected one of {', '.join(choices)}, got {value!r}")


def check_at_least(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number, or a smaller one."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: expected a whole number of at least {least}, got {value!r}")


def node_id(value: SupportsIndex, nodes: int) -> int:
    """Return a node's number as Python has it, see `whole_number`."""
    several = _length(value) is not None and not isinstance(value, str | bytes)
    advice = ": for several nodes use zorro.explain_many" if several else ""
    return whole_number("node", value, nodes, advice=advice)


def whole_number(
    name: str,
    value: SupportsIndex,
    below: int | None = None,
    *,
    what: str = "a whole number",
    advice: str = "",
) -> int:
    """Return a whole number from 0 to `below` − 1 as Python has it.

    It may be of any library: whatever can be an index (`__index__`), such as NumPy's integers and
    tensors of no dimension, but no truth value.

    Args:
        name: of the argument.
        value: what was given.
        below: the first number that is too large, None if that is not known.
        what: it is called in the error.
        advice: the end of the error.
    """
    number = _whole(value)
    if number is None or number < 0 or (below is not None and number >= below):
        got = short(value) if number is None else number
        end = "" if below is None else f" to {below - 1}"
        raise InputError(f"{name}: expected {what} from 0{end}, got {got}{advice}")
    return number


def whole_numbers(name: str, values: Iterable[SupportsIndex], below: int) -> list[int]:
    """Return whole numbers from 0 to `below` − 1 as Python has them, in their order.

    A tensor or array of truth values, one for each number below `below`, stands for those where it
    is true.

    Args:
        name: of the argument.
        values: what was given, each as `whole_number` takes it.
        below: the first number that is too large.
    """
    expected = f"{name}: expected whole numbers from 0 to {below - 1}"
    every: Any = values
    kind = str(getattr(values, "dtype", "")).removeprefix("torch.").lower()
    if kind and hasattr(values, "tolist"):
        every = values.tolist()
        if kind == "bool" and _length(every) == below:
            return [number for number, is_in in enumerate(every) if is_in is True]
        if kind == "bool":
            raise InputError(f"{expected}, or a mask of {below} truth values, got {short(values)}")
    if isinstance(every, str | bytes) or not isinstance(every, Iterable):
        raise InputError(f"{expected}, got {short(values)}: give them as a list")
    numbers = []
    for value in every:
        number = _whole(value)
        if number is None or not 0 <= number < below:
            raise InputError(f"{expected}, got {short(value) if number is None else number}")
        numbers.append(number)
    return numbers


def check_seed(seed: int) -> int:
    """Return `seed`, or raise `InputError` unless it is a whole number ≥ 0."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed: expected a whole number ≥ 0, got {seed!r}")
    return seed


def _whole(value: Any) -> int | None:
    """Return a value as Python's whole number, None if it is not one."""
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return None
    if getattr(value, "ndim", 0) != 0:  # a tensor (1,) would do as an index
        return None
    try:
        return operator.index(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def _length(value: Any) -> int | None:
    try:
        return len(value)
    except TypeError:
        return None
