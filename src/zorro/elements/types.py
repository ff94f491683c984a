"""Types of nodes and relations between them, where one id space holds nodes of all types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

NODE_TYPE, EDGE_TYPE = "node_type", "edge_type"  # each node's and each edge's number of its type

Relation = tuple[
    str, str, str
]  # the type that edges lead from, what they are, the type they lead to


@dataclass(frozen=True)
class NodeType:
    """One of the types of nodes.

    Args:
        name: of the type.
        count: how many nodes it has.
        features: how many features.
    """

    name: str
    count: int
    features: int


@dataclass(frozen=True)
class Types:
    """All types: node i of a type has the number `first(type) + i` among all nodes.

    The columns of features stand type by type in the same order. A relation and the one that
    leads back along the same edges are one for whoever asks which connections matter.

    >>> types = Types((NodeType("author", 3, 2), NodeType("paper", 5, 4)), ())
    >>> types.node("paper", 1), types.local(4), types.local_feature(2)
    (4, ('paper', 1), ('paper', 0))

    Args:
        nodes: the types of nodes.
        relations: between them.
        back: for each relation the first one that has the same edges, in this direction or the
            other: its own number, or that of the relation that it leads back along.
        one_way: for each relation whether an edge of it is an element of its own: it has no way
            back.
    """

    nodes: tuple[NodeType, ...]
    relations: tuple[Relation, ...]
    back: tuple[int, ...] = ()
    one_way: tuple[bool, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of the types of nodes."""
        return tuple(each.name for each in self.nodes)

    @property
    def num_nodes(self) -> int:
        """How many nodes there are, of all types."""
        return sum(each.count for each in self.nodes)

    @property
    def num_features(self) -> int:
        """How many features there are, of all types."""
        return sum(each.features for each in self.nodes)

    @cached_property
    def first_nodes(self) -> tuple[int, ...]:
        """The number of each type's first node."""
        return _starts([each.count for each in self.nodes])

    @cached_property
    def first_features(self) -> tuple[int, ...]:
        """The column of each type's first feature."""
        return _starts([each.features for each in self.nodes])

    def node(self, name: str, index: int) -> int:
        """Return the number among all nodes of one of a type."""
        return self.first_nodes[self.names.index(name)] + index

    def feature(self, name: str, index: int) -> int:
        """Return the column among all features of one of a type's."""
        return self.first_features[self.names.index(name)] + index

    def local(self, node: int) -> tuple[str, int]:
        """Return the type of a node, and its number among those of its type."""
        return self._local(node, self.first_nodes, [each.count for each in self.nodes])

    def local_feature(self, column: int) -> tuple[str, int]:
        """Return the type that has a feature, and its number among those of the type."""
        return self._local(column, self.first_features, [each.features for each in self.nodes])

    def _local(self, number: int, first: Sequence[int], counts: Sequence[int]) -> tuple[str, int]:
        for name, start, count in zip(self.names, first, counts, strict=True):
            if start <= number < start + count:
                return name, number - start
        raise IndexError(number)

    def of_nodes(self, ids: Tensor) -> Tensor:
        """Return the type's number of each node (n,)."""
        starts = torch.tensor(self.first_nodes, device=ids.device)
        return torch.searchsorted(starts, ids, right=True) - 1

    @property
    def joined(self) -> tuple[int, ...]:
        """The numbers of the relations that are elements: those that lead back along no other."""
        return tuple(number for number, own in enumerate(self.back) if number == own)

    @cached_property
    def element_of(self) -> tuple[int, ...]:
        """For each relation the place of its element among those that are."""
        return tuple(self.joined.index(own) for own in self.back)

    def has_direction(self, number: int) -> bool:
        """Whether edges of a relation between nodes of one type have a direction.

        They have none where their ways back are edges of the same relation. Where nodes are of two
        types it is these that tell the ends of an edge apart.
        """
        source, _, target = self.relations[number]
        has_another_back = source == target and self.back.count(self.back[number]) > 1
        return self.one_way[number] or has_another_back

    def leads_back(self, number: int) -> bool:
        """Whether a relation between nodes of one type leads back along another one."""
        return self.has_direction(number) and self.back[number] != number

    def relation_of(self, number: int) -> Relation:
        """Return the relation that an element of relations, by its place, is called by."""
        return self.relations[self.joined[number]]


def _starts(counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(sum(counts[:place]) for place in range(len(counts)))
