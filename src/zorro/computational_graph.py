"""What a prediction can see: the query's neighbourhood, cut out so that the prediction stays."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from zorro.agreement import same_output
from zorro.edge_index import Edges, EdgesByReceiver, ascending, contains, edges_of
from zorro.errors import InputError, ModelError
from zorro.extras import Extras
from zorro.features import Features, features_of
from zorro.predictor import Predictor
from zorro.receptive_field import flow_of, hops_of

logger = logging.getLogger(__name__)

Check = Literal["auto", "whole", "local", "none"]
CHECKS: tuple[Check, ...] = get_args(Check)

_MOST_WIDENINGS = 4
_COMPARE = "check='whole' to compare with the whole graph, "
_BACKWARDS = {
    "source_to_target": "target_to_source",
    "target_to_source": "source_to_target",
}


@dataclass(frozen=True)
class ComputationalGraph:
    """The subgraph on which a query is explained.

    Rows 0 … n−1 of `x` are the candidates, in ascending order of their ids in the whole graph;
    the rows after them are context: nodes whose features are never candidates but whose edges
    the candidates' layers need (a degree-normalising layer must see all neighbours of the
    outermost candidates).
    """

    query: int
    candidates: Tensor  # (n,) ids in the whole graph
    context: Tensor  # (c,) ids in the whole graph
    x: Tensor  # (n + c, d)
    edge_index: Tensor  # (2, e), rows of x
    extras: Extras
    target: int  # the query's row
    hops: int
    halo: int
    checked: str  # what the output was compared with: "whole", "local" or "none"
    whole: bool  # evaluated on the whole graph because no cut preserved the prediction
    context_matters: bool  # the context's features move the prediction too
    scores: Tensor  # (C,), the model's output at the query

    @property
    def candidate_x(self) -> Tensor:
        """The candidates' true features, (n, d)."""
        return self.x[: self.candidates.numel()]

    @property
    def predicted_class(self) -> int:
        """The class that the model predicts for the query."""
        return int(self.scores.argmax())


