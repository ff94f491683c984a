"""The part of a graph on which a query is explained."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from zorro.elements.edges import EdgeElements, TypedEdges
from zorro.elements.types import EDGE_TYPE, Types
from zorro.graph.model_inputs import ModelInputs
from zorro.question import Query
from zorro.question.readout import Readout


@dataclass(frozen=True)
class ComputationalGraph:
    """The subgraph on which a query is explained.

    Rows 0 … n−1 of `x` are the candidates, in ascending order of their ids in the whole graph;
    the rows after them are context: nodes whose features are never candidates but whose edges
    the candidates' layers need (a degree-normalising layer must see all neighbours of the
    outermost candidates).
    """

    asked: Query
    readout: Readout  # how the query's output is read off the model's
    candidates: Tensor  # (n,) ids in the whole graph
    context: Tensor  # (c,) ids in the whole graph
    x: Tensor  # (n + c, d)
    edge_index: Tensor  # (2, e), rows of x
    model_inputs: ModelInputs
    target: int  # the query's row
    hops: int
    both_ways: bool  # whether candidates are found against the direction of messages too
    halo: int
    checked: str  # what the output was compared with: "whole", "local" or "none"
    whole: bool  # evaluated on the whole graph because no cut preserved the prediction
    context_matters: bool  # the context's features move the prediction too
    scores: Tensor  # (C,), the model's output at the query
    num_nodes: int  # of the whole graph
    directed: bool = False  # whether the two directions of an edge are two elements
    types: Types | None = None  # of nodes and edges, where there are several

    @cached_property
    def edges(self) -> EdgeElements:
        """The edges as elements, by the ids of their nodes in the whole graph."""
        ids = torch.cat([self.candidates, self.context])
        return self.elements_of(ids[self.edge_index], self.model_inputs)

    def elements_of(self, edge_index: Tensor, model_inputs: ModelInputs) -> EdgeElements:
        """Return columns (2, e), by ids in the whole graph, as the elements that they make up."""
        attributes = dict(model_inputs.edge)
        typed = None
        if self.types is not None:
            typed = TypedEdges.of(attributes.pop(EDGE_TYPE), self.types)
        return EdgeElements.of(
            edge_index, attributes, nodes=self.num_nodes, directed=self.directed, typed=typed
        )

    @property
    def relations_of_edges(self) -> Tensor:
        """The relation (m,) of each edge that is an element."""
        return self.edges.number % self.edges.relations

    @property
    def query(self) -> int:
        """The query's key: its noise is addressed by it."""
        return self.asked.key

    @property
    def further_inputs(self) -> dict[str, Any]:
        """What the model takes besides features and edges."""
        readout = self.readout.inputs(1, self.x.size(0), self.x.device)
        return {**self.model_inputs.as_kwargs(), **readout}

    @property
    def candidate_x(self) -> Tensor:
        """The candidates' true features, (n, d)."""
        return self.x[: self.candidates.numel()]

    @property
    def predicted_class(self) -> int:
        """The class that the model predicts for the query."""
        return int(self.scores.argmax())

    @property
    def holds_all(self) -> bool:
        """Whether every node of the whole graph is a candidate."""
        return self.whole and self.context.numel() == 0
