"""What each element of a set is worth to it: the fidelity that is lost without it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.elements import Element, Kind, Selection
from zorro.elements.edges import Member
from zorro.evaluation.evaluator import Evaluator
from zorro.evaluation.evidence import clopper_pearson
from zorro.explanation.members import ids_of

SAMPLES = 200  # fresh ones, on which sets are compared with and without an element
_AT_ONCE = 64  # elements whose scores on all samples are held together


@dataclass(frozen=True)
class Loss:
    """Samples in which one element decides.

    Args:
        members: the element's ids, as of a `Step`.
        broken: how many keep the answer with it and not without it.
        mended: how many keep the answer without it and not with it.
    """

    members: tuple[Member, ...]
    broken: int
    mended: int


@dataclass(frozen=True)
class ElementLoss:
    """The fidelity that is lost without an element, F(S) − F(S ∖ e).

    Args:
        members: the element's ids, as of a `Step`.
        value: as measured.
        lower: lower end of its interval.
        upper: upper end.
    """

    members: tuple[Member, ...]
    value: float
    lower: float
    upper: float

    def __repr__(self) -> str:
        ends = f"[{self.lower:.2f}, {self.upper:.2f}]"
        return f"ElementLoss({self.members}: {self.value:.2f} {ends})"


@dataclass(frozen=True)
class Losses:
    """What each element of a set is worth to it, on samples that the search has not seen.

    Args:
        samples: on how many the set was measured with and without each element.
        confidence: of each interval.
        of: the elements of each kind, that which is worth most first.
    """

    samples: int
    confidence: float
    of: Mapping[str, tuple[Loss, ...]]

    def intervals(self, kind: str) -> list[ElementLoss]:
        """Return the losses of a kind, the largest first, each with its interval.

        The loss is the share of samples that an element breaks less the share that it mends. Each
        of them has an exact interval at half the error (Clopper and Pearson), so that the
        difference of their ends holds the true loss with the confidence at least.
        """
        tail = (1 - self.confidence) / 4
        found = []
        for loss in self.of.get(kind, ()):
            broken = clopper_pearson(loss.broken, self.samples, tail)
            mended = clopper_pearson(loss.mended, self.samples, tail)
            value = (loss.broken - loss.mended) / self.samples
            lower, upper = broken[0] - mended[1], broken[1] - mended[0]
            found.append(ElementLoss(loss.members, value, lower, upper))
        return found


def losses_of(
    held_out: Iterable[tuple[Evaluator, Tensor]],
    selection: Selection,
    graph: ComputationalGraph,
    *,
    confidence: float,
    added: Sequence[Element] = (),
) -> Losses:
    """Return what each kept element is worth to a selection.

    Where two are worth the same, that comes first which the search added first.

    Args:
        held_out: evaluators of the query, each on some samples that nobody has seen, and on which
            of them the set keeps the answer, (S,) bool.
        selection: the set.
        graph: of the query.
        confidence: of the intervals.
        added: elements in the order in which the search added them.
    """
    turn = {element: at for at, element in enumerate(added)}
    members = {kind: selection.members(kind) for kind in selection.space.kinds}
    counts = {
        kind: torch.zeros(2, len(places), dtype=torch.long) for kind, places in members.items()
    }
    samples = 0
    for evaluator, stays in held_out:
        samples += evaluator.samples
        for kind, places in members.items():
            counts[kind] += _counted(evaluator, stays, selection, kind, places)
    of: dict[str, tuple[Loss, ...]] = {}
    for kind, places in members.items():
        each = list(zip(places.tolist(), *counts[kind].tolist(), strict=True))
        each.sort(key=lambda it: (it[2] - it[1], turn.get(Element(kind, it[0]), len(turn)), it[0]))
        of[kind] = tuple(
            Loss(ids_of(Element(kind, place), selection.space, graph), broken, mended)
            for place, broken, mended in each
        )
    return Losses(samples, confidence, of)


def _counted(
    evaluator: Evaluator, stays: Tensor, selection: Selection, kind: Kind, places: Tensor
) -> Tensor:
    """Return in how many samples each element breaks the answer, and in how many it mends it."""
    found = [torch.zeros(2, 0, dtype=torch.long)]
    for some in torch.split(places, _AT_ONCE):
        if not some.numel():
            continue
        without = evaluator.hits_toggling(selection, kind, some)  # (k, S)
        broken, mended = (stays & ~without).sum(1), (~stays & without).sum(1)
        found.append(torch.stack([broken, mended]).cpu())
    return torch.cat(found, dim=1)
