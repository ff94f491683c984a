"""Columns that are one element together: what a user says they are, and what they look like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

import torch
from torch import Tensor

from zorro.arguments import whole_numbers
from zorro.errors import InputError


def group_of_each(groups: Iterable[Iterable[SupportsIndex]], columns: int) -> Tensor:
    """Return each column's group (d,), 0, 1, … by the groups' first columns; others stand alone.

    >>> group_of_each([[1, 2]], 4).tolist()
    [0, 1, 1, 2]
    """
    owner: list[int | None] = [None] * columns
    for number, group in enumerate(_listed(groups)):
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


def _listed(groups: Any) -> Sequence[Any]:
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise InputError(f"feature_groups: expected lists of columns, got {type(groups).__name__}")
    return list(groups)
