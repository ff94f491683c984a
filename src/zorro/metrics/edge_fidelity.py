"""How often a prediction stays when edges that are not kept are present by chance."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.mask import checked_hard_mask
from zorro.metrics.masked_input import ClassScores, predicted_class


def edge_fidelity(
    scores: ClassScores,
    kept: Tensor,
    *,
    presence: float = 0.5,
    samples: int = 1000,
    seed: int = 0,
) -> float:
    """Share of samples on which the prediction is that of the whole graph.

    P[Φ(G_S) = Φ(G)], G_S the graph with the edges of S and each other edge with probability
    `presence`, independently. A plain loop, one run of the model a sample.

    Args:
        scores: maps which edges are there, (m,) bool, to the query's class scores (C,).
        kept: (m,), hard; the set S.
        presence: of every other edge, from 0 (only the set) to below 1.
        samples: how many.
        seed: of the draws.

    Example:
        Class 1 while edge 0 is there and one of two others.

        >>> import torch
        >>> from zorro.metrics import edge_fidelity
        >>> def scores(there):
        ...     holds = there[0] and (there[1] or there[2])
        ...     return torch.tensor([0.5, float(holds)])
        >>> first = torch.tensor([True, False, False])
        >>> abs(edge_fidelity(scores, first, samples=4000) - 0.75) < 0.03
        True
        >>> edge_fidelity(scores, first, presence=0.0, samples=10)
        0.0

    """
    kept = checked_hard_mask(kept, name="kept")
    if not 0 <= presence < 1:
        raise InputError(f"presence: expected a number from 0 to below 1, got {presence}")
    if samples < 1:
        raise InputError(f"samples: expected at least 1, got {samples}")
    generator = torch.Generator().manual_seed(seed)
    true = predicted_class(scores, torch.ones_like(kept))
    stayed = 0
    for _ in range(samples):
        drawn = torch.rand(kept.numel(), generator=generator) < presence  # (m,)
        stayed += predicted_class(scores, kept | drawn.to(kept.device)) == true
    return stayed / samples
