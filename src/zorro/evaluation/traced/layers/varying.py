"""Layers that mix rows linearly, where inputs differ in which edges there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor
from torch_geometric.nn.aggr import MeanAggregation

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.layers.aggregation import (
    aggregated,
    at_least_one,
    refuse_if_unknown,
)
from zorro.evaluation.traced.layers.convolution import aggregates_linearly, only_sums
from zorro.evaluation.traced.layers.registry import serves_edges
from zorro.evaluation.traced.layers.row_wise import by_row, split_first_linear, unit_length
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.presence import Presence
from zorro.evaluation.traced.rows import Projection, RowPlanner
from zorro.evaluation.traced.unserved import Unserved


@serves_edges(gnn.GCNConv)
def _gcn(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    mixing = _Normalised.of(layer, rows, edge_index, edge_weight, if_asked=True)

    def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        out = weighted(parts[0], mixing.weights(edges), edges)
        return out if layer.bias is None else out + layer.bias

    return mixing.plan(rows, [Projection.of(layer.lin)], combine)


@serves_edges(gnn.LGConv)
def _lg(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    mixing = _Normalised.of(layer, rows, edge_index, edge_weight, if_asked=True, loops=False)
    return mixing.plan(
        rows, [], lambda parts, edges: weighted(parts[0], mixing.weights(edges), edges)
    )


@serves_edges(gnn.SGConv)
def _sg(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    mixing = _Normalised.of(layer, rows, edge_index, edge_weight)

    def repeat(start: Tensor, mix: Callable[[Tensor], Tensor]) -> Tensor:
        out = start
        for _ in range(layer.K):
            out = mix(out)
        return out if layer.lin.bias is None else out + layer.lin.bias

    return mixing.repeated(rows, layer.K, [Projection(layer.lin.weight.detach().t())], repeat)


@serves_edges(gnn.APPNP)
def _appnp(
    layer: Any, rows: RowPlanner, edge_index: Tensor, edge_weight: Tensor | None = None
) -> Plan:
    mixing = _Normalised.of(layer, rows, edge_index, edge_weight, if_asked=True)

    def repeat(start: Tensor, mix: Callable[[Tensor], Tensor]) -> Tensor:
        out = start
        for _ in range(layer.K):
            out = (1 - layer.alpha) * mix(out) + layer.alpha * start
        return out

    return mixing.repeated(rows, layer.K, [], repeat)


@serves_edges(gnn.SAGEConv)
def _sage(layer: Any, rows: RowPlanner, edge_index: Tensor, size: Any = None) -> Plan:
    if layer.project:
        raise Unserved("SAGEConv(project=True) is not known with edges that come and go")

    def finish(heard: Tensor, own: Tensor) -> Tensor:
        out = heard if layer.lin_l.bias is None else heard + layer.lin_l.bias
        out = out + own if layer.root_weight else out
        return unit_length(out) if layer.normalize else out

    root = layer.lin_r if layer.root_weight else None
    return _heard(layer, rows, edge_index, None, layer.lin_l, root, finish)


@serves_edges(gnn.GraphConv)
def _graph(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    size: Any = None,
) -> Plan:
    def finish(heard: Tensor, own: Tensor) -> Tensor:
        return (heard if layer.lin_rel.bias is None else heard + layer.lin_rel.bias) + own

    return _heard(layer, rows, edge_index, edge_weight, layer.lin_rel, layer.lin_root, finish)


@serves_edges(gnn.GINConv)
def _gin(layer: Any, rows: RowPlanner, edge_index: Tensor, size: Any = None) -> Plan:
    refuse_if_unknown(layer.aggr_module, rows)
    scale = 1 + float(layer.eps)
    first, rest = split_first_linear(layer.nn)
    if first is None or not aggregates_linearly(layer):

        def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
            heard = aggregated(layer.aggr_module, parts[0][edges.sender], edges)
            return by_row(layer.nn, heard + scale * parts[0][edges.own])

        return rows.attended(edge_index, [], combine, flow=layer.flow, in_parts=True)

    def combine_projected(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        heard = weighted(parts[0], shares(layer, None, edges), edges)
        out = heard + scale * parts[0][edges.own]
        return by_row(rest, out if first.bias is None else out + first.bias)

    projections = [Projection(first.weight.detach().t())]
    return rows.attended(edge_index, projections, combine_projected, flow=layer.flow)


def _heard(
    layer: Any,
    rows: RowPlanner,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    heard: Any,
    root: Any,
    finish: Callable[[Tensor, Tensor], Tensor],
) -> Plan:
    """Plan a layer that aggregates rows and maps what they hear, and themselves, linearly.

    Args:
        layer: the layer.
        rows: those that are wanted.
        edge_index: (2, e).
        edge_weight: (e,).
        heard: the linear layer of what rows hear.
        root: that of the rows themselves, if there is one.
        finish: makes the output (r, B, o) of both.
    """
    refuse_if_unknown(layer.aggr_module, rows)
    roots = [] if root is None else [Projection.of(root)]
    if aggregates_linearly(layer):  # then it does not matter what comes first

        def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
            total = weighted(parts[0], shares(layer, edge_weight, edges), edges)
            return finish(total, parts[-1][edges.own])

        projections = [Projection(heard.weight.detach().t()), *roots]
        return rows.attended(edge_index, projections, combine, flow=layer.flow)

    def combine_aggregated(parts: list[Tensor], edges: LocalEdges) -> Tensor:
        (x,) = parts
        messages = x[edges.sender]
        if edge_weight is not None:
            messages = messages * edge_weight.view(-1, 1, 1)[edges.ids]
        total = aggregated(layer.aggr_module, messages, edges) @ heard.weight.detach().t()
        return finish(total, x[edges.own] if root is None else root(x[edges.own]))

    return rows.attended(edge_index, [], combine_aggregated, flow=layer.flow, in_parts=True)


def shares(layer: Any, edge_weight: Tensor | None, edges: LocalEdges) -> Tensor:
    """Return by how much each message counts (e, B) in a sum or a mean."""
    present = edges.present
    assert present is not None
    weights = present if edge_weight is None else present * edge_weight.view(-1, 1)[edges.ids]
    if not isinstance(layer.aggr_module, MeanAggregation):
        return weights
    count = present.new_zeros(edges.own.numel(), present.size(1))
    count = at_least_one(count.index_add(0, edges.receiver, present))  # (r, B)
    return weights / count[edges.receiver]


def weighted(values: Tensor, weights: Tensor, edges: LocalEdges) -> Tensor:
    """Add up weighted rows (m, B, h) at the receivers, by weights (e, B), as (r, B, h)."""
    return edges.weighted_sum(weights.unsqueeze(-1), values.unsqueeze(2)).squeeze(2)


@dataclass(frozen=True, eq=False)
class _Normalised:
    """Edges whose weights are normalised as GCN does, by the degrees that they make up.

    Args:
        edge_index: (2, e), added loops last.
        origin: (e,) which column of the graph's each edge is, −1 for added loops.
        weight: (e,) if an edge is there,
        otherwise: (e,) and if not: what a loop of the graph is then replaced by.
        nodes: how many there are.
        flow: PyG's message direction.
        normalises: whether weights are normalised.
        given: (e,) the weights as the layer gets them.
        fill: the weight of added loops, 0 where none are added.
    """

    edge_index: Tensor
    origin: Tensor
    weight: Tensor
    otherwise: Tensor
    nodes: int
    flow: str
    normalises: bool
    given: Tensor | None
    fill: float

    @property
    def key(self) -> tuple[Any, ...]:
        """By which layers are known that mix alike."""
        return self.flow, self.normalises, self.fill, None if self.given is None else id(self.given)

    @classmethod
    def of(
        cls,
        layer: Any,
        rows: RowPlanner,
        edge_index: Tensor,
        edge_weight: Tensor | None,
        *,
        if_asked: bool = False,
        loops: bool | None = None,
    ) -> _Normalised:
        """Return the edges of a layer that mixes as GCN does.

        Args:
            layer: the layer.
            rows: those that are wanted.
            edge_index: as the layer gets it.
            edge_weight: as the layer gets it.
            if_asked: whether the layer may be told not to normalise.
            loops: whether self-loops are added, if the layer does not say.
        """
        only_sums(layer)
        count = edge_index.size(1)
        origin = torch.arange(count, device=rows.device)
        weight = torch.ones(count, device=rows.device, dtype=rows.dtype)
        if edge_weight is not None:
            weight = edge_weight.detach().to(rows.dtype).view(-1)
        otherwise = torch.zeros_like(weight)
        normalises = not if_asked or bool(layer.normalize)
        fill = 0.0
        if normalises and (layer.add_self_loops if loops is None else loops):
            # Where edges have no weights, PyG counts loops as 1 whatever the layer says.
            is_improved = getattr(layer, "improved", False) and edge_weight is not None
            fill = 2.0 if is_improved else 1.0
            at_loops = edge_index[0] == edge_index[1]
            has_loop = torch.bincount(edge_index[0][at_loops], minlength=rows.nodes)
            if bool((has_loop > 1).any()):
                raise Unserved(f"{type(layer).__name__} has several loops at a node")
            otherwise[at_loops] = fill
            added = (has_loop == 0).nonzero().flatten()
            edge_index = torch.cat([edge_index, added.expand(2, -1)], dim=1)
            origin = torch.cat([origin, torch.full_like(added, -1)])
            filled = weight.new_full((added.numel(),), fill)
            weight, otherwise = torch.cat([weight, filled]), torch.cat([otherwise, filled])
        return cls(
            edge_index=edge_index,
            origin=origin,
            weight=weight,
            otherwise=otherwise,
            nodes=rows.nodes,
            flow=layer.flow,
            normalises=normalises,
            given=edge_weight,
            fill=fill,
        )

    def weights(self, edges: LocalEdges) -> Tensor:
        """Return the weights (k, B) of some of the edges in each input."""
        assert edges.presence is not None
        if not self.normalises:  # then it takes no other edges to tell
            assert edges.present is not None
            weight, otherwise = self.weight[edges.ids], self.otherwise[edges.ids]  # (k,)
            return otherwise.unsqueeze(1) + edges.present * (weight - otherwise).unsqueeze(1)
        return self._of_all(edges.presence)[edges.ids]

    def plan(
        self,
        rows: RowPlanner,
        projections: Sequence[Projection],
        combine: Callable[[list[Tensor], LocalEdges], Tensor],
    ) -> Plan:
        """Plan a layer that mixes once."""
        return rows.attended(
            self.edge_index, projections, combine, flow=self.flow, origin=self.origin
        )

    def repeated(
        self,
        rows: RowPlanner,
        times: int,
        projections: Sequence[Projection],
        repeat: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor],
    ) -> Plan:
        """Plan a layer that mixes several times.

        Args:
            rows: those that are wanted.
            times: how often; so far away are rows that are read.
            projections: of the input; none stand for the input itself.
            repeat: given what it starts with (m, B, h) and how to mix, returns the same rows. Those
                at the rim are not what they should be, and further inside they are in time.
        """
        receiver, sender = (1, 0) if self.flow == "source_to_target" else (0, 1)
        reached = torch.zeros(self.nodes, dtype=torch.bool, device=rows.device)
        reached[rows.wanted] = True
        for _ in range(times):
            reached[self.edge_index[sender][reached[self.edge_index[receiver]]]] = True
        every = RowPlanner(
            reached.nonzero().flatten(), rows.nodes, rows.device, rows.dtype, rows.edges_vary
        )
        inner = reached[self.edge_index].all(0).nonzero().flatten()
        place = torch.searchsorted(every.wanted, rows.wanted)

        def combine(parts: list[Tensor], edges: LocalEdges) -> Tensor:
            weights = self._of_all(_presence_of(edges))[inner[edges.ids]]
            return repeat(parts[0], lambda values: weighted(values, weights, edges))[place]

        return every.attended(
            self.edge_index[:, inner],
            projections,
            combine,
            flow=self.flow,
            origin=self.origin[inner],
        )

    def _of_all(self, presence: Presence) -> Tensor:
        """Return the weights (e, B) of all edges in each input."""
        return presence.made(self.key, lambda: self._normalised(presence.of(self.origin)))

    def _normalised(self, present: Tensor) -> Tensor:
        weight = self.otherwise.unsqueeze(1) + present * (self.weight - self.otherwise).unsqueeze(1)
        if not self.normalises:
            return weight
        row, column = self.edge_index
        degree = weight.new_zeros(self.nodes, weight.size(1))
        degree = degree.index_add(0, column if self.flow == "source_to_target" else row, weight)
        # A node without edges sends nothing; the root of 1 is as good as any other there.
        root = torch.where(degree > 0, degree, 1.0).rsqrt() * (degree > 0)
        return root[row] * weight * root[column]


def _presence_of(edges: LocalEdges) -> Presence:
    assert edges.presence is not None
    return edges.presence
