"""Outputs that nothing can be said about: random ones, and those that name no class."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.errors import ModelError
from zorro.model.agreement import same_output
from zorro.question import Query


def refuse_random(scores: Tensor, again: Tensor, asked: Query) -> None:
    """Raise `ModelError` unless two runs on the same input gave the same scores (C,)."""
    if not same_output(scores, again):
        raise ModelError(
            "the model is not deterministic in eval mode: two runs on the same input gave "
            f"{_rounded(scores)} and {_rounded(again)} at {asked}; remove what is random in its "
            "forward pass"
        )


def refuse_undecided(scores: Tensor, asked: Query) -> None:
    """Raise `ModelError` unless scores (C,) name a class."""
    if not torch.isfinite(scores).all() and not _has_one_maximum(scores):
        raise ModelError(f"the model's output at {asked} is not usable: {_rounded(scores)}")


def _has_one_maximum(scores: Tensor) -> bool:
    """Whether non-finite scores still name a class, as log-probabilities of −∞ do."""
    return not bool(scores.isnan().any()) and int((scores == scores.max()).sum()) == 1


def _rounded(scores: Tensor) -> list[float]:
    return [round(float(score), 4) for score in scores]
