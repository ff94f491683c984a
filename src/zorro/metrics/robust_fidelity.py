"""Robust fidelity: Fidelity+ and Fidelity− with only some edges removed at a time.

Zheng et al., "Towards Robust Fidelity for Evaluating Explainability of Graph Neural Networks"
(ICLR 2024): graphs that lose a whole explanation, or all but it, are unlike any that a model was
trained on. E_α(G) has each edge of G with probability α, independently. Then, with S the graph of
the explanation's edges and y the predicted class,

Fid_{α₁,+} = [Φ(G) = y] − P[Φ(G − E_{α₁}(S)) = y],
Fid_{α₂,−} = [Φ(G) = y] − P[Φ(S + E_{α₂}(G − S)) = y],

and likewise with the probability of y in the place of the events. α₁ = .1 and α₂ = .9 are the
authors' choice. With α₁ = 1 and α₂ = 0 they are Fidelity+ and Fidelity− of edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.fidelity_variants import ReturnType, class_probabilities
from zorro.metrics.mask import checked_hard_mask
from zorro.metrics.masked_input import ClassScores, class_scores, predicted_class

ALPHA_PLUS = 0.1
ALPHA_MINUS = 0.9


def robust_fidelity_plus_acc(
    scores: ClassScores,
    selected: Tensor,
    *,
    alpha: float = ALPHA_PLUS,
    samples: int = 50,
    seed: int = 0,
) -> float:
    """How often the prediction changes when some edges of the explanation are removed.

    Fid_{α₁,+} with events.

    Args:
        scores: maps which edges are there, (m,) bool, to the query's class scores (C,).
        selected: (m,), hard; the explanation's edges.
        alpha: α₁, the probability with which each of them is removed.
        samples: how many graphs are drawn.
        seed: of the draws.

    Example:
        >>> import torch
        >>> from zorro.metrics import robust_fidelity_plus_acc
        >>> scores = lambda there: torch.stack([torch.tensor(0.5), there[0].float()])
        >>> first = torch.tensor([True, False])
        >>> robust_fidelity_plus_acc(scores, first, alpha=1.0)
        1.0
        >>> abs(robust_fidelity_plus_acc(scores, first, samples=4000) - 0.1) < 0.02
        True

    """
    graphs = _without_some(selected, alpha, samples, seed)
    return _mean_class_change(scores, selected, graphs)


def robust_fidelity_minus_acc(
    scores: ClassScores,
    selected: Tensor,
    *,
    alpha: float = ALPHA_MINUS,
    samples: int = 50,
    seed: int = 0,
) -> float:
    """How often the prediction changes when some edges outside of the explanation are removed.

    Fid_{α₂,−} with events.

    Args:
        scores: maps which edges are there, (m,) bool, to the query's class scores (C,).
        selected: (m,), hard; the explanation's edges.
        alpha: α₂, the probability with which each edge outside of the explanation stays.
        samples: how many graphs are drawn.
        seed: of the draws.

    Example:
        >>> import torch
        >>> from zorro.metrics import robust_fidelity_minus_acc
        >>> scores = lambda there: torch.stack([torch.tensor(0.5), there[0].float()])
        >>> robust_fidelity_minus_acc(scores, torch.tensor([True, False]))
        0.0
        >>> robust_fidelity_minus_acc(scores, torch.tensor([False, True]), alpha=0.0)
        1.0

    """
    graphs = _with_some(selected, alpha, samples, seed)
    return _mean_class_change(scores, selected, graphs)


def robust_fidelity_plus_prob(
    scores: ClassScores,
    selected: Tensor,
    *,
    return_type: ReturnType,
    alpha: float = ALPHA_PLUS,
    samples: int = 50,
    seed: int = 0,
) -> float:
    """How much probability the predicted class loses when some of the explanation is removed.

    Fid_{α₁,+} with probabilities.

    Args:
        scores: maps which edges are there, (m,) bool, to the query's class scores (C,).
        selected: (m,), hard; the explanation's edges.
        return_type: what `scores` returns, "logits", "log_probs" or "probs".
        alpha: α₁, the probability with which each of the explanation's edges is removed.
        samples: how many graphs are drawn.
        seed: of the draws.

    Example:
        >>> import torch
        >>> from zorro.metrics import robust_fidelity_plus_prob
        >>> scores = lambda there: torch.stack([0.9 - 0.8 * there[0], 0.1 + 0.8 * there[0]])
        >>> first = torch.tensor([True, False])
        >>> round(robust_fidelity_plus_prob(scores, first, return_type="probs", alpha=1.0), 4)
        0.8

    """
    graphs = _without_some(selected, alpha, samples, seed)
    return _mean_probability_lost(scores, selected, graphs, return_type)


def robust_fidelity_minus_prob(
    scores: ClassScores,
    selected: Tensor,
    *,
    return_type: ReturnType,
    alpha: float = ALPHA_MINUS,
    samples: int = 50,
    seed: int = 0,
) -> float:
    """How much probability the predicted class loses when some other edges are removed.

    Fid_{α₂,−} with probabilities.

    Args:
        scores: maps which edges are there, (m,) bool, to the query's class scores (C,).
        selected: (m,), hard; the explanation's edges.
        return_type: what `scores` returns, "logits", "log_probs" or "probs".
        alpha: α₂, the probability with which each edge outside of the explanation stays.
        samples: how many graphs are drawn.
        seed: of the draws.

    Example:
        >>> import torch
        >>> from zorro.metrics import robust_fidelity_minus_prob
        >>> scores = lambda there: torch.stack([0.9 - 0.8 * there[0], 0.1 + 0.8 * there[0]])
        >>> second = torch.tensor([False, True])
        >>> round(robust_fidelity_minus_prob(scores, second, return_type="probs", alpha=0.0), 4)
        0.8

    """
    graphs = _with_some(selected, alpha, samples, seed)
    return _mean_probability_lost(scores, selected, graphs, return_type)


def _without_some(selected: Tensor, alpha: float, samples: int, seed: int) -> Iterator[Tensor]:
    """Yield graphs (m,) from which some of the selected edges were removed."""
    selected = checked_hard_mask(selected, name="selected")
    for drawn in _draws(selected, alpha, samples, seed):
        yield ~(selected & drawn)


def _with_some(selected: Tensor, alpha: float, samples: int, seed: int) -> Iterator[Tensor]:
    """Yield graphs (m,) of the selected edges and some of the others."""
    selected = checked_hard_mask(selected, name="selected")
    for drawn in _draws(selected, alpha, samples, seed):
        yield selected | drawn


def _draws(like: Tensor, alpha: float, samples: int, seed: int) -> Iterator[Tensor]:
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha: expected a probability from 0 to 1, got {alpha}")
    if samples < 1:
        raise InputError(f"samples: expected at least 1, got {samples}")
    generator = torch.Generator().manual_seed(seed)
    for _ in range(samples):
        yield (torch.rand(like.numel(), generator=generator) < alpha).to(like.device)


def _mean_class_change(scores: ClassScores, selected: Tensor, graphs: Iterator[Tensor]) -> float:
    true = predicted_class(scores, torch.ones_like(selected, dtype=torch.bool))
    return mean(float(predicted_class(scores, there) != true) for there in graphs)


def _mean_probability_lost(
    scores: ClassScores, selected: Tensor, graphs: Iterator[Tensor], return_type: ReturnType
) -> float:
    def probabilities(there: Tensor) -> Tensor:
        return class_probabilities(class_scores(scores, there), return_type=return_type)

    whole = probabilities(torch.ones_like(selected, dtype=torch.bool))  # (C,)
    predicted = int(whole.argmax())
    return mean(float(whole[predicted] - probabilities(there)[predicted]) for there in graphs)
