"""How values of several types of nodes, or relations, stand beside one another in one matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.elements.types import Types


@dataclass(frozen=True)
class Columns:
    """Where a type's values stand among the columns of all types.

    Args:
        first: the first of its columns.
        count: how many.
        dtype: that the model gets.
        is_flat: whether the model gets (n,), not (n, 1).
        are_ids: whether they only tell nodes apart, and are no features.
    """

    first: int
    count: int
    dtype: torch.dtype
    is_flat: bool = False
    are_ids: bool = False


@dataclass(frozen=True)
class Dictionary:
    """A further argument of the model: a value for each type, or for each relation.

    Args:
        columns: by the number of the type or relation; of those that have a value.
    """

    columns: Mapping[int, Columns]

    @property
    def width(self) -> int:
        """How many columns the packed values have."""
        return max(each.count for each in self.columns.values())


@dataclass(frozen=True)
class Packing:
    """How a graph of several types is packed into one.

    Args:
        types: of its nodes, and its relations.
        features: where each type's features stand; None of a type that has none.
        nodes: further arguments by type, by their names in the model.
        edges: further arguments by relation.
    """

    types: Types
    features: tuple[Columns | None, ...]
    nodes: Mapping[str, Dictionary]
    edges: Mapping[str, Dictionary]

    @property
    def width(self) -> int:
        """How many columns the packed features have, those that tell nodes apart the last."""
        return sum(each.count for each in self.features if each is not None)

    @property
    def ids(self) -> int:
        """How many of the columns only tell nodes apart."""
        return sum(each.count for each in self.features if each is not None and each.are_ids)

    def type_of_columns(self) -> Tensor:
        """Return the type's number of each column (d,)."""
        owner = torch.empty(self.width, dtype=torch.long)
        for number, each in enumerate(self.features):
            if each is not None:
                owner[each.first : each.first + each.count] = number
        return owner


def packed_name(level: str, name: str) -> str:
    """Return the name by which a dictionary's packed values travel."""
    return f"{level}:{name}"
