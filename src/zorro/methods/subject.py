"""What every method is asked: one prediction, on the graph that it can see."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from zorro.cut import ComputationalGraph
from zorro.model.predictor import Predictor


@dataclass(frozen=True)
class Subject:
    """A prediction to be explained.

    All methods look at the same computational graph, on which the model's output at the query is
    that on the whole graph. Its rows 0 … n−1 are candidates; the rows after them are context, which
    keeps its features and is not explained. Where a whole graph is the query, all nodes are
    candidates.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)  # its friends are 0 and 3
    >>> subject.candidates, subject.query_row, subject.predicted_class
    (3, 2, 1)
    >>> subject.graph.candidates
    tensor([ 0,  3, 12])
    >>> subject.scores(subject.graph.x)
    tensor([0., 2., 0., 0.])

    Args:
        predictor: the model as a pure function.
        graph: of the query.
        seed: of whatever is random about a method; the query is part of it.
    """

    predictor: Predictor
    graph: ComputationalGraph
    seed: int = 0

    @property
    def model(self) -> nn.Module:
        """The model itself, for methods that need more than its output."""
        return self.predictor.model

    @property
    def candidates(self) -> int:
        """How many rows may be selected."""
        return self.graph.candidates.numel()

    @property
    def query_row(self) -> int | None:
        """The query's own row; None where the query is a whole graph."""
        return self.graph.target if self.graph.asked.level == "node" else None

    @property
    def predicted_class(self) -> int:
        """The class that is explained."""
        return self.graph.predicted_class

    def scores(self, x: Tensor, *, differentiable: bool = False) -> Tensor:
        """Return the query's class scores (C,) for features x (n + c, d).

        Args:
            x: (n + c, d), the candidates' rows and then those of the context.
            differentiable: whether gradients are to flow back to x.
        """
        every = self.every_score(x, differentiable=differentiable)
        return self.graph.readout.rows(every, 1)[0]

    def every_score(self, x: Tensor, *, differentiable: bool = False) -> Tensor:
        """Return all class scores that the model gives for features x (n + c, d).

        They are those of all nodes (n + c, C), or of the one graph (1, C).

        Args:
            x: (n + c, d), the candidates' rows and then those of the context.
            differentiable: whether gradients are to flow back to x.
        """
        graph = self.graph
        return self.predictor.scores(
            x,
            graph.edge_index,
            graph.further_inputs,
            rows=graph.readout.count(1, x.size(0)),
            differentiable=differentiable,
        )

    def generator(self) -> torch.Generator:
        """Return a generator of this query's own."""
        return torch.Generator().manual_seed(self.seed * 1_000_003 + self.graph.query)
