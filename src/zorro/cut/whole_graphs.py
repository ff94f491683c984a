"""Graphs that a model answers for as wholes: each is its own computational graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from zorro.arguments import whole_number
from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.reach import Reach
from zorro.cut.usable import refuse_random, refuse_undecided
from zorro.data.graph_validation import check_graphs
from zorro.errors import InputError
from zorro.graph.extras import Extras
from zorro.model.model_state import Weights
from zorro.model.predictor import Predictor
from zorro.question import Query
from zorro.question.readout import GraphRow

_LOOKED_AT = 64  # graphs by whose outputs it is seen what these are


class WholeGraphs:
    """Gives the computational graphs of a set of graphs: all nodes are candidates.

    Args:
        predictor: the model, called as `model(x, edge_index, batch=…, …)`.
        graphs: PyG's `Data`, each with `x` and `edge_index`.
        model_kwargs: further arguments of the model; a text names an attribute of the graphs that
            is passed, as `{"edge_weight": "edge_attr"}`, anything else is passed as it is.
    """

    can_widen = False
    reach = Reach(0, everything=True)

    def __init__(
        self,
        predictor: Predictor,
        graphs: Sequence[Data],
        *,
        model_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self.predictor = predictor
        self._graphs = graphs
        self._kwargs = dict(model_kwargs or {})
        self._weights: Weights | None = None  # with which the model was looked at
        for graph in graphs[:1]:
            self._extras(graph)  # refuses names of nothing before anything is computed

    def query_of(self, asked: Any) -> int:
        """Return the number of a graph that is asked about by its number or as a `Data`.

        One that is not among the graphs has the number after the last.
        """
        if isinstance(asked, Data):
            return next((i for i, one in enumerate(self._graphs) if one is asked), self._count)
        return whole_number("graph", asked, self._count, what="a graph")

    def cuts(self, asked: Any) -> Iterator[ComputationalGraph]:
        """Yield the one computational graph of a query."""
        query = self.query_of(asked)
        graph = asked if isinstance(asked, Data) else self._graphs[query]
        if query == self._count:
            check_graphs([graph])
            self._refuse_other_features(graph)
        self._look_at_the_model()
        extras = self._extras(graph)
        scores = self._scores(graph, extras)
        refuse_random(scores, self._scores(graph, extras), Query("graph", query))
        refuse_undecided(scores, Query("graph", query))
        nodes = torch.arange(graph.x.size(0), device=graph.x.device)
        yield ComputationalGraph(
            asked=Query("graph", query),
            readout=GraphRow(),
            candidates=nodes,
            context=nodes[:0],
            x=graph.x,
            edge_index=graph.edge_index,
            extras=extras,
            target=0,
            hops=0,
            both_ways=True,
            halo=0,
            checked="whole",
            whole=True,
            context_matters=False,
            scores=scores,
            num_nodes=graph.x.size(0),
        )

    def with_all_else_redrawn(
        self, graph: ComputationalGraph, inputs: Tensor, *, on_the_cut: bool
    ) -> Tensor:
        """Return the query's scores (S, C) for values (S, n, d): there is nothing else."""
        each = [self._scores(Data(x=x, edge_index=graph.edge_index), graph.extras) for x in inputs]
        return torch.stack(each)

    @property
    def _count(self) -> int:
        return len(self._graphs)

    def _refuse_other_features(self, graph: Data) -> None:
        expected = self._graphs[0].x.size(1)
        if graph.x.size(1) != expected:
            raise InputError(
                f"graph: expected {expected} features as in graphs[0], got {graph.x.size(1)}"
            )

    def _extras(self, graph: Data) -> Extras:
        kwargs = {}
        for name, value in self._kwargs.items():
            if isinstance(value, str):
                if graph.get(value) is None:
                    raise InputError(
                        f"model_kwargs[{name!r}]: expected the name of what the graphs have "
                        f"({', '.join(sorted(graph.keys()))}), got {value!r}"
                    )
                value = graph[value]
            kwargs[name] = value
        return Extras.sort(kwargs, nodes=graph.x.size(0), edges=graph.edge_index.size(1))

    def _scores(self, graph: Data, extras: Extras) -> Tensor:
        readout, nodes = GraphRow(), graph.x.size(0)
        further = readout.inputs(1, nodes, graph.x.device)
        kwargs = {**extras.copies(1), **further}
        return self.predictor.scores(graph.x, graph.edge_index, kwargs, rows=1)[0]

    def _look_at_the_model(self) -> None:
        """Refuse outputs that are not what they are taken for, once for each set of weights."""
        weights = Weights(self.predictor.model)
        if not weights.are_as(self._weights):
            some = [self._scores(graph, self._extras(graph)) for graph in self._graphs[:_LOOKED_AT]]
            self.predictor.refuse_misread(torch.stack(some))
            self._weights = weights
