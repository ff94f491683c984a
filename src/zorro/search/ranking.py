"""How much each element matters to a set: what it brings while all others stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.elements import Kind, Selection
from zorro.evaluation.evaluator import Evaluator

_AT_ONCE = 256  # elements whose scores on all samples are held together


@dataclass(frozen=True)
class Contributions:
    """What each element of a kind brings to a set, by its place.

    Args:
        fidelity: (k,), F(S ∪ e) − F(S ∖ e).
        probability: (k,), the same of the event's mean probability, which still tells elements
            apart where no answer changes.
    """

    fidelity: Tensor
    probability: Tensor


def contributions(evaluator: Evaluator, selection: Selection) -> Mapping[Kind, Contributions]:
    """Return what each selectable element brings to a selection, kind by kind.

    For an element that is kept: what is lost when it is redrawn too; for one that is not: what is
    gained when it is added. All are compared on the evaluator's samples.
    """
    scores = evaluator.scores(selection)  # (S, C)
    found = {}
    for kind, size in evaluator.space.sizes.items():
        places = torch.arange(size, device=evaluator.device)
        parts = [
            _changes(evaluator, scores, evaluator.scores_toggling(selection, kind, some))
            for some in torch.split(places, _AT_ONCE)
        ]
        sign = 1.0 - 2.0 * selection.masks[kind].double()  # (k,), −1 where toggling takes out
        found[kind] = Contributions(
            *(sign * torch.cat(each) for each in zip(*parts, strict=True))  # (k,)
        )
    return found


def _changes(evaluator: Evaluator, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
    """Return what other scores (k, S, C) than (S, C) make of fidelity and probability, (k,)."""
    event = evaluator.event
    hits = event.happens(after).double().mean(1) - event.happens(before).double().mean()
    probability = (event.log_probability(each).double().exp() for each in (after, before))
    return hits, next(probability).mean(1) - next(probability).mean()
