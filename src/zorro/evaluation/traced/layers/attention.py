"""Layers that weigh messages by attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor
from torch.nn import functional
from torch_geometric.utils import add_self_loops, remove_self_loops

from zorro.evaluation.traced.attention import ChangedAttention
from zorro.evaluation.traced.change import Change, ChangedRows
from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.convolution import only_sums
from zorro.evaluation.traced.layers.registry import serves
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import Projection, RowPlanner
from zorro.evaluation.traced.unserved import Unserved

# Maps projected rows, each (m, B, h_i), and the edges into the wanted ones to the output (r, B, o).
Attention = Callable[[list[Tensor], LocalEdges], Tensor]


@serves(gnn.GATConv, edges=True)
def _gat(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_attr: Tensor | None = None,
    size: Any = None,
    return_attention_weights: Any = None,
) -> Plan:
    if layer.lin is None or return_attention_weights is not None:
        raise Unserved("GATConv for bipartite graphs or with returned attention")
    edge_index, edge_attr, origin = _with_self_loops(layer, rows, edge_index, edge_attr)
    heads, width = layer.heads, layer.out_channels
    shift = _shift(layer, edge_attr)

    # Both halves of the attention at once: x (…, H · C) times this is (…, 2 H).
    own_head = torch.eye(heads, device=rows.device, dtype=rows.dtype).repeat_interleave(width, 0)
    attend = torch.cat(
        [own_head * att.reshape(-1, 1) for att in (layer.att_src, layer.att_dst)], dim=1
    )

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        x = by_head(parts[0], heads)  # (m, B, H, C)
        sent, received = (parts[0] @ attend).chunk(2, dim=-1)  # each (m, B, H)
        logits = sent[edges.sender] + edges.received(received)  # (e, B, H)
        if shift is not None:
            logits = logits + shift[edges.ids].unsqueeze(1)
        attention = edges.softmax(functional.leaky_relu(logits, layer.negative_slope))
        return _joined(layer, edges.weighted_sum(attention, x), parts, edges)

    combine_change = ChangedAttention(
        heads,
        width,
        attend,
        layer.negative_slope,
        shift,
        lambda sums, residual: _with_the_rest(layer, sums, residual),
    )
    return _attention(layer, rows, edge_index, [layer.lin], combine, combine_change, origin)


@serves(gnn.GATv2Conv, edges=True)
def _gatv2(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_attr: Tensor | None = None,
    return_attention_weights: Any = None,
) -> Plan:
    if return_attention_weights is not None:
        raise Unserved("GATv2Conv with returned attention")
    edge_index, edge_attr, origin = _with_self_loops(layer, rows, edge_index, edge_attr)
    combine = gatv2_attention(layer, edge_attr)
    projections = [layer.lin_l, layer.lin_r]
    return _attention(layer, rows, edge_index, projections, combine, origin=origin)


def gat_attention(layer: Any, edge_attr: Tensor | None) -> Attention:
    """Return what GAT does to senders and receivers that were mapped each in their own way."""
    shift = _shift(layer, edge_attr)

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        x, other = (by_head(part, layer.heads) for part in parts[:2])  # (m, B, H, C)
        sent, received = (x * layer.att_src).sum(-1), (other * layer.att_dst).sum(-1)
        logits = sent[edges.sender] + edges.received(received)  # (e, B, H)
        if shift is not None:
            logits = logits + shift[edges.ids].unsqueeze(1)
        attention = edges.softmax(functional.leaky_relu(logits, layer.negative_slope))
        return _joined(layer, edges.weighted_sum(attention, x), parts, edges)

    return combine


def gatv2_attention(layer: Any, edge_attr: Tensor | None) -> Attention:
    """Return what GATv2 does to senders and receivers that were mapped each in their own way."""
    by_edge = _projected_edges(layer, edge_attr)

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        x = by_head(parts[0], layer.heads)  # (m, B, H, C)
        received = edges.received(by_head(parts[1], layer.heads))
        both = x[edges.sender] + received  # (e, B, H, C)
        if by_edge is not None:
            both = both + by_edge[edges.ids].unsqueeze(1)
        both = functional.leaky_relu(both, layer.negative_slope)
        attention = edges.softmax((both * layer.att).sum(-1))  # (e, B, H)
        return _joined(layer, edges.weighted_sum(attention, x), parts, edges)

    return combine


@serves(gnn.TransformerConv, edges=True)
def _transformer(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_attr: Tensor | None = None,
    return_attention_weights: Any = None,
) -> Plan:
    if return_attention_weights is not None:
        raise Unserved("TransformerConv with returned attention")
    heads, width = layer.heads, layer.out_channels
    by_edge = _projected_edges(layer, edge_attr)
    projections = [layer.lin_query, layer.lin_key, layer.lin_value]
    if layer.root_weight:
        projections.append(layer.lin_skip)

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        query, key, value = (by_head(part, heads) for part in parts[:3])
        keys = key[edges.sender]  # (e, B, H, C)
        if by_edge is not None:
            keys = keys + by_edge[edges.ids].unsqueeze(1)
        asked = edges.received(query)
        attention = edges.softmax((asked * keys).sum(-1) / math.sqrt(width))
        out = edges.weighted_sum(attention, value)  # (r, B, H, C)
        if by_edge is not None:
            out = out + edges.summed(attention.unsqueeze(-1) * by_edge[edges.ids].unsqueeze(1))
        out = out.flatten(-2) if layer.concat else out.mean(-2)
        if not layer.root_weight:
            return out
        skip = parts[3][edges.own]
        if layer.lin_beta is None:
            return out + skip
        beta: Tensor = layer.lin_beta(torch.cat([out, skip, out - skip], dim=-1)).sigmoid()
        return beta * skip + (1 - beta) * out

    return _attention(layer, rows, edge_index, projections, combine)


@serves(gnn.SuperGATConv, edges=True)
def _super_gat(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    neg_edge_index: Tensor | None = None,
    batch: Tensor | None = None,
) -> Plan:
    edge_index, _, origin = _with_self_loops(layer, rows, edge_index, None)
    heads, width = layer.heads, layer.out_channels

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        x = by_head(parts[0], heads)  # (m, B, H, C)
        likeness = (x[edges.sender] * edges.received(x)).sum(-1)  # (e, B, H)
        if layer.attention_type == "SD":
            logits = likeness / math.sqrt(width)
        else:
            sent, received = (x * layer.att_l).sum(-1), (x * layer.att_r).sum(-1)  # (m, B, H)
            logits = (sent[edges.sender] + edges.received(received)) * likeness.sigmoid()
        attention = edges.softmax(functional.leaky_relu(logits, layer.negative_slope))
        return _joined(layer, edges.weighted_sum(attention, x), parts, edges)

    return _attention(layer, rows, edge_index, [layer.lin], combine, origin=origin)


def _with_self_loops(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_attr: Tensor | None
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Return edges and attributes as the layer completes them, and which column each edge is."""
    if not layer.add_self_loops:
        return edge_index, edge_attr, None
    fill = getattr(layer, "fill_value", None)
    if rows.edges_vary and edge_attr is not None and isinstance(fill, str):
        raise Unserved(f"{type(layer).__name__} gives loops the {fill} of edges that come and go")
    others = (edge_index[0] != edge_index[1]).nonzero().flatten()
    edge_index, edge_attr = remove_self_loops(edge_index, edge_attr)
    edge_index, edge_attr = add_self_loops(
        edge_index, edge_attr, fill_value=fill, num_nodes=rows.nodes
    )
    loops = others.new_full((edge_index.size(1) - others.numel(),), -1)
    return edge_index, edge_attr, torch.cat([others, loops])


