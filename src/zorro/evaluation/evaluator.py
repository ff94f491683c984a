"""What every evaluator offers to the searches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.cut.perturbed import Perturbed
from zorro.elements import (
    COARSE,
    EDGE_ATTRIBUTES,
    EDGES,
    FEATURES,
    NODES,
    Element,
    Kind,
    Selection,
    Space,
    everything_of,
    nothing_of,
)
from zorro.noise.edges import EdgesOfSamples
from zorro.question.event import Event

# How much each element of each selectable kind would add to the event's log-probability, to first
# order; infinite where the first order says nothing: such an element is to be tested.
Gains = Mapping[Kind, Tensor]


def do_nothing() -> None:
    """Take no notice of a batch."""


class Evaluator(ABC):
    """Tells, sample by sample, what the model says when all but a selection is noise.

    Sample s of selection S is the input Y_s = X ⊙ M(S) + Z_s ⊙ (1 − M(S)); it is a hit if the
    event happens on it: that the model predicts the same class as on X, unless another is asked
    for.
    """

    name: str
    reason: str = ""  # why it is this one, if it is not the fastest
    graph: ComputationalGraph
    event: Event
    space: Space
    samples: int
    _few: Evaluator | None = None  # on the first samples alone

    @property
    @abstractmethod
    def evaluations(self) -> int:
        """Perturbed inputs run so far."""

    @property
    def reads_candidates_only(self) -> bool:
        """Whether the query's output is known to rest on no other node's features."""
        return False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of candidate nodes and of features."""
        return self.graph.candidates.numel(), self.graph.x.size(1)

    @property
    def device(self) -> torch.device:
        """Where the evaluation runs."""
        return self.graph.x.device

    @property
    def nothing(self) -> Selection:
        """The empty set."""
        return nothing_of(self.space)

    @property
    def everything(self) -> Selection:
        """All elements."""
        return everything_of(self.space)

    @abstractmethod
    def scores(self, selection: Selection) -> Tensor:
        """Return the query's class scores (S, C) under a selection."""

    @abstractmethod
    def inputs(self, selection: Selection) -> Tensor:
        """Return the perturbed inputs (S, n, d) of a selection."""

    @abstractmethod
    def edges_under(self, selection: Selection) -> EdgesOfSamples | None:
        """Return which edges the samples have under a selection, where they may differ."""

    def some(self, samples: range, selection: Selection) -> tuple[Perturbed, Tensor]:
        """Return some samples under a selection, and their scores (s, C)."""
        few = self.only(torch.arange(samples.start, samples.stop, device=self.device))
        perturbed = Perturbed(few.inputs(selection), few.edges_under(selection))
        return perturbed, few.scores(selection)

    def is_unlike_the_model(self, selection: Selection) -> bool:
        """Whether samples under a selection are seen to be scored in another way than the model's.

        Who asks for an evaluator anew then gets one that runs the model.
        """
        return False

    @abstractmethod
    def run_alone(self, inputs: Perturbed) -> Tensor:
        """Return the model's scores (b, C) on inputs of which each is run by itself."""

    @abstractmethod
    def reject(self, scores: Tensor, alone: Tensor) -> None:
        """Take note that an input with such scores (C,) had others when it was run by itself.

        Who asks for an evaluator anew then gets one that is slower and does not have this flaw.
        Raises `ModelError` if there is none.
        """

    def scores_toggling(self, selection: Selection, kind: Kind, members: Tensor) -> Tensor:
        """Return the scores (k, S, C) of a selection with one of a kind's members (k,) added.

        One that is selected already is taken out instead. Rows and columns are changed where they
        stand; with several rows, columns or edges to an element each set is evaluated on its own.
        """
        toggling = {
            NODES: self._scores_toggling_rows,
            FEATURES: self._scores_toggling_columns,
            EDGES: self._scores_toggling_edges,
            EDGE_ATTRIBUTES: self._scores_toggling_edge_attributes,
        }
        if kind in COARSE or (kind == FEATURES and self.space.groups is not None):
            return self._scores_of_each(selection, kind, members)
        return toggling[kind](selection, members)

    def _scores_of_each(self, selection: Selection, kind: Kind, members: Tensor) -> Tensor:
        """Return the scores (k, S, C) of each set by itself, with one more member or less."""
        each = [Element(kind, index) for index in members.tolist()]
        parts = [self.scores(selection.toggled(element)) for element in each]
        return torch.stack(parts) if parts else self.scores(selection).unsqueeze(0)[:0]

    @abstractmethod
    def _scores_toggling_rows(self, selection: Selection, rows: Tensor) -> Tensor:
        """Return the scores (k, S, C) with one of `rows` (k,) added, or taken out if there."""

    @abstractmethod
    def _scores_toggling_columns(self, selection: Selection, columns: Tensor) -> Tensor:
        """Return the scores (k, S, C) with one of `columns` (k,) added, or taken out if there."""

    @abstractmethod
    def _scores_toggling_edges(self, selection: Selection, edges: Tensor) -> Tensor:
        """Return the scores (k, S, C) with one of `edges` (k,) added, or taken out if there."""

    @abstractmethod
    def _scores_toggling_edge_attributes(self, selection: Selection, edges: Tensor) -> Tensor:
        """Return the scores (k, S, C) with the attributes of one of `edges` (k,) kept, or not."""

    @abstractmethod
    def gains(self, selection: Selection) -> Gains | None:
        """Return what each element would add to the mean log-probability of the event.

        First order: the gradient at the perturbed inputs times the change that the element makes.
        Nothing is added while the other side of the selection is empty. None where the model
        gives no gradient with respect to its input.
        """

    def gains_on(self, samples: int, selection: Selection) -> Gains | None:
        """Return the gains on so many of the samples alone, which are enough to rank by.

        They are taken evenly from all, two neighbours at a time, which share random words.
        """
        return self.on_few(samples).gains(selection)

    def on_few(self, samples: int) -> Evaluator:
        """Return an evaluator on so many of the samples, or on all if there are no more."""
        if samples >= self.samples:
            return self
        if self._few is None or self._few.samples != samples:
            self._few = self.only(self.few(samples))
        return self._few

    def few(self, samples: int) -> Tensor:
        """Return the numbers of so many of the samples, evenly from all and two by two."""
        each = torch.arange(samples, device=self.device)
        before = each // 2 * ((self.samples - samples) // 2) // max(1, (samples - 1) // 2)
        return each + 2 * before

    @property
    def _evaluations_on_few(self) -> int:
        return 0 if self._few is None else self._few.evaluations

    @property
    @abstractmethod
    def cost_per_sample(self) -> float:
        """What drawing a further sample costs, in nanoseconds, roughly and by its size.

        It decides how many are planned, so that it must be the same for every evaluator.
        """

    @property
    def bytes_per_sample(self) -> int:
        """What is kept of a sample as long as the evaluator is."""
        return 0

    @property
    @abstractmethod
    def least_memory(self) -> int:
        """Bytes without which there is no evaluating."""

    @abstractmethod
    def only(self, samples: Tensor) -> Evaluator:
        """Return an evaluator on some of the samples (q,), ascending."""

    @abstractmethod
    def joined(self, others: Sequence[Evaluator]) -> Evaluator:
        """Return an evaluator on these samples and those of others of the same query."""

    def hits(self, selection: Selection) -> Tensor:
        """Return for each sample whether a selection makes the event happen, (S,) bool."""
        return self.event.happens(self.scores(selection))

    def hits_toggling(self, selection: Selection, kind: Kind, members: Tensor) -> Tensor:
        """Return the hits (k, S) of a selection with one of a kind's members added or taken out."""
        return self.event.happens(self.scores_toggling(selection, kind, members))
