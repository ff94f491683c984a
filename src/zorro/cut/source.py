"""Where computational graphs come from: one graph that is cut, or many that are taken whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from torch import Tensor

from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.perturbed import Perturbed
from zorro.cut.reach import Reach
from zorro.model.predictor import Predictor
from zorro.question.decision import Comparison, Decision


class Source(Protocol):
    """Gives the computational graphs of queries."""

    @property
    def predictor(self) -> Predictor:
        """The model."""
        ...

    @property
    def can_widen(self) -> bool:
        """Whether there may be more candidates than a cut has at first."""
        ...

    @property
    def reach(self) -> Reach:
        """How far the model sees."""
        ...

    def with_all_else_redrawn(
        self, graph: ComputationalGraph, inputs: Perturbed, *, on_the_cut: bool, first: int
    ) -> Tensor:
        """Return the query's scores (S, C) for samples of its input, all else being redrawn.

        Args:
            graph: of the query.
            inputs: the samples.
            on_the_cut: whether nothing further away is redrawn than what was cut out.
            first: which sample is the first of them; others of these have other noise.
        """
        ...

    def question(self, asked: Any, comparison: Comparison) -> Any:
        """Return what is asked, with all that it is compared with."""
        ...

    def decision(self, graph: ComputationalGraph, comparison: Comparison) -> Decision:
        """Return what counts as the same answer for a query."""
        ...

    def edges_between(self, graph: ComputationalGraph, sender: int, receiver: int) -> int:
        """Return how many edges lead from a node to another, where a query's graph is cut from."""
        ...

    def cuts(self, asked: Any) -> Iterator[ComputationalGraph]:
        """Yield the computational graph of a query, then wider ones if there are any."""
        ...
