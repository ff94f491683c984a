"""Graphs that a model answers for as wholes: each is its own computational graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from zorro.arguments import whole_number
from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.perturbed import Perturbed
from zorro.cut.reach import Reach
from zorro.cut.usable import refuse_random, refuse_undecided
from zorro.data.graph_validation import check_graphs
from zorro.elements.types import Types
from zorro.errors import InputError
from zorro.graph.model_inputs import ModelInputs
from zorro.graph.packed_graphs import PackedGraphs
from zorro.model.predictor import Predictor
from zorro.question import Query
from zorro.question.decision import Comparison, Decision
from zorro.question.readout import GraphRow, Readout

_LOOKED_AT = 64  # graphs by whose outputs it is seen what these are


class WholeGraphs:
    """Gives the computational graphs of a set of graphs: all nodes are candidates.

    Args:
        predictor: the model, called as `model(x, edge_index, batch=…, …)`.
        graphs: PyG's `Data`, each with `x` and `edge_index`.
        model_kwargs: further arguments of the model; a text names an attribute of the graphs that
            is passed, as `{"edge_weight": "edge_attr"}`, anything else is passed as it is.
        readouts: how each graph's answer is read off the model's; it is the whole output when None.
        directed: whether the two directions of an edge are two elements.
        packed: the graphs as the user has them, where they are of several types.
    """

    can_widen = False
    reach = Reach(0, everything=True)

    def __init__(
        self,
        predictor: Predictor,
        graphs: Sequence[Data],
        *,
        model_kwargs: Mapping[str, Any] | None = None,
        readouts: Sequence[Readout] | None = None,
        directed: bool = False,
        packed: PackedGraphs | None = None,
    ) -> None:
        self.predictor = predictor
        self._graphs = graphs
        self._kwargs = dict(model_kwargs or {})
        self._readouts = readouts
        self._directed = directed
        self._packed = packed
        self._version = 0  # of the model when it was looked at
        for graph in graphs[:1]:
            self._model_inputs(graph)  # refuses names of nothing before anything is computed

    def query_of(self, asked: Any) -> int:
        """Return the number of a graph that is asked about by its number or as PyG's.

        One that is not among the graphs has the number after the last.
        """
        if isinstance(asked, Data | HeteroData):
            given = self._graphs if self._packed is None else self._packed.given
            return next((i for i, one in enumerate(given) if one is asked), self._count)
        return whole_number("graph", asked, self._count, what="a graph")

    def edges_between(self, graph: ComputationalGraph, sender: int, receiver: int) -> int:
        """Return how many edges lead from a node of a graph to another."""
        is_one = (graph.edge_index[0] == sender) & (graph.edge_index[1] == receiver)
        return int(is_one.sum())

    def question(self, asked: Any, comparison: Comparison) -> Any:
        """Return what is asked, which a comparison does not change."""
        comparison.refuse_links()
        return asked

    def decision(self, graph: ComputationalGraph, comparison: Comparison) -> Decision:
        """Return what counts as the same answer."""
        return self.predictor.reading.decision(graph.scores, comparison)

    def cuts(self, asked: Any) -> Iterator[ComputationalGraph]:
        """Yield the one computational graph of a query."""
        query = self.query_of(asked)
        graph, types = self._taken(asked, query)
        self._look_at_the_model()
        model_inputs = self._model_inputs(graph)
        readout = self._readout(query)
        scores = self._scores(graph, model_inputs, readout)
        asked = Query("graph", query)
        refuse_random(self.predictor, scores, self._scores(graph, model_inputs, readout), asked)
        refuse_undecided(self.predictor, scores, asked)
        nodes = torch.arange(graph.x.size(0), device=graph.x.device)
        yield ComputationalGraph(
            asked=asked,
            readout=readout,
            candidates=nodes,
            context=nodes[:0],
            x=graph.x,
            edge_index=graph.edge_index,
            model_inputs=model_inputs,
            target=0,
            hops=0,
            both_ways=True,
            halo=0,
            checked="whole",
            whole=True,
            context_matters=False,
            scores=scores,
            num_nodes=graph.x.size(0),
            directed=self._directed,
            types=types,
        )

    def _taken(self, asked: Any, query: int) -> tuple[Data, Types | None]:
        """Return the graph of a query, and its types where there are several."""
        packed = self._packed
        if query < self._count:
            return self._graphs[query], None if packed is None else packed.types[query]
        if packed is not None:
            return packed.packed(asked)
        check_graphs([asked], integers=True, targets=False)
        self._refuse_other_features(asked)
        return asked, None

    def with_all_else_redrawn(
        self, graph: ComputationalGraph, inputs: Perturbed, *, on_the_cut: bool, first: int
    ) -> Tensor:
        """Return the scores on the graph: all of it is candidates, and nothing else is there."""
        raise AssertionError("a whole graph holds all candidates, and no claim needs a guard")

    @property
    def _count(self) -> int:
        return len(self._graphs)

    def _refuse_other_features(self, graph: Data) -> None:
        expected = self._graphs[0].x
        if graph.x.size(1) != expected.size(1):
            raise InputError(
                f"graph: expected {expected.size(1)} features as in graphs[0], got "
                f"{graph.x.size(1)}"
            )
        if graph.x.dtype != expected.dtype:
            raise InputError(
                f"graph: expected {expected.dtype} features as in graphs[0], got {graph.x.dtype}"
            )

    def _model_inputs(self, graph: Data) -> ModelInputs:
        return _inputs_of(graph, self._kwargs)

    def _readout(self, query: int) -> Readout:
        return GraphRow() if self._readouts is None else self._readouts[query]

    def _scores(self, graph: Data, model_inputs: ModelInputs, readout: Readout) -> Tensor:
        nodes = graph.x.size(0)
        scores = self.predictor.scores(
            graph.x,
            graph.edge_index,
            {**model_inputs.as_kwargs(), **readout.inputs(1, nodes, graph.x.device)},
            rows=readout.count(1, nodes),
            each=readout.each,
        )
        return readout.rows(scores, 1)[0]

    def _look_at_the_model(self) -> None:
        """Refuse outputs that are not what they are taken for, once for each state of it."""
        version = self.predictor.version
        if version != self._version:
            self.predictor.unsettle()
            few = None if self.predictor.reading.needs_outputs else _LOOKED_AT
            some = [
                self._scores(graph, self._model_inputs(graph), self._readout(number))
                for number, graph in enumerate(self._graphs[:few])
            ]
            self.predictor.settle(torch.stack(some))
            self._version = version


def edge_attributes_of(
    graphs: Sequence[Data], model_kwargs: Mapping[str, Any]
) -> dict[str, Tensor]:
    """Return what a model gets for edges (E, …), of all edges of all graphs."""
    each = [_inputs_of(graph, model_kwargs).edge for graph in graphs]
    return {name: torch.cat([edges[name] for edges in each]) for name in each[0]}


def _inputs_of(graph: Data, model_kwargs: Mapping[str, Any]) -> ModelInputs:
    """Return a graph's further arguments, some of which are named by the graph's attributes."""
    kwargs = {}
    for name, value in model_kwargs.items():
        if isinstance(value, str):
            if graph.get(value) is None:
                raise InputError(
                    f"model_kwargs[{name!r}]: expected the name of what the graphs have "
                    f"({', '.join(sorted(graph.keys()))}), got {value!r}"
                )
            value = graph[value]
        kwargs[name] = value
    return ModelInputs.sort(kwargs, nodes=graph.x.size(0), edges=graph.edge_index.size(1))
