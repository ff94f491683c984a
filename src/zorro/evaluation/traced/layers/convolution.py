"""Layers that mix rows by a matrix of the graph's and map them linearly."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch_geometric.nn as gnn
from torch import Tensor
from torch_geometric.nn.aggr import MeanAggregation, SumAggregation
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_self_loops, degree, remove_self_loops

from zorro.evaluation.traced.layers.registry import serves
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import RowPlanner
from zorro.evaluation.traced.unserved import Unserved


@serves(gnn.GCNConv)
def _gcn(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    matrix = normalised(layer, rows, edge_index, edge_weight, if_asked=True)
    return rows.mixed([(rows.of(matrix), layer.lin.weight.t())], bias=layer.bias)


@serves(gnn.PDNConv)
def _pdn(layer: Any, rows: RowPlanner, edge_index: Tensor, edge_attr: Tensor | None = None) -> Plan:
    edge_weight = None if edge_attr is None else layer.mlp(edge_attr).squeeze(-1)
    matrix = normalised(layer, rows, edge_index, edge_weight, if_asked=True)
    return rows.mixed([(rows.of(matrix), layer.lin.weight.t())], bias=layer.bias)


@serves(gnn.LGConv)
def _lg(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    matrix = normalised(layer, rows, edge_index, edge_weight, if_asked=True, loops=False)
    return rows.mixed([(rows.of(matrix), None)])


@serves(gnn.SGConv)
def _sg(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    matrix = normalised(layer, rows, edge_index, edge_weight)
    mixed = rows.identity()
    for _ in range(layer.K):
        mixed = mixed @ matrix
    return rows.mixed([(mixed, layer.lin.weight.t())], bias=layer.lin.bias)


@serves(gnn.SSGConv)
def _ssg(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    matrix = normalised(layer, rows, edge_index, edge_weight)
    power = rows.identity()
    mixed = layer.alpha * power
    for _ in range(layer.K):
        power = power @ matrix
        mixed = mixed + (1 - layer.alpha) / layer.K * power
    return rows.mixed([(mixed, layer.lin.weight.t())], bias=layer.lin.bias)


@serves(gnn.TAGConv)
def _tag(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    matrix = normalised(layer, rows, edge_index, edge_weight, if_asked=True, loops=False)
    terms = [(rows.identity(), layer.lins[0].weight.t())]
    for lin in layer.lins[1:]:
        terms.append((terms[-1][0] @ matrix, lin.weight.t()))
    return rows.mixed(terms, bias=layer.bias)


@serves(gnn.MixHopConv)
def _mix_hop(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    matrix = normalised(layer, rows, edge_index, edge_weight)
    powers = [rows.identity()]
    while len(powers) < len(layer.lins):
        powers.append(powers[-1] @ matrix)
    terms = []
    for place, power in enumerate(layer.powers):
        # Each power has columns of its own in the output.
        weight = layer.lins[power].weight.detach().t()  # (d, o)
        blocks = [torch.zeros_like(weight)] * len(layer.powers)
        blocks[place] = weight
        terms.append((powers[power], torch.cat(blocks, dim=1)))
    return rows.mixed(terms, bias=layer.bias)


@serves(gnn.ChebConv)
def _cheb(
    layer: Any,
    rows: RowPlanner,
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
def _appnp(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    matrix = normalised(layer, rows, edge_index, edge_weight, if_asked=True)
    power = rows.identity()
    mixed = layer.alpha * power if layer.K > 0 else power
    for step in range(1, layer.K + 1):
        power = (1 - layer.alpha) * power @ matrix
        mixed = mixed + (power if step == layer.K else layer.alpha * power)
    return rows.mixed([(mixed, None)])


@serves(gnn.ClusterGCNConv)
def _cluster_gcn(layer: Any, rows: RowPlanner, edge_index: Tensor) -> Plan:
    only_sums(layer)
    if layer.add_self_loops:
        edge_index, _ = remove_self_loops(edge_index)
        edge_index, _ = add_self_loops(edge_index, num_nodes=rows.nodes)
    row, column = edge_index
    share = 1 / degree(column, rows.nodes, dtype=rows.dtype).clamp(min=1)
    weight = share[column]
    weight[row == column] += layer.diag_lambda * share
    matrix = rows.matrix(edge_index, weight, flow=layer.flow)
    terms = [
        (rows.of(matrix), layer.lin_out.weight.t()),
        (rows.identity(), layer.lin_root.weight.t()),
    ]
    return rows.mixed(terms, bias=layer.lin_out.bias)


@serves(gnn.LEConv)
def _le(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    matrix = aggregation_matrix(layer, rows, edge_index, edge_weight)  # (r, nodes)
    total = np.asarray(matrix.sum(axis=1)).flatten()  # (r,)
    terms = [
        (matrix, layer.lin1.weight.t()),
        (sp.diags_array(-total) @ rows.identity(), layer.lin2.weight.t()),
        (rows.identity(), layer.lin3.weight.t()),
    ]
    if layer.lin1.bias is None:
        return rows.mixed(terms)
    received = torch.as_tensor(total, device=rows.device, dtype=rows.dtype).unsqueeze(1)
    return rows.mixed(terms, bias=received * layer.lin1.bias + layer.lin3.bias)


def normalised(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    *,
    if_asked: bool = False,
    loops: bool | None = None,
) -> Any:
    """Return the matrix (nodes, nodes) of a layer that mixes as GCN does.

    Args:
        layer: the layer.
        rows: those that are wanted.
        edge_index: as the layer gets it.
        edge_weight: as the layer gets it.
        if_asked: whether the layer may be told not to normalise.
        loops: whether self-loops are added, if the layer does not say.
    """
    only_sums(layer)
    if not if_asked or layer.normalize:
        edge_index, edge_weight = gcn_norm(
            edge_index,
            edge_weight,
            rows.nodes,
            getattr(layer, "improved", False),
            layer.add_self_loops if loops is None else loops,
            layer.flow,
            rows.dtype,
        )
    return rows.matrix(edge_index, edge_weight, flow=layer.flow)


def aggregation_matrix(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None
) -> Any:
    """Return the matrix (r, nodes) of a layer that adds up or averages its messages."""
    if not aggregates_linearly(layer):
        raise Unserved(f"{type(layer).__name__}(aggr={layer.aggr!r}) does not aggregate linearly")
    matrix = rows.matrix(edge_index, edge_weight, flow=layer.flow)
    if isinstance(layer.aggr_module, SumAggregation):
        return rows.of(matrix)
    count = rows.matrix(edge_index, None, flow=layer.flow).sum(axis=1)
    scale = 1 / torch.as_tensor(count).flatten().clamp(min=1)
    return rows.of(matrix.multiply(scale.unsqueeze(1).numpy()).tocsr())


def aggregates_linearly(layer: Any) -> bool:
    """Whether a layer adds up or averages its messages."""
    return isinstance(layer.aggr_module, SumAggregation | MeanAggregation)


def only_sums(layer: Any) -> None:
    """Raise `Unserved` for a layer that was told to do something else than adding up."""
    if not isinstance(layer.aggr_module, SumAggregation):
        raise Unserved(f"{type(layer).__name__}(aggr={layer.aggr!r})")
