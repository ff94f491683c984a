"""Layers that take values of several types at once."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor, fx
from torch.nn import functional

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.attention import by_head
from zorro.evaluation.traced.layers.composition import Step, Value, composes
from zorro.evaluation.traced.layers.convolution import only_sums
from zorro.evaluation.traced.layers.of_two import mapped
from zorro.evaluation.traced.layers.relational import on_the_diagonal
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import Projection, RowPlanner
from zorro.evaluation.traced.typed import EdgesOf, Join
from zorro.evaluation.traced.unserved import Unserved

_TOGETHER: Mapping[str, Callable[[list[Value]], Value]] = {
    "sum": lambda outs: reduce(operator.add, outs),
    "mean": lambda outs: reduce(operator.add, outs) / len(outs),
    "max": lambda outs: reduce(torch.maximum, outs),
    "min": lambda outs: reduce(torch.minimum, outs),
    "cat": lambda outs: torch.cat(outs, dim=-1),
}


@composes(gnn.HeteroDictLinear)
def _dict_linear(layer: Any, x_dict: Mapping[str, Value]) -> dict[str, Value]:
    return {name: lin(x_dict[name]) for name, lin in layer.lins.items() if name in x_dict}


@composes(gnn.HeteroConv)
def _hetero_conv(layer: Any, *args: Mapping[Any, Any], **kwargs: Mapping[Any, Any]) -> Any:
    if layer.aggr not in _TOGETHER:
        raise Unserved(f"HeteroConv(aggr={layer.aggr!r})")
    outs: dict[str, list[Value]] = {}
    for relation, conv in layer.convs.items():
        given = [_of_relation(each, relation) for each in args]
        named = {
            name.removesuffix("_dict"): _of_relation(each, relation)
            for name, each in kwargs.items()
        }
        if not any(relation in each for each in (*args, *kwargs.values())):
            continue
        known = {name: value for name, value in named.items() if value is not None}
        out = conv(*[value for value in given if value is not None], **known)
        outs.setdefault(relation[2], []).append(out)
    return {name: _TOGETHER[layer.aggr](each) for name, each in outs.items()}


def _of_relation(values: Mapping[Any, Any], relation: tuple[str, str, str]) -> Any:
    """Return what an argument has for the edges of a relation, or for the types of their ends."""
    source, _, target = relation
    if relation in values:
        return values[relation]
    if source == target:
        return values.get(source)
    if source not in values and target not in values:
        return None
    return values.get(source), values.get(target)


@composes(gnn.HGTConv)
def _hgt(layer: Any, x_dict: Mapping[str, Value], edge_index_dict: Mapping[Any, Any]) -> Any:
    only_sums(layer)
    found: dict[str, Value] = {}
    for name, x in x_dict.items():
        if name not in layer.dst_node_types:
            continue
        relations = [relation for relation in edge_index_dict if relation[2] == name]
        if not relations:
            raise Unserved(f"HGTConv with no edges to {name!r}")
        heard = _Attending(layer, relations).heard(x_dict, edge_index_dict)
        out = layer.out_lin.lins[name](functional.gelu(heard))
        if layer.kqv_lin.lins[name].in_channels == layer.out_channels:
            out = layer.skip[name].sigmoid() * out + mapped(_skipping(layer, name), x)
        found[name] = out
    return found


def _skipping(layer: Any, name: str) -> Callable[[], Projection]:
    """Return the map of what a type's nodes keep of themselves."""

    def projection() -> Projection:
        skip = layer.skip[name].detach()
        every = torch.eye(layer.out_channels, device=skip.device, dtype=skip.dtype)
        return Projection(every * (1 - skip.sigmoid()))

    return projection


