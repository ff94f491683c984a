"""What can be kept of a query's input: kinds of elements, and how many there are of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

Kind = Literal["nodes", "features"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NODES, FEATURES = KINDS


class Element(NamedTuple):
    """One thing that can be kept: of a kind, the one at a place in the computational graph."""

    kind: Kind
    place: int


@dataclass(frozen=True, eq=False)
class Space:
    """The elements of a query, and the block of features (n, d) that they keep entries of.

    A node is a row of the block, a feature a column, or a group of columns that are kept and
    redrawn together. An entry is kept where its row and its column are. Of a kind that is not
    selectable everything is always kept.

    Args:
        nodes: n, rows of the block.
        columns: d.
        kinds: what is selectable, in the order in which sets grow where nothing else decides.
        groups: (d,) each column's group, 0, 1, …; every column is its own when None.
        device: of the masks.
    """

    nodes: int
    columns: int
    kinds: tuple[Kind, ...] = KINDS
    groups: Tensor | None = None
    device: torch.device | None = field(default=None)

    @cached_property
    def sizes(self) -> Mapping[Kind, int]:
        """How many elements there are of each selectable kind."""
        features = self.columns if self.groups is None else int(self.groups.max()) + 1
        every: dict[Kind, int] = {NODES: self.nodes, FEATURES: features}
        return {kind: every[kind] for kind in self.kinds}

    def rows_of(self, nodes: Tensor | None) -> Tensor:
        """Return the rows (n,) that a mask of nodes keeps; all where nodes are not selectable."""
        return self._all(self.nodes) if nodes is None else nodes

    def columns_of(self, features: Tensor | None) -> Tensor:
        """Return the columns (d,) that a mask of features keeps."""
        if features is None:
            return self._all(self.columns)
        return features if self.groups is None else features[self.groups]

    def members_of_group(self, feature: int) -> Tensor:
        """Return the columns of a feature, ascending."""
        if self.groups is None:
            return torch.tensor([feature], device=self.device)
        return (self.groups == feature).nonzero().flatten()

    def by_group(self, columns: Tensor) -> Tensor:
        """Return the sums of values (d,) over each feature's columns."""
        if self.groups is None:
            return columns
        sums = columns.new_zeros(int(self.groups.max()) + 1)
        return sums.index_add_(0, self.groups, columns)

    def _all(self, count: int) -> Tensor:
        return torch.ones(count, dtype=torch.bool, device=self.device)
