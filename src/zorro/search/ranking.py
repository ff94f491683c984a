"""How much each element matters to a set: what it brings while all others stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.elements import Kind, Selection
from zorro.evaluation.evaluator import Evaluator
from zorro.question.event import Event, StaysBetween

_AT_ONCE = 256  # elements whose scores on all samples are held together


@dataclass(frozen=True)
class Contributions:
    """What each element of a kind brings to a set, by its place.

    Args:
        fidelity: (k,), F(S ∪ e) − F(S ∖ e).
        probability: (k,), the same of the event's mean probability, which still tells elements
            apart where no answer changes.
        value: (k,), the same of the mean output, where that is a value and not scores.
    """

    fidelity: Tensor
    probability: Tensor
    value: Tensor | None = None


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
            _changes(evaluator.event, scores, evaluator.scores_toggling(selection, kind, some))
            for some in torch.split(places, _AT_ONCE)
        ]
        sign = 1.0 - 2.0 * selection.masks[kind].double()  # (k,), −1 where toggling takes out
        found[kind] = Contributions(
            *(sign * torch.cat(each) for each in zip(*parts, strict=True))  # (k,)
        )
    return found


def _changes(event: Event, before: Tensor, after: Tensor) -> list[Tensor]:
    """Return what other scores (k, S, C) than (S, C) make of each mean of `Contributions`, (k,)."""
    means: list[Callable[[Tensor], Tensor]] = [
        event.happens,
        lambda scores: event.log_probability(scores).double().exp(),
    ]
    if isinstance(event, StaysBetween):
        means.append(lambda scores: scores[..., 0])
    return [of(after).double().mean(1) - of(before).double().mean() for of in means]