def _projected_edges(layer: Any, edge_attr: Tensor | None) -> Tensor | None:
    """Return the layer's projection of edge attributes (e, H, C), where it has both."""
    if layer.lin_edge is None or edge_attr is None:
        return None
    projected: Tensor = layer.lin_edge(edge_attr.view(edge_attr.size(0), -1))
    return projected.view(-1, layer.heads, layer.out_channels)


def _shift(layer: Any, edge_attr: Tensor | None) -> Tensor | None:
    """Return what edge attributes add to GAT's logits (e, H), where the layer has both."""
    by_edge = _projected_edges(layer, edge_attr)
    return None if by_edge is None else (by_edge * layer.att_edge).sum(-1)


def _attention(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    projections: list[Any],
    combine: Callable[[list[Tensor], LocalEdges], Tensor],
    combine_change: Callable[[Change, LocalEdges], ChangedRows] | None = None,
    origin: Tensor | None = None,
) -> Plan:
    """Plan an attention layer from its projections, and its residual one where it has one."""
    only_sums(layer)
    if getattr(layer, "res", None) is not None:
        projections = [*projections, layer.res]
    return rows.attended(
        edge_index,
        [Projection.of(lin) for lin in projections],
        combine,
        flow=layer.flow,
        combine_change=combine_change,
        origin=origin,
    )


def by_head(values: Tensor, heads: int) -> Tensor:
    """View (m, B, H · C) as (m, B, H, C)."""
    return values.reshape(*values.shape[:-1], heads, -1)


def _joined(layer: Any, out: Tensor, parts: list[Tensor], edges: LocalEdges) -> Tensor:
    """Join the heads of (r, B, H, C), and add what the layer adds."""
    return _with_the_rest(layer, out, parts[-1][edges.own])


def _with_the_rest(layer: Any, out: Tensor, residual: Tensor) -> Tensor:
    """Join the heads of (…, H, C), and add the residual, where the layer has one, and the bias."""
    out = out.flatten(-2) if layer.concat else out.mean(-2)
    if getattr(layer, "res", None) is not None:
        out = out + residual
    return out if layer.bias is None else out + layer.bias
