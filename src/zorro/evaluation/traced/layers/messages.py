"""Layers whose messages are no linear function of the rows at an edge's ends."""

from __future__ import annotations

from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor
from torch.nn import functional

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.aggregation import aggregated, refuse_if_unknown
from zorro.evaluation.traced.layers.attention import by_head
from zorro.evaluation.traced.layers.registry import serves
from zorro.evaluation.traced.layers.row_wise import by_row, split_first_linear, unit_length
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import Projection, RowPlanner
from zorro.evaluation.traced.unserved import Unserved


@serves(gnn.EdgeConv, edges=True)
def _edge(layer: Any, rows: RowPlanner, edge_index: Tensor) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    first, rest = split_first_linear(layer.nn)
    projections = []
    if first is not None:
        # W [x_i, x_j − x_i] = (W_1 − W_2) x_i + W_2 x_j
        own, difference = first.weight.detach().t().chunk(2)
        bias = None if first.bias is None else first.bias.detach()
        projections = [Projection(own - difference, bias), Projection(difference)]

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        if first is None:
            own = edges.received(parts[0])
            messages = torch.cat([own, parts[0][edges.sender] - own], dim=-1)
        else:
            messages = edges.received(parts[0]) + parts[1][edges.sender]  # (e, B, h)
        return aggregated(layer.aggr_module, by_row(rest, messages), edges)

    return rows.attended(edge_index, projections, combine, flow=layer.flow, in_parts=True)


@serves(gnn.NNConv, edges=True)
def _nn(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_attr: Tensor | None = None,
    size: Any = None,
) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    weights = layer.nn(edge_attr).view(-1, layer.in_channels_l, layer.out_channels)  # (e, d, o)

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        (x,) = parts  # (m, B, d)
        messages = torch.bmm(x[edges.sender], weights[edges.ids])  # (e, B, o)
        out = aggregated(layer.aggr_module, messages, edges)
        if layer.root_weight:
            out = out + layer.lin(x[edges.own])
        return out if layer.bias is None else out + layer.bias

    return rows.attended(edge_index, [], combine, flow=layer.flow, in_parts=True)


@serves(gnn.GINEConv, edges=True)
def _gine(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_attr: Tensor | None = None,
    size: Any = None,
) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    by_edge = edge_attr if layer.lin is None or edge_attr is None else layer.lin(edge_attr)
    if by_edge is None:
        raise Unserved("GINEConv is called without edge_attr")

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        (x,) = parts  # (m, B, d)
        messages = (x[edges.sender] + by_edge[edges.ids].unsqueeze(1)).relu()  # (e, B, d)
        heard = aggregated(layer.aggr_module, messages, edges)
        return by_row(layer.nn, heard + (1 + layer.eps) * x[edges.own])

    return rows.attended(edge_index, [], combine, flow=layer.flow, in_parts=True)


@serves(gnn.GENConv, edges=True)
def _gen(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_attr: Tensor | None = None,
    size: Any = None,
) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    has_source, has_own = hasattr(layer, "lin_src"), hasattr(layer, "lin_dst")
    has_norm = hasattr(layer, "msg_norm")
    if has_source != has_own:
        raise Unserved("GENConv for bipartite graphs")
    by_edge = edge_attr
    if edge_attr is not None and hasattr(layer, "lin_edge"):
        by_edge = layer.lin_edge(edge_attr)  # (e, o)
    projections = []
    if has_source:
        projections = [Projection.of(layer.lin_src), Projection.of(layer.lin_dst)]
        if has_norm:  # of the rows that were given
            projections.append(Projection.unchanged(layer.in_channels, rows))

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        source, own, given = parts[0], parts[min(1, len(parts) - 1)], parts[-1]
        messages = source[edges.sender]  # (e, B, o)
        if by_edge is not None:
            messages = messages + by_edge[edges.ids].unsqueeze(1)
        out = aggregated(layer.aggr_module, messages.relu() + layer.eps, edges)
        if hasattr(layer, "lin_aggr_out"):
            out = layer.lin_aggr_out(out)
        if has_norm:
            out = layer.msg_norm(given[edges.own], out)
        return by_row(layer.mlp, out + own[edges.own])

    return rows.attended(edge_index, projections, combine, flow=layer.flow, in_parts=True)


