"""How much each element matters to a set: what it brings while all others stay as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.elements import Kind, Selection
from zorro.evaluation.evaluator import Evaluator
from zorro.question.event import Event, StaysBetween

_AT_ONCE = 256  # elements whose scores on all samples are held together
_LEAST_LOG = math.log(torch.finfo(torch.float32).tiny)  # a probability below it is none
_UNSIGNED = ("influence", "moved")  # the same whether an element is added or taken out


@dataclass(frozen=True)
class Contributions:
    """What each element of a kind brings to a set, by its place.

    Args:
        fidelity: (k,), F(S ∪ e) − F(S ∖ e).
        probability: (k,), the same of the event's mean probability, which still tells elements
            apart where no answer changes.
        influence: (k,), P(the event happens with S ∪ e or with S ∖ e, and not with both).
        moved: (k,), E √|log p(with e) − log p(without e)|, p the event's probability on a sample.
        value: (k,), the same as of fidelity of the mean output, where that is a value.
    """

    fidelity: Tensor
    probability: Tensor
    influence: Tensor
    moved: Tensor
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
        joined = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
        found[kind] = Contributions(
            **{name: it if name in _UNSIGNED else sign * it for name, it in joined.items()}
        )
    return found


def _changes(event: Event, before: Tensor, after: Tensor) -> dict[str, Tensor]:
    """Return what other scores (k, S, C) than (S, C) make of each mean of `Contributions`, (k,)."""

    def log_probability(scores: Tensor) -> Tensor:
        return event.log_probability(scores).double().clamp(min=_LEAST_LOG)

    quantities: dict[str, Callable[[Tensor], Tensor]] = {
        "fidelity": lambda scores: event.happens(scores).double(),
        "probability": lambda scores: log_probability(scores).exp(),
        "moved": log_probability,
    }
    if isinstance(event, StaysBetween):
        quantities["value"] = lambda scores: scores[..., 0].double()
    changes = {name: of(after) - of(before) for name, of in quantities.items()}  # each (k, S)
    # An element that often moves the answer a little counts beside one that moves it far, but
    # seldom, as in a set that makes up for it elsewhere.
    return {
        **{name: change.mean(1) for name, change in changes.items()},
        "influence": changes["fidelity"].abs().mean(1),
        "moved": changes["moved"].abs().sqrt().mean(1),
    }
