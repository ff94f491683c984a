"""Fidelity of one set after the other for one prediction, on the same samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import SupportsIndex

import torch
from torch import Tensor

from zorro.arguments import whole_numbers
from zorro.cut import ComputationalGraph
from zorro.elements import Selection
from zorro.evaluation import FidelityEstimate
from zorro.evaluation.evaluator import Evaluator
from zorro.model.inference_mode import outside_inference_mode


class Meter:
    """Measures sets of nodes and features for one query.

    What costs most, to cut out the computational graph and to draw the noise, is done once, and
    sets are compared on the same noise.

    Args:
        graph: of the query.
        evaluator: gives what evaluates; asked when the first set is measured.
        confidence: of the intervals.
    """

    def __init__(
        self,
        graph: ComputationalGraph,
        evaluator: Callable[[], Evaluator],
        *,
        confidence: float,
    ) -> None:
        self.graph = graph
        self._make_evaluator = evaluator
        self._confidence = confidence

    def fidelity(
        self,
        *,
        nodes: Iterable[SupportsIndex] | None = None,
        features: Iterable[SupportsIndex] | None = None,
    ) -> FidelityEstimate:
        """Measure the RDT-fidelity of a set.

        Args:
            nodes: V_s, ids in the whole graph; all candidates when None. Nodes that the
                prediction cannot see make no difference. A mask (N,) will do too.
            features: F_s; all when None. A mask (d,) will do too.
        """
        return self.judged(self.scores(nodes=nodes, features=features))

    @outside_inference_mode
    def scores(
        self,
        *,
        nodes: Iterable[SupportsIndex] | None = None,
        features: Iterable[SupportsIndex] | None = None,
    ) -> Tensor:
        """Return the model's scores (S, C), sample by sample, with all but a set redrawn.

        Args:
            nodes: V_s, ids in the whole graph; all candidates when None. Nodes that the
                prediction cannot see make no difference. A mask (N,) will do too.
            features: F_s; all when None. A mask (d,) will do too.
        """
        columns = torch.arange(self.graph.x.size(1), device=self.graph.x.device)
        selection = Selection.of(
            _chosen("nodes", nodes, self.graph.num_nodes, of=self.graph.candidates),
            _chosen("features", features, columns.numel(), of=columns),
        )
        return self.evaluator.scores(selection)

    def judged(self, scores: Tensor) -> FidelityEstimate:
        """Return in how many of the samples the answer stays, by their scores (S, C)."""
        hits = self.evaluator.event.happens(scores)
        return FidelityEstimate(int(hits.sum()), hits.numel(), self._confidence)

    @cached_property
    def evaluator(self) -> Evaluator:
        """What evaluates sets on the samples."""
        return self._make_evaluator()


def _chosen(name: str, members: Iterable[SupportsIndex] | None, size: int, *, of: Tensor) -> Tensor:
    """Return which of the ids `of` are among `members`, which lie below `size`; None is all."""
    if members is None:
        return torch.ones_like(of, dtype=torch.bool)
    indices = torch.tensor(whole_numbers(name, members, size), dtype=of.dtype, device=of.device)
    return torch.isin(of, indices)