@serves(gnn.CGConv, edges=True)
def _cg(layer: Any, rows: RowPlanner, edge_index: Tensor, edge_attr: Tensor | None = None) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    if not isinstance(layer.channels, int):
        raise Unserved("CGConv for bipartite graphs")
    projections, by_edge = [Projection.unchanged(layer.channels, rows)], []
    for lin in (layer.lin_f, layer.lin_s):
        own, sent = lin.weight.detach().t()[: 2 * layer.channels].chunk(2)  # each (d, d)
        projections += [Projection(own, lin.bias), Projection(sent)]
        by_edge.append(_of_edges(lin, edge_attr))

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        x, own_gate, sent_gate, own_core, sent_core = parts
        gate = edges.received(own_gate) + sent_gate[edges.sender]  # (e, B, d)
        core = edges.received(own_core) + sent_core[edges.sender]
        if by_edge[0] is not None and by_edge[1] is not None:
            gate = gate + by_edge[0][edges.ids].unsqueeze(1)
            core = core + by_edge[1][edges.ids].unsqueeze(1)
        out = aggregated(layer.aggr_module, gate.sigmoid() * functional.softplus(core), edges)
        out = out if layer.bn is None else by_row(layer.bn, out)
        return out + x[edges.own]

    return rows.attended(edge_index, projections, combine, flow=layer.flow, in_parts=True)


@serves(gnn.ResGatedGraphConv, edges=True)
def _res_gated(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_attr: Tensor | None = None
) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    lins = [layer.lin_key, layer.lin_query, layer.lin_value]
    width = lins[0].weight.size(1) - (layer.edge_dim or 0)
    projections = [Projection(lin.weight.detach().t()[:width], lin.bias) for lin in lins]
    by_edge = [_of_edges(lin, edge_attr) for lin in lins]
    if layer.root_weight:
        projections.append(Projection.of(layer.lin_skip))

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        at_ends = [edges.received(parts[0]), parts[1][edges.sender], parts[2][edges.sender]]
        key, query, value = (
            part if extra is None else part + extra[edges.ids].unsqueeze(1)
            for part, extra in zip(at_ends, by_edge, strict=True)
        )  # each (e, B, o)
        out = aggregated(layer.aggr_module, layer.act(key + query) * value, edges)
        if layer.root_weight:
            out = out + parts[3][edges.own]
        return out if layer.bias is None else out + layer.bias

    return rows.attended(edge_index, projections, combine, flow=layer.flow, in_parts=True)


@serves(gnn.GeneralConv)
def _general(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_attr: Tensor | None = None,
    size: Any = None,
) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    if layer.attention and layer.attention_type != "additive":
        raise Unserved("GeneralConv(attention_type='dot_product')")
    heads, is_linear = layer.heads, not isinstance(layer.lin_self, torch.nn.Identity)
    by_edge = None if edge_attr is None else layer.lin_edge(edge_attr)  # (e, H · C)
    root = (
        Projection.of(layer.lin_self)
        if is_linear
        else Projection.unchanged(layer.in_channels, rows)
    )
    projections = [root, Projection.of(layer.lin_msg)]
    if not layer.directed_msg:
        projections.append(Projection.of(layer.lin_msg_i))

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        messages = parts[1][edges.sender]  # (e, B, H · C)
        if not layer.directed_msg:
            messages = messages + edges.received(parts[2])
        if by_edge is not None:
            messages = messages + by_edge[edges.ids].unsqueeze(1)
        if layer.attention:
            heads_apart = by_head(messages, heads)  # (e, B, H, C)
            logits = functional.leaky_relu((heads_apart * layer.att_msg).sum(-1), 0.2)
            messages = (heads_apart * edges.softmax(logits).unsqueeze(-1)).flatten(-2)
        heard = aggregated(layer.aggr_module, messages, edges)
        out = by_head(heard, heads).mean(-2) + parts[0][edges.own]
        return unit_length(out) if layer.normalize_l2 else out

    return rows.attended(edge_index, projections, combine, flow=layer.flow, in_parts=True)


def _of_edges(lin: Any, edge_attr: Tensor | None) -> Tensor | None:
    """Return what a linear map of rows and edge attributes makes of the latter, (e, h)."""
    if edge_attr is None:
        return None
    weight: Tensor = lin.weight.detach().t()[-edge_attr.size(1) :]
    return edge_attr @ weight
