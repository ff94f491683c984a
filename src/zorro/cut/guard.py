"""A last test of what is claimed: nothing outside the candidates keeps its true value."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.graph_parts import Part
from zorro.cut.perturbed import Perturbed
from zorro.cut.redrawing import Redrawing
from zorro.noise.edges import EdgeNoise, EdgesOfSamples, Structure
from zorro.noise.streams import Purpose, seed_of

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
        self,
        graph: ComputationalGraph,
        inputs: Perturbed,
        *,
        on_the_cut: bool = False,
        first: int = 0,
    ) -> Tensor:
        """Return the query's scores (S, C) for samples of its input.

        Args:
            graph: of the query.
            inputs: the candidates' features, and the edges of the cut.
            on_the_cut: redraw the cut's context and nothing further away: enough where the model
                is known to read the candidates alone.
            first: which sample is the first of these.
        """
        part = part_of(graph) if on_the_cut else self._around(graph)
        rows = _places(graph.candidates, part.nodes)
        is_outside = torch.ones_like(part.nodes, dtype=torch.bool)
        is_outside[rows] = False
        samples = range(first, first + inputs.x.size(0))
        outside = part.x[is_outside]
        if self._model.keeps_features:
            redrawn = outside.expand(len(samples), -1, -1)
        else:
            nodes = part.nodes[is_outside]
            redrawn = self._model.drawn(
                outside, nodes, purpose=Purpose.GUARD, query=graph.query, samples=samples
            )
        structures = self._structures(graph, part, inputs.edges, samples)
        x = part.x.clone()
        scores = []
        for values, others, structure in zip(inputs.x, redrawn, structures, strict=True):
            x[rows] = values
            x[is_outside] = others
            scores.append(self._model.scores(part, [graph.asked], x, structure)[0])
        return torch.stack(scores)

    def _structures(
        self,
        graph: ComputationalGraph,
        part: Part,
        given: EdgesOfSamples | None,
        samples: range,
    ) -> Sequence[Structure | None]:
        """Return the edges of a part, sample by sample: those of the cut as given, others drawn.

        In every fourth sample all others are there.
        """
        noise = self._model.edges
        if given is None or not isinstance(noise, EdgeNoise):
            return [None] * len(samples)
        edges = graph.elements_of(part.nodes[part.edge_index], part.model_inputs)
        drawn = noise.draws(
            edges,
            seed=seed_of(self._model.seed, Purpose.GUARD),
            query=graph.query,
            samples=samples,
        )
        # Where all others are there it shows most what a few draws even out, as how many they are.
        numbers = torch.arange(samples.start, samples.stop, device=part.nodes.device)
        is_drawn = numbers.unsqueeze(1) % 4 != 1
        others = EdgesOfSamples(
            drawn.present | ~is_drawn,
            None if drawn.donors is None else torch.ones_like(drawn.present),
            drawn.donors,
        )
        joined = others.with_those_of(given, edges.places_in(graph.edges))
        return [
            joined.part(slice(s, s + 1)).structure(edges, part.model_inputs.edge, noise.pool)
            for s in range(len(samples))
        ]

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
    return Part(nodes, graph.x, graph.edge_index, graph.model_inputs)


def _places(ids: Tensor, nodes: Tensor) -> Tensor:
    """Return where ids (n,) stand among nodes (m,), which hold them, in any order."""
    ascending = nodes.sort()
    return ascending.indices[torch.searchsorted(ascending.values, ids)]
