"""An immutable set of elements: what is kept while the rest is noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from zorro.elements.space import FEATURES, NODES, Element, Kind, Space


@dataclass(frozen=True, eq=False)
class Selection:
    """Which elements of each selectable kind are kept.

    >>> nothing = Selection.empty(3, 2)
    >>> one = nothing.toggled(Element(NODES, 1)).toggled(Element(FEATURES, 0))
    >>> one.mask.nonzero().tolist()
    [[1, 0]]
    """

    space: Space
    masks: Mapping[Kind, Tensor]  # of each selectable kind, bool

    @classmethod
    def of(cls, nodes: Tensor, features: Tensor) -> Selection:
        """Select rows (n,) and columns (d,) of a block, by masks."""
        space = Space(nodes.numel(), features.numel(), device=nodes.device)
        return cls(space, {NODES: nodes, FEATURES: features})

    @classmethod
    def empty(cls, nodes: int, features: int, *, device: torch.device | None = None) -> Selection:
        """Select nothing of `nodes` rows and `features` columns."""
        return nothing_of(Space(nodes, features, device=device))

    @classmethod
    def full(cls, nodes: int, features: int, *, device: torch.device | None = None) -> Selection:
        """Select all of `nodes` rows and `features` columns."""
        return everything_of(Space(nodes, features, device=device))

    def holds(self, element: Element) -> bool:
        """Whether an element is selected."""
        return bool(self.masks[element.kind][element.place])

    def members(self, kind: Kind) -> Tensor:
        """Return the selected elements of a kind, ascending."""
        return self._members[kind]

    def toggled(self, *elements: Element) -> Selection:
        """Add elements, or take out those that are selected."""
        masks = {kind: mask.clone() for kind, mask in self.masks.items()}
        for kind, place in elements:
            masks[kind][place] = ~masks[kind][place]
        return Selection(self.space, masks)

    def without(self, other: Selection, *kinds: Kind) -> Selection:
        """Take out the other's elements of some kinds."""
        return Selection(
            self.space,
            {
                kind: mask & ~other.masks[kind] if kind in kinds else mask
                for kind, mask in self.masks.items()
            },
        )

    def with_all_of(self, other: Selection, kinds: Iterable[Kind]) -> Selection:
        """Take the other's elements of some kinds in place of this one's."""
        return Selection(self.space, {**self.masks, **{kind: other.masks[kind] for kind in kinds}})

    def is_same_as(self, other: Selection) -> bool:
        """Whether both keep the same elements."""
        return all(torch.equal(mask, other.masks[kind]) for kind, mask in self.masks.items())

    def overlaps(self, other: Selection) -> bool:
        """Whether an entry of a block is kept by both."""
        shared = {kind: mask & other.masks[kind] for kind, mask in self.masks.items()}
        return any(self._is_kept(block, shared) for block in self.space.blocks)

    @property
    def size(self) -> int:
        """How many elements are selected, of all kinds."""
        return sum(self.members(kind).numel() for kind in self.masks)

    @property
    def is_everything(self) -> bool:
        """Whether no element is left out."""
        return all(bool(mask.all()) for mask in self.masks.values())

    @cached_property
    def _members(self) -> Mapping[Kind, Tensor]:
        return {kind: mask.nonzero().flatten() for kind, mask in self.masks.items()}

    @cached_property
    def nodes(self) -> Tensor:
        """The rows of the block that are kept, (n,) bool."""
        return self.space.rows_of(self.masks)

    @cached_property
    def features(self) -> Tensor:
        """The columns of the block that are kept, (d,) bool."""
        return self.space.columns_of(self.masks)

    @property
    def mask(self) -> Tensor:
        """The entries that are kept, (n, d) bool: the mask M of the paper."""
        return self.nodes.unsqueeze(1) & self.features

    @cached_property
    def rows(self) -> Tensor:
        """The rows that are kept, ascending."""
        return self.nodes.nonzero().flatten()

    @cached_property
    def columns(self) -> Tensor:
        """The columns that are kept, ascending."""
        return self.features.nonzero().flatten()

    @cached_property
    def edges(self) -> Tensor:
        """The edges that are kept, (m,) bool; all where edges are not selectable."""
        return self.space.edges_of(self.masks)

    @cached_property
    def edge_attributes(self) -> Tensor:
        """The edges whose attributes are kept, (m,) bool."""
        return self.space.attributes_of(self.masks)

    @property
    def keeps_no_feature(self) -> bool:
        """Whether no entry of the features is kept: no row or no column is."""
        return self.rows.numel() == 0 or self.columns.numel() == 0

    @property
    def is_blank(self) -> bool:
        """Whether no entry of any block is kept, so that it is as good as nothing."""
        return not any(self._is_kept(block, self.masks) for block in self.space.blocks)

    def _is_kept(self, block: tuple[Kind, ...], masks: Mapping[Kind, Tensor]) -> bool:
        """Whether masks keep an entry of a block: something of each of its kinds."""
        rows_suffice = self.space.rows_suffice and block != (FEATURES,)
        needed = (kind for kind in block if kind != FEATURES or not rows_suffice)
        return all(bool(masks[kind].any()) for kind in needed)


def nothing_of(space: Space) -> Selection:
    """Select nothing."""
    return Selection(
        space,
        {
            kind: torch.zeros(size, dtype=torch.bool, device=space.device)
            for kind, size in space.sizes.items()
        },
    )


def everything_of(space: Space) -> Selection:
    """Select all there is."""
    return Selection(space, {kind: ~mask for kind, mask in nothing_of(space).masks.items()})
