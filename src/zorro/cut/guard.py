"""A last test of what is claimed: nothing outside the candidates keeps its true value."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.graph_parts import Part
from zorro.cut.redrawing import Redrawing
from zorro.edge_index import contains

_PURPOSE = 2  # of its noise for query 0
_NUMBERS = 1 << 22  # of a pass over the whole graph; in a larger one a part around the cut is taken


class Guard:
    """Runs perturbed inputs of a query where all else is redrawn too.

    They run on the whole graph, as the model's owner runs it, or on the cut and as much around it
    as a pass may take. What the cut gave must come out again, sample by sample; if not, something
    matters that is no candidate.

    Args:
        model: on the graph.
    """

    def __init__(self, model: Redrawing) -> None:
        self._model = model

    def scores(self, graph: ComputationalGraph, inputs: Tensor) -> Tensor:
        """Return the query's scores (S, C) for values (S, n, d) of the candidates."""
        part = self._part(graph)
        outside = (~contains(graph.candidates, part.nodes)).nonzero().flatten()
        rows = torch.searchsorted(part.nodes, graph.candidates)
        redrawn = self._model.drawn(
            part.x[outside], purpose=_PURPOSE + graph.query, samples=range(inputs.size(0))
        )
        target = int(torch.searchsorted(part.nodes, graph.query))
        x = part.x.clone()
        scores = []
        for values, others in zip(inputs, redrawn, strict=True):
            x[rows] = values
            x[outside] = others
            scores.append(self._model.scores(part, x)[target])
        return torch.stack(scores)

    def _part(self, graph: ComputationalGraph) -> Part:
        parts = self._model.parts
        is_most_of_it = 4 * graph.x.size(0) >= parts.num_nodes  # a part is twice the cut or more
        if graph.whole or (self._model.whole and (parts.numbers <= _NUMBERS or is_most_of_it)):
            return parts.whole()
        return parts.grown(torch.cat([graph.candidates, graph.context]).sort().values)
