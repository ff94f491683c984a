"""The layers that the traced evaluator knows, one small function each.

To add a layer, write a function that takes the layer, the rows that are wanted and the arguments
the model calls the layer with after `x` (edge_index and what follows), and returns a `Plan`; and
name the layer's class in `@serves`. `Rows.mixed` plans layers of the form Σ_k A_k X W_k + b (any
fixed aggregation), `Rows.attended` those whose messages are weighed by what they say. Raise
`Unserved` for an option that the function does not cover. A wrong plan cannot give a wrong answer:
each query is compared with the model itself before it is used.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_self_loops, remove_self_loops

from zorro.fidelity.traced.attention import ChangedAttention
from zorro.fidelity.traced.change import Change, ChangedRows
from zorro.fidelity.traced.plan import Edges, Plan, Rows

LayerFunction = Callable[..., Plan]
LAYERS: dict[type[nn.Module], LayerFunction] = {}


class Unserved(Exception):  # noqa: N818 - not an error of the caller's: the other evaluator serves
    """The traced evaluator cannot serve this model; the message says why."""


def serves(layer: type[nn.Module]) -> Callable[[LayerFunction], LayerFunction]:
    """Register a function for a layer type."""

    def register(function: LayerFunction) -> LayerFunction:
        LAYERS[layer] = function
        return function

    return register


def plan_of(layer: nn.Module, rows: Rows, *args: Any, **kwargs: Any) -> Plan:
    """Return the plan of a layer called with (x, *args, **kwargs)."""
    function = LAYERS.get(type(layer))
    if function is None:
        raise Unserved(f"{type(layer).__name__} is not among the layers it knows")
    try:
        return function(layer, rows, *args, **kwargs)
    except TypeError as error:
        raise Unserved(
            f"{type(layer).__name__} is called in a way it does not know: {error}"
        ) from error


def linear(layer: Any, rows: Rows) -> Plan:
    """Plan a linear map of each row."""
    return rows.mixed([(rows.identity(), layer.weight.t())], bias=layer.bias)


@serves(gnn.GCNConv)
def _gcn(layer: Any, rows: Rows, edge_index: Tensor, edge_weight: Tensor | None = None) -> Plan:
    matrix = _normalised(layer, rows, edge_index, edge_weight, if_asked=True)
    return rows.mixed([(rows.of(matrix), layer.lin.weight.t())], bias=layer.bias)


@serves(gnn.SGConv)
def _sg(layer: Any, rows: Rows, edge_index: Tensor, edge_weight: Tensor | None = None) -> Plan:
    matrix = _normalised(layer, rows, edge_index, edge_weight)
    mixed = rows.identity()
    for _ in range(layer.K):
        mixed = mixed @ matrix
    return rows.mixed([(mixed, layer.lin.weight.t())], bias=layer.lin.bias)


@serves(gnn.TAGConv)
def _tag(layer: Any, rows: Rows, edge_index: Tensor, edge_weight: Tensor | None = None) -> Plan:
    if layer.normalize:
        edge_index, edge_weight = gcn_norm(
            edge_index, edge_weight, rows.nodes, False, False, layer.flow, rows.dtype
        )
    matrix = rows.matrix(edge_index, edge_weight, flow=layer.flow)
    terms = [(rows.identity(), layer.lins[0].weight.t())]
    for lin in layer.lins[1:]:
        terms.append((terms[-1][0] @ matrix, lin.weight.t()))
    return rows.mixed(terms, bias=layer.bias)


@serves(gnn.ChebConv)
def _cheb(
    layer: Any,
    rows: Rows,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    batch: Tensor | None = None,
    lambda_max: Tensor | None = None,
) -> Plan:
    edge_index, norm = layer.__norm__(
        edge_index,
        rows.nodes,
        edge_weight,
        layer.normalization,
        lambda_max,
        dtype=rows.dtype,
        batch=batch,
    )
    matrix = rows.matrix(edge_index, norm, flow=layer.flow)
    polynomials = [rows.identity()]
    if len(layer.lins) > 1:
        polynomials.append(polynomials[0] @ matrix)
    while len(polynomials) < len(layer.lins):
        polynomials.append(2 * polynomials[-1] @ matrix - polynomials[-2])
    terms = [(p, lin.weight.t()) for p, lin in zip(polynomials, layer.lins, strict=True)]
    return rows.mixed(terms, bias=layer.bias)


@serves(gnn.APPNP)
def _appnp(layer: Any, rows: Rows, edge_index: Tensor, edge_weight: Tensor | None = None) -> Plan:
    matrix = _normalised(layer, rows, edge_index, edge_weight, if_asked=True)
    power = rows.identity()
    mixed = layer.alpha * power if layer.K > 0 else power
    for step in range(1, layer.K + 1):
        power = (1 - layer.alpha) * power @ matrix
        mixed = mixed + (power if step == layer.K else layer.alpha * power)
    return rows.mixed([(mixed, None)])


@serves(gnn.SAGEConv)
def _sage(layer: Any, rows: Rows, edge_index: Tensor, size: Any = None) -> Plan:
    if layer.project:
        raise Unserved("SAGEConv(project=True) is not linear before it aggregates")
    terms = [(_aggregated(layer, rows, edge_index, None), layer.lin_l.weight.t())]
    if layer.root_weight:
        terms.append((rows.identity(), layer.lin_r.weight.t()))
    after = _unit_length if layer.normalize else None
    return rows.mixed(terms, bias=layer.lin_l.bias, after=after)


@serves(gnn.GraphConv)
def _graph(
    layer: Any, rows: Rows, edge_index: Tensor, edge_weight: Tensor | None = None, size: Any = None
) -> Plan:
    terms = [
        (_aggregated(layer, rows, edge_index, edge_weight), layer.lin_rel.weight.t()),
        (rows.identity(), layer.lin_root.weight.t()),
    ]
    return rows.mixed(terms, bias=layer.lin_rel.bias)


@serves(gnn.GINConv)
def _gin(layer: Any, rows: Rows, edge_index: Tensor, size: Any = None) -> Plan:
    mixed = _aggregated(layer, rows, edge_index, None) + (1 + float(layer.eps)) * rows.identity()
    first, rest = split_first_linear(layer.nn)
    if first is None:
        return rows.mixed([(mixed, None)], after=rest)
    return rows.mixed([(mixed, first.weight.t())], bias=first.bias, after=rest)


@serves(gnn.GATConv)
def _gat(
    layer: Any,
    rows: Rows,
    edge_index: Tensor,
    edge_attr: Tensor | None = None,
    size: Any = None,
    return_attention_weights: Any = None,
) -> Plan:
    if layer.lin is None or return_attention_weights is not None:
        raise Unserved("GATConv for bipartite graphs or with returned attention")
    edge_index, edge_attr = _with_self_loops(layer, rows, edge_index, edge_attr)
    heads, width = layer.heads, layer.out_channels
    by_edge = _projected_edges(layer, edge_attr)
    shift = None if by_edge is None else (by_edge * layer.att_edge).sum(-1)  # (e, H)

    # Both halves of the attention at once: x (…, H · C) times this is (…, 2 H).
    own_head = torch.eye(heads, device=rows.device, dtype=rows.dtype).repeat_interleave(width, 0)
    attend = torch.cat(
        [own_head * att.reshape(-1, 1) for att in (layer.att_src, layer.att_dst)], dim=1
    )

    def combine(parts: list[Tensor], edges: Edges) -> Tensor:
        x = _by_head(parts[0], heads)  # (m, B, H, C)
        sent, received = (parts[0] @ attend).chunk(2, dim=-1)  # each (m, B, H)
        logits = sent[edges.sender] + received[edges.own][edges.receiver]  # (e, B, H)
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
    return _attention(layer, rows, edge_index, [layer.lin], combine, combine_change)


@serves(gnn.GATv2Conv)
def _gatv2(
    layer: Any,
    rows: Rows,
    edge_index: Tensor,
    edge_attr: Tensor | None = None,
    return_attention_weights: Any = None,
) -> Plan:
    if return_attention_weights is not None:
        raise Unserved("GATv2Conv with returned attention")
    edge_index, edge_attr = _with_self_loops(layer, rows, edge_index, edge_attr)
    heads = layer.heads
    by_edge = _projected_edges(layer, edge_attr)

    def combine(parts: list[Tensor], edges: Edges) -> Tensor:
        x = _by_head(parts[0], heads)  # (m, B, H, C)
        received = _by_head(parts[1], heads)[edges.own][edges.receiver]
        both = x[edges.sender] + received  # (e, B, H, C)
        if by_edge is not None:
            both = both + by_edge[edges.ids].unsqueeze(1)
        both = functional.leaky_relu(both, layer.negative_slope)
        attention = edges.softmax((both * layer.att).sum(-1))  # (e, B, H)
        return _joined(layer, edges.weighted_sum(attention, x), parts, edges)

    return _attention(layer, rows, edge_index, [layer.lin_l, layer.lin_r], combine)


@serves(gnn.TransformerConv)
def _transformer(
    layer: Any,
    rows: Rows,
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

    def combine(parts: list[Tensor], edges: Edges) -> Tensor:
        query, key, value = (_by_head(part, heads) for part in parts[:3])
        keys = key[edges.sender]  # (e, B, H, C)
        if by_edge is not None:
            keys = keys + by_edge[edges.ids].unsqueeze(1)
        asked = query[edges.own][edges.receiver]
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


def split_first_linear(module: nn.Module) -> tuple[Any, Callable[[Tensor], Tensor]]:
    """Split a row-wise module into its first linear map and the rest (None where it has none)."""
    if isinstance(module, nn.Linear | gnn.Linear):
        return module, nn.Identity()
    if isinstance(module, nn.Sequential) and len(module) > 0:
        first, rest = split_first_linear(module[0])
        return first, nn.Sequential(_as_module(rest), *list(module)[1:])
    if isinstance(module, gnn.MLP) and len(module.lins) > 0:
        rest = copy.copy(module)
        rest._modules = dict(module._modules)
        rest.lins = nn.ModuleList([nn.Identity(), *list(module.lins)[1:]])
        return module.lins[0], rest
    return None, module


class _Function(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: Tensor) -> Tensor:
        return self._function(x)


def _as_module(function: Callable[[Tensor], Tensor]) -> nn.Module:
    return function if isinstance(function, nn.Module) else _Function(function)


def _normalised(
    layer: Any,
    rows: Rows,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    *,
    if_asked: bool = False,
) -> Any:
    if not if_asked or layer.normalize:
        improved = getattr(layer, "improved", False)
        edge_index, edge_weight = gcn_norm(
            edge_index,
            edge_weight,
            rows.nodes,
            improved,
            layer.add_self_loops,
            layer.flow,
            rows.dtype,
        )
    return rows.matrix(edge_index, edge_weight, flow=layer.flow)


def _aggregated(layer: Any, rows: Rows, edge_index: Tensor, edge_weight: Tensor | None) -> Any:
    """Return the matrix of a layer that adds up or averages its messages."""
    matrix = rows.matrix(edge_index, edge_weight, flow=layer.flow)
    if layer.aggr in ("add", "sum"):
        return rows.of(matrix)
    if layer.aggr == "mean":
        count = rows.matrix(edge_index, None, flow=layer.flow).sum(axis=1)
        scale = 1 / torch.as_tensor(count).flatten().clamp(min=1)
        return rows.of(matrix.multiply(scale.unsqueeze(1).numpy()).tocsr())
    raise Unserved(f"{type(layer).__name__}(aggr={layer.aggr!r}) does not aggregate linearly")


def _with_self_loops(
    layer: Any, rows: Rows, edge_index: Tensor, edge_attr: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    if not layer.add_self_loops:
        return edge_index, edge_attr
    edge_index, edge_attr = remove_self_loops(edge_index, edge_attr)
    looped: tuple[Tensor, Tensor | None] = add_self_loops(
        edge_index, edge_attr, fill_value=layer.fill_value, num_nodes=rows.nodes
    )
    return looped


def _projected_edges(layer: Any, edge_attr: Tensor | None) -> Tensor | None:
    """Return the layer's projection of edge attributes (e, H, C), where it has both."""
    if layer.lin_edge is None or edge_attr is None:
        return None
    projected: Tensor = layer.lin_edge(edge_attr.view(edge_attr.size(0), -1))
    return projected.view(-1, layer.heads, layer.out_channels)


