"""Zorro's own searches, as methods beside the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zorro.elements import FEATURES, KINDS, NODES, Kind, Selection, Space
from zorro.evaluation import EvaluatorChoice, EvaluatorName
from zorro.evaluation.evaluator import Evaluator, do_nothing
from zorro.methods.masks import Masks
from zorro.methods.registry import method
from zorro.methods.subject import Subject
from zorro.model.memory import default_budget
from zorro.model.predictor import Predictor
from zorro.noise import Noise, draws_of
from zorro.question.options import check_kinds
from zorro.search import Budget, Laboratory, search, search_certified

_FRESH = 1000  # samples after the search's own on which explanations are measured


class _Workbench:
    """Noise and evaluators for one query after the other; a model is traced once."""

    def __init__(
        self, noise: Noise, keep: Sequence[Kind], evaluator: EvaluatorName, memory: int | None
    ) -> None:
        check_kinds(keep)
        self._noise = noise
        self._kinds = tuple(kind for kind in KINDS if kind in keep)
        self._wanted = evaluator
        self._memory = memory
        self._choice: tuple[Predictor, EvaluatorChoice] | None = None

    def evaluator(
        self,
        subject: Subject,
        samples: range,
        *,
        searches: bool = True,
        on_batch: Callable[[], None] = do_nothing,
    ) -> Evaluator:
        """Return an evaluator of the query on some samples of its noise, seeded by the subject."""
        if self._choice is None or self._choice[0] is not subject.predictor:
            choice = EvaluatorChoice(
                subject.predictor, wanted=self._wanted, memory=self.memory(subject)
            )
            self._choice = (subject.predictor, choice)
        draws = draws_of(
            self._noise,
            subject.graph.candidate_x,
            seed=subject.seed,
            query=subject.graph.query,
            samples=samples,
            memory=self.memory(subject),
        )
        nodes, columns = subject.graph.candidate_x.shape
        return self._choice[1].evaluator(
            subject.graph,
            draws,
            space=Space(nodes, columns, kinds=self._kinds, device=subject.graph.x.device),
            searches=searches,
            on_batch=on_batch,
        )

    def memory(self, subject: Subject) -> int:
        """Return the bytes that an evaluation may take."""
        return default_budget(subject.graph.x.device) if self._memory is None else self._memory


@method("zorro-paper")
class ZorroPaper:
    """The paper's greedy search (algorithm 1) on the subject's own noise.

    Args:
        noise: what refills unselected entries; that of `Subjects` is its `noise`.
        tau: the search ends when the fidelity on its samples is greater than this.
        k: elements of each kind tried per step; None tries all.
        samples: noise samples that the search sees.
        keep: what a set may be of, as in `zorro.Zorro`; a mask of another kind is left out.
        evaluator: as in `zorro.Zorro`.
        memory: bytes that an evaluation may take; a quarter of what is free when None.
    """

    def __init__(
        self,
        noise: Noise,
        *,
        tau: float = 0.85,
        k: int | None = 10,
        samples: int = 100,
        keep: Sequence[Kind] = KINDS,
        evaluator: EvaluatorName = "auto",
        memory: int | None = None,
    ) -> None:
        self._bench = _Workbench(noise, keep, evaluator, memory)
        self._tau, self._k, self._samples = tau, k, samples

    def explain(self, subject: Subject) -> Masks:
        """Return the set that was found, as hard masks."""
        evaluator = self._bench.evaluator(subject, range(self._samples))
        return _hard(search(evaluator, tau=self._tau, k=self._k).selection)


@method("zorro")
class ZorroGuided:
    """The guided search with its certificate, as `zorro.Zorro` runs it.

    Args:
        noise: what refills unselected entries; that of `Subjects` is its `noise`.
        tau: the fidelity that the explanation is to have.
        delta: the probability with which it may be below τ after all; None certifies nothing.
        k: elements tried per step; None tries all.
        samples: noise samples that the search sees first.
        max_seconds: time for one search.
        max_elements: most nodes and features together.
        keep: what a set may be of, as in `zorro.Zorro`; a mask of another kind is left out.
        evaluator: as in `zorro.Zorro`.
        memory: bytes that an evaluation may take; a quarter of what is free when None.
    """

    def __init__(
        self,
        noise: Noise,
        *,
        tau: float = 0.85,
        delta: float | None = 0.05,
        k: int | None = 10,
        samples: int = 100,
        max_seconds: float | None = None,
        max_elements: int | None = None,
        keep: Sequence[Kind] = KINDS,
        evaluator: EvaluatorName = "auto",
        memory: int | None = None,
    ) -> None:
        self._bench = _Workbench(noise, keep, evaluator, memory)
        self._tau, self._delta, self._k, self._samples = tau, delta, k, samples
        self._limits = (max_seconds, max_elements)

    def explain(self, subject: Subject) -> Masks:
        """Return the set that was found, as hard masks."""
        budget = Budget(*self._limits)

        def evaluate(samples: range, searches: bool, limited: bool) -> Evaluator:
            on_batch = budget.on_batch if limited else do_nothing
            return self._bench.evaluator(subject, samples, searches=searches, on_batch=on_batch)

        laboratory = Laboratory(
            evaluate, first=self._samples + _FRESH, memory=self._bench.memory(subject) // 4
        )
        result = search_certified(
            laboratory,
            tau=self._tau,
            delta=self._delta,
            samples=self._samples,
            k=self._k,
            budget=budget,
        )
        return _hard(result.found.selection)


def _hard(selection: Selection) -> Masks:
    kinds = selection.space.kinds
    return Masks(
        nodes=selection.nodes if NODES in kinds else None,
        features=selection.features if FEATURES in kinds else None,
    )
