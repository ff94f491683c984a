"""Layers that treat edges of several types each in their own way."""

from __future__ import annotations

from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.aggregation import aggregated, refuse_if_unknown
from zorro.evaluation.traced.layers.convolution import aggregates_linearly, aggregation_matrix
from zorro.evaluation.traced.layers.registry import serves, serves_edges
from zorro.evaluation.traced.layers.row_wise import split_first_linear
from zorro.evaluation.traced.layers.varying import shares, weighted
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import Projection, RowPlanner
from zorro.evaluation.traced.unserved import Unserved


@serves(gnn.RGCNConv, gnn.FastRGCNConv)
def _rgcn(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_type: Tensor | None = None
) -> Plan:
    if edge_type is None:
        raise Unserved(f"{type(layer).__name__} is called without edge_type")
    matrices = {
        relation: aggregation_matrix(layer, rows, edge_index[:, edge_type == relation], None)
        for relation in sorted(set(edge_type.tolist()))
    }
    matrices = {relation: matrix for relation, matrix in matrices.items() if matrix.nnz}
    terms: list[tuple[Any, Tensor]]
    if layer.num_bases is not None and layer.num_bases < len(matrices):
        share = layer.comp.tolist()  # (R, K)
        terms = [
            (sum(share[r][base] * matrix for r, matrix in matrices.items()), weight)
            for base, weight in enumerate(layer.weight)
        ]
    else:
        terms = [(matrix, _weight(layer, relation)) for relation, matrix in matrices.items()]
    if layer.root is not None:
        terms.append((rows.identity(), layer.root))
    if not terms:
        raise Unserved(f"{type(layer).__name__} gives the query nothing of the features")
    return rows.mixed(terms, bias=layer.bias)


@serves_edges(gnn.RGCNConv, gnn.FastRGCNConv)
def _rgcn_of_some(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_type: Tensor | None = None
) -> Plan:
    if edge_type is None or not aggregates_linearly(layer):
        raise Unserved(
            f"{type(layer).__name__} of edges that come and go without edge_type or sums"
        )
    weights = {relation: _weight(layer, relation) for relation in sorted(set(edge_type.tolist()))}
    projections = [Projection(weight) for weight in weights.values()]
    if layer.root is not None:
        projections.append(Projection(layer.root.detach()))

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        kinds = edge_type[edges.ids]
        heard = [
            weighted(part, shares(layer, None, some), some)
            for part, some in zip(
                parts, (edges.only(kinds == relation) for relation in weights), strict=False
            )
        ]
        out = torch.stack([*heard, *(part[edges.own] for part in parts[len(heard) :])]).sum(0)
        return out if layer.bias is None else out + layer.bias

    return rows.attended(edge_index, projections, combine, flow=layer.flow)


def _weight(layer: Any, relation: int) -> Tensor:
    """Return the map of what is sent along the edges of a relation, (d, o)."""
    if layer.num_blocks is not None:
        return on_the_diagonal(layer.weight[relation])
    if layer.num_bases is not None:
        return torch.einsum("k,kdo->do", layer.comp[relation], layer.weight).detach()
    weight: Tensor = layer.weight[relation].detach()
    return weight


@serves(gnn.FiLMConv)
def _film(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_type: Tensor | None = None
) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    films = [layer.film_skip, *layer.films]
    if any(split_first_linear(film)[0] is not film for film in films):
        raise Unserved("FiLMConv(nn=…) that is not one linear map")
    lins = [layer.lin_skip, *layer.lins]

    def modulated(x: Tensor, film: Tensor) -> Tensor:
        beta, gamma = film.chunk(2, dim=-1)
        out: Tensor = gamma * x + beta
        return out if layer.act is None else layer.act(out)

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        x, film = parts[: len(lins)], parts[len(lins) :]
        out = modulated(x[0][edges.own], film[0][edges.own])  # (r, B, o)
        for relation, (one, its_film) in enumerate(zip(x[1:], film[1:], strict=True)):
            some = edges
            if layer.num_relations > 1 and edge_type is not None:
                some = edges.only(edge_type[edges.ids] == relation)
            messages = modulated(one[some.sender], some.received(its_film))  # (e, B, o)
            out = out + aggregated(layer.aggr_module, messages, some)
        return out

    return rows.attended(
        edge_index,
        [Projection.of(lin) for lin in (*lins, *films)],
        combine,
        flow=layer.flow,
        in_parts=True,
    )


def on_the_diagonal(blocks: Tensor) -> Tensor:
    """Return matrices (K, d, o) as the blocks of one, (K · d, K · o)."""
    count, height, width = blocks.shape
    matrix = blocks.new_zeros(count, height, count, width)
    each = torch.arange(count, device=blocks.device)
    matrix[each, :, each] = blocks.detach()
    return matrix.view(count * height, count * width)
