"""Columns that are one element together, as the user writes them."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from zorro.cli import terminal
from zorro.elements.groups import one_hot_groups
from zorro.errors import InputError

ONE_HOT = "one-hot"
_FORMS = f"groups of columns such as 0-6;7,9, or {ONE_HOT}"


def chosen_groups(
    text: str | None, *, columns: int, features: Tensor | None
) -> list[list[int]] | None:
    """Return the groups that are written, None if none are; proposed ones are said on stderr.

    Args:
        text: of `--feature-groups`.
        columns: how many there are.
        features: (N, d) of all nodes, None if they are not at hand.
    """
    if text is None:
        return None
    if text.strip().lower() != ONE_HOT:
        return [_group(part, text, columns) for part in text.split(";")]
    if features is None:
        raise InputError(
            f"--feature-groups: expected groups such as 0-6;7,9 for features that are not dense "
            f"and in memory, got {ONE_HOT}"
        )
    groups = one_hot_groups(features)
    if not groups:
        raise InputError(
            f"--feature-groups: expected groups such as 0-6;7,9, since no columns are one-hot, got "
            f"{ONE_HOT}"
        )
    shown = ";".join(f"{group[0]}-{group[-1]}" for group in groups)
    terminal.messages.print(f"feature groups: {shown}", markup=False)
    return groups


def groups_by_type(
    text: str | None, columns: Mapping[str, int]
) -> dict[str, list[list[int]]] | None:
    """Return the groups of each type that are written, None if none are.

    >>> groups_by_type("author:0-2;paper:3,4;author:5,6", {"author": 7, "paper": 9})
    {'author': [[0, 1, 2], [5, 6]], 'paper': [[3, 4]]}

    Args:
        text: of `--feature-groups`.
        columns: how many features each type has.
    """
    if text is None:
        return None
    found: dict[str, list[list[int]]] = {}
    for part in text.split(";"):
        name, colon, rest = (piece.strip() for piece in part.partition(":"))
        if not colon or name not in columns:
            raise InputError(
                f"--feature-groups: expected groups by type such as {next(iter(columns))}:0-6;…, "
                f"of {', '.join(columns)}, got {text!r}"
            )
        if not columns[name]:
            raise InputError(f"--feature-groups: expected a type with features, got {name!r}")
        found.setdefault(name, []).append(_group(rest, text, columns[name]))
    return found


def _group(part: str, text: str, columns: int) -> list[int]:
    """Return the columns of one group.

    >>> _group("0-2,5", "0-2,5;6", 9)
    [0, 1, 2, 5]
    """
    group: list[int] = []
    for piece in part.split(","):
        first, dash, last = piece.strip().partition("-")
        ends = [end.strip() for end in ([first, last] if dash else [first, first])]
        if not all(end.isdecimal() for end in ends) or int(ends[0]) > int(ends[1]):
            raise InputError(f"--feature-groups: expected {_FORMS}, got {text!r}")
        if int(ends[1]) >= columns:
            raise InputError(
                f"--feature-groups: expected columns from 0 to {columns - 1}, got {ends[1]}"
            )
        group += range(int(ends[0]), int(ends[1]) + 1)
    return group
