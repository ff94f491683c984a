"""The input with an explanation kept or removed, and what the model says about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from zorro.errors import InputError, ModelError
from zorro.metrics.mask import checked_mask

ClassScores: TypeAlias = Callable[[Tensor], Tensor]
"""Maps a feature matrix (n, d) to the class scores (C,) of the query node.

`lambda x: model(x, edge_index)[query]` serves, on the whole graph or on an extracted one: all
that varies between models and graphs is inside.
"""

Baseline: TypeAlias = Tensor | Literal["zeros"]
"""What entries outside an explanation are set to: zeros, or one value a feature, (d,)."""


def keep_selected(x: Tensor, *, nodes: Tensor, features: Tensor, baseline: Baseline) -> Tensor:
    """Return the explanation alone: X ⊙ M + B ⊙ (1 − M), M the outer product of the masks."""
    mask = _outer(x, nodes=nodes, features=features)  # (n, d)
    return x * mask + _row(baseline, like=x) * (1 - mask)


def remove_selected(x: Tensor, *, nodes: Tensor, features: Tensor, baseline: Baseline) -> Tensor:
    """Return the input without the explanation, X∖S: X ⊙ (1 − M) + B ⊙ M."""
    mask = _outer(x, nodes=nodes, features=features)  # (n, d)
    return x * (1 - mask) + _row(baseline, like=x) * mask


def class_scores(scores: ClassScores, x: Tensor) -> Tensor:
    """Return the query's class scores (C,) for the features `x`."""
    with torch.no_grad():
        output = scores(x)
    if not isinstance(output, Tensor) or output.dim() != 1 or output.numel() < 2:
        came = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise ModelError(
            f"scores: expected the query's class scores, a tensor (C,) with C ≥ 2, got "
            f"{came}: select the query's row, and give a one-score model a second class"
        )
    if bool(output.isnan().any()):
        raise ModelError("scores: expected numbers, got NaN: check the model and the baseline")
    return output


def predicted_class(scores: ClassScores, x: Tensor) -> int:
    """Return the class with the highest score, the lowest of several."""
    return int(class_scores(scores, x).argmax())


def _outer(x: Tensor, *, nodes: Tensor, features: Tensor) -> Tensor:
    if not isinstance(x, Tensor) or x.dim() != 2 or not x.is_floating_point():
        came = f"{tuple(x.shape)} {x.dtype}" if isinstance(x, Tensor) else type(x).__name__
        raise InputError(f"x: expected a floating-point feature matrix (n, d), got {came}")
    rows = _share(nodes, name="nodes", length=x.size(0)).to(x)  # (n,)
    columns = _share(features, name="features", length=x.size(1)).to(x)  # (d,)
    return torch.outer(rows, columns)


def _share(mask: Tensor, *, name: str, length: int) -> Tensor:
    mask = checked_mask(mask, name=name, length=length)
    if bool(((mask < 0) | (mask > 1)).any()):
        raise InputError(
            f"{name}: expected values between 0 and 1, got {float(mask.min())} to "
            f"{float(mask.max())}: scale a soft mask, for example mask / mask.max()"
        )
    return mask


def _row(baseline: Baseline, *, like: Tensor) -> Tensor:
    if isinstance(baseline, Tensor):
        return checked_mask(baseline, name="baseline", length=like.size(1)).to(like)  # (d,)
    if baseline != "zeros":
        raise InputError(
            f"baseline: expected 'zeros' or a tensor (d,), got {baseline!r}: for the feature means "
            f"of a data set pass them, baseline=data.x.mean(dim=0)"
        )
    return like.new_zeros(like.size(1))  # (d,)
