"""Cuts out what a prediction can see, so that the prediction stays."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from zorro.arguments import check_at_least, check_choice
from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.graph_parts import GraphParts, Part
from zorro.cut.guard import Guard, part_of
from zorro.cut.perturbed import Perturbed
from zorro.cut.reach import Reach, ReachFinder
from zorro.cut.redrawing import Redrawing
from zorro.cut.usable import refuse_random, refuse_undecided
from zorro.errors import InputError, ModelError
from zorro.graph.edge_index import Neighbours, contains, sorted_unique
from zorro.graph.graph import Graph
from zorro.model.link_model import encoded_once
from zorro.model.model_state import node_level_state
from zorro.model.predictor import Predictor
from zorro.model.receptive_field import flow_of, hops_of
from zorro.noise import Noise, resolve
from zorro.noise.of_edges import AnyEdgeNoise
from zorro.noise.streams import Purpose
from zorro.question import Query
from zorro.question.asking import ABOUT_NODES, Asking, askable
from zorro.question.decision import Comparison, Decision
from zorro.question.readout import readout_of

logger = logging.getLogger(__name__)

Check = Literal["auto", "whole", "local", "none"]
CHECKS: tuple[Check, ...] = get_args(Check)

_LARGE_CONTEXT = 1 << 20  # numbers of the features of nodes that are no candidates
_MOST_WIDENINGS = 4
_LARGE = 1 << 20  # numbers of a cut over which there are as few passes as can be
_MOST_NUMBERS = 1 << 31  # of a pass over the whole graph, if that is what is evaluated
_LOOKED_AT = 512  # nodes between which links are looked at, to see what outputs are
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
        asking: about what; about nodes unless said otherwise.
        edges: what happens to edges that are not kept; None where edges are not selectable.
        keeps_features: whether no feature is ever redrawn.
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
        asking: Asking = ABOUT_NODES,
        edges: AnyEdgeNoise | None = None,
        keeps_features: bool = False,
    ) -> None:
        self.predictor = predictor
        self._directed = graph.directed
        self._types = graph.types
        self._parts = GraphParts(graph, flow=flow_of(predictor.model))
        self._asking = asking
        self._hops = hops
        self._halo = halo
        self._check = self._settled_check(check)
        self._model = Redrawing(
            self._parts,
            predictor,
            resolve("rows", graph.features) if noise is None else noise,
            seed=seed,
            whole=self._check == "whole",
            edges=edges,
            keeps_features=keeps_features,
        )
        self.guard = Guard(self._model)
        self._version = 0  # of the model when it was looked at
        self._is_read = False  # whether its output is what it is taken for
        self._known: dict[Query, Tensor] = {}  # outputs on the whole graph
        self._encoded: list[Tensor] = []  # its nodes, by a model that encodes and decodes

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
        """The model's output (N, C) at all nodes of the whole graph, computed once."""
        x, edge_index = self._parts.features.in_memory, self._parts.edges.in_memory
        assert x is not None
        assert edge_index is not None
        return self.predictor.scores(x, edge_index, self._parts.model_inputs.as_kwargs())

    def _on_the_whole(self, query: Query) -> Tensor:
        """Return the output (C,) for a query on the whole graph."""
        if self._asking.all_at_once:
            return self.whole_scores[query.index]
        if query not in self._known:
            with encoded_once(self._encoded):
                scores = self._model.scores(self._parts.whole(), [query])[0]
            self._known = {query: scores}  # the last one alone
        return self._known[query]

    @cached_property
    def reach(self) -> Reach:
        """How far the model sees, found once for all queries."""
        counted = hops_of(self.predictor.model)
        if self._check == "none":
            return Reach(counted if self._hops is None else self._hops)
        found = ReachFinder(self._model, hops=counted, asking=self._asking).find()
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
        self, graph: ComputationalGraph, inputs: Perturbed, *, on_the_cut: bool, first: int
    ) -> Tensor:
        """Return the query's scores (S, C) for samples of its input, as the guard runs them."""
        return self.guard.scores(graph, inputs, on_the_cut=on_the_cut, first=first)

    def edges_between(self, graph: ComputationalGraph, sender: int, receiver: int) -> int:
        """Return how many edges lead from a node to another in the whole graph."""
        node = torch.tensor([sender], device=self._parts.device)
        ends = self._parts.ends(self._parts.both_ways.incoming(node))  # (2, e)
        return int(((ends[0] == sender) & (ends[1] == receiver)).sum())

    def question(self, asked: Any, comparison: Comparison) -> Any:
        """Return what is asked, which a comparison does not change."""
        comparison.refuse_links()
        return asked

    def decision(self, graph: ComputationalGraph, comparison: Comparison) -> Decision:
        """Return what counts as the same answer."""
        return self.predictor.reading.decision(graph.scores, comparison)

    def on(self, graph: Graph) -> Extractor:
        """Return the same for a graph that differs little: the model sees as far in it."""
        other = Extractor(
            self.predictor,
            graph,
            hops=self._hops,
            halo=self._halo,
            check=self._check,
            noise=self._model.noise,
            seed=self._model.seed,
            asking=self._asking,
            edges=self._model.edges,
            keeps_features=self._model.keeps_features,
        )
        self._notice_changes()
        if self._check == "whole" and not self._is_read:
            self._read_all()
        other._version, other._is_read = self._version, self._is_read
        other.__dict__["reach"] = self.reach
        return other

    def extract(self, asked: Any) -> ComputationalGraph:
        """Return the computational graph of a query."""
        return next(self.cuts(asked))

    def cuts(self, asked: Any) -> Iterator[ComputationalGraph]:
        """Yield the computational graph of a query, then wider ones, the whole graph last.

        A wider one is for whoever finds that more matters than the candidates of the last.
        """
        query = self._asking.query(asked, self._parts.num_nodes)
        self._notice_changes()
        self._settle_if_needed()
        reach = self.reach
        if self._check == "none":
            graph = self._cut(query, reach, halo=self._halo, way=self._parts.incoming)
            self._refuse_unusable(graph)
            yield graph
            return
        needs_all = self._model.edges is not None and self._model.edges.needs_the_whole_graph
        sees_all = reach.everything or needs_all
        graph = self._everything(query) if sees_all else self._preserving(query, reach)
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

    def _notice_changes(self) -> None:
        version = self.predictor.version
        if version != self._version:
            self.__dict__.pop("whole_scores", None)
            self._known, self._encoded = {}, []
            self.__dict__.pop("reach", None)
            self.predictor.unsettle()
            self._version, self._is_read = version, False

    def _settle_if_needed(self) -> None:
        """Look at all outputs first where a decision rests on them."""
        if self._is_read or not self.predictor.reading.needs_outputs:
            return
        if self._check != "whole":
            raise InputError(
                "tolerance_share: expected check='whole', for the spread is known where the model "
                f"runs on the whole graph, got check={self._check!r}: pass tolerance"
            )
        self._read_all()

    def _read_all(self) -> None:
        """Look at the outputs of many queries on the whole graph, once."""
        every = (
            self._all_answers if self._asking.all_at_once else self._outputs(self._parts.whole())
        )
        self.predictor.settle(every)
        self._is_read = True

    def _wider(self, graph: ComputationalGraph) -> ComputationalGraph:
        """Return a cut with more candidates: one hop more, or all nodes if that adds none."""
        reach = Reach(graph.hops + 1, both_ways=self.reach.both_ways)
        for both_ways in (reach.both_ways, True):
            reach = replace(reach, both_ways=both_ways)
            if self._candidates(graph.asked, reach).numel() > graph.candidates.numel():
                return self._preserving(graph.asked, reach)
        return self._everything(graph.asked)

    def _preserving(self, query: Query, reach: Reach) -> ComputationalGraph:
        """Return the smallest cut that passes the check, or else the whole graph."""
        first = self._parts.ways(both=reach.both_ways)
        for way in dict.fromkeys((first, self._parts.both_ways)):
            for halo in range(self._halo, self._halo + _MOST_WIDENINGS):
                graph = self._cut(query, reach, halo=halo, way=way)
                if self._check == "local":
                    expected = self._scores_with_further_edges(graph, way)
                else:
                    expected = self._on_the_whole(query)
                if self.predictor.same(graph.scores, expected):
                    return self._without_context(graph, way) or self._settled(graph)
        self._refuse_unusable(graph)
        if self._check == "local":
            raise ModelError(
                f"the model's output at {query} depends on more than the "
                f"{reach.hops + halo} hops around it; pass hops= if its layers pass messages "
                f"further, {_COMPARE if self._is_in_memory else ''}or check='none' to explain the "
                "output on the cut"
            )
        logger.warning(
            "%s: no cut of the graph preserves the prediction, so it is evaluated on the "
            "whole graph%s",
            query,
            self._advice,
        )
        graph = self._whole(query, reach)
        if self.predictor.same(graph.scores, self._on_the_whole(query)):
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

    def _without_context(
        self, graph: ComputationalGraph, way: Neighbours
    ) -> ComputationalGraph | None:
        """Return a cut without its context, if that is large and of no use to the model.

        Neighbours of a hub may be thousands, and only layers that look at the degrees of the
        outermost candidates need them. The output must be the same in truth, where the context is
        redrawn, and where all is; and samples of each claim are run with more around them again.
        """
        is_large = graph.context.numel() * graph.x.size(1) > _LARGE_CONTEXT
        may_be_left_out = self._halo == 1 and self._model.edges is None
        if not (is_large and may_be_left_out) or self._model.keeps_features:
            return None
        reach = Reach(graph.hops, both_ways=graph.both_ways)
        slim = self._cut(graph.asked, reach, halo=0, way=way)
        if not self.predictor.close(slim.scores, graph.scores):
            return None
        other = self._redrawn(graph, sample=0)
        if self._moves(graph, graph.x, graph.scores, other):
            return None
        base = self._redrawn(slim, sample=1)
        if self._moves(graph, base, self._output(slim, base), other):
            return None
        return self._settled(slim)

    def _settled(self, graph: ComputationalGraph) -> ComputationalGraph:
        if self._check == "whole":  # its output is that of another run already
            self._refuse_unreadable(graph)
            scores = self._on_the_whole(graph.asked)
        else:
            self._refuse_unusable(graph)
            scores = graph.scores
        return replace(graph, scores=scores, context_matters=self._context_matters(graph))

    def _cut(self, query: Query, reach: Reach, *, halo: int, way: Neighbours) -> ComputationalGraph:
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

    def _whole(self, query: Query, reach: Reach) -> ComputationalGraph:
        """Keep every node and edge; the candidates come first."""
        nodes = torch.arange(self._parts.num_nodes, device=self._parts.device)
        edges = torch.arange(self._parts.edges.num_edges, device=self._parts.device)
        candidates = self._candidates(query, reach)
        part = self._parts.part(candidates, nodes, edges)
        return replace(self._graph(query, candidates, part, reach, halo=self._halo), whole=True)

    def _everything(self, query: Query) -> ComputationalGraph:
        """Take every node for a candidate, in the graph's own order."""
        if self._check == "local" or self._parts.numbers > _MOST_NUMBERS:
            raise ModelError(
                f"the model's output at {query} depends on nodes however far away, and the "
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
        edges = sorted_unique(torch.cat([edges, into, out_of]))
        nodes = sorted_unique(torch.cat([nodes, self._parts.ends(edges).flatten()]))
        part = self._parts.part(graph.candidates, nodes, edges)
        return self._model.scores(part, [graph.asked])[0]

    def _candidates(self, query: Query, reach: Reach) -> Tensor:
        seeds = torch.tensor(sorted(set(query.seeds)), device=self._parts.device)
        return self._parts.ways(both=reach.both_ways).neighbourhood(seeds, reach.hops)

    def _graph(
        self, query: Query, candidates: Tensor, part: Part, reach: Reach, *, halo: int
    ) -> ComputationalGraph:
        """Return the graph of a part whose first rows are the candidates."""
        places = part.places(query.seeds)
        return ComputationalGraph(
            asked=query,
            readout=readout_of(query, places),
            candidates=candidates,
            context=part.nodes[candidates.numel() :],
            x=part.x,
            edge_index=part.edge_index,
            model_inputs=part.model_inputs,
            target=places[0],
            hops=reach.hops,
            both_ways=reach.both_ways,
            halo=halo,
            checked=self._check,
            whole=False,
            context_matters=False,
            scores=self._model.scores(part, [query])[0],
            num_nodes=self._parts.num_nodes,
            directed=self._directed,
            types=self._types,
        )

    def _refuse_unusable(self, graph: ComputationalGraph) -> None:
        """Run the model once more, and refuse what is random or means nothing."""
        outputs = None
        if self._asking.all_at_once:
            part = part_of(graph)
            every = self.predictor.scores(part.x, part.edge_index, part.model_inputs.as_kwargs())
            outputs, again = every[self._askable(part)], every[graph.target]
        else:
            again = self._output(graph, graph.x)
        refuse_random(self.predictor, graph.scores, again, graph.asked)
        self._refuse_unreadable(graph, None if self._check == "whole" else outputs)

    def _refuse_unreadable(self, graph: ComputationalGraph, outputs: Tensor | None = None) -> None:
        """Refuse outputs (q, C) that are not what they are taken for; looked at when None."""
        refuse_undecided(self.predictor, graph.scores, graph.asked)
        if not self._is_read:
            self.predictor.settle(self._many_outputs(graph) if outputs is None else outputs)
            self._is_read = self._check == "whole"  # a cut says less than the next one may

    def _many_outputs(self, graph: ComputationalGraph) -> Tensor:
        """Return the outputs (q, C) of many queries, on the whole graph if that may be run."""
        if self._check != "whole":
            return self._outputs(part_of(graph))
        return self._all_answers if self._asking.all_at_once else self._outputs(self._parts.whole())

    @property
    def _all_answers(self) -> Tensor:
        """The outputs (q, C) of all nodes that can be asked about, on the whole graph."""
        (every,) = self._asking.ranges(self._parts.num_nodes)
        return self.whole_scores[every.start : every.stop]

    def _outputs(self, part: Part) -> Tensor:
        """Return the outputs (q, C) on a part: at all nodes, or of links between the first ones."""
        if self._asking.all_at_once:
            every = self.predictor.scores(part.x, part.edge_index, part.model_inputs.as_kwargs())
            return every[self._askable(part)]
        some = part.nodes[self._askable(part)][:_LOOKED_AT]
        return self._model.scores(part, self._asking.probes(some.tolist()))

    def _askable(self, part: Part) -> Tensor | slice:
        """Return which nodes of a part can be asked about, as an index."""
        return askable(self._asking, part.nodes, self._parts.num_nodes)

    def _context_matters(self, graph: ComputationalGraph) -> bool:
        """Whether redrawing the context moves the output, the candidates being redrawn or not.

        Of a large cut they are not: the guard does that with samples of each claim.
        """
        if graph.context.numel() == 0 or self._model.keeps_features:
            return False
        other = self._redrawn(graph, sample=0)
        if self._moves(graph, graph.x, graph.scores, other):
            return True
        if graph.x.numel() > _LARGE:
            return False
        base = self._redrawn(graph, sample=1)
        return self._moves(graph, base, self._output(graph, base), other)

    def _redrawn(self, graph: ComputationalGraph, *, sample: int) -> Tensor:
        """Return other features (m, d) of all nodes of a cut."""
        nodes, one = part_of(graph).nodes, range(sample, sample + 1)
        return self._model.drawn(
            graph.x, nodes, purpose=Purpose.CONTEXT, query=graph.query, samples=one
        )[0]

    def _moves(
        self, graph: ComputationalGraph, base: Tensor, expected: Tensor, other: Tensor
    ) -> bool:
        """Whether other features (m, d) of the context than those of a base move the output."""
        candidates = graph.candidates.numel()
        x = torch.cat([base[:candidates], other[candidates:]])
        return not self.predictor.close(self._output(graph, x), expected)

    def _output(self, graph: ComputationalGraph, x: Tensor) -> Tensor:
        return self._model.scores(part_of(graph), [graph.asked], x)[0]

    def _tell_of_influence(self, graph: ComputationalGraph) -> None:
        logger.warning(
            "%s: nodes more than %d hops away influence the prediction; they keep their "
            "true features and are not candidates, so nothing is certified",
            graph.asked,
            graph.hops,
        )


def check_cut(hops: int | None, halo: int, check: str) -> None:
    """Refuse what says of no cut how it is to be made."""
    check_choice("check", check, CHECKS)
    check_at_least("halo", halo, 0)
    if hops is not None:
        check_at_least("hops", hops, 0)


def _each(edges: Tensor, nodes: Tensor) -> int:
    """Return how many edges each node may have for all to have about as many as `edges`."""
    return max(1, edges.numel() // max(1, nodes.numel()))