class _Attending:
    """What one type's nodes make of all that they hear, of whatever relation.

    Args:
        layer: PyG's.
        relations: that lead to the type.
    """

    def __init__(self, layer: Any, relations: list[tuple[str, str, str]]) -> None:
        self._layer = layer
        self._relations = relations
        self._width = layer.out_channels
        # Relations from the same type need columns of their own; those of several types do not.
        sources = [source for source, _, _ in relations]
        self._slots = [sources[:place].count(source) for place, source in enumerate(sources)]

    def heard(self, x_dict: Mapping[str, Value], edge_index_dict: Mapping[Any, Any]) -> Value:
        """Return it, (N, o): queries of receivers beside keys and values of senders."""
        given = [edge_index_dict[relation] for relation in self._relations]
        every = EdgesOf.joined([each.node.target for each in given])
        name = self._relations[0][2]
        values = [mapped(lambda: self._mapped_by(name)[1], x_dict[name])]
        types, first = [every.ends[0][1]], [0]
        for relation, slot, ends in zip(self._relations, self._slots, every.ends, strict=True):
            both = partial(self._key_and_value, relation)
            values.append(mapped(both, x_dict[relation[0]]))
            types.append(ends[0])
            first.append(self._width * (1 + 2 * slot))
        width = self._width * (3 + 2 * max(self._slots))
        joined = Join(tuple(types), tuple(first), width)(values)
        tracer = joined.tracer
        edge_index, edge_type = (fx.Proxy(each, tracer) for each in given[0].node.args)
        edges = tracer.create_proxy("call_function", every, (edge_index, edge_type), {})

        def plan(rows: RowPlanner, edge_index: Tensor, edge_type: Tensor) -> Plan:
            kinds = every.places(edge_type)
            return rows.attended(
                edge_index, [], self._combine(kinds), flow=self._layer.flow, in_parts=True
            )

        return Step("attending", plan, heeds_edges=True)(joined, edges, edge_type)

    def _key_and_value(self, relation: tuple[str, str, str]) -> Projection:
        layer = self._layer
        key, _, value = self._mapped_by(relation[0])
        number = layer.edge_types_map[relation]
        parts = []
        for one, of_relation in ((key, layer.k_rel), (value, layer.v_rel)):
            blocks = of_relation.weight[number :: len(layer.edge_types)]  # (H, D, D)
            within = on_the_diagonal(blocks)
            bias = None if one.bias is None else one.bias @ within
            parts.append(Projection(one.weight @ within, bias))
        weight = torch.cat([part.weight for part in parts], dim=1)
        biases = [part.bias for part in parts if part.bias is not None]
        return Projection(weight, torch.cat(biases) if biases else None)

    def _mapped_by(self, name: str) -> list[Projection]:
        """Return the maps to keys, queries and values of a type's nodes."""
        weight, bias = Projection.of(self._layer.kqv_lin.lins[name])
        biases = [None] * 3 if bias is None else list(bias.chunk(3))
        return [Projection(*both) for both in zip(weight.chunk(3, dim=1), biases, strict=True)]

    def _combine(self, kinds: Tensor) -> Callable[[list[Tensor], LocalEdges], Tensor]:
        """Return what attends, given the place of each edge's relation among all, (e,)."""
        heads, width = self._layer.heads, self._width
        shift = [self._layer.p_rel["__".join(relation)] for relation in self._relations]
        scale = torch.cat(shift).detach() / math.sqrt(width // heads)  # (R, H)
        slots = torch.tensor(self._slots, device=kinds.device)
        count = 1 + max(self._slots)

        def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
            query = by_head(parts[0][..., :width], heads)  # (m, B, H, D)
            rest = parts[0][..., width:]
            rest = rest.reshape(*rest.shape[:2], count, 2, heads, -1)
            kind = kinds[edges.ids]
            # A row has a key and a value in each slot: each slot is a row of its own.
            key, value = rest.permute(3, 0, 2, 1, 4, 5).flatten(1, 2)  # (m · slots, B, H, D)
            edges = replace(edges, sender=edges.sender * count + slots[kind])
            logits = (edges.received(query) * key[edges.sender]).sum(-1)  # (e, B, H)
            attention = edges.softmax(logits * scale[kind].unsqueeze(1))
            return edges.weighted_sum(attention, value).flatten(-2)

        return combine
