"""Layers between nodes of two types, which map senders and receivers each in their own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.attention import Attention, gat_attention, gatv2_attention
from zorro.evaluation.traced.layers.composition import Pair, Step, Value, composes
from zorro.evaluation.traced.layers.convolution import aggregates_linearly, aggregation_matrix
from zorro.evaluation.traced.layers.row_wise import unit_length
from zorro.evaluation.traced.layers.varying import shares, weighted
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import Projection, RowPlanner
from zorro.evaluation.traced.typed import Join
from zorro.evaluation.traced.unserved import Unserved


@composes(gnn.SAGEConv, of_two=True)
def _sage(layer: Any, x: Pair, edge_index: Any, size: Any = None) -> Value:
    if layer.project:
        raise Unserved("SAGEConv(project=True) between nodes of two types")
    out = _heard(layer, layer.lin_l, x.sender, edge_index, None)
    if layer.root_weight and x.receiver is not None:
        out = out + mapped(lambda: Projection.of(layer.lin_r), x.receiver)
    return _row_wise(unit_length, out) if layer.normalize else out


@composes(gnn.GraphConv, of_two=True)
def _graph(
    layer: Any, x: Pair, edge_index: Any, edge_weight: Any = None, size: Any = None
) -> Value:
    out = _heard(layer, layer.lin_rel, x.sender, edge_index, edge_weight)
    if x.receiver is None:
        return out
    return out + mapped(lambda: Projection.of(layer.lin_root), x.receiver)


@composes(gnn.GATConv, of_two=True)
def _gat(
    layer: Any,
    x: Pair,
    edge_index: Any,
    edge_attr: Any = None,
    size: Any = None,
    return_attention_weights: Any = None,
) -> Value:
    lins = (layer.lin_src, layer.lin_dst) if layer.lin is None else (layer.lin, layer.lin)
    return _attended(layer, x, lins, edge_index, edge_attr, gat_attention, return_attention_weights)


@composes(gnn.GATv2Conv, of_two=True)
def _gatv2(
    layer: Any,
    x: Pair,
    edge_index: Any,
    edge_attr: Any = None,
    return_attention_weights: Any = None,
) -> Value:
    lins = (layer.lin_l, layer.lin_r)
    attention = gatv2_attention
    return _attended(layer, x, lins, edge_index, edge_attr, attention, return_attention_weights)


def mapped(projection: Callable[[], Projection], x: Value) -> Value:
    """Map each row linearly, as is asked for once the model has been traced.

    Until then parameters are no numbers.
    """

    def plan(rows: RowPlanner) -> Plan:
        weight, bias = projection()
        return rows.mixed([(rows.identity(), weight)], bias=bias)

    return Step("mapped", plan)(x)


def _row_wise(function: Callable[[Tensor], Tensor], x: Value) -> Value:
    return x.tracer.create_proxy("call_function", function, (x,), {})


def _heard(layer: Any, lin: Any, x: Value, edge_index: Any, edge_weight: Any) -> Value:
    """Return what receivers hear of senders, added up or averaged, and mapped linearly."""
    if not aggregates_linearly(layer):
        raise Unserved(f"{type(layer).__name__}(aggr={layer.aggr!r}) between nodes of two types")

    def plan(rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None) -> Plan:
        weight, bias = Projection.of(lin)
        if not rows.edges_vary:
            matrix = aggregation_matrix(layer, rows, edge_index, edge_weight)
            return rows.mixed([(matrix, weight)], bias=bias)

        def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
            out = weighted(parts[0], shares(layer, edge_weight, edges), edges)
            return out if bias is None else out + bias

        unbiased = [Projection(weight)]
        return rows.attended(edge_index, unbiased, combine, flow=layer.flow, senders_only=True)

    return Step("heard", plan, heeds_edges=True)(x, edge_index, edge_weight)


def _attended(
    layer: Any,
    x: Pair,
    lins: Sequence[Any],
    edge_index: Any,
    edge_attr: Any,
    attention: Callable[[Any, Tensor | None], Attention],
    returned: Any,
) -> Value:
    """Return what attention makes of senders and receivers that are mapped each in their way."""
    name = type(layer).__name__
    if returned is not None or x.receiver is None:
        raise Unserved(f"{name} without receivers or with returned attention")
    if layer.add_self_loops:
        raise Unserved(f"{name} with self-loops between nodes of two types")
    wide = [layer.heads * layer.out_channels] * 2
    values = [
        mapped(lambda: Projection.of(lins[0]), x.sender),
        mapped(lambda: Projection.of(lins[1]), x.receiver),
    ]
    types = list(x.types)
    if layer.res is not None:
        values.append(mapped(lambda: Projection.of(layer.res), x.receiver))
        types.append(x.types[1])
        wide.append(layer.res.out_channels)
    first = [sum(wide[:place]) for place in range(len(wide))]

    def plan(rows: RowPlanner, edge_index: Tensor, edge_attr: Tensor | None) -> Plan:
        combine = attention(layer, edge_attr)

        def of_parts(parts: list[Tensor], edges: LocalEdges) -> Tensor:
            return combine(list(torch.split(parts[0], wide, dim=-1)), edges)

        return rows.attended(edge_index, [], of_parts, flow=layer.flow)

    joined = Join(tuple(types), tuple(first), sum(wide))(values)
    return Step("attended", plan, heeds_edges=True)(joined, edge_index, edge_attr)
