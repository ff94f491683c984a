"""Layers that aggregate their neighbours' rows as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import torch_geometric.nn as gnn
from torch import Tensor

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.aggregation import (
    aggregated,
    is_column_by_column,
    refuse_if_unknown,
)
from zorro.evaluation.traced.layers.convolution import aggregates_linearly, aggregation_matrix
from zorro.evaluation.traced.layers.registry import serves
from zorro.evaluation.traced.layers.row_wise import by_row, split_first_linear, unit_length
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import Projection, RowPlanner


@serves(gnn.SAGEConv)
def _sage(layer: Any, rows: RowPlanner, edge_index: Tensor, size: Any = None) -> Plan:
    after = unit_length if layer.normalize else None
    if layer.project:
        return _projected_sage(layer, rows, edge_index)
    if aggregates_linearly(layer):
        terms = [(aggregation_matrix(layer, rows, edge_index, None), layer.lin_l.weight.t())]
        if layer.root_weight:
            terms.append((rows.identity(), layer.lin_r.weight.t()))
        return rows.mixed(terms, bias=layer.lin_l.bias, after=after)

    def finish(own: Tensor, heard: Tensor) -> Tensor:
        out = layer.lin_l(heard)
        out = out + layer.lin_r(own) if layer.root_weight else out
        return unit_length(out) if layer.normalize else out

    root = layer.lin_r.weight.t() if layer.root_weight else None
    split = _Split(Projection.of(layer.lin_l), root, after)
    return _aggregating(layer, rows, edge_index, None, finish, split)


def _projected_sage(layer: Any, rows: RowPlanner, edge_index: Tensor) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    roots = [layer.lin_r] if layer.root_weight else []

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        messages = parts[0][edges.sender].relu()  # (e, B, d)
        out: Tensor = layer.lin_l(aggregated(layer.aggr_module, messages, edges))
        if layer.root_weight:
            out = out + parts[1][edges.own]
        return unit_length(out) if layer.normalize else out

    return rows.attended(
        edge_index,
        [Projection.of(lin) for lin in (layer.lin, *roots)],
        combine,
        flow=layer.flow,
        in_parts=True,
    )


@serves(gnn.GraphConv)
def _graph(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    size: Any = None,
) -> Plan:
    if aggregates_linearly(layer):
        terms = [
            (aggregation_matrix(layer, rows, edge_index, edge_weight), layer.lin_rel.weight.t()),
            (rows.identity(), layer.lin_root.weight.t()),
        ]
        return rows.mixed(terms, bias=layer.lin_rel.bias)
    return _aggregating(
        layer,
        rows,
        edge_index,
        edge_weight,
        lambda own, heard: layer.lin_rel(heard) + layer.lin_root(own),
        _Split(Projection.of(layer.lin_rel), layer.lin_root.weight.t()),
    )


@serves(gnn.GINConv)
def _gin(layer: Any, rows: RowPlanner, edge_index: Tensor, size: Any = None) -> Plan:
    scale = 1 + float(layer.eps)
    first, rest = split_first_linear(layer.nn)
    if not aggregates_linearly(layer):
        split = None
        if first is not None:
            projection = Projection.of(first)
            split = _Split(projection, scale * projection.weight, rest)
        return _aggregating(
            layer,
            rows,
            edge_index,
            None,
            lambda own, heard: by_row(layer.nn, heard + scale * own),
            split,
        )
    mixed = aggregation_matrix(layer, rows, edge_index, None) + scale * rows.identity()
    if first is None:
        return rows.mixed([(mixed, None)], after=rest)
    return rows.mixed([(mixed, first.weight.t())], bias=first.bias, after=rest)


class _Split(NamedTuple):
    """A layer's first linear map of what rows hear and of themselves, and what follows it."""

    heard: Projection  # (d', h)
    own: Tensor | None  # (d, h)
    after: Callable[[Tensor], Tensor] | None = None


def _aggregating(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    finish: Callable[[Tensor, Tensor], Tensor],
    split: _Split | None,
) -> Plan:
    """Plan a layer that aggregates rows, weighted ones if edges have weights, in any way.

    Args:
        layer: the layer.
        rows: those that are wanted.
        edge_index: (2, e).
        edge_weight: (e,).
        finish: maps rows (r, B, d) and what they hear (r, B, d') to the output (r, B, o).
        split: how it does so, if it begins with a linear map.
    """
    refuse_if_unknown(layer.aggr_module, rows)

    def aggregate(messages: Tensor, edges: LocalEdges) -> Tensor:
        return aggregated(layer.aggr_module, messages, edges)

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        (x,) = parts  # (m, B, d)
        messages = x[edges.sender]  # (e, B, d)
        if edge_weight is not None:
            messages = messages * edge_weight.view(-1, 1, 1)[edges.ids]
        return finish(x[edges.own], aggregate(messages, edges))

    plan = rows.attended(edge_index, [], combine, flow=layer.flow, in_parts=True)
    if split is None or not is_column_by_column(layer.aggr_module):
        return plan
    return replace(
        plan,
        on_features=lambda: rows.heard(
            edge_index,
            edge_weight,
            aggregate,
            split.heard,
            own=split.own,
            flow=layer.flow,
            after=split.after,
        ),
    )