class Extractor:
    """Cuts computational graphs out of one graph, for one model.

    Candidates are the nodes within `hops` of the query. Evaluation uses `halo` further hops of
    context: all edges are kept except those into the outermost nodes, which are there only for
    what they send. The output is checked, and where it is not the whole graph's the halo is
    widened. Where an inferred number of hops turns out too small (the context's features still
    move the prediction) it is raised.

    The check compares with the output on the whole graph, which is computed once for all
    queries; where no cut preserves that, the whole graph is used. Or it is local, at the cost of
    the cut alone: what lies beyond a cut can act on it only through the edges that were cut, so
    the cut's nodes are given some of these back, and the output must not move.

    Args:
        predictor: the model.
        x: (N, d), dense, sparse or stored.
        edge_index: (2, E), in memory or stored.
        model_kwargs: further arguments of the model; node- and edge-level tensors follow.
        hops: how far candidates reach; inferred from the model's layers when None.
        halo: hops of context around them; with 0 the candidates keep the edges among them.
        check: `"whole"`, `"local"`, or `"none"`, which takes the cut as it is, prediction
            included, as the paper does with `halo=0`. `"auto"` is local for sparse features,
            which many models cannot take whole, and for stored graphs.
    """

    def __init__(
        self,
        predictor: Predictor,
        x: Tensor | Features,
        edge_index: Tensor | Edges,
        *,
        model_kwargs: Mapping[str, Any] | None = None,
        hops: int | None = None,
        halo: int = 1,
        check: Check = "auto",
    ) -> None:
        self.predictor = predictor
        self._features = features_of(x)
        self._num_nodes = self._features.shape[0]
        self._edges = edges_of(edge_index, self._num_nodes)
        self._extras = Extras.sort(
            model_kwargs or {}, nodes=self._num_nodes, edges=self._edges.num_edges
        )
        self._hops_given = hops is not None
        self._hops = hops_of(predictor.model) if hops is None else hops
        self._halo = halo
        self._check = self._settled_check(check)
        flow = flow_of(predictor.model)
        self._by_receiver = EdgesByReceiver(self._edges, flow=flow)
        if self._check == "local":
            self._by_sender = EdgesByReceiver(self._edges, flow=_BACKWARDS[flow])
        self._whole_scores: Tensor | None = None

    def _settled_check(self, check: Check) -> Check:
        if check == "auto":
            x = self._features.in_memory
            return "local" if x is None or x.layout != torch.strided else "whole"
        if check == "whole" and not self._is_in_memory:
            raise InputError(
                "check: expected 'auto', 'local' or 'none' for a stored graph, got 'whole', which "
                "would run the model on all of it"
            )
        return check

    @property
    def _is_in_memory(self) -> bool:
        return self._features.in_memory is not None and self._edges.in_memory is not None

    @property
    def whole_scores(self) -> Tensor:
        """The model's output (N, C) on the whole graph, computed once."""
        if self._whole_scores is None:
            x, edge_index = self._features.in_memory, self._edges.in_memory
            assert x is not None
            assert edge_index is not None
            self._whole_scores = self.predictor.scores(x, edge_index, self._extras.copies(1))
        return self._whole_scores

    def extract(self, query: int) -> ComputationalGraph:
        """Return the computational graph of `query`."""
        if not 0 <= query < self._num_nodes:
            raise InputError(f"node: expected an id from 0 to {self._num_nodes - 1}, got {query}")
        if self._check == "none":
            graph = self._cut(query, hops=self._hops, halo=self._halo)
            self._refuse_unusable(graph)
            return graph
        graph = self._preserving(query, self._hops)
        self._refuse_unusable(graph)
        while graph.context_matters and not self._hops_given and not graph.whole:
            wider = self._preserving(query, graph.hops + 1)
            if wider.candidates.numel() == graph.candidates.numel():
                break
            graph = wider
        if graph.context_matters:
            self._explain_influence(graph)
        return graph

    def _preserving(self, query: int, hops: int) -> ComputationalGraph:
        """Return the smallest cut that passes the check, or else the whole graph."""
        for halo in range(self._halo, self._halo + _MOST_WIDENINGS):
            graph = self._cut(query, hops=hops, halo=halo)
            if self._check == "local":
                expected = self._scores_with_further_edges(graph)
            else:
                expected = self.whole_scores[query]
            if same_output(graph.scores, expected):
                return self._settled(graph)
        if self._check == "local":
            self._refuse_unusable(graph)
            raise ModelError(
                f"the model's output at node {query} depends on more than the "
                f"{hops + halo} hops around it; pass hops= if its layers pass messages further, "
                f"{_COMPARE if self._is_in_memory else ''}or check='none' to explain the output "
                "on the cut"
            )
        graph = self._whole(query, hops)
        self._refuse_unusable(graph)
        logger.warning(
            "node %d: no cut of the graph preserves the prediction, so it is evaluated on the "
            "whole graph",
            query,
        )
        return self._settled(graph)

    def _settled(self, graph: ComputationalGraph) -> ComputationalGraph:
        scores = self.whole_scores[graph.query] if self._check == "whole" else graph.scores
        return replace(graph, scores=scores, context_matters=self._context_matters(graph))

    def _cut(self, query: int, *, hops: int, halo: int) -> ComputationalGraph:
        """Cut out candidates and context, with all edges but those into the outermost nodes."""
        candidates = self._candidates(query, hops)
        if halo == 0:
            nodes, edges = candidates, self._by_receiver.induced(candidates)
        else:
            inner = self._by_receiver.neighbourhood(candidates, halo - 1)
            edges = self._by_receiver.incoming(inner)
            nodes = self._by_receiver.with_senders(inner, edges)
        return self._graph(query, candidates, nodes, edges, hops=hops, halo=halo)

    def _whole(self, query: int, hops: int) -> ComputationalGraph:
        """Keep every node and edge."""
        nodes = torch.arange(self._num_nodes, device=self._features.device)
        edges = torch.arange(self._edges.num_edges, device=self._features.device)
        candidates = self._candidates(query, hops)
        graph = self._graph(query, candidates, nodes, edges, hops=hops, halo=self._halo)
        return replace(graph, whole=True)

    def _scores_with_further_edges(self, graph: ComputationalGraph) -> Tensor:
        """Return the query's output on a cut with some of the edges that lead into and out of it.

        Outermost nodes receive messages and all nodes send to the outside; of the edges in each
        direction there are at most about as many as the cut has.
        """
        inner = self._by_receiver.neighbourhood(graph.candidates, max(graph.halo, 1) - 1)
        edges = self._by_receiver.incoming(inner)
        nodes = self._by_receiver.with_senders(inner, edges)
        outermost = nodes[~contains(inner, nodes)]
        into = self._by_receiver.incoming(outermost, most=_each(edges, outermost))
        out_of = self._by_sender.incoming(nodes, most=_each(edges, nodes))
        edges = ascending(torch.cat([edges, into, out_of]))
        nodes = ascending(torch.cat([nodes, self._ends(edges).flatten()]))
        wider = self._graph(
            graph.query, graph.candidates, nodes, edges, hops=graph.hops, halo=graph.halo
        )
        return wider.scores

    def _ends(self, edges: Tensor) -> Tensor:
        """Return the nodes (2, e) between which edges (e,) lead."""
        return torch.stack([self._edges.nodes(row, edges) for row in (0, 1)])

    def _candidates(self, query: int, hops: int) -> Tensor:
        seed = torch.tensor([query], device=self._features.device)
        return self._by_receiver.neighbourhood(seed, hops)

    def _graph(
        self,
        query: int,
        candidates: Tensor,
        everything: Tensor,
        edges: Tensor,
        *,
        hops: int,
        halo: int,
    ) -> ComputationalGraph:
        """Return the graph of some nodes and edges (ids), of which `candidates` come first."""
        edges = edges.sort().values
        is_context = ~contains(candidates, everything)
        nodes = torch.cat([candidates, everything[is_context]])
        row = torch.empty_like(nodes)
        row[torch.searchsorted(everything, nodes)] = torch.arange(
            nodes.numel(), device=nodes.device
        )
        edge_index = row[torch.searchsorted(everything, self._ends(edges))]
        extras = self._extras.subgraph(nodes, edges)
        target = int(torch.searchsorted(candidates, query))
        x = self._features.rows(nodes)
        scores = self.predictor.scores(x, edge_index, extras.copies(1))[target]
        return ComputationalGraph(
            query=query,
            candidates=candidates,
            context=nodes[candidates.numel() :],
            x=x,
            edge_index=edge_index,
            extras=extras,
            target=target,
            hops=hops,
            halo=halo,
            checked=self._check,
            whole=False,
            context_matters=False,
            scores=scores,
        )

    def _refuse_unusable(self, graph: ComputationalGraph) -> None:
        again = self.predictor.scores(graph.x, graph.edge_index, graph.extras.copies(1))
        if not same_output(graph.scores, again[graph.target]):
            raise ModelError(
                "the model is not deterministic in eval mode: two runs on the same input gave "
                f"{_rounded(graph.scores)} and {_rounded(again[graph.target])} at node "
                f"{graph.query}; remove what is random in its forward pass"
            )
        if not torch.isfinite(graph.scores).all() and not _has_one_maximum(graph.scores):
            raise ModelError(
                f"the model's output at node {graph.query} is not usable: {_rounded(graph.scores)}"
            )

    def _context_matters(self, graph: ComputationalGraph) -> bool:
        if graph.context.numel() == 0:
            return False
        x = graph.x.clone()
        x[graph.candidates.numel() :] += 1.0
        scores = self.predictor.scores(x, graph.edge_index, graph.extras.copies(1))
        return not same_output(scores[graph.target], graph.scores)

    def _explain_influence(self, graph: ComputationalGraph) -> None:
        if graph.hops == 0 and not self._hops_given:
            raise ModelError(
                "the number of hops could not be inferred: the model has no message-passing "
                "layers of PyG but its output depends on other nodes; pass hops="
            )
        logger.warning(
            "node %d: nodes more than %d hops away influence the prediction; they keep their "
            "true features and are not candidates",
            graph.query,
            graph.hops,
        )


def _each(edges: Tensor, nodes: Tensor) -> int:
    """Return how many edges each node may have for all to have about as many as `edges`."""
    return max(1, edges.numel() // max(1, nodes.numel()))


def _has_one_maximum(scores: Tensor) -> bool:
    """Whether non-finite scores still name a class, as log-probabilities of −∞ do."""
    return not bool(scores.isnan().any()) and int((scores == scores.max()).sum()) == 1


def _rounded(scores: Tensor) -> list[float]:
    return [round(float(score), 4) for score in scores]
