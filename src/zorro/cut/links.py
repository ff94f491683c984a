"""Links of one graph: a link that is asked about carries no messages itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.extractor import Extractor
from zorro.cut.perturbed import Perturbed
from zorro.cut.reach import Reach
from zorro.elements.types import EDGE_TYPE
from zorro.errors import InputError
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.question import Query
from zorro.question.asking import ABOUT_LINKS, AboutLinks
from zorro.question.decision import Comparison, Decision, StaysAhead


class Links:
    """Gives the computational graphs of links: what either end can see.

    Args:
        extractor: of the graph, asked about links.
        graph: as it was given.
        carries_messages: whether the queried link, if it is an edge of the graph, stays one while
            it is asked about.
        asking: which links there are to ask about.
        relations: numbers of those whose edges such a link is, where there are several; an edge of
            another one between the same nodes is no part of the question.
    """

    def __init__(
        self,
        extractor: Extractor,
        graph: Graph,
        *,
        carries_messages: bool,
        asking: AboutLinks = ABOUT_LINKS,
        relations: Sequence[int] | None = None,
    ) -> None:
        self._asking = asking
        self._relations = relations
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
        query = self._asking.query(asked, self._graph.num_nodes)
        return self._asking.compared(query, comparison, self._graph.num_nodes)

    def edges_between(self, graph: ComputationalGraph, sender: int, receiver: int) -> int:
        """Return how many edges lead from a node to another and carry messages."""
        asked = [{graph.asked.index, end} for end in graph.asked.ends]
        there = self._extractor.edges_between(graph, sender, receiver)
        if {sender, receiver} not in asked or self._carries_messages:
            return there
        return there - int(self._between(sender, receiver).sum())

    def decision(self, graph: ComputationalGraph, comparison: Comparison) -> Decision:
        """Return what counts as the same answer: that the link stays ahead, or stays a link."""
        if graph.asked.rivals:
            return StaysAhead(comparison.top)
        return self.predictor.reading.decision(graph.scores, Comparison())

    def cuts(self, asked: Any) -> Iterator[ComputationalGraph]:
        """Yield the computational graph of a link, then wider ones if there are any."""
        query = self._asking.query(asked, self._graph.num_nodes)
        self._current = self._without_links(query)
        yield from self._current.cuts(query)

    def with_all_else_redrawn(
        self, graph: ComputationalGraph, inputs: Perturbed, *, on_the_cut: bool, first: int
    ) -> Tensor:
        """Return the query's scores (S, C) for samples of its input, all else being redrawn."""
        return self._current.with_all_else_redrawn(
            graph, inputs, on_the_cut=on_the_cut, first=first
        )

    def _without_links(self, query: Query) -> Extractor:
        """Return what cuts out of the graph without the edges that are asked about."""
        if self._carries_messages:
            return self._extractor
        edge_index = self._graph.edges.in_memory
        if edge_index is None:
            raise InputError(
                "carries_messages: expected True for a stored graph, whose edges are not taken "
                "out, got False"
            )
        asked = torch.zeros_like(edge_index[0], dtype=torch.bool)
        for end in query.ends:
            asked |= self._between(query.index, end) | self._between(end, query.index)
        if not bool(asked.any()):
            return self._extractor
        nodes = torch.arange(self._graph.num_nodes, device=edge_index.device)
        rest = (~asked).nonzero().flatten()
        kwargs = self._graph.model_inputs.subgraph(nodes, rest).as_kwargs()
        return self._extractor.on(
            replace(self._graph, edge_index=edge_index[:, rest], model_kwargs=kwargs)
        )

    def _between(self, sender: int, receiver: int) -> Tensor:
        """Return which edges (E,) are a link that is asked about, from a node to another."""
        edge_index = self._graph.edges.in_memory
        assert edge_index is not None
        between = (edge_index[0] == sender) & (edge_index[1] == receiver)
        if self._relations is None:
            return between
        own = torch.tensor(self._relations, dtype=torch.long, device=edge_index.device)
        return between & torch.isin(self._graph.model_inputs.edge[EDGE_TYPE], own)
