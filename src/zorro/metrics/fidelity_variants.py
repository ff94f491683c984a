"""Fidelity+ and Fidelity−: what removing, or keeping only, an explanation does to a prediction.

The four variants of Yuan et al. that the paper compares with. They are not RDT-fidelity: what is
left out is set to one baseline instead of random values. High Fidelity+ and low Fidelity− are
meant to be good, but none of them asks for sparsity: the complete input has Fidelity− 0.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from torch import Tensor

from zorro.errors import InputError
from zorro.metrics.masked_input import (
    Baseline,
    ClassScores,
    class_scores,
    keep_selected,
    predicted_class,
    remove_selected,
)
from zorro.metrics.validity import validity

ReturnType: TypeAlias = Literal["logits", "log_probs", "probs"]
"""What `scores` returns; softmax, exp or nothing makes probabilities of it."""

# How far rounding may push a probability out of [0, 1].
_TOLERANCE = 1e-4


def fidelity_plus_acc(
    scores: ClassScores,
    x: Tensor,
    *,
    nodes: Tensor,
    features: Tensor,
    baseline: Baseline = "zeros",
) -> float:
    """Return 1 if the prediction changes when the explanation is removed, otherwise 0.

    [Φ(X∖S) ≠ Φ(X)] (Appendix C.3, Fidelity+acc).

    Args:
        scores: maps a feature matrix (n, d) to the query's class scores (C,).
        x: (n, d).
        nodes: (n,), the explanation's nodes, hard or soft with values between 0 and 1.
        features: (d,), its features; all ones for a method that selects only nodes.
        baseline: what takes the place of what is removed: "zeros" or one value a feature (d,).

    Example:
        >>> import torch
        >>> from zorro.metrics import fidelity_plus_acc
        >>> x = torch.tensor([[3.0], [-1.0], [-1.0]])
        >>> scores = lambda x: torch.stack([-x.sum(), x.sum()])
        >>> first = torch.tensor([True, False, False])
        >>> fidelity_plus_acc(scores, x, nodes=first, features=torch.tensor([True]))
        1.0

    """
    rest = remove_selected(x, nodes=nodes, features=features, baseline=baseline)
    return float(predicted_class(scores, rest) != predicted_class(scores, x))


def fidelity_minus_acc(
    scores: ClassScores,
    x: Tensor,
    *,
    nodes: Tensor,
    features: Tensor,
    baseline: Baseline = "zeros",
) -> float:
    """Return 1 if the prediction changes when only the explanation is kept, otherwise 0.

    [Φ(S) ≠ Φ(X)] = 1 − validity (Appendix C.3, Fidelity−acc).

    Args:
        scores: maps a feature matrix (n, d) to the query's class scores (C,).
        x: (n, d).
        nodes: (n,), the explanation's nodes, hard or soft with values between 0 and 1.
        features: (d,), its features; all ones for a method that selects only nodes.
        baseline: what takes the place of what is not kept: "zeros" or one value a feature (d,).

    Example:
        >>> import torch
        >>> from zorro.metrics import fidelity_minus_acc
        >>> x = torch.tensor([[3.0], [-1.0], [-1.0]])
        >>> scores = lambda x: torch.stack([-x.sum(), x.sum()])
        >>> last = torch.tensor([False, False, True])
        >>> fidelity_minus_acc(scores, x, nodes=last, features=torch.tensor([True]))
        1.0

    """
    return 1.0 - validity(scores, x, nodes=nodes, features=features, baseline=baseline)


def fidelity_plus_prob(
    scores: ClassScores,
    x: Tensor,
    *,
    nodes: Tensor,
    features: Tensor,
    return_type: ReturnType,
    baseline: Baseline = "zeros",
) -> float:
    """How much probability the predicted class loses when the explanation is removed.

    h(X) − h(X∖S), h the probability of the class predicted for X (Appendix C.3, Fidelity+prob).

    Args:
        scores: maps a feature matrix (n, d) to the query's class scores (C,).
        x: (n, d).
        nodes: (n,), the explanation's nodes, hard or soft with values between 0 and 1.
        features: (d,), its features; all ones for a method that selects only nodes.
        return_type: what `scores` returns, "logits", "log_probs" or "probs".
        baseline: what takes the place of what is removed: "zeros" or one value a feature (d,).

    Example:
        >>> import torch
        >>> from zorro.metrics import fidelity_plus_prob
        >>> x = torch.tensor([[0.6], [0.3]])
        >>> scores = lambda x: torch.stack([1 - x.sum(), x.sum()])
        >>> masks = {"nodes": torch.tensor([True, False]), "features": torch.tensor([True])}
        >>> round(fidelity_plus_prob(scores, x, return_type="probs", **masks), 4)  # .9 − .3
        0.6

    """
    rest = remove_selected(x, nodes=nodes, features=features, baseline=baseline)
    return _probability_lost(scores, x, rest, return_type=return_type)


def fidelity_minus_prob(
    scores: ClassScores,
    x: Tensor,
    *,
    nodes: Tensor,
    features: Tensor,
    return_type: ReturnType,
    baseline: Baseline = "zeros",
) -> float:
    """How much probability the predicted class loses when only the explanation is kept.

    h(X) − h(S), h the probability of the class predicted for X (Appendix C.3, Fidelity−prob).

    Args:
        scores: maps a feature matrix (n, d) to the query's class scores (C,).
        x: (n, d).
        nodes: (n,), the explanation's nodes, hard or soft with values between 0 and 1.
        features: (d,), its features; all ones for a method that selects only nodes.
        return_type: what `scores` returns, "logits", "log_probs" or "probs".
        baseline: what takes the place of what is not kept: "zeros" or one value a feature (d,).

    Example:
        >>> import torch
        >>> from zorro.metrics import fidelity_minus_prob
        >>> x = torch.tensor([[0.6], [0.3]])
        >>> scores = lambda x: torch.stack([1 - x.sum(), x.sum()])
        >>> masks = {"nodes": torch.tensor([True, False]), "features": torch.tensor([True])}
        >>> round(fidelity_minus_prob(scores, x, return_type="probs", **masks), 4)  # .9 − .6
        0.3

    """
    kept = keep_selected(x, nodes=nodes, features=features, baseline=baseline)
    return _probability_lost(scores, x, kept, return_type=return_type)


def _probability_lost(
    scores: ClassScores, x: Tensor, masked: Tensor, *, return_type: ReturnType
) -> float:
    before = class_probabilities(class_scores(scores, x), return_type=return_type)  # (C,)
    after = class_probabilities(class_scores(scores, masked), return_type=return_type)  # (C,)
    predicted = int(before.argmax())
    return float(before[predicted] - after[predicted])


def class_probabilities(scores: Tensor, *, return_type: ReturnType) -> Tensor:
    """Return the probabilities (C,) of class scores (C,)."""
    if return_type == "logits":
        return scores.double().softmax(dim=0)
    if return_type not in ("log_probs", "probs"):
        raise InputError(
            f"return_type: expected 'logits', 'log_probs' or 'probs', got {return_type!r}"
        )
    probabilities = scores.double().exp() if return_type == "log_probs" else scores.double()
    if bool(((probabilities < -_TOLERANCE) | (probabilities > 1 + _TOLERANCE)).any()):
        raise InputError(
            f"return_type: expected what scores returns, got {return_type!r}, but its values "
            f"{scores.tolist()} are not {return_type}: 'logits' fits any other scores"
        )
    return probabilities
