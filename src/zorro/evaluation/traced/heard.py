"""A layer's first step on the features that aggregates each column alone, then maps linearly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from zorro.evaluation.traced.edges import LocalEdges


@dataclass(frozen=True)
class Heard:
    """What rows hear of their neighbours: a term Σ_k a_k(Y) W_k + b of a state.

    Each a_k aggregates the messages into a row, every column on its own.
    """

    edges: LocalEdges
    aggregate: Callable[[Tensor, LocalEdges], Tensor]  # messages (e, B, c) → (r, B, K · c)
    weight: Tensor  # (K · d, h)
    bias: Tensor | None  # (h,)
    edge_weight: Tensor | None  # of each of the layer's edges
