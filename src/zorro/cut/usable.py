"""Outputs that nothing can be said about: random ones, and those that name no class."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.errors import ModelError
from zorro.model.predictor import Predictor
from zorro.question import Query


def refuse_random(predictor: Predictor, scores: Tensor, again: Tensor, asked: Query) -> None:
    """Raise `ModelError` unless two runs on the same input gave the same scores (C,)."""
    if not predictor.same(scores, again):
        raise ModelError(
            "the model is not deterministic in eval mode: two runs on the same input gave "
            f"{_rounded(scores)} and {_rounded(again)} at {asked}; remove what is random in its "
            "forward pass"
        )


def refuse_undecided(predictor: Predictor, scores: Tensor, asked: Query) -> None:
    """Raise `ModelError` unless scores (C,) say something."""
    if not torch.isfinite(scores).all() and not predictor.reading.is_decided(scores):
        raise ModelError(f"the model's output at {asked} is not usable: {_rounded(scores)}")


def _rounded(scores: Tensor) -> list[float]:
    return [round(float(score), 4) for score in scores]
