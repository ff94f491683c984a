"""Which evaluator serves a query: of a trace, of a recording, or of the model as it is."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal

from torch import fx

from zorro.cut import ComputationalGraph
from zorro.elements import Space
from zorro.errors import ModelError
from zorro.evaluation.batched import BatchedEvaluator, Copies
from zorro.evaluation.evaluator import Evaluator, do_nothing
from zorro.evaluation.recorded.program import RecordedProgram
from zorro.evaluation.recorded.recording import NotRecordedError
from zorro.evaluation.traced import Program, TracedEvaluator, Unserved, trace
from zorro.evaluation.traced.check import check
from zorro.evaluation.traced.unserved import unless_it_fails
from zorro.model.model_state import holds_inference_tensors
from zorro.model.predictor import Predictor
from zorro.noise import Draws
from zorro.noise.of_edges import AnyEdgeDraws
from zorro.question.event import Event

logger = logging.getLogger(__name__)

EvaluatorName = Literal["auto", "traced", "any-model"]
EVALUATORS: tuple[EvaluatorName, ...] = ("auto", "traced", "any-model")


class EvaluatorChoice:
    """Makes evaluators for one model.

    The model is traced once. For each query the traced evaluator is compared with the model
    before it is used; where it cannot be used the any-model evaluator is, and the reason is
    logged.

    Args:
        predictor: the model.
        wanted: `"auto"`; `"any-model"` runs the model; `"traced"` raises where it cannot trace.
        memory: bytes that an evaluation may take.
    """

    def __init__(self, predictor: Predictor, *, wanted: EvaluatorName, memory: int) -> None:
        self._predictor = predictor
        self._wanted = wanted
        self._memory = memory
        self._traced: fx.Graph | None = None
        self._reason = ""
        self._version = 0  # of the model when it was traced
        self._checked: tuple[ComputationalGraph, Program | None, str] | None = None
        self._copies: tuple[ComputationalGraph, Copies] | None = None

    def evaluator(
        self,
        graph: ComputationalGraph,
        draws: Draws,
        event: Event | None = None,
        *,
        edges: AnyEdgeDraws | None = None,
        space: Space | None = None,
        on_batch: Callable[[], None] = do_nothing,
        searches: bool = True,
    ) -> Evaluator:
        """Return an evaluator of a query on some draws of noise.

        Args:
            graph: the query's computational graph.
            draws: the noise.
            event: what counts as a hit; that the prediction stays when None.
            edges: the noise of its edges, where they can be kept.
            space: what can be kept; nodes and features when None.
            on_batch: called before each batch of work; what it raises ends the evaluation.
            searches: whether elements will be added, or one selection is to be looked at.
        """
        program, reason = self._program(graph, draws, event, edges)
        batched = BatchedEvaluator(
            self._predictor,
            graph,
            draws,
            edges=edges,
            memory=self._memory,
            event=event,
            space=space,
            copies=self._copies_of(graph, program),
            on_batch=on_batch,
            reason=reason,
        )
        if program is None:
            return batched
        return TracedEvaluator(
            self._predictor,
            program,
            graph,
            draws,
            batched,
            memory=self._memory,
            on_batch=on_batch,
            searches=searches,
        )

    def _copies_of(self, graph: ComputationalGraph, program: Program | None) -> Copies:
        """Return what is known of copies of a query's graph in one batch."""
        if program is not None and program.holds_on_other_graphs:
            # They gave each what it gives alone, or the program would be refused.
            return Copies(not program.looks_at_all_nodes)
        if self._copies is None or self._copies[0] is not graph:
            self._copies = (graph, Copies())
        return self._copies[1]

    def _program(
        self,
        graph: ComputationalGraph,
        draws: Draws,
        event: Event | None,
        edges: AnyEdgeDraws | None,
    ) -> tuple[Program | None, str]:
        """Return the model's program for a query, compared with the model once, or why not."""
        if self._checked is not None and self._checked[0] is graph:
            known = self._checked[1]
            if known is not None and known.refuted:
                # Of this query alone: what others get must not depend on their order.
                self._refuse_or_log(graph, known.refuted)
                self._checked = (graph, None, known.refuted)
            return self._checked[1:]
        self._forget_if_changed()
        program = None
        reason = "it was asked for" if self._wanted == "any-model" else self._reason
        if edges is not None:
            reason = reason or edges.why_not_traced
        if reason:
            self._refuse_or_log(graph, reason)
        else:
            try:
                if self._traced is None:
                    self._traced = self._trace(graph)
                program = self._built(self._traced, graph, edges is not None)
                check(
                    self._predictor, program, graph, draws, event, edges=edges, memory=self._memory
                )
            except Unserved as unserved:
                program, reason = None, str(unserved)
                self._refuse_or_log(graph, reason)
        if program is None and self._wanted == "auto" and edges is None:
            program, reason = self._recorded(graph, draws, event, reason)
        self._checked = (graph, program, reason)
        return program, reason

    def _recorded(
        self, graph: ComputationalGraph, draws: Draws, event: Event | None, reason: str
    ) -> tuple[Program | None, str]:
        """Return a recording of the model's run on a query, compared with the model, or why not.

        Args:
            graph: of the query.
            draws: the noise.
            event: what counts as a hit.
            reason: that the model is not traced.
        """
        try:
            if not graph.x.is_floating_point() or holds_inference_tensors(self._predictor.model):
                raise NotRecordedError("it gives no gradient")
            program = unless_it_fails(
                lambda: RecordedProgram(self._predictor, graph),
                what="its run failed when recorded",
            )
            check(self._predictor, program, graph, draws, event, memory=self._memory)
        except (Unserved, NotRecordedError) as why_not:
            logger.info("%s: not recorded, since %s", graph.asked, why_not)
            return None, f"{reason}; it is not recorded either: {why_not}"
        return program, reason

    def _forget_if_changed(self) -> None:
        """Trace anew what has been trained on, or loaded, in the meantime."""
        version = self._predictor.version
        if version != self._version:
            self._traced, self._reason, self._version = None, "", version

    def _trace(self, graph: ComputationalGraph) -> fx.Graph:
        try:
            if not graph.x.is_floating_point():
                raise Unserved(f"its features are {graph.x.dtype}, which have no gradient")
            if holds_inference_tensors(self._predictor.model):
                raise Unserved("it was made under torch.inference_mode() and gives no gradient")
            return trace(self._predictor.model, graph)
        except Unserved as reason:
            self._reason = str(reason)  # the model's, not the query's: do not try again
            raise

    def _built(self, traced: fx.Graph, graph: ComputationalGraph, edges_vary: bool) -> Program:
        return unless_it_fails(
            lambda: Program(self._predictor.model, traced, graph, edges_vary=edges_vary)
        )

    def _refuse_or_log(self, graph: ComputationalGraph, reason: str) -> None:
        if self._wanted == "traced":
            raise ModelError(
                f"evaluator: the model cannot be traced for {graph.asked}: {reason}; "
                "use evaluator='auto'"
            )
        logger.info("%s: evaluated by running the model, since %s", graph.asked, reason)
