"""A last test of what is claimed: nothing outside the candidates keeps its true value."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.graph_parts import GraphParts, Part
from zorro.edge_index import contains
from zorro.noise import Noise, redraw
from zorro.predictor import Predictor

_NUMBERS = 1 << 22  # of a pass over the whole graph; in a larger one a part around the cut is taken


class Guard:
    """Runs perturbed inputs of a query where all else is redrawn too.

    They run on the whole graph, as the model's owner runs it, or on the cut and as much around it
    as a pass may take. What the cut gave must come out again, sample by sample; if not, something
    matters that is no candidate.

    Args:
        parts: of the graph.
        predictor: the model.
        noise: what refills unselected entries.
        seed: of the noise.
        whole: whether the model may be run on the whole graph.
    """

    def __init__(
        self,
        parts: GraphParts,
        predictor: Predictor,
        noise: Noise,
        *,
        seed: int,
        whole: bool,
    ) -> None:
        self._parts = parts
        self._predictor = predictor
        self._noise = noise
        self._seed = seed
        self._may_run_whole = whole

    def scores(self, graph: ComputationalGraph, inputs: Tensor) -> Tensor:
        """Return the query's scores (S, C) for values (S, n, d) of the candidates."""
        part = self._part(graph)
        outside = (~contains(graph.candidates, part.nodes)).nonzero().flatten()
        rows = torch.searchsorted(part.nodes, graph.candidates)
        redrawn = redraw(
            self._noise,
            part.x[outside],
            seed=self._seed,
            query=self._parts.num_nodes + 1 + graph.query,  # no query's own noise
            samples=range(inputs.size(0)),
        )
        target = int(torch.searchsorted(part.nodes, graph.query))
        x = part.x.clone()
        scores = []
        for values, others in zip(inputs, redrawn, strict=True):
            x[rows] = values
            x[outside] = others
            output = self._predictor.scores(x, part.edge_index, part.extras.copies(1))
            scores.append(output[target])
        return torch.stack(scores)

    def _part(self, graph: ComputationalGraph) -> Part:
        if graph.whole or (self._may_run_whole and self._parts.numbers <= _NUMBERS):
            return self._whole
        return self._parts.grown(torch.cat([graph.candidates, graph.context]).sort().values)

    @cached_property
    def _whole(self) -> Part:
        return self._parts.whole()
