"""What all queries of one model are evaluated with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.elements import KEPT, RELATIONS, Kind, Space, TypedBlock, redraws_features
from zorro.errors import InputError
from zorro.evaluation.choice import EvaluatorChoice, EvaluatorName
from zorro.evaluation.evaluator import Evaluator, do_nothing
from zorro.model.memory import worth_taking
from zorro.model.packing import Packing
from zorro.model.predictor import Predictor
from zorro.noise import Draws, Noise, draws_of
from zorro.noise.draws import TrueValues
from zorro.noise.of_edges import AnyEdgeNoise
from zorro.question.event import Event


class Bench:
    """Noise, what can be kept, and the choice of evaluator; the model is traced once.

    Args:
        predictor: the model.
        noise: what refills unselected entries.
        seed: of the noise.
        memory: bytes that an evaluation may take; less is taken where less is as fast.
        device: on which.
        wanted: which evaluator.
        keep: what may be selected.
        edges: what happens to edges that are not kept, where they are selectable.
        groups: (d,) each column's group; every column is its own when None.
        packing: of the types, where there are several.
    """

    def __init__(
        self,
        predictor: Predictor,
        noise: Noise,
        *,
        seed: int,
        memory: int,
        device: torch.device,
        wanted: EvaluatorName = "auto",
        keep: Sequence[Kind] = KEPT,
        groups: Tensor | None = None,
        edges: AnyEdgeNoise | None = None,
        packing: Packing | None = None,
    ) -> None:
        self.predictor = predictor
        self.noise = noise
        self.memory = worth_taking(memory, device)
        self._most = memory
        self._seed = seed
        self._keep = tuple(keep)
        self._groups = groups
        self._edges = edges
        self._packing = packing
        self._choice = EvaluatorChoice(predictor, wanted=wanted, memory=self.memory)

    def evaluator(
        self,
        graph: ComputationalGraph,
        event: Event,
        samples: range,
        *,
        searches: bool = True,
        on_batch: Callable[[], None] = do_nothing,
    ) -> Evaluator:
        """Return an evaluator of a query on some samples of its noise.

        Args:
            graph: of the query.
            event: what counts as a hit.
            samples: which.
            searches: whether elements will be added, or one selection is to be looked at.
            on_batch: called before each batch of work; what it raises ends the evaluation.
        """
        on_batch()
        space = Space(
            graph.candidates.numel(),
            graph.x.size(1),
            kinds=self._keep,
            groups=self._groups,
            edges=0 if self._edges is None else graph.edges.count,
            device=graph.x.device,
            types=self._typed_block(graph),
            relations=graph.relations_of_edges if RELATIONS in self._keep else None,
        )
        edges = None
        if self._edges is not None:
            edges = self._edges.draws(
                graph.edges, seed=self._seed, query=graph.query, samples=samples
            )
        evaluator = self._choice.evaluator(
            graph,
            self._draws(graph, samples),
            event,
            edges=edges,
            space=space,
            on_batch=on_batch,
            searches=searches,
        )
        if self._most < evaluator.least_memory:
            raise InputError(
                f"memory: expected at least {evaluator.least_memory:,} bytes for "
                f"{graph.asked}, which has {graph.candidates.numel():,} candidates, got "
                f"{self._most:,}"
            )
        return evaluator

    def _typed_block(self, graph: ComputationalGraph) -> TypedBlock | None:
        """Return which rows and columns of a query's features are of which type."""
        types = graph.types
        if self._packing is None or types is None:
            return None
        return TypedBlock(
            types.of_nodes(graph.candidates),
            self._packing.type_of_columns().to(graph.x.device),
            count=len(types.nodes),
            unnamed=self._packing.ids,
            relations=len(types.joined),
        )

    def _draws(self, graph: ComputationalGraph, samples: range) -> Draws:
        """Return the noise of a query's features, which is none where these are not selectable."""
        if not redraws_features(self._keep):
            return TrueValues(graph.candidate_x, len(samples))
        return draws_of(
            self.noise,
            graph.candidate_x,
            seed=self._seed,
            query=graph.query,
            samples=samples,
            memory=self.memory,
            types=None if graph.types is None else graph.types.of_nodes(graph.candidates),
        )
