"""What rows hear of their neighbours' features: columns aggregated each alone, then mapped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from zorro.fidelity.traced.edges import Edges


@dataclass(frozen=True)
class Listener:
    """A row that hears others."""

    row: int  # of those written
    senders: Tensor  # (e,) among the rows read
    edges: Edges  # into it alone
    scale: Tensor | None  # (e, 1), of the messages


@dataclass(frozen=True)
class Heard:
    """A term Σ_k a_k(Y) W_k + b of a state, a_k an aggregation of each column on its own."""

    edges: Edges
    aggregate: Callable[[Tensor, Edges], Tensor]  # messages (e, B, c) → (r, B, K · c)
    weight: Tensor  # (K · d, h)
    bias: Tensor | None  # (h,)
    edge_weight: Tensor | None  # of each of the layer's edges

    @cached_property
    def listeners(self) -> list[Listener]:
        """The rows that are written."""
        own = torch.split(self.edges.own, 1)
        device = self.edges.own.device
        found = []
        for row, (_, senders, ids) in enumerate(self.edges.into):
            edges = Edges(
                ids=ids,
                sender=torch.arange(ids.numel(), device=device),
                receiver=torch.zeros_like(ids),
                own=own[row],
            )
            scale = None if self.edge_weight is None else self.edge_weight[ids].unsqueeze(1)
            found.append(Listener(row, senders, edges, scale))
        return found
