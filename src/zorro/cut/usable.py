"""Outputs that nothing can be said about: random ones, and those that name no class."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.errors import ModelError
from zorro.model.predictor import Predictor
from zorro.question import Query
from zorro.question.agreement import rounding
from zorro.question.event import Event

_SINGLE = 4  # bytes of a number in single precision


def refuse_random(predictor: Predictor, scores: Tensor, again: Tensor, asked: Query) -> None:
    """Raise `ModelError` unless two runs on the same input gave the same scores (C,)."""
    if not predictor.same(scores, again):
        raise not_deterministic(scores, again, asked)


def not_deterministic(scores: Tensor, again: Tensor, asked: Query) -> ModelError:
    """Return the error about a model that gave one input these scores (C,) and those."""
    return ModelError(
        "the model is not deterministic in eval mode: two runs on the same input gave "
        f"{_rounded(scores)} and {_rounded(again)} at {asked}; remove what is random in its "
        "forward pass"
    )


def refuse_within_rounding(event: Event, scores: Tensor, asked: Query) -> None:
    """Raise `ModelError` if no more than the rounding of scores (C,) decides that an event happens.

    What is claimed of such an answer would be about sums in this order, on this machine.
    """
    highest = scores.amax(-1, keepdim=True)  # and those that are near it
    margin, least = float(event.gap(scores)), float(rounding(highest))
    is_half = scores.element_size() < _SINGLE
    # Equal counts, as votes are, tie exactly; in half precision roundings make scores equal.
    if (margin > 0 or is_half) and least > 0 and margin <= least:
        more = "float" if is_half else "double"
        raise ModelError(
            f"the model's answer at {asked} is decided by {margin:.2g}, and its outputs of about "
            f"{float(highest):.4g} may be off by {least:.2g} in {scores.dtype}: pass "
            f"x.{more}() and model.{more}()"
        )


def refuse_undecided(predictor: Predictor, scores: Tensor, asked: Query) -> None:
    """Raise `ModelError` unless scores (C,) say something."""
    if not torch.isfinite(scores).all() and not predictor.reading.is_decided(scores):
        raise ModelError(f"the model's output at {asked} is not usable: {_rounded(scores)}")


def _rounded(scores: Tensor) -> list[float]:
    return [round(float(score), 4) for score in scores]
