"""What can be kept of a query's input: kinds of elements, and how many there are of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

Kind = Literal["types", "nodes", "features", "relations", "edges", "edge_attributes"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TYPES, NODES, FEATURES, RELATIONS, EDGES, EDGE_ATTRIBUTES = KINDS
KEPT: tuple[Kind, ...] = (NODES, FEATURES)  # what sets are of where nobody says
COARSE: tuple[Kind, ...] = (TYPES, RELATIONS)  # what only graphs of several types have

# Kinds of one block keep entries together: a node alone keeps none, and no feature alone. Types are
# all their nodes, relations all their edges, and a set is of the ones or of the others.
BLOCKS: tuple[tuple[Kind, ...], ...] = (
    (TYPES, NODES, FEATURES),
    (RELATIONS, EDGES),
    (EDGE_ATTRIBUTES,),
)


def redraws_features(kinds: Collection[str]) -> bool:
    """Whether sets of some kinds leave features out, so that these are redrawn at all."""
    return not {TYPES, *KEPT}.isdisjoint(kinds)


def drops_edges(kinds: Collection[str]) -> bool:
    """Whether sets of some kinds leave edges out, so that these may be missing at all."""
    return not {RELATIONS, EDGES}.isdisjoint(kinds)


class Element(NamedTuple):
    """One thing that can be kept: of a kind, the one at a place in the computational graph."""

    kind: Kind
    place: int


@dataclass(frozen=True, eq=False)
class TypedBlock:
    """Which rows and columns of the block of features are of which type.

    Args:
        rows: (n,) each row's type.
        columns: (d,) each column's type.
        count: of types.
        unnamed: how many columns, the last ones, only tell nodes apart: they are kept with their
            node, and are no features.
        relations: how many there are.
    """

    rows: Tensor
    columns: Tensor
    count: int
    unnamed: int
    relations: int


@dataclass(frozen=True, eq=False)
class Space:
    """The elements of a query, and the blocks of its input that they keep entries of.

    The block of features (n, d): a node is a row of it, a feature a column, or a group of columns
    that are kept and redrawn together. An entry is kept where its row and its column are. The
    edges are a block of their own, and so are their attributes: an edge is kept or not. Of a kind
    that is not selectable everything is always kept. A type is all of its rows, a relation all of
    its edges.

    Args:
        nodes: n, rows of the block of features.
        columns: d.
        kinds: what is selectable, in the order in which sets grow where nothing else decides.
        groups: (d,) each column's group, 0, 1, …; every column is its own when None.
        edges: how many there are.
        device: of the masks.
        types: where there are several, whose rows and columns are whose.
        relations: (m,) each edge's relation, where there are several.
    """

    nodes: int
    columns: int
    kinds: tuple[Kind, ...] = KEPT
    groups: Tensor | None = None
    edges: int = 0
    device: torch.device | None = field(default=None)
    types: TypedBlock | None = None
    relations: Tensor | None = None

    @cached_property
    def sizes(self) -> Mapping[Kind, int]:
        """How many elements there are of each selectable kind."""
        features = self.columns - self._unnamed
        if self.groups is not None:
            features = int(self.groups.max()) + 1
        every: dict[Kind, int] = {
            TYPES: 0 if self.types is None else self.types.count,
            NODES: self.nodes,
            FEATURES: features,
            RELATIONS: 0 if self.types is None else self.types.relations,
            EDGES: self.edges,
            EDGE_ATTRIBUTES: self.edges,
        }
        return {kind: every[kind] for kind in self.kinds}

    @property
    def _unnamed(self) -> int:
        """How many columns, the last ones, tell nodes apart and are no features."""
        return 0 if self.types is None else self.types.unnamed

    @property
    def _types(self) -> TypedBlock:
        assert self.types is not None
        return self.types

    @property
    def rows_suffice(self) -> bool:
        """Whether a kept row keeps entries though no feature is kept: those that tell it apart."""
        return self._unnamed > 0

    @cached_property
    def blocks(self) -> tuple[tuple[Kind, ...], ...]:
        """The selectable kinds, those together that keep entries together."""
        chosen = (tuple(kind for kind in block if kind in self.kinds) for block in BLOCKS)
        return tuple(block for block in chosen if block)

    def partners(self, kind: Kind) -> tuple[Kind, ...]:
        """Return the other selectable kinds without which one of this kind keeps nothing."""
        (block,) = (block for block in self.blocks if kind in block)
        return tuple(other for other in block if other != kind)

    def requires(self, kind: Kind) -> tuple[Kind, ...]:
        """Return the kinds of which something must be selected before one of this kind helps."""
        return () if self.rows_suffice and kind in (TYPES, NODES) else self.partners(kind)

    def idle(self, masks: Mapping[Kind, Tensor]) -> dict[Kind, Tensor]:
        """Return which elements of the features' block keep nothing unless another one is added.

        Those are rows and columns of types of which no row and no column is selected: a row needs
        a column then, and a column a row. There are none where only rows are selectable, or only
        columns.
        """
        block = next((block for block in self.blocks if FEATURES in block), ())
        if len(block) < 2:
            return {}
        count = 1 if self.types is None else self.types.count
        rows = columns = torch.zeros(1, dtype=torch.long, device=self.device)
        if self.types is not None:
            rows, columns = self.types.rows, self.types.columns[: self.columns - self._unnamed]
        rows, columns = rows.expand(self.nodes), columns.expand(self.columns - self._unnamed)
        kept = self.columns_of(masks)[: columns.numel()]
        is_idle = torch.zeros(count, dtype=torch.bool, device=self.device)
        is_idle[columns] = True
        is_idle[rows[self.rows_of(masks)]] = False
        is_idle[columns[kept]] = False
        of_columns = _summed(is_idle[columns].long(), self.groups, self.sizes[FEATURES]) > 0
        every = {TYPES: is_idle, NODES: is_idle[rows], FEATURES: of_columns}
        return {kind: every[kind] for kind in block}

    def rows_of(self, masks: Mapping[Kind, Tensor]) -> Tensor:
        """Return the rows (n,) that masks keep; all where these are not selectable."""
        if TYPES in masks:
            assert self.types is not None
            return masks[TYPES][self.types.rows]
        return masks[NODES] if NODES in masks else self._all(self.nodes)

    def columns_of(self, masks: Mapping[Kind, Tensor]) -> Tensor:
        """Return the columns (d,) that masks keep."""
        if FEATURES not in masks:
            return self._all(self.columns)
        features = masks[FEATURES]
        kept = features if self.groups is None else features[self.groups]
        return torch.cat([kept, self._all(self._unnamed)]) if self._unnamed else kept

    def edges_of(self, masks: Mapping[Kind, Tensor]) -> Tensor:
        """Return the edges (m,) that masks keep; all where they are not selectable."""
        if RELATIONS in masks:
            assert self.relations is not None
            return masks[RELATIONS][self.relations]
        return masks[EDGES] if EDGES in masks else self._all(self.edges)

    def attributes_of(self, masks: Mapping[Kind, Tensor]) -> Tensor:
        """Return the edges (m,) whose attributes masks keep."""
        kept = masks.get(EDGE_ATTRIBUTES)
        return self._all(self.edges) if kept is None else kept

    def members_of_group(self, feature: int) -> Tensor:
        """Return the columns of a feature, ascending."""
        if self.groups is None:
            return torch.tensor([feature], device=self.device)
        return (self.groups == feature).nonzero().flatten()

    def features_of(self, kind: Kind, place: int) -> Tensor:
        """Return which features (k,) the nodes have that an element is: those of its type."""
        if self.types is None:
            return self._all(self.sizes[FEATURES])
        number = place if kind == TYPES else int(self.types.rows[place])
        named = self.types.columns[: self.columns - self._unnamed] == number
        return _summed(named.long(), self.groups, self.sizes[FEATURES]) > 0

    def rows_with(self, columns: Tensor) -> Tensor:
        """Return the rows (n,) that have some of the columns (d,), both bool."""
        if self.types is None:
            return columns.any().expand(self.nodes)
        concerned = torch.zeros(self.types.count, dtype=torch.bool, device=columns.device)
        concerned[self.types.columns[columns]] = True
        return concerned[self.types.rows]

    def by_kind(self, rows: Tensor, columns: Tensor) -> dict[Kind, Tensor]:
        """Return what rows (n,) and columns (d,) amount to, by the selectable kinds."""
        named = columns[: columns.numel() - self._unnamed]
        every: dict[Kind, Callable[[], Tensor]] = {
            TYPES: lambda: _summed(rows, self._types.rows, self._types.count),
            NODES: lambda: rows,
            FEATURES: lambda: _summed(named, self.groups, self.sizes[FEATURES]),
        }
        return {kind: value() for kind, value in every.items() if kind in self.kinds}

    def by_kind_of_edges(self, edges: Tensor) -> dict[Kind, Tensor]:
        """Return what edges (m,) amount to, by the selectable kind."""
        if RELATIONS in self.kinds:
            return {RELATIONS: _summed(edges, self.relations, self.sizes[RELATIONS])}
        return {EDGES: edges} if EDGES in self.kinds else {}

    def _all(self, count: int) -> Tensor:
        return torch.ones(count, dtype=torch.bool, device=self.device)


def _summed(values: Tensor, groups: Tensor | None, count: int) -> Tensor:
    """Return the sums of values over groups, each its own when None."""
    if groups is None:
        return values
    return values.new_zeros(count).index_add_(0, groups, values)
