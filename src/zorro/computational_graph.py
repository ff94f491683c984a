"""What a prediction can see: the query's neighbourhood, cut out so that the prediction stays."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from zorro.edge_index import EdgesByReceiver
from zorro.errors import InputError, ModelError
from zorro.extras import Extras
from zorro.predictor import Predictor
from zorro.receptive_field import flow_of, hops_of

logger = logging.getLogger(__name__)

# Two runs of one model on one input agree to rounding, whatever the order of their sums.
_TOLERANCE = 1e-4
_MOST_WIDENINGS = 4


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
    context, first with just the edges into candidates, which is all that most layers need, and
    the output there is compared with the whole graph's: where it differs all edges are kept, then
    the halo is widened, and where that does not help the whole graph is used. Where an inferred
    number of hops turns out too small (the context's features still move the prediction) it is
    raised.

    Args:
        predictor: the model.
        x: (N, d).
        edge_index: (2, E).
        model_kwargs: further arguments of the model; node- and edge-level tensors follow.
        hops: how far candidates reach; inferred from the model's layers when None.
        halo: hops of context around them.
        check: compare with the whole graph. Without it the cut is taken as it is, prediction
            included, as the paper does with `halo=0`.
    """

    def __init__(
        self,
        predictor: Predictor,
        x: Tensor,
        edge_index: Tensor,
        *,
        model_kwargs: Mapping[str, Any] | None = None,
        hops: int | None = None,
        halo: int = 1,
        check: bool = True,
    ) -> None:
        self.predictor = predictor
        self.x = x
        self.edge_index = edge_index
        self.extras = Extras.sort(model_kwargs or {}, nodes=x.size(0), edges=edge_index.size(1))
        self._hops_given = hops is not None
        self._hops = hops_of(predictor.model) if hops is None else hops
        self._halo = halo
        self._check = check
        self._edges = EdgesByReceiver(edge_index, x.size(0), flow=flow_of(predictor.model))
        self._whole_scores: Tensor | None = None

    @property
    def whole_scores(self) -> Tensor:
        """The model's output (N, C) on the whole graph, computed once."""
        if self._whole_scores is None:
            self._whole_scores = self.predictor.scores(
                self.x, self.edge_index, self.extras.copies(1)
            )
        return self._whole_scores

    def extract(self, query: int) -> ComputationalGraph:
        """Return the computational graph of `query`."""
        if not 0 <= query < self.x.size(0):
            raise InputError(f"node: expected an id from 0 to {self.x.size(0) - 1}, got {query}")
        if not self._check:
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
        """Return the leanest cut on which the query's output is the whole graph's."""
        expected = self.whole_scores[query]
        attempts = [(self._halo + more, False) for more in range(_MOST_WIDENINGS)]
        if self._halo == 1:
            attempts.insert(0, (1, True))
        for halo, lean in attempts:
            graph = self._cut(query, hops=hops, halo=halo, lean=lean)
            if same_output(graph.scores, expected):
                return self._with_whole_scores(graph)
        graph = self._cut(query, hops=hops, halo=self._halo, whole=True)
        self._refuse_unusable(graph)
        logger.warning(
            "node %d: no cut of the graph preserves the prediction, so it is evaluated on the "
            "whole graph",
            query,
        )
        return self._with_whole_scores(graph)

    def _with_whole_scores(self, graph: ComputationalGraph) -> ComputationalGraph:
        return ComputationalGraph(
            **{
                **vars(graph),
                "scores": self.whole_scores[graph.query],
                "context_matters": self._context_matters(graph),
            }
        )

    def _cut(
        self, query: int, *, hops: int, halo: int, lean: bool = False, whole: bool = False
    ) -> ComputationalGraph:
        """Cut out candidates and context, with the edges among them.

        A lean cut has only the edges into candidates; the whole one has every node and edge.
        """
        device = self.x.device
        candidates = self._edges.neighbourhood(torch.tensor([query], device=device), hops)
        if whole:
            everything = torch.arange(self.x.size(0), device=device)
            edges = torch.arange(self.edge_index.size(1), device=device)
        else:
            everything = self._edges.neighbourhood(candidates, halo)
            edges = self._edges.into(candidates) if lean else self._edges.induced(everything)
        is_context = torch.ones_like(everything, dtype=torch.bool)
        is_context[torch.searchsorted(everything, candidates)] = False
        nodes = torch.cat([candidates, everything[is_context]])  # candidates first
        row = torch.empty_like(nodes)
        row[torch.searchsorted(everything, nodes)] = torch.arange(nodes.numel(), device=device)
        edge_index = row[torch.searchsorted(everything, self.edge_index[:, edges])]
        extras = self.extras.subgraph(nodes, edges)
        target = int(torch.searchsorted(candidates, query))
        x = self.x[nodes]
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
            whole=whole,
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


def same_output(one: Tensor, other: Tensor) -> bool:
    """Whether two rows of scores (C,) are equal up to rounding and predict the same class."""
    close = torch.allclose(one, other, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
    return close and bool(one.argmax() == other.argmax())


def _has_one_maximum(scores: Tensor) -> bool:
    """Whether non-finite scores still name a class, as log-probabilities of −∞ do."""
    return not bool(scores.isnan().any()) and int((scores == scores.max()).sum()) == 1


def _rounded(scores: Tensor) -> list[float]:
    return [round(float(score), 4) for score in scores]
