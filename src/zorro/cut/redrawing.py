"""A model on parts of a graph whose features are redrawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from zorro.cut.graph_parts import GraphParts, Part
from zorro.model.predictor import Predictor
from zorro.noise import Noise, redraw
from zorro.noise.by_type import NoiseByType
from zorro.noise.column_marginals import ColumnMarginals
from zorro.noise.edges import Structure
from zorro.noise.of_edges import AnyEdgeNoise
from zorro.noise.streams import Purpose, generator, seed_of
from zorro.question import Query
from zorro.question.readout import readout_of

_POOL = 1 << 20  # numbers of which rows are picked, where rows are drawn alike for all nodes,
_ROWS = 1 << 10  # and so many rows at most


@dataclass(frozen=True)
class Redrawing:
    """A model, a graph, and what refills features that nothing keeps.

    Args:
        parts: of the graph.
        predictor: the model.
        noise: the distribution.
        seed: of the noise.
        whole: whether the model may be run on the whole graph.
        edges: what happens to edges that nothing keeps; they stay when None.
        keeps_features: whether features stay as they are, whatever is kept.
    """

    parts: GraphParts
    predictor: Predictor
    noise: Noise
    seed: int
    whole: bool
    edges: AnyEdgeNoise | None = None
    keeps_features: bool = False
    _pools: dict[int, Tensor] = field(default_factory=dict)  # by the noise that they are of

    def scores(
        self,
        part: Part,
        asked: Sequence[Query],
        x: Tensor | None = None,
        structure: Structure | None = None,
    ) -> Tensor:
        """Return the scores (q, C) of queries on a part.

        All of them in one pass: what the model is told of each stands side by side.

        Args:
            part: of the graph.
            asked: the queries.
            x: other features (m, d) than the part's.
            structure: other edges, of one copy.
        """
        x = part.x if x is None else x
        nodes = x.size(0)
        readouts = [readout_of(query, part.places(query.seeds)) for query in asked]
        told = [readout.inputs(1, nodes, x.device) for readout in readouts]
        further = {name: torch.cat([each[name] for each in told], dim=-1) for name in told[0]}
        counts = [readout.count(1, nodes) for readout in readouts]
        edge_index, kwargs, mask = part.edge_index, part.model_inputs.as_kwargs(), None
        if structure is not None:
            edge_index = structure.edge_index(edge_index, nodes)
            kwargs, mask = structure.further(part.model_inputs), structure.message_mask
        output = self.predictor.scores(
            x,
            edge_index,
            {**kwargs, **further},
            rows=sum(counts) if further else None,
            each=readouts[0].each,
            message_mask=mask,
        )
        parts = torch.split(output, counts) if further else [output] * len(asked)
        rows = zip(readouts, parts, strict=True)
        return torch.stack([readout.rows(scores, 1)[0] for readout, scores in rows])

    def drawn(
        self, x: Tensor, nodes: Tensor, *, purpose: Purpose, query: int = 0, samples: range
    ) -> Tensor:
        """Return noise (S, n, d) for nodes with features (n, d).

        Args:
            x: (n, d).
            nodes: (n,) which these are.
            purpose: what it is for.
            query: the key of the query that it is for, if it is for one.
            samples: which samples.
        """
        own = seed_of(self.seed, purpose)
        if not isinstance(self.noise, NoiseByType):
            every = torch.arange(x.size(0), device=x.device)
            return self._drawn(self.noise, x, every, own, query, samples)
        drawn = x.new_zeros(len(samples), *x.shape)  # no node has columns of another type
        for number, one, places in self.noise.rows(self.noise.types.of_nodes(nodes)):
            of_type = x[:, one.columns]
            drawn[:, places, one.columns] = self._drawn(
                one.noise, of_type, places, seed_of(own, number), query, samples
            )
        return drawn

    def _drawn(
        self, noise: Noise, x: Tensor, rows: Tensor, seed: int, query: int, samples: range
    ) -> Tensor:
        """Return noise (S, k, d) for some rows (k,) of features (n, d), nodes of one type."""
        if not isinstance(noise, ColumnMarginals) or rows.numel() == 0:
            return redraw(noise, x[rows], seed=seed, query=query, samples=samples)
        # Each row of the pool is a draw for any node, and picking is cheaper than drawing.
        pool = self._pool(noise, x)
        picked = torch.stack(
            [
                torch.randint(
                    pool.size(0), (rows.numel(),), generator=generator(seed, query, sample)
                )
                for sample in samples
            ]
        )  # (S, k)
        return pool[picked.to(pool.device)]

    def _pool(self, noise: Noise, x: Tensor) -> Tensor:
        """Return rows (p, d) of noise, drawn once."""
        if id(noise) not in self._pools:
            width = x.size(1)
            rows = x.new_zeros(min(_ROWS, max(64, _POOL // width)), width)
            own = seed_of(self.seed, Purpose.POOL)
            self._pools[id(noise)] = redraw(noise, rows, seed=own, query=0, samples=range(1))[0]
        return self._pools[id(noise)]
