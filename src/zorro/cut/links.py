"""Links of one graph: a link that is asked about carries no messages itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.extractor import Extractor
from zorro.cut.perturbed import Perturbed
from zorro.cut.reach import Reach
from zorro.errors import InputError
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.question import Query
from zorro.question.asking import ABOUT_LINKS
from zorro.question.decision import Comparison, Decision, StaysAhead


class Links:
    """Gives the computational graphs of links: what either end can see.

    Args:
        extractor: of the graph, asked about links.
        graph: as it was given.
        carries_messages: whether the queried link, if it is an edge of the graph, stays one while
            it is asked about.
    """

    def __init__(self, extractor: Extractor, graph: Graph, *, carries_messages: bool) -> None:
        self._extractor = extractor
        self._graph = graph
        self._carries_messages = carries_messages
        self._current = extractor  # of the last query

    @property
    def predictor(self) -> Predictor:
        """The model."""
        return self._extractor.predictor

    @property
    def reach(self) -> Reach:
        """How far the model sees."""
        return self._current.reach

    @property
    def can_widen(self) -> bool:
        """Whether there may be more candidates than a cut has at first."""
        return self._current.can_widen

    def question(self, asked: Any, comparison: Comparison) -> Query:
        """Return the query about a link, alone or compared with others from the same node."""
        query = ABOUT_LINKS.query(asked, self._graph.num_nodes)
        return ABOUT_LINKS.compared(query, comparison, self._graph.num_nodes)

    def edges_between(self, graph: ComputationalGraph, sender: int, receiver: int) -> int:
        """Return how many edges lead from a node to another and carry messages."""
        asked = [{graph.asked.index, end} for end in graph.asked.ends]
        if {sender, receiver} in asked and not self._carries_messages:
            return 0
        return self._extractor.edges_between(graph, sender, receiver)

    def decision(self, graph: ComputationalGraph, comparison: Comparison) -> Decision:
        """Return what counts as the same answer: that the link stays ahead, or stays a link."""
        if graph.asked.rivals:
            return StaysAhead(comparison.top)
        return self.predictor.reading.decision(graph.scores, Comparison())

    def cuts(self, asked: Any) -> Iterator[ComputationalGraph]:
        """Yield the computational graph of a link, then wider ones if there are any."""
        query = ABOUT_LINKS.query(asked, self._graph.num_nodes)
        self._current = self._without_links(query)
        yield from self._current.cuts(query)

    def with_all_else_redrawn(
        self, graph: ComputationalGraph, inputs: Perturbed, *, on_the_cut: bool
    ) -> Tensor:
        """Return the query's scores (S, C) for samples of its input, all else being redrawn."""
        return self._current.with_all_else_redrawn(graph, inputs, on_the_cut=on_the_cut)

    def _without_links(self, query: Query) -> Extractor:
        """Return what cuts out of the graph without the edges that are asked about."""
        if self._carries_messages:
            return self._extractor
        edge_index = self._graph.edges.in_memory
        if edge_index is None:
            raise InputError(
                "carries_messages: expected True for a stored graph, whose edges are not taken out"
            )
        asked = torch.zeros_like(edge_index[0], dtype=torch.bool)
        for end in query.ends:
            for sender, receiver in ((query.index, end), (end, query.index)):
                asked |= (edge_index[0] == sender) & (edge_index[1] == receiver)
        if not bool(asked.any()):
            return self._extractor
        nodes = torch.arange(self._graph.num_nodes, device=edge_index.device)
        rest = (~asked).nonzero().flatten()
        kwargs = self._graph.extras.subgraph(nodes, rest).copies(1)
        return self._extractor.on(
            Graph(self._graph.x, edge_index[:, rest], kwargs, self._graph.directed)
        )
