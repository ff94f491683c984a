"""What every evaluator offers to the searches."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from zorro.computational_graph import ComputationalGraph
from zorro.selection import Selection


class Evaluator(ABC):
    """Tells, sample by sample, what the model says when all but a selection is noise.

    Sample s of selection S is the input Y_s = X ⊙ M(S) + Z_s ⊙ (1 − M(S)); it is a hit if the
    model predicts the same class on it as on X.
    """

    name: str
    graph: ComputationalGraph
    samples: int
    evaluations: int  # perturbed inputs run so far

    @property
    def shape(self) -> tuple[int, int]:
        """Number of candidate nodes and of features."""
        return self.graph.candidates.numel(), self.graph.x.size(1)

    @property
    def device(self) -> torch.device:
        """Where the evaluation runs."""
        return self.graph.x.device

    @abstractmethod
    def scores(self, selection: Selection) -> Tensor:
        """Return the query's class scores (S, C) under a selection."""

    @abstractmethod
    def scores_adding_nodes(self, selection: Selection, rows: Tensor) -> Tensor:
        """Return the scores (r, S, C) of a selection with one of `rows` (r,) added."""

    @abstractmethod
    def scores_adding_features(self, selection: Selection, columns: Tensor) -> Tensor:
        """Return the scores (k, S, C) of a selection with one of `columns` (k,) added."""

    def hits(self, selection: Selection) -> Tensor:
        """Return for each sample whether a selection keeps the prediction, (S,) bool."""
        return self.scores(selection).argmax(-1) == self.graph.predicted_class

    def hits_adding_nodes(self, selection: Selection, rows: Tensor) -> Tensor:
        """Return the hits (r, S) of a selection with one of `rows` (r,) added."""
        scores = self.scores_adding_nodes(selection, rows)
        return scores.argmax(-1) == self.graph.predicted_class

    def hits_adding_features(self, selection: Selection, columns: Tensor) -> Tensor:
        """Return the hits (k, S) of a selection with one of `columns` (k,) added."""
        scores = self.scores_adding_features(selection, columns)
        return scores.argmax(-1) == self.graph.predicted_class
