"""An immutable set of nodes and a set of features: what is kept while the rest is noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Selection:
    """Rows and columns of a computational graph's feature matrix.

    An entry (i, j) is kept where `nodes[i]` and `features[j]`: the mask M of the paper is their
    outer product.
    """

    nodes: Tensor  # (n,) bool
    features: Tensor  # (d,) bool

    @property
    def mask(self) -> Tensor:
        """The entries that are kept, (n, d) bool."""
        return self.nodes.unsqueeze(1) & self.features

    @classmethod
    def empty(cls, nodes: int, features: int, *, device: torch.device | None = None) -> Selection:
        """Select nothing of `nodes` rows and `features` columns."""
        return cls(
            torch.zeros(nodes, dtype=torch.bool, device=device),
            torch.zeros(features, dtype=torch.bool, device=device),
        )

    @classmethod
    def full(cls, nodes: int, features: int, *, device: torch.device | None = None) -> Selection:
        """Select all of `nodes` rows and `features` columns."""
        nothing = cls.empty(nodes, features, device=device)
        return cls(~nothing.nodes, ~nothing.features)

    def with_node(self, row: int) -> Selection:
        """Add one row."""
        return Selection(_with(self.nodes, row), self.features)

    def with_feature(self, column: int) -> Selection:
        """Add one column."""
        return Selection(self.nodes, _with(self.features, column))

    def toggling_node(self, row: int) -> Selection:
        """Add one row, or take it out if it is selected."""
        return Selection(_with(self.nodes, row, not bool(self.nodes[row])), self.features)

    def toggling_feature(self, column: int) -> Selection:
        """Add one column, or take it out if it is selected."""
        return Selection(self.nodes, _with(self.features, column, not bool(self.features[column])))

    def without(
        self, other: Selection, *, nodes: bool = False, features: bool = False
    ) -> Selection:
        """Remove the other's rows and/or columns."""
        return Selection(
            self.nodes & ~other.nodes if nodes else self.nodes,
            self.features & ~other.features if features else self.features,
        )

    def is_same_as(self, other: Selection) -> bool:
        """Whether both keep the same rows and columns."""
        same = torch.equal(self.nodes, other.nodes) and torch.equal(self.features, other.features)
        return bool(same)

    def overlaps(self, other: Selection) -> bool:
        """Whether an entry is kept by both."""
        rows, columns = self.nodes & other.nodes, self.features & other.features
        return bool(rows.any()) and bool(columns.any())

    @cached_property
    def rows(self) -> Tensor:
        """The selected rows, ascending."""
        return self.nodes.nonzero().flatten()

    @cached_property
    def columns(self) -> Tensor:
        """The selected columns, ascending."""
        return self.features.nonzero().flatten()

    @property
    def is_blank(self) -> bool:
        """Whether no entry is kept: no row or no column is selected."""
        return self.rows.numel() == 0 or self.columns.numel() == 0


def _with(mask: Tensor, index: int, value: bool = True) -> Tensor:
    mask = mask.clone()
    mask[index] = value
    return mask
