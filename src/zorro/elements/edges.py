"""Which columns of an edge index are one element: the two directions of an undirected edge."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
import torch
from torch import Tensor

from zorro.arguments import whole_number
from zorro.elements.types import Types
from zorro.errors import InputError

# An edge as users see it: its two nodes, and of several between the same nodes its number, 0, 1, ….
EdgeLabel = tuple[int, ...]
# What elements are called: a node's number, a feature's column, or an edge.
Member = int | EdgeLabel


@dataclass(frozen=True, eq=False)
class TypedEdges:
    """Which columns of an edge index are of which relation.

    Args:
        relation: (e,) the relation, the same for both directions of an edge.
        leads: (e,) bool, whether a column's nodes stand in the order in which its edge is named,
            whatever their numbers are.
        leads_back: (e,) bool, whether they stand in the other order.
        count: of relations.
    """

    relation: Tensor
    leads: Tensor
    leads_back: Tensor
    count: int

    @classmethod
    def of(cls, numbers: Tensor, types: Types) -> TypedEdges:
        """Return which relation, as an element, each column is of, by the numbers (e,) of all."""
        relations = range(len(types.relations))
        leads_back = [types.leads_back(each) for each in relations]
        leads = [types.has_direction(each) and not leads_back[each] for each in relations]

        def of_columns(by_relation: Sequence[int]) -> Tensor:
            return torch.tensor(by_relation, device=numbers.device)[numbers]

        return cls(
            of_columns(types.element_of).long(),
            of_columns(leads).bool(),
            of_columns(leads_back).bool(),
            len(types.joined),
        )


@dataclass(frozen=True, eq=False)
class EdgeElements:
    """The edges of a graph, or of a part of it, as elements.

    In an undirected graph the columns (u, v) and (v, u) are one element, of which a part of the
    graph may hold one column only. Several edges between the same nodes are elements of their own;
    those directions belong together whose attributes are equal, as far as there are such. An edge
    from a node to itself is an element like others. Where there are several relations, an edge and
    one of another relation are never the same, and the two directions are those that the relations
    say belong together.

    Args:
        of_column: (e,) each column's element.
        ends: (m, 2) the nodes of each element by their ids; of undirected ones the smaller first,
            of those that a relation leads along and another one back in the order of the first.
        number: (m,) which of several between the same nodes it is; with several relations, the
            relation plus as many times their count.
        nodes: how many the whole graph has.
        directed: whether each column is an element of its own.
        is_turned: (e,) which columns lead from the second node to the first.
        relations: how many there are.
    """

    of_column: Tensor
    ends: Tensor
    number: Tensor
    nodes: int
    directed: bool
    is_turned: Tensor
    relations: int = 1

    @classmethod
    def of(
        cls,
        edge_index: Tensor,
        attributes: Mapping[str, Tensor],
        *,
        nodes: int,
        directed: bool,
        typed: TypedEdges | None = None,
    ) -> EdgeElements:
        """Return the elements that columns (2, e) make up.

        Args:
            edge_index: ids in the whole graph.
            attributes: of the edges, each (e, …).
            nodes: how many the whole graph has.
            directed: whether each column is an element of its own.
            typed: which column is of which relation, where there are several.
        """
        sender, receiver = edge_index.cpu().numpy()
        leads, leads_back = np.full(sender.size, directed), np.full(sender.size, False)
        relation, relations = np.zeros(sender.size, dtype=np.int64), 1
        if typed is not None:
            leads, leads_back = typed.leads.cpu().numpy(), typed.leads_back.cpu().numpy()
            relation, relations = typed.relation.cpu().numpy(), typed.count
        turned_columns = leads_back | (~leads & (sender > receiver))
        low = np.where(turned_columns, receiver, sender)
        high = np.where(turned_columns, sender, receiver)
        # The last key counts first: nodes, direction, then attributes, then the place itself.
        place = np.arange(sender.size)
        order = np.lexsort([place, *_columns(attributes), turned_columns, relation, high, low])
        low, high, turned = low[order], high[order], turned_columns[order]
        relation = relation[order]
        begins = _differs(low) | _differs(high) | _differs(turned) | _differs(relation)
        group = np.maximum.accumulate(np.where(begins, np.arange(low.size), 0))
        number = np.arange(low.size) - group  # within its nodes, relation and direction
        number = number * relations + relation
        distinct, element = np.unique(
            np.stack([low, high, number]), axis=1, return_inverse=True
        )  # (3, m), (e,)
        of_column = np.empty(sender.size, dtype=np.int64)
        of_column[order] = element.reshape(-1)
        device = edge_index.device
        table = torch.as_tensor(distinct, device=device)
        return cls(
            of_column=torch.as_tensor(of_column, device=device),
            ends=table[:2].t(),
            number=table[2],
            nodes=nodes,
            directed=directed,
            is_turned=torch.as_tensor(turned_columns, device=device),
            relations=relations,
        )

    @property
    def count(self) -> int:
        """How many elements there are."""
        return self.number.numel()

    @property
    def addresses(self) -> Tensor:
        """Numbers (m,) by which the elements are known, whatever part of the graph they are in."""
        return (self.number * self.nodes + self.ends[:, 0]) * self.nodes + self.ends[:, 1]

    @cached_property
    def labels(self) -> list[EdgeLabel]:
        """What users call the elements: (u, v), or (u, v, k) where there are several."""
        pairs = [tuple(pair) for pair in self.ends.tolist()]
        several = {
            pair
            for pair, number in zip(pairs, self.number.tolist(), strict=True)
            if number or self.relations > 1
        }
        return [
            (*pair, number) if pair in several else pair
            for pair, number in zip(pairs, self.number.tolist(), strict=True)
        ]

    def chosen(
        self,
        name: str,
        edges: Iterable[Any],
        *,
        elsewhere: Callable[[int, int], int] = lambda sender, receiver: 0,
    ) -> Tensor:
        """Return which elements (m,) a user means by pairs (u, v), or (u, v, k) for one of several.

        Args:
            name: of the argument.
            edges: in either direction where the graph is undirected.
            elsewhere: how many edges of the whole graph lead from a node to another. Those that
                are not among the elements make no difference.
        """
        wanted = set()
        for number, edge in enumerate(_pairs(name, edges)):
            u, v = (whole_number(f"{name}[{number}]", end, self.nodes) for end in edge[:2])
            label = (u, v, *edge[2:])
            if not self.directed and u > v and label not in self._known:
                u, v = v, u
                label = (u, v, *edge[2:])
            if label not in self._known:
                there = elsewhere(u, v) if self.directed else max(elsewhere(u, v), elsewhere(v, u))
                if label[2:] not in {(), *((k,) for k in range(there))} or there == 0:
                    raise InputError(
                        f"{name}[{number}]: expected an edge that carries messages, got {edge}"
                    )
            wanted.add(label)
        mask = [label in wanted or label[:2] in wanted for label in self.labels]
        return torch.tensor(mask, dtype=torch.bool, device=self.ends.device)

    def places_in(self, other: EdgeElements) -> Tensor:
        """Return where each element (m,) stands in another part of the graph, −1 if nowhere."""
        if other.count == 0:
            return torch.full_like(self.number, -1)
        order = other.addresses.argsort()
        ascending = other.addresses[order]
        at = torch.searchsorted(ascending, self.addresses).clamp(max=other.count - 1)
        return torch.where(ascending[at] == self.addresses, order[at], -1)

    @cached_property
    def _known(self) -> set[EdgeLabel]:
        return {*self.labels, *(label[:2] for label in self.labels)}


def named(member: Member) -> str:
    """Return what an element is called, as a text.

    >>> named(7), named((3, 7)), named((3, 7, 1))
    ('7', '3–7', '3–7 (1)')
    """
    if not isinstance(member, tuple):
        return str(member)
    u, v, *number = member
    return f"{u}–{v}" + "".join(f" ({k})" for k in number)


def is_directed(edge_index: Tensor, nodes: int) -> bool:
    """Whether an edge (2, E) lacks its reverse.

    >>> is_directed(torch.tensor([[0, 1], [1, 0]]), 2), is_directed(torch.tensor([[0], [1]]), 2)
    (False, True)
    """
    forth = (edge_index[0] * nodes + edge_index[1]).sort().values
    back = (edge_index[1] * nodes + edge_index[0]).sort().values
    return not torch.equal(forth, back)


def edge_columns(
    edges: Sequence[EdgeLabel],
    edge_index: Tensor,
    *,
    nodes: int,
    directed: bool,
    attributes: Mapping[str, Tensor] | None = None,
) -> Tensor:
    """Return which columns (E,) of an edge index (2, E) some edges are, in both directions.

    Args:
        edges: (u, v), or (u, v, k) for one of several between the same nodes.
        edge_index: of the whole graph.
        nodes: how many it has.
        directed: whether each column is an edge of its own.
        attributes: of the edges, each (E, …), by which directions of several belong together.
    """
    elements = EdgeElements.of(edge_index, attributes or {}, nodes=nodes, directed=directed)
    return elements.chosen("edges", edges)[elements.of_column]


def _pairs(name: str, edges: Iterable[Any]) -> list[tuple[SupportsIndex, ...]]:
    expected = f"{name}: expected pairs of nodes (u, v)"
    if isinstance(edges, Tensor):
        edges = edges.tolist()
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InputError(f"{expected}, got {edges!r:.60}")
    found = []
    for edge in edges:
        if isinstance(edge, Tensor):
            edge = edge.tolist()
        pair = tuple(edge) if isinstance(edge, Iterable) and not isinstance(edge, str) else ()
        if len(pair) not in (2, 3):
            raise InputError(f"{expected}, got {edge!r:.60}")
        found.append(pair)
    return found


def _columns(attributes: Mapping[str, Tensor]) -> list[Any]:
    """Return all numbers of attributes, column by column, each (e,)."""
    every = [attributes[name].detach().cpu().double() for name in sorted(attributes)]
    return [
        column
        for value in every
        for column in value.reshape(len(value), math.prod(value.shape[1:])).t().numpy()
    ]


def _differs(values: Any) -> Any:
    """Return where ordered values (e,) are others than the one before."""
    differs = np.ones(values.size, dtype=bool)
    differs[1:] = values[1:] != values[:-1]
    return differs
