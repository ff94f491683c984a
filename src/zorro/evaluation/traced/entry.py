"""Where a traced model first touches the features."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, fx

from zorro.cut import ComputationalGraph
from zorro.evaluation.traced.plan import Mixing, Plan
from zorro.evaluation.traced.program import Program
from zorro.evaluation.traced.unserved import Unserved


@dataclass(frozen=True)
class Entry:
    """The linear terms Σ_k A_k Y W_k + const of a state, where the features are first touched."""

    mixings: tuple[Mixing, ...]  # A_k, (q, n) over candidates
    weights: tuple[Tensor, ...]  # W_k, (d, h)
    parts: tuple[slice, ...]  # where W_k stands among the columns of all weights
    constant: Tensor  # (q, h): bias and context

    def mixed(self, product: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return Σ_k A_k P_k for products P (v, S, H) at some rows, as (q, S, h)."""
        mixings = [m if rows is None else m.restricted(rows) for m in self.mixings]
        first, *others = (
            mixing.times(product[:, :, part])
            for mixing, part in zip(mixings, self.parts, strict=True)
        )
        return sum(others, start=first)


def entries_of(program: Program, graph: ComputationalGraph) -> tuple[dict[fx.Node, Entry], Tensor]:
    """Return the entries' linear terms over all candidates, all their weights side by side."""
    entries: dict[fx.Node, Entry] = {}
    weights: list[Tensor] = []
    start = 0
    for node, plan in program.entries.items():
        if not plan.mixings:
            continue
        own = tuple(_identity(graph) if weight is None else weight for weight in plan.weights)
        parts = []
        for weight in own:
            parts.append(slice(start, start + weight.size(1)))
            start += weight.size(1)
        weights.extend(own)
        entries[node] = Entry(
            mixings=tuple(
                mixing.spread(plan.needs, graph.candidates.numel()) for mixing in plan.mixings
            ),
            weights=own,
            parts=tuple(parts),
            constant=_constant(plan, own, graph),
        )
    if not program.entries:
        raise Unserved("its output does not depend on the features")
    return entries, torch.cat(weights, dim=1) if weights else graph.x.new_empty(graph.x.size(1), 0)


def _identity(graph: ComputationalGraph) -> Tensor:
    return torch.eye(graph.x.size(1), device=graph.x.device, dtype=graph.x.dtype)


def _constant(plan: Plan, weights: tuple[Tensor, ...], graph: ComputationalGraph) -> Tensor:
    """Return what the context's features and the bias add to a state, (q, h)."""
    context = graph.x[plan.needs]  # (m, d)
    context = context * (plan.needs >= graph.candidates.numel()).unsqueeze(1)
    first, *others = (
        mixing.times(context @ weight) for mixing, weight in zip(plan.mixings, weights, strict=True)
    )
    total = sum(others, start=first)
    return total if plan.bias is None else total + plan.bias
