"""Models of several types in a trace: all their values have the rows of the packed graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx

from zorro.elements.types import Types
from zorro.evaluation.traced.feature_view import FeatureView
from zorro.evaluation.traced.unserved import Unserved
from zorro.model.hetero_model import HeteroModel, block
from zorro.model.packing import Columns


def columns_of(edge_type: Tensor, relation: int) -> Tensor:
    """Return which edges are of a relation, (e,)."""
    return (edge_type == relation).nonzero().flatten()


@dataclass(frozen=True)
class EdgesOf:
    """The edges of some relations, by the numbers of nodes of all types, one after the other.

    It stands in a trace as a function of all edges and their relations.

    Args:
        relations: their numbers.
        ends: the types that each leads from and to.
    """

    relations: tuple[int, ...]
    ends: tuple[tuple[int, int], ...]

    @classmethod
    def joined(cls, parts: Sequence[EdgesOf]) -> EdgesOf:
        """Return the edges of all of them."""
        return cls(
            tuple(each for part in parts for each in part.relations),
            tuple(ends for part in parts for ends in part.ends),
        )

    @property
    def __name__(self) -> str:
        return f"edges of relations {self.relations}"

    def __call__(self, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        """Return them, (2, e)."""
        return edge_index[:, self.columns(edge_type)]

    def columns(self, edge_type: Tensor) -> Tensor:
        """Return which columns of the edge index they are, (e,)."""
        return torch.cat([columns_of(edge_type, each) for each in self.relations])

    def places(self, edge_type: Tensor) -> Tensor:
        """Return of each of them the place of its relation among these, (e,)."""
        counts = [columns_of(edge_type, each).numel() for each in self.relations]
        each = torch.arange(len(counts), device=edge_type.device)
        return each.repeat_interleave(torch.tensor(counts, device=edge_type.device))


@dataclass(frozen=True)
class AttributesOf:
    """What a further argument has for the edges of a relation; a function in a trace, too.

    Args:
        relation: its number.
        at: where its values stand.
    """

    relation: int
    at: Columns

    @property
    def __name__(self) -> str:
        return f"attributes of relation {self.relation}"

    def __call__(self, packed: Tensor, edge_type: Tensor) -> Tensor:
        """Return them, (e, …)."""
        return block(packed, columns_of(edge_type, self.relation), self.at)


OF_RELATIONS = (EdgesOf, AttributesOf)


@dataclass(frozen=True)
class Join:
    """Values of several types as one, in which each row has what its type's value has there.

    Args:
        types: whose rows each of the values has.
        first: the first of its columns among those of all.
        width: of all.
    """

    types: tuple[int, ...]
    first: tuple[int, ...]
    width: int

    @property
    def __name__(self) -> str:
        return f"rows of types {self.types}"

    def __call__(self, values: Sequence[Any]) -> Any:
        """Take the step in the model that is being traced."""
        return values[0].tracer.create_proxy("call_function", self, tuple(values), {})

    def rows(self, wanted: Tensor, node_type: Tensor) -> list[Tensor]:
        """Return of each value the places among wanted rows (r,) that are its type's."""
        of_each = node_type[wanted]
        return [(of_each == number).nonzero().flatten() for number in self.types]

    def joined(self, parts: Sequence[tuple[int, Tensor, Tensor]], rows: int) -> Tensor:
        """Return the rows (r, B, w), given of some values their places (k,) and rows (k, B, c)."""
        some = parts[0][2]
        whole = some.new_zeros(rows, some.size(1), self.width)
        for number, places, values in parts:
            first = self.first[number]
            whole[places, :, first : first + values.size(2)] = values
        return whole


class _InTrace:
    """Unpacks what stands in a trace for a graph: rows and numbers of nodes stay as they are."""

    def __init__(
        self,
        x: fx.Proxy,
        edge_index: fx.Proxy,
        node_type: fx.Proxy,
        edge_type: fx.Proxy,
        types: Types,
    ) -> None:
        self._types = types
        self.node_type = node_type
        self.edge_index = edge_index
        self.edge_type = edge_type
        self._x = x

    def features(self, number: int, at: Columns) -> Any:
        return FeatureView.of([at])(self._x)

    def together(self, parts: Mapping[int, Columns]) -> Any:
        return FeatureView.of(list(parts.values()))(self._x)

    def edges(self, number: int) -> Any:
        source, _, target = self._types.relations[number]
        ends = self._types.names.index(source), self._types.names.index(target)
        return self._called(EdgesOf((number,), (ends,)), self.edge_index, self.edge_type)

    def of_nodes(self, packed: Any, number: int, at: Columns) -> Any:
        def picked(packed: Tensor) -> Tensor:
            return block(packed, torch.arange(packed.size(0), device=packed.device), at)

        return self._called(picked, packed)

    def of_edges(self, packed: Any, number: int, at: Columns) -> Any:
        return self._called(AttributesOf(number, at), packed, self.edge_type)

    def of_batch(self, batch: Any, number: int) -> Any:
        raise Unserved("it answers for graphs of several types")

    def ends(self, edge_label_index: Any) -> Any:
        return edge_label_index

    def count(self, number: int) -> int:
        raise Unserved("it asks how many nodes of a type there are")

    def placed(self, output: Any, number: int) -> Any:
        return output

    def _called(self, function: Any, *args: Any) -> Any:
        return self._x.tracer.create_proxy("call_function", function, args, {})


def called_in_trace(model: HeteroModel, x: Any, edge_index: Any, **arguments: Any) -> Any:
    """Call a model of several types with what stands for its arguments in a trace."""
    node_type, edge_type = arguments.pop("node_type"), arguments.pop("edge_type")
    graph = _InTrace(x, edge_index, node_type, edge_type, model.packing.types)
    return model.called(graph, arguments)


def ends_of(edge_index: Any) -> tuple[int, int]:
    """Return the types of the two ends of what stands for edges of one relation."""
    target = edge_index.node.target if isinstance(edge_index, fx.Proxy) else None
    if not isinstance(target, EdgesOf) or len(target.ends) != 1:
        raise Unserved("a layer of two types is called with edges of no relation")
    return target.ends[0]
