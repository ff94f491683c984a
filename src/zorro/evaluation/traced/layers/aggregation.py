"""What a receiver makes of its messages: PyG's aggregations that treat each column alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn import aggr as pyg

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.rows import RowPlanner
from zorro.evaluation.traced.unserved import Unserved

Reduction = Callable[[Any, Tensor], Tensor]  # an aggregation and messages (k, …) → (…)


def aggregated(aggregation: Any, messages: Tensor, edges: LocalEdges) -> Tensor:
    """Aggregate messages at their receivers.

    Args:
        aggregation: PyG's.
        messages: (e, B, C).
        edges: to which they belong.

    Returns:
        (r, B, C'), with a multiple of the columns where the aggregation gives several values.
    """
    if edges.present is not None:
        return _of_those_present(aggregation, messages, edges)
    if isinstance(aggregation, pyg.DegreeScalerAggregation):
        return _scaled(aggregation, aggregated(aggregation.aggr, messages, edges), edges)
    if isinstance(aggregation, pyg.MultiAggregation):
        each = [aggregated(one, messages, edges) for one in aggregation.aggrs]
        joined: Tensor = aggregation.combine([one.flatten(0, 1) for one in each])
        return joined.view(*each[0].shape[:2], -1)
    reduction = REDUCTIONS[type(aggregation)]
    if messages.is_cuda:
        return by_index(aggregation, messages, edges)
    # Receiver by receiver: several times as fast as scattering to them.
    pieces = torch.split(messages, edges.counts)
    return torch.stack([reduction(aggregation, piece) for piece in pieces])


def by_index(aggregation: Any, messages: Tensor, edges: LocalEdges) -> Tensor:
    """Aggregate messages (e, B, C) as PyG does, all receivers at once, (r, B, C')."""
    batch, rows = messages.size(1), edges.own.numel()
    each = torch.arange(batch, device=messages.device)
    index = (edges.receiver.unsqueeze(1) * batch + each).flatten()  # (e · B,)
    flat: Tensor = aggregation(messages.flatten(0, 1), index, dim_size=rows * batch, dim=0)
    return flat.view(rows, batch, -1)


def refuse_if_unknown(aggregation: Any, rows: RowPlanner) -> None:
    """Raise `Unserved` for an aggregation that is not among those here."""
    if rows.edges_vary:
        if type(aggregation) not in _OF_THOSE_PRESENT:
            name = type(aggregation).__name__
            raise Unserved(f"{name} is not among the aggregations it knows of edges that vary")
        return
    if isinstance(aggregation, pyg.DegreeScalerAggregation):
        refuse_if_unknown(aggregation.aggr, rows)
    elif isinstance(aggregation, pyg.MultiAggregation):
        for one in aggregation.aggrs:
            refuse_if_unknown(one, rows)
    elif type(aggregation) not in REDUCTIONS:
        raise Unserved(f"{type(aggregation).__name__} is not among the aggregations it knows")


def is_column_by_column(aggregation: Any) -> bool:
    """Whether an aggregation does the same to every column, whatever the others are."""
    if isinstance(aggregation, pyg.DegreeScalerAggregation):
        return is_column_by_column(aggregation.aggr)
    if isinstance(aggregation, pyg.MultiAggregation):
        mixes = aggregation.mode in ("attn", "proj")
        return not mixes and all(is_column_by_column(one) for one in aggregation.aggrs)
    return all(parameter.numel() == 1 for parameter in aggregation.parameters())


def _of_those_present(aggregation: Any, messages: Tensor, edges: LocalEdges) -> Tensor:
    """Aggregate messages (e, B, C) along the edges that there are, (r, B, C)."""
    return _OF_THOSE_PRESENT[type(aggregation)](messages, edges)


def _scaled(scaling: Any, values: Tensor, edges: LocalEdges) -> Tensor:
    """Return values (r, B, C) scaled by the receivers' degrees in each of the wanted ways."""
    degree = torch.tensor(edges.counts, device=values.device, dtype=values.dtype).view(-1, 1, 1)
    least = degree.clamp(min=1)
    factors = {
        "identity": torch.ones_like(degree),
        "amplification": torch.log(degree + 1) / scaling.avg_deg_log,
        "attenuation": scaling.avg_deg_log / torch.log(least + 1),
        "linear": degree / scaling.avg_deg_lin,
        "inverse_linear": scaling.avg_deg_lin / least,
    }
    return torch.cat([values * factors[name] for name in scaling.scaler], dim=-1)


def _sum_present(messages: Tensor, edges: LocalEdges) -> Tensor:
    return edges.summed(messages)


def _mean_present(messages: Tensor, edges: LocalEdges) -> Tensor:
    return edges.summed(messages) / at_least_one(edges.summed(torch.ones_like(messages[..., :1])))


def at_least_one(count: Tensor) -> Tensor:
    """Return counts of edges with one for none, whose slope at one is that of a further edge.

    That of `clamp` is another one in torch 2.15 than before.
    """
    return torch.where(count < 1, 1.0, count)


def _max_present(messages: Tensor, edges: LocalEdges) -> Tensor:
    assert edges.present is not None
    # Receiver by receiver: several times as fast as scattering to them.
    pieces = torch.split(messages, edges.counts)
    presents = torch.split(edges.present.unsqueeze(-1), edges.counts)  # (k, B, 1)
    return torch.stack([_highest(*both) for both in zip(pieces, presents, strict=True)])


def _highest(messages: Tensor, present: Tensor) -> Tensor:
    """Return the maximum (B, C) of messages (k, B, C) that there are (k, B, 1), 0 of none."""
    if messages.size(0) == 0:
        return messages.sum(0)
    highest = messages.masked_fill(present == 0, -torch.inf).amax(0)
    return highest.masked_fill((present == 0).all(0), 0.0)


def _sum(aggregation: Any, messages: Tensor) -> Tensor:
    return messages.sum(0)


def _mean(aggregation: Any, messages: Tensor) -> Tensor:
    return messages.sum(0) / max(1, messages.size(0))


def _max(aggregation: Any, messages: Tensor) -> Tensor:
    return messages.amax(0) if messages.size(0) else messages.sum(0)


def _min(aggregation: Any, messages: Tensor) -> Tensor:
    return messages.amin(0) if messages.size(0) else messages.sum(0)


def _product(aggregation: Any, messages: Tensor) -> Tensor:
    return messages.prod(0)


def _variance(aggregation: Any, messages: Tensor) -> Tensor:
    mean = _mean(aggregation, messages)
    with torch.no_grad() if aggregation.semi_grad else nullcontext():
        of_squares = _mean(aggregation, messages * messages)
    return of_squares - mean * mean


def _deviation(aggregation: Any, messages: Tensor) -> Tensor:
    deviation = _variance(aggregation.var_aggr, messages).clamp(min=1e-5).sqrt()
    return deviation.masked_fill(deviation <= math.sqrt(1e-5), 0.0)


def _softmax(aggregation: Any, messages: Tensor) -> Tensor:
    with torch.no_grad() if aggregation.semi_grad else nullcontext():
        weights: Tensor = (messages * aggregation.t).softmax(0)
    return (messages * weights).sum(0)


def _power_mean(aggregation: Any, messages: Tensor) -> Tensor:
    # Older versions of PyG have no such attributes, and clamp to these.
    least, most = getattr(aggregation, "min_value", 0.0), getattr(aggregation, "max_value", 100.0)
    p = aggregation.p
    if isinstance(p, int | float) and p == 1:
        return _mean(aggregation, messages)
    mean = _mean(aggregation, messages.clamp(min=least, max=most).pow(p))
    root: Tensor = mean.clamp(min=least, max=most).pow(1.0 / p)
    return root


def _quantiles(aggregation: Any, messages: Tensor) -> Tensor:
    every = aggregation.q.flatten()  # (k,)
    if messages.size(0) == 0:
        return torch.cat([messages.sum(0) + aggregation.fill_value] * every.numel(), dim=-1)
    ordered = messages.sort(0).values
    place = every * (messages.size(0) - 1)
    lower, higher = ordered[place.floor().long()], ordered[place.ceil().long()]  # (k, …)
    if aggregation.interpolation == "lower":
        found = lower
    elif aggregation.interpolation == "higher":
        found = higher
    elif aggregation.interpolation == "nearest":
        found = ordered[place.round().long()]
    elif aggregation.interpolation == "midpoint":
        found = 0.5 * lower + 0.5 * higher
    else:
        found = lower + (higher - lower) * place.frac().view(-1, *[1] * (messages.dim() - 1))
    return torch.cat(list(found), dim=-1)


# Each works on any columns of the messages alone, unless it has a parameter for each column.
REDUCTIONS: dict[type[Any], Reduction] = {
    pyg.SumAggregation: _sum,
    pyg.MeanAggregation: _mean,
    pyg.MaxAggregation: _max,
    pyg.MinAggregation: _min,
    pyg.MulAggregation: _product,
    pyg.VarAggregation: _variance,
    pyg.StdAggregation: _deviation,
    pyg.SoftmaxAggregation: _softmax,
    pyg.PowerMeanAggregation: _power_mean,
    pyg.QuantileAggregation: _quantiles,
    pyg.MedianAggregation: _quantiles,
}
# Of messages (e, B, C) along edges as far as they are there.
_OF_THOSE_PRESENT: dict[type[Any], Callable[[Tensor, LocalEdges], Tensor]] = {
    pyg.SumAggregation: _sum_present,
    pyg.MeanAggregation: _mean_present,
    pyg.MaxAggregation: _max_present,
}