def _attention(
    layer: Any,
    rows: Rows,
    edge_index: Tensor,
    projections: list[Any],
    combine: Callable[[list[Tensor], Edges], Tensor],
    combine_change: Callable[[Change, Edges], ChangedRows] | None = None,
) -> Plan:
    """Plan an attention layer from its projections, and its residual one where it has one."""
    if getattr(layer, "res", None) is not None:
        projections = [*projections, layer.res]
    return rows.attended(
        edge_index,
        [lin.weight.t() for lin in projections],
        [lin.bias for lin in projections],
        flow=layer.flow,
        combine=combine,
        combine_change=combine_change,
    )


def _by_head(values: Tensor, heads: int) -> Tensor:
    """View (m, B, H · C) as (m, B, H, C)."""
    return values.reshape(*values.shape[:-1], heads, -1)


def _joined(layer: Any, out: Tensor, parts: list[Tensor], edges: Edges) -> Tensor:
    """Join the heads of (r, B, H, C), and add what the layer adds."""
    return _with_the_rest(layer, out, parts[-1][edges.own])


def _with_the_rest(layer: Any, out: Tensor, residual: Tensor) -> Tensor:
    """Join the heads of (…, H, C), and add the residual, where the layer has one, and the bias."""
    out = out.flatten(-2) if layer.concat else out.mean(-2)
    if getattr(layer, "res", None) is not None:
        out = out + residual
    return out if layer.bias is None else out + layer.bias


def _unit_length(rows: Tensor) -> Tensor:
    return functional.normalize(rows, p=2.0, dim=-1)
