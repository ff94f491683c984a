"""Zorro's own searches, as methods beside the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zorro.elements import FEATURES, KEPT, NODES, Kind
from zorro.evaluation import EvaluatorName
from zorro.evaluation.bench import Bench
from zorro.methods.masks import Masks
from zorro.methods.registry import method
from zorro.methods.subject import Subject
from zorro.model.memory import default_budget
from zorro.noise import Noise
from zorro.question.decision import SameClass
from zorro.question.options import check_kinds
from zorro.question.parameters import Parameters
from zorro.search.inquiry import Inquiry


class _Searches:
    """Searches with the same settings for one query after the other; a model is traced once."""

    def __init__(
        self,
        noise: Noise,
        keep: Sequence[Kind],
        evaluator: EvaluatorName,
        memory: int | None,
        **asked: Any,
    ) -> None:
        check_kinds(keep, KEPT)
        self._noise = noise
        self._keep = tuple(kind for kind in KEPT if kind in keep)
        self._wanted = evaluator
        self._memory = memory
        self._asked = asked
        self._bench: tuple[tuple[object, int], Bench] | None = None

    def masks(self, subject: Subject) -> Masks:
        """Return the set that is found for a prediction, as hard masks."""
        graph = subject.graph
        event = SameClass().event(graph.scores, graph.asked)
        asked = Parameters(
            **self._asked,
            fresh_samples=None,
            confidence=0.95,
            noise=self._noise.name,
            seed=subject.seed,
            keep=self._keep,
        )
        selection = Inquiry(self._bench_of(subject), graph, event, asked).find().found.selection
        return Masks(
            nodes=selection.nodes if NODES in self._keep else None,
            features=selection.features if FEATURES in self._keep else None,
        )

    def _bench_of(self, subject: Subject) -> Bench:
        key = (subject.predictor, subject.seed)
        if self._bench is None or self._bench[0] != key:
            memory = self._memory
            bench = Bench(
                subject.predictor,
                self._noise,
                seed=subject.seed,
                memory=default_budget(subject.graph.x.device) if memory is None else memory,
                device=subject.graph.x.device,
                wanted=self._wanted,
                keep=self._keep,
            )
            self._bench = (key, bench)
        return self._bench[1]


@method("zorro-paper")
class ZorroPaper:
    """The paper's greedy search (algorithm 1) on the subject's own noise.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Subjects, ZorroPaper
    >>> club = karate_club()
    >>> subjects = Subjects(SimpleConv(), club.x, club.edge_index)
    >>> masks = ZorroPaper(subjects.noise).explain(subjects.of(12))
    >>> masks.nodes, masks.features
    (tensor([ True,  True, False]), tensor([False,  True, False, False]))

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
        keep: Sequence[Kind] = KEPT,
        evaluator: EvaluatorName = "auto",
        memory: int | None = None,
    ) -> None:
        self._searches = _Searches(
            noise, keep, evaluator, memory, search="paper", tau=tau, k=k, samples=samples
        )

    def explain(self, subject: Subject) -> Masks:
        """Return the set that was found, as hard masks."""
        return self._searches.masks(subject)


@method("zorro")
class ZorroGuided:
    """The guided search with its certificate, as `zorro.Zorro` runs it.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Subjects, ZorroGuided
    >>> club = karate_club()
    >>> subjects = Subjects(SimpleConv(), club.x, club.edge_index)
    >>> masks = ZorroGuided(subjects.noise, tau=0.95).explain(subjects.of(12))
    >>> masks.nodes, masks.features
    (tensor([ True,  True, False]), tensor([ True,  True, False, False]))

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
        keep: Sequence[Kind] = KEPT,
        evaluator: EvaluatorName = "auto",
        memory: int | None = None,
    ) -> None:
        self._searches = _Searches(
            noise,
            keep,
            evaluator,
            memory,
            search="guided",
            tau=tau,
            delta=delta,
            k=k,
            samples=samples,
            max_seconds=max_seconds,
            max_elements=max_elements,
        )

    def explain(self, subject: Subject) -> Masks:
        """Return the set that was found, as hard masks."""
        return self._searches.masks(subject)
