"""Principal neighbourhood aggregation: several aggregations, scaled by degree, in towers."""

from __future__ import annotations

from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.aggregation import aggregated, refuse_if_unknown
from zorro.evaluation.traced.layers.registry import serves
from zorro.evaluation.traced.layers.row_wise import by_row, split_first_linear
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import Projection, RowPlanner


@serves(gnn.PNAConv)
def _pna(layer: Any, rows: RowPlanner, edge_index: Tensor, edge_attr: Tensor | None = None) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    before = [split_first_linear(tower) for tower in layer.pre_nns]
    after = [split_first_linear(tower) for tower in layer.post_nns]
    width, towers = layer.F_in, layer.towers
    own = [_of_columns(layer, lin, tower, 0) for tower, (lin, _) in enumerate(before)]
    sent = [_of_columns(layer, lin, tower, 1) for tower, (lin, _) in enumerate(before)]
    kept = [_of_columns(layer, lin, tower, 0) for tower, (lin, _) in enumerate(after)]
    by_edge = None
    if edge_attr is not None:
        encoded = layer.edge_encoder(edge_attr)  # (e, f)
        by_edge = torch.cat([encoded @ lin.weight.t()[2 * width :] for lin, _ in before], dim=1)

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        messages = edges.received(parts[0]) + parts[1][edges.sender]  # (e, B, T · f)
        if by_edge is not None:
            messages = messages + by_edge[edges.ids].unsqueeze(1)
        by_tower = messages.chunk(towers, dim=-1)  # each (e, B, f)
        outs = []
        for tower, (message, root) in enumerate(
            zip(by_tower, parts[2].chunk(towers, dim=-1), strict=True)
        ):
            heard = aggregated(layer.aggr_module, by_row(before[tower][1], message), edges)
            lin, rest = after[tower]
            hidden = root[edges.own] + heard @ lin.weight.t()[width:]  # (r, B, o)
            outs.append(by_row(rest, hidden))
        out: Tensor = layer.lin(torch.cat(outs, dim=-1))
        return out

    projections = [
        Projection(torch.cat(own, dim=1), torch.cat([lin.bias.detach() for lin, _ in before])),
        Projection(torch.cat(sent, dim=1)),
        Projection(torch.cat(kept, dim=1), torch.cat([lin.bias.detach() for lin, _ in after])),
    ]
    return rows.attended(edge_index, projections, combine, flow=layer.flow, in_parts=True)


def _of_columns(layer: Any, lin: Any, tower: int, at: int) -> Tensor:
    """Return the part of a tower's linear map that reads rows, for all columns of theirs, (d, h).

    Args:
        layer: the layer.
        lin: the linear map.
        tower: which columns are the tower's own, if towers share them out.
        at: which part of the map's input the rows are.
    """
    width = layer.F_in
    weight: Tensor = lin.weight.detach().t()[at * width : (at + 1) * width]  # (f, h)
    if not layer.divide_input:
        return weight
    spread = weight.new_zeros(layer.in_channels, weight.size(1))
    spread[tower * width : (tower + 1) * width] = weight
    return spread
