"""Columns that are one element together: what a user says they are, and what they look like."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from reprlib import repr as short
from typing import Any, SupportsIndex

import torch
from torch import Tensor

from zorro.arguments import whole_number, whole_numbers
from zorro.errors import InputError

logger = logging.getLogger(__name__)

_MOST_SHOWN = 20  # columns of a group that is proposed


def as_groups(groups: Any) -> tuple[tuple[int, ...], ...]:
    """Return groups of columns as a user gives them, each a tuple of whole numbers.

    >>> as_groups([range(3), (5, 4)])
    ((0, 1, 2), (5, 4))
    """
    expected = "feature_groups: expected lists of columns"
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise InputError(f"{expected}, got {short(groups)}")
    found = []
    for number, group in enumerate(groups):
        if isinstance(group, str | bytes) or not isinstance(group, Iterable):
            raise InputError(f"{expected}, got {short(group)} at place {number}")
        found.append(tuple(whole_number(f"feature_groups[{number}]", column) for column in group))
    return tuple(found)


def propose_groups(x: Tensor | None, noise: str) -> None:
    """Say that columns of x (N, d) look like categories, if the noise would take them apart.

    Args:
        x: features of the whole data set; nothing is said where they are not in memory.
        noise: its name.
    """
    groups = [] if x is None or noise == "rows" else one_hot_groups(x)
    if groups:
        logger.warning(
            "columns %s are one-hot: each column is redrawn by itself, as in the paper, so that a "
            "node may have several of them or none; feature_groups=%s keeps and redraws a category "
            "as one, noise='rows' draws whole nodes",
            ", ".join(f"{group[0]} to {group[-1]}" for group in groups[:3]),
            groups if len(groups) == 1 and len(groups[0]) <= _MOST_SHOWN else "[…]",
        )


def group_of_each(groups: Iterable[Iterable[SupportsIndex]], columns: int) -> Tensor:
    """Return each column's group (d,), 0, 1, … by the groups' first columns; others stand alone.

    >>> group_of_each([[1, 2]], 4).tolist()
    [0, 1, 1, 2]
    """
    owner: list[int | None] = [None] * columns
    for number, group in enumerate(groups):
        members = whole_numbers(f"feature_groups[{number}]", group, columns)
        if not members:
            raise InputError(f"feature_groups[{number}]: expected columns, got none")
        for column in members:
            if owner[column] is not None:
                raise InputError(
                    f"feature_groups[{number}]: expected columns that are in no other group, got "
                    f"{column}, which is in feature_groups[{owner[column]}]"
                )
            owner[column] = number
    found: dict[Any, int] = {}
    keys = [("group", each) if each is not None else ("alone", i) for i, each in enumerate(owner)]
    return torch.tensor([found.setdefault(key, len(found)) for key in keys])


def gathered(columns: Iterable[int], groups: Iterable[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return columns as the elements that they are: those of a group together, others alone.

    Elements stand in the order of their first columns, those of a group in ascending order.

    >>> gathered([3, 0, 2, 5], [(3, 2)])
    [(2, 3), (0,), (5,)]
    """
    group_of = {column: number for number, group in enumerate(groups) for column in group}
    found: dict[tuple[str, int], list[int]] = {}
    for column in columns:
        key = ("group", group_of[column]) if column in group_of else ("alone", column)
        found.setdefault(key, []).append(column)
    return [tuple(sorted(members)) for members in found.values()]


def one_hot_groups(x: Tensor) -> list[list[int]]:
    """Return runs of neighbouring columns of which every row of x (N, d) has exactly one set.

    The shortest runs from the left; they are proposals, never taken for granted.

    >>> one_hot_groups(torch.tensor([[1.0, 0.0, 3.0, 0.0, 1.0], [0.0, 1.0, 2.0, 1.0, 0.0]]))
    [[0, 1], [3, 4]]
    """
    is_flag = ((x == 0) | (x == 1)).all(0)
    found: list[list[int]] = []
    first = 0
    while first < x.size(1):
        total = torch.zeros_like(x[:, 0])
        end = first
        while end < x.size(1) and bool(is_flag[end]):
            total = total + x[:, end]
            end += 1
            if bool((total > 1).any()):
                end = first
                break
            if bool((total == 1).all()):
                break
        else:
            end = first
        if end > first + 1:
            found.append(list(range(first, end)))
        first = max(end, first + 1)
    return found
