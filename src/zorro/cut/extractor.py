"""Cuts out what a prediction can see, so that the prediction stays."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Literal, SupportsIndex, get_args

import torch
from torch import Tensor

from zorro.arguments import node_id
from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.graph_parts import GraphParts, Part
from zorro.cut.guard import Guard
from zorro.cut.reach import Reach, ReachFinder
from zorro.cut.redrawing import Redrawing
from zorro.cut.usable import refuse_random, refuse_undecided
from zorro.errors import InputError, ModelError
from zorro.graph.edge_index import Neighbours, ascending, contains
from zorro.graph.graph import Graph
from zorro.model.agreement import close, same_output
from zorro.model.model_state import Weights, node_level_state
from zorro.model.predictor import Predictor
from zorro.model.receptive_field import flow_of, hops_of
from zorro.noise import Noise, resolve
from zorro.question import Query
from zorro.question.readout import NodeRow

logger = logging.getLogger(__name__)

Check = Literal["auto", "whole", "local", "none"]
CHECKS: tuple[Check, ...] = get_args(Check)

_PURPOSE = 2  # of its noise for query 0, after all queries'
_MOST_WIDENINGS = 4
_LARGE = 1 << 20  # numbers of a cut over which there are as few passes as can be
_MOST_NUMBERS = 1 << 31  # of a pass over the whole graph, if that is what is evaluated
_COMPARE = "check='whole' to compare with the whole graph, "


class Extractor:
    """Cuts computational graphs out of one graph, for one model.

    Candidates are the nodes that the model's output at the query can depend on: those within its
    reach, which is found by redrawing what lies further away (`ReachFinder`) and can be given.
    Evaluation uses `halo` further hops of context: all edges are kept except those into the
    outermost nodes, which are there only for what they send. The output is checked, and where it
    is not the whole graph's the halo is widened. Then the context is redrawn, and where that
    moves the output there are more candidates.

    The check compares with the output on the whole graph, which is computed once for all
    queries; where no cut preserves that, the whole graph is used. Or it is local, at the cost of
    the cut alone: what lies beyond a cut can act on it only through the edges that were cut, so
    the cut's nodes are given some of these back, and the output must not move.

    Args:
        predictor: the model.
        graph: in memory or stored; node- and edge-level arguments of the model follow into a cut.
        hops: how far candidates reach; found out when None.
        halo: hops of context around them; with 0 the candidates keep the edges among them.
        check: `"whole"`, `"local"`, or `"none"`, which takes the cut as it is, prediction
            included, as the paper does with `halo=0`. `"auto"` is local for sparse features,
            which many models cannot take whole, and for stored graphs.
        noise: what unselected entries are refilled with; by it the reach is found. Rows of other
            nodes when None.
        seed: of the noise.
    """

    def __init__(
        self,
        predictor: Predictor,
        graph: Graph,
        *,
        hops: int | None = None,
        halo: int = 1,
        check: Check = "auto",
        noise: Noise | None = None,
        seed: int = 0,
    ) -> None:
        self.predictor = predictor
        self._parts = GraphParts(graph, flow=flow_of(predictor.model))
        self._hops = hops
        self._halo = halo
        self._check = self._settled_check(check)
        self._model = Redrawing(
            self._parts,
            predictor,
            resolve("rows", graph.features) if noise is None else noise,
            seed=seed,
            whole=self._check == "whole",
        )
        self.guard = Guard(self._model)
        self._weights: Weights | None = None  # with which the model was looked at
        self._is_read = False  # whether its output is what it is taken for

    def _settled_check(self, check: Check) -> Check:
        if check == "auto":
            x = self._parts.features.in_memory
            return "local" if x is None or x.layout != torch.strided else "whole"
        if check == "whole" and not self._is_in_memory:
            raise InputError(
                "check: expected 'auto', 'local' or 'none' for a stored graph, got 'whole', which "
                "would run the model on all of it"
            )
        return check

    @property
    def _is_in_memory(self) -> bool:
        parts = self._parts
        return parts.features.in_memory is not None and parts.edges.in_memory is not None

    @property
    def _can_run_whole(self) -> bool:
        return self._is_in_memory and self._parts.numbers <= _MOST_NUMBERS

    @cached_property
    def whole_scores(self) -> Tensor:
        """The model's output (N, C) on the whole graph, computed once."""
        x, edge_index = self._parts.features.in_memory, self._parts.edges.in_memory
        assert x is not None
        assert edge_index is not None
        return self.predictor.scores(x, edge_index, self._parts.extras.copies(1))

    @cached_property
    def reach(self) -> Reach:
        """How far the model sees, found once for all queries."""
        counted = hops_of(self.predictor.model)
        if self._check == "none":
            return Reach(counted if self._hops is None else self._hops)
        found = ReachFinder(self._model, hops=counted).find()
        if self._hops is not None:
            return Reach(self._hops, both_ways=found.both_ways, doubtful=found.doubtful)
        if found.hops != counted or found.both_ways or found.everything:
            logger.info("the model's layers say %d hops; it was seen to reach %s", counted, found)
        return found

    @property
    def can_widen(self) -> bool:
        """Whether there may be more candidates than those within the model's reach."""
        return self._hops is None and self._check != "none"

    def with_all_else_redrawn(
        self, graph: ComputationalGraph, inputs: Tensor, *, on_the_cut: bool
    ) -> Tensor:
        """Return the query's scores (S, C) for values (S, n, d), as the guard evaluates them."""
        return self.guard.scores(graph, inputs, on_the_cut=on_the_cut)

    def extract(self, asked: SupportsIndex) -> ComputationalGraph:
        """Return the computational graph of a node."""
        return next(self.cuts(asked))

    def cuts(self, asked: SupportsIndex) -> Iterator[ComputationalGraph]:
        """Yield the computational graph of a node, then wider ones, the whole graph last.

        A wider one is for whoever finds that more matters than the candidates of the last.
        """
        query = node_id(asked, self._parts.num_nodes)
        self._notice_other_weights()
        reach = self.reach
        if self._check == "none":
            graph = self._cut(query, reach, halo=self._halo, way=self._parts.incoming)
            self._refuse_unusable(graph)
            yield graph
            return
        graph = self._everything(query) if reach.everything else self._preserving(query, reach)
        last = 0  # candidates of the graph that was yielded last
        for _ in range(_MOST_WIDENINGS):
            while graph.context_matters and self.can_widen and not graph.holds_all:
                graph = self._wider(graph)
            if graph.candidates.numel() > last:
                if graph.context_matters:
                    self._tell_of_influence(graph)
                last = graph.candidates.numel()
                yield graph
            if graph.holds_all or not self.can_widen:
                return
            graph = self._wider(graph)
        yield self._everything(query)

    def _notice_other_weights(self) -> None:
        weights = Weights(self.predictor.model)
        if not weights.are_as(self._weights):
            self.__dict__.pop("whole_scores", None)
            self.__dict__.pop("reach", None)
            self._weights, self._is_read = weights, False

    def _wider(self, graph: ComputationalGraph) -> ComputationalGraph:
        """Return a cut with more candidates: one hop more, or all nodes if that adds none."""
        reach = Reach(graph.hops + 1, both_ways=self.reach.both_ways)
        for both_ways in (reach.both_ways, True):
            reach = replace(reach, both_ways=both_ways)
            if self._candidates(graph.query, reach).numel() > graph.candidates.numel():
                return self._preserving(graph.query, reach)
        return self._everything(graph.query)

    def _preserving(self, query: int, reach: Reach) -> ComputationalGraph:
        """Return the smallest cut that passes the check, or else the whole graph."""
        first = self._parts.ways(both=reach.both_ways)
        for way in dict.fromkeys((first, self._parts.both_ways)):
            for halo in range(self._halo, self._halo + _MOST_WIDENINGS):
                graph = self._cut(query, reach, halo=halo, way=way)
                if self._check == "local":
                    expected = self._scores_with_further_edges(graph, way)
                else:
                    expected = self.whole_scores[query]
                if same_output(graph.scores, expected):
                    return self._settled(graph)
        self._refuse_unusable(graph)
        if self._check == "local":
            raise ModelError(
                f"the model's output at node {query} depends on more than the "
                f"{reach.hops + halo} hops around it; pass hops= if its layers pass messages "
                f"further, {_COMPARE if self._is_in_memory else ''}or check='none' to explain the "
                "output on the cut"
            )
        logger.warning(
            "node %d: no cut of the graph preserves the prediction, so it is evaluated on the "
            "whole graph%s",
            query,
            self._advice,
        )
        graph = self._whole(query, reach)
        if same_output(graph.scores, self.whole_scores[query]):
            graph = self._settled(graph)
            if not (graph.context_matters and self.can_widen):
                return graph
        return self._everything(query)

    @property
    def _advice(self) -> str:
        """How to be faster, if that is known."""
        held = node_level_state(self.predictor.model, self._parts.num_nodes)
        if not held:
            return ""
        return (
            f"; the model holds {', '.join(held)} with one row per node: pass such rows, or the "
            "nodes' numbers by which they are looked up, in model_kwargs, and they follow into a "
            "cut, which is faster"
        )

    def _settled(self, graph: ComputationalGraph) -> ComputationalGraph:
        if self._check == "whole":  # its output is that of another run already
            self._refuse_unreadable(graph, self.whole_scores)
        else:
            self._refuse_unusable(graph)
        scores = self.whole_scores[graph.query] if self._check == "whole" else graph.scores
        return replace(graph, scores=scores, context_matters=self._context_matters(graph))

    def _cut(self, query: int, reach: Reach, *, halo: int, way: Neighbours) -> ComputationalGraph:
        """Cut out candidates and context, with all edges but those into the outermost nodes."""
        candidates = self._candidates(query, reach)
        if halo == 0:
            nodes, edges = candidates, way.induced(candidates)
        else:
            inner = way.neighbourhood(candidates, halo - 1)
            edges = way.incoming(inner)
            nodes = way.with_senders(inner, edges)
        part = self._parts.part(candidates, nodes, edges)
        return self._graph(query, candidates, part, reach, halo=halo)

    def _whole(self, query: int, reach: Reach) -> ComputationalGraph:
        """Keep every node and edge; the candidates come first."""
        nodes = torch.arange(self._parts.num_nodes, device=self._parts.device)
        edges = torch.arange(self._parts.edges.num_edges, device=self._parts.device)
        candidates = self._candidates(query, reach)
        part = self._parts.part(candidates, nodes, edges)
        return replace(self._graph(query, candidates, part, reach, halo=self._halo), whole=True)

    def _everything(self, query: int) -> ComputationalGraph:
        """Take every node for a candidate, in the graph's own order."""
        if self._check == "local" or self._parts.numbers > _MOST_NUMBERS:
            raise ModelError(
                f"the model's output at node {query} depends on nodes however far away, and the "
                "model is not to be run on the whole graph: "
                f"{_COMPARE if self._can_run_whole else 'use a smaller graph, '}or pass hops= to "
                "leave what is further away as it is (nothing is certified then)"
            )
        part = self._parts.whole()
        graph = self._graph(query, part.nodes, part, self.reach, halo=self._halo)
        self._refuse_unusable(graph)
        return replace(graph, whole=True)

    def _scores_with_further_edges(self, graph: ComputationalGraph, way: Neighbours) -> Tensor:
        """Return the query's output on a cut with some of the edges that lead into and out of it.

        Outermost nodes receive messages and all nodes send to the outside; of the edges in each
        direction there are at most about as many as the cut has.
        """
        inner = way.neighbourhood(graph.candidates, max(graph.halo, 1) - 1)
        edges = way.incoming(inner)
        nodes = way.with_senders(inner, edges)
        outermost = nodes[~contains(inner, nodes)]
        into = way.incoming(outermost, most=_each(edges, outermost))
        out_of = self._parts.outgoing.incoming(nodes, most=_each(edges, nodes))
        edges = ascending(torch.cat([edges, into, out_of]))
        nodes = ascending(torch.cat([nodes, self._parts.ends(edges).flatten()]))
        part = self._parts.part(graph.candidates, nodes, edges)
        return self._model.scores(part)[graph.target]

    def _candidates(self, query: int, reach: Reach) -> Tensor:
        seed = torch.tensor([query], device=self._parts.device)
        return self._parts.ways(both=reach.both_ways).neighbourhood(seed, reach.hops)

    def _graph(
        self, query: int, candidates: Tensor, part: Part, reach: Reach, *, halo: int
    ) -> ComputationalGraph:
        """Return the graph of a part whose first rows are the candidates."""
        target = int(torch.searchsorted(candidates, query))
        scores = self._model.scores(part)[target]
        return ComputationalGraph(
            asked=Query("node", query),
            readout=NodeRow(target),
            candidates=candidates,
            context=part.nodes[candidates.numel() :],
            x=part.x,
            edge_index=part.edge_index,
            extras=part.extras,
            target=target,
            hops=reach.hops,
            both_ways=reach.both_ways,
            halo=halo,
            checked=self._check,
            whole=False,
            context_matters=False,
            scores=scores,
            num_nodes=self._parts.num_nodes,
        )

    def _refuse_unusable(self, graph: ComputationalGraph) -> None:
        """Run the model once more, and refuse what is random or means nothing."""
        again = self.predictor.scores(graph.x, graph.edge_index, graph.extras.copies(1))
        refuse_random(graph.scores, again[graph.target], graph.asked)
        self._refuse_unreadable(graph, self.whole_scores if self._check == "whole" else again)

    def _refuse_unreadable(self, graph: ComputationalGraph, outputs: Tensor) -> None:
        """Refuse outputs (m, C) that are not what they are taken for."""
        refuse_undecided(graph.scores, graph.asked)
        if not self._is_read:
            self.predictor.refuse_misread(outputs)
            self._is_read = self._check == "whole"  # a cut says less than the next one may

    def _context_matters(self, graph: ComputationalGraph) -> bool:
        """Whether redrawing the context moves the output, the candidates being redrawn or not.

        Of a large cut they are not: the guard does that with samples of each claim.
        """
        if graph.context.numel() == 0:
            return False
        purpose = _PURPOSE + self._parts.num_nodes + graph.query
        bases = range(1 if graph.x.numel() > _LARGE else 2)
        other, *redrawn = self._model.drawn(graph.x, purpose=purpose, samples=bases)
        if self._moves(graph, graph.x, graph.scores, other):
            return True
        return any(self._moves(graph, base, self._output(graph, base), other) for base in redrawn)

    def _moves(
        self, graph: ComputationalGraph, base: Tensor, expected: Tensor, other: Tensor
    ) -> bool:
        """Whether other features (m, d) of the context than those of a base move the output."""
        candidates = graph.candidates.numel()
        x = torch.cat([base[:candidates], other[candidates:]])
        return not close(self._output(graph, x), expected)

    def _output(self, graph: ComputationalGraph, x: Tensor) -> Tensor:
        scores = self.predictor.scores(x, graph.edge_index, graph.extras.copies(1))
        return scores[graph.target]

    def _tell_of_influence(self, graph: ComputationalGraph) -> None:
        logger.warning(
            "node %d: nodes more than %d hops away influence the prediction; they keep their "
            "true features and are not candidates, so nothing is certified",
            graph.query,
            graph.hops,
        )


def _each(edges: Tensor, nodes: Tensor) -> int:
    """Return how many edges each node may have for all to have about as many as `edges`."""
    return max(1, edges.numel() // max(1, nodes.numel()))
