"""The gradient of the prediction with respect to its input, alone and times the input."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.errors import ModelError
from zorro.explainers.aggregation import rows_and_columns
from zorro.explainers.masks import Masks
from zorro.explainers.registry import method
from zorro.explainers.subject import Subject
from zorro.predictor import log_probabilities


@method("grad")
class Grad:
    """How much the log-probability of the predicted class moves with each entry.

    A = ∂ log p_class / ∂X; a node's importance is the sum of |A| over its row, a feature's over
    its column (Section 6.4). Values are left as they are: they are small, so that as soft masks
    they keep next to nothing of the input.
    """

    def explain(self, subject: Subject) -> Masks:
        """Return the gradient's rows and columns."""
        return rows_and_columns(gradient(subject))


@method("grad-input")
class GradInput:
    """The gradient times the input, A = X ⊙ ∂ log p_class / ∂X, by rows and columns."""

    def explain(self, subject: Subject) -> Masks:
        """Return the product's rows and columns."""
        return rows_and_columns(gradient(subject) * subject.graph.candidate_x)


def gradient(subject: Subject) -> Tensor:
    """Return ∂ log p_class / ∂X at the candidates, (n, d)."""
    x = subject.graph.x.detach().clone().requires_grad_()  # (n + c, d)
    scores = subject.scores(x, differentiable=True)  # (C,)
    if not scores.requires_grad:
        raise ModelError("the model's output has no gradient: it must not run under no_grad")
    aim = log_probabilities(scores)[subject.predicted_class]
    (result,) = torch.autograd.grad(aim, x, allow_unused=True)
    if result is None:
        raise ModelError("the model's output has no gradient with respect to x")
    return result[: subject.candidates]
