"""What can be kept of a query's input: kinds of elements, and how many there are of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

Kind = Literal["nodes", "features", "edges", "edge_attributes"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NODES, FEATURES, EDGES, EDGE_ATTRIBUTES = KINDS
KEPT: tuple[Kind, ...] = (NODES, FEATURES)  # what sets are of where nobody says

# Kinds of one block keep entries together: a node alone keeps none, and no feature alone.
BLOCKS: tuple[tuple[Kind, ...], ...] = ((NODES, FEATURES), (EDGES,), (EDGE_ATTRIBUTES,))


def redraws_features(kinds: Collection[str]) -> bool:
    """Whether sets of some kinds leave features out, so that these are redrawn at all."""
    return not set(KEPT).isdisjoint(kinds)


class Element(NamedTuple):
    """One thing that can be kept: of a kind, the one at a place in the computational graph."""

    kind: Kind
    place: int


@dataclass(frozen=True, eq=False)
class Space:
    """The elements of a query, and the blocks of its input that they keep entries of.

    The block of features (n, d): a node is a row of it, a feature a column, or a group of columns
    that are kept and redrawn together. An entry is kept where its row and its column are. The
    edges are a block of their own, and so are their attributes: an edge is kept or not. Of a kind
    that is not selectable everything is always kept.

    Args:
        nodes: n, rows of the block of features.
        columns: d.
        kinds: what is selectable, in the order in which sets grow where nothing else decides.
        groups: (d,) each column's group, 0, 1, …; every column is its own when None.
        edges: how many there are.
        device: of the masks.
    """

    nodes: int
    columns: int
    kinds: tuple[Kind, ...] = KEPT
    groups: Tensor | None = None
    edges: int = 0
    device: torch.device | None = field(default=None)

    @cached_property
    def sizes(self) -> Mapping[Kind, int]:
        """How many elements there are of each selectable kind."""
        features = self.columns if self.groups is None else int(self.groups.max()) + 1
        every = dict(zip(KINDS, (self.nodes, features, self.edges, self.edges), strict=True))
        return {kind: every[kind] for kind in self.kinds}

    @cached_property
    def blocks(self) -> tuple[tuple[Kind, ...], ...]:
        """The selectable kinds, those together that keep entries together."""
        chosen = (tuple(kind for kind in block if kind in self.kinds) for block in BLOCKS)
        return tuple(block for block in chosen if block)

    def partners(self, kind: Kind) -> tuple[Kind, ...]:
        """Return the other selectable kinds without which one of this kind keeps nothing."""
        (block,) = (block for block in self.blocks if kind in block)
        return tuple(other for other in block if other != kind)

    def rows_of(self, nodes: Tensor | None) -> Tensor:
        """Return the rows (n,) that a mask of nodes keeps; all where nodes are not selectable."""
        return self._all(self.nodes) if nodes is None else nodes

    def columns_of(self, features: Tensor | None) -> Tensor:
        """Return the columns (d,) that a mask of features keeps."""
        if features is None:
            return self._all(self.columns)
        return features if self.groups is None else features[self.groups]

    def edges_of(self, edges: Tensor | None) -> Tensor:
        """Return the edges (m,) that a mask of them keeps; all where they are not selectable."""
        return self._all(self.edges) if edges is None else edges

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
