"""A last test of what is claimed: nothing outside the candidates keeps its true value."""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.graph_parts import Part
from zorro.cut.redrawing import Redrawing

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

    def scores(
        self, graph: ComputationalGraph, inputs: Tensor, *, on_the_cut: bool = False
    ) -> Tensor:
        """Return the query's scores (S, C) for values (S, n, d) of the candidates.

        Args:
            graph: of the query.
            inputs: the values.
            on_the_cut: redraw the cut's context and nothing further away: enough where the model
                is known to read the candidates alone.
        """
        part = part_of(graph) if on_the_cut else self._around(graph)
        rows = _places(graph.candidates, part.nodes)
        is_outside = torch.ones_like(part.nodes, dtype=torch.bool)
        is_outside[rows] = False
        redrawn = self._model.drawn(
            part.x[is_outside], purpose=_PURPOSE + graph.query, samples=range(inputs.size(0))
        )
        x = part.x.clone()
        scores = []
        for values, others in zip(inputs, redrawn, strict=True):
            x[rows] = values
            x[is_outside] = others
            scores.append(self._model.scores(part, [graph.asked], x)[0])
        return torch.stack(scores)

    def _around(self, graph: ComputationalGraph) -> Part:
        """Return the whole graph, or the cut and more around it."""
        parts = self._model.parts
        is_most_of_it = 4 * graph.x.size(0) >= parts.num_nodes  # a part is twice the cut or more
        if graph.whole or (self._model.whole and (parts.numbers <= _NUMBERS or is_most_of_it)):
            return parts.whole()
        return parts.grown(torch.cat([graph.candidates, graph.context]).sort().values)


def part_of(graph: ComputationalGraph) -> Part:
    """Return a cut as the part of the graph that it is."""
    nodes = torch.cat([graph.candidates, graph.context])
    return Part(nodes, graph.x, graph.edge_index, graph.extras)


def _places(ids: Tensor, nodes: Tensor) -> Tensor:
    """Return where ids (n,) stand among nodes (m,), which hold them, in any order."""
    ascending = nodes.sort()
    return ascending.indices[torch.searchsorted(ascending.values, ids)]
