"""What the traced evaluator raises where it cannot serve."""

from __future__ import annotations

from torch import Tensor


class Unserved(Exception):  # noqa: N818 - not an error of the caller's: the other evaluator serves
    """The traced evaluator cannot serve this model; the message says why."""


def in_what_they_differ(traced: Tensor, true: Tensor) -> str:
    """Return the reason that traced scores (C,) of an input are not the model's."""
    ours, theirs = ([round(float(score), 4) for score in scores] for scores in (traced, true))
    return f"its traced scores {ours} are not the model's {theirs}"
