"""Zorro's own searches, as methods beside the others."""

from __future__ import annotations

from zorro.explainers.masks import Masks
from zorro.explainers.registry import method
from zorro.explainers.subject import Subject
from zorro.fidelity import EvaluatorChoice, EvaluatorName
from zorro.fidelity.evaluator import Evaluator
from zorro.memory import default_budget
from zorro.noise import Draws, Noise, draws_of
from zorro.predictor import Predictor
from zorro.search import Budget, Laboratory, search, search_certified
from zorro.selection import Selection

_FRESH = 1000  # samples after the search's own on which explanations are measured


class _Workbench:
    """Noise and evaluators for one query after the other; a model is traced once."""

    def __init__(self, noise: Noise, evaluator: EvaluatorName, memory: int | None) -> None:
        self._noise = noise
        self._wanted = evaluator
        self._memory = memory
        self._choice: tuple[Predictor, EvaluatorChoice] | None = None

    def draws(self, subject: Subject, samples: range) -> Draws:
        """Return the query's noise, seeded by the subject."""
        return draws_of(
            self._noise,
            subject.graph.candidate_x,
            seed=subject.seed,
            query=subject.graph.query,
            samples=samples,
            memory=self._budget(subject),
        )

    def evaluator(self, subject: Subject, draws: Draws) -> Evaluator:
        """Return an evaluator of the query on some noise."""
        if self._choice is None or self._choice[0] is not subject.predictor:
            choice = EvaluatorChoice(
                subject.predictor, wanted=self._wanted, memory=self._budget(subject)
            )
            self._choice = (subject.predictor, choice)
        return self._choice[1].evaluator(subject.graph, draws)

    def _budget(self, subject: Subject) -> int:
        return default_budget(subject.graph.x.device) if self._memory is None else self._memory


@method("zorro-paper")
class ZorroPaper:
    """The paper's greedy search (algorithm 1) on the subject's own noise.

    Args:
        noise: what refills unselected entries; that of `Subjects` is its `noise`.
        tau: the search ends when the fidelity on its samples is greater than this.
        k: elements of each kind tried per step; None tries all.
        samples: noise samples that the search sees.
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
        evaluator: EvaluatorName = "auto",
        memory: int | None = None,
    ) -> None:
        self._bench = _Workbench(noise, evaluator, memory)
        self._tau, self._k, self._samples = tau, k, samples

    def explain(self, subject: Subject) -> Masks:
        """Return the set that was found, as hard masks."""
        draws = self._bench.draws(subject, range(self._samples))
        evaluator = self._bench.evaluator(subject, draws)
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
        evaluator: EvaluatorName = "auto",
        memory: int | None = None,
    ) -> None:
        self._bench = _Workbench(noise, evaluator, memory)
        self._tau, self._delta, self._k, self._samples = tau, delta, k, samples
        self._limits = (max_seconds, max_elements)

    def explain(self, subject: Subject) -> Masks:
        """Return the set that was found, as hard masks."""
        laboratory = Laboratory(
            lambda samples: self._bench.draws(subject, samples),
            lambda draws: self._bench.evaluator(subject, draws),
            first=self._samples + _FRESH,
        )
        result = search_certified(
            laboratory,
            tau=self._tau,
            delta=self._delta,
            samples=self._samples,
            k=self._k,
            budget=Budget(*self._limits),
        )
        return _hard(result.found.selection)


def _hard(selection: Selection) -> Masks:
    return Masks(nodes=selection.nodes, features=selection.features)
