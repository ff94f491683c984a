"""Layers that read several node-level values, or mix rows more than once."""

from __future__ import annotations

from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor
from torch.nn import functional
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.composition import Step, Value, composes
from zorro.evaluation.traced.layers.convolution import aggregation_matrix, normalised, only_sums
from zorro.evaluation.traced.layers.relational import on_the_diagonal
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import Projection, RowPlanner
from zorro.evaluation.traced.unserved import Unserved


@composes(gnn.GCN2Conv)
def _gcn2(layer: Any, x: Value, x_0: Value, edge_index: Any, edge_weight: Any = None) -> Value:
    def map_of(weight: Tensor) -> Tensor:
        identity = torch.eye(layer.channels, device=weight.device, dtype=weight.dtype)
        return identity + float(layer.beta) * (weight.detach() - identity)

    def mixed(rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None) -> Plan:
        matrix = normalised(layer, rows, edge_index, edge_weight, if_asked=True)
        return rows.mixed([((1 - layer.alpha) * rows.of(matrix), map_of(layer.weight1))])

    def kept(rows: RowPlanner) -> Plan:
        weight = layer.weight1 if layer.weight2 is None else layer.weight2
        return rows.mixed([(layer.alpha * rows.identity(), map_of(weight))])

    return Step("gcn2_mixed", mixed)(x, edge_index, edge_weight) + Step("gcn2_kept", kept)(x_0)


@composes(gnn.ARMAConv)
def _arma(layer: Any, x: Value, edge_index: Any, edge_weight: Any = None) -> Value:
    def root(time: int, rows: RowPlanner) -> tuple[tuple[Any, Tensor], Tensor | None]:
        place = 0 if layer.shared_weights else time
        bias = None if layer.bias is None else layer.bias[place].flatten()  # (K · o,)
        return (rows.identity(), torch.cat(list(layer.root_weight[place]), dim=1)), bias

    def first(rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None) -> Plan:
        matrix = normalised(layer, rows, edge_index, edge_weight, loops=False)
        term, bias = root(0, rows)
        weight = torch.cat(list(layer.init_weight), dim=1)  # (d, K · o)
        return rows.mixed([(rows.of(matrix), weight), term], bias=bias)

    out = Step("arma_first", first)(x, edge_index, edge_weight)
    for time in range(1, layer.num_layers):

        def next_one(
            rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None, time: int = time
        ) -> Plan:
            matrix = normalised(layer, rows, edge_index, edge_weight, loops=False)
            weights = layer.weight[0 if layer.shared_weights else time - 1]  # (K, o, o)
            return rows.mixed([(rows.of(matrix), on_the_diagonal(weights))])

        def kept(rows: RowPlanner, time: int = time) -> Plan:
            term, bias = root(time, rows)
            return rows.mixed([term], bias=bias)

        out = _activated(layer, out).flatten(-2)
        out = Step("arma_next", next_one)(out, edge_index, edge_weight) + Step("arma_root", kept)(x)
    return _activated(layer, out).mean(-2)


def _activated(layer: Any, out: Value) -> Value:
    """Return each stack's output, (N, K, o)."""
    by_stack = out.unflatten(-1, (layer.num_stacks, layer.out_channels))
    return by_stack if layer.act is None else layer.act(by_stack)


@composes(gnn.GatedGraphConv)
def _gated_graph(layer: Any, x: Value, edge_index: Any, edge_weight: Any = None) -> Value:
    x = x.tracer.create_proxy("call_function", _widened, (x, layer.out_channels), {})
    for time in range(layer.num_layers):

        def mixed(
            rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None, time: int = time
        ) -> Plan:
            matrix = aggregation_matrix(layer, rows, edge_index, edge_weight)
            return rows.mixed([(matrix, layer.weight[time])])

        x = layer.rnn(Step("gated_graph", mixed)(x, edge_index, edge_weight), x)
    return x


def _widened(x: Tensor, width: int) -> Tensor:
    """Append columns of zeros."""
    return functional.pad(x, (0, width - x.size(-1)))


@composes(gnn.FAConv)
def _fa(
    layer: Any,
    x: Value,
    x_0: Value,
    edge_index: Any,
    edge_weight: Any = None,
    return_attention_weights: Any = None,
) -> Value:
    if return_attention_weights is not None:
        raise Unserved("FAConv with returned attention")

    def heard(rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None) -> Plan:
        only_sums(layer)
        if layer.normalize:
            edge_index, edge_weight = gcn_norm(
                edge_index, None, rows.nodes, False, layer.add_self_loops, layer.flow, rows.dtype
            )
        if edge_weight is None:
            raise Unserved("FAConv(normalize=False) is called without edge_weight")
        weight = edge_weight.view(-1, 1, 1)

        def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
            given, sent, received = parts
            attention = (sent[edges.sender] + edges.received(received)).tanh()  # (e, B, 1)
            out = edges.weighted_sum(attention * weight[edges.ids], given.unsqueeze(-2))
            return out.squeeze(-2)

        projections = [
            Projection.unchanged(layer.channels, rows),
            Projection.of(layer.att_l),
            Projection.of(layer.att_r),
        ]
        return rows.attended(edge_index, projections, combine, flow=layer.flow)

    out = Step("fa_heard", heard)(x, edge_index, edge_weight)
    return out + layer.eps * x_0 if layer.eps != 0 else out
