"""Explain some queries of a model and count, by the plain loop, how far what is said is true."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from honesty_audit.verdict import CONDITIONAL, Claim, claim_of, is_doubtful, verdict
from zorro import Explanation, Zorro, ZorroError

NO_CLAIM = Claim()
SEED = 20_000  # of the plain loop's draws, which are its own


class Case(Protocol):
    """A trained model with what it is asked about."""

    @property
    def name(self) -> str:
        """Of the kind of model."""
        ...

    @property
    def predicted(self) -> Tensor:
        """The classes of all queries."""
        ...

    @property
    def margins(self) -> Mapping[Any, float]:
        """How far each query's answer is from another one, where that can be said."""
        ...

    def queries(self, count: int) -> list[Any]:
        """Return what to explain."""
        ...

    def zorro(self, **options: Any) -> Zorro:
        """Return what explains the model, with further options."""
        ...

    def hits(self, explanation: Explanation, *, runs: int, seed: int) -> int:
        """Return how many inputs keep the prediction, by the plain loop."""
        ...


@dataclass(frozen=True)
class Answer:
    """What came of one query.

    `status` is the explanation's, or `"refused"` or `"crashed"` with a `message`; `hits` of
    `samples` is the plain loop's count, 0 of 0 where there is nothing to count.
    """

    model: str
    query: int | tuple[int, ...]  # a node, a graph, or a link's ends
    status: str
    claim: Claim = NO_CLAIM
    hits: int = 0
    samples: int = 0
    candidates: int = 0
    elements: tuple[int, int] = (0, 0)  # nodes, features
    edges: int = 0
    evaluator: str = ""
    message: str = ""
    seconds: float = 0.0

    @property
    def is_claim(self) -> bool:
        """Whether it says anything of the fidelity on the whole graph."""
        return self.claim.count > 0

    def verdict(self, claims: int) -> str:
        """Say whether it is true, given how many claims are tested in all."""
        if self.message:
            return f"{self.status}: {self.message}"
        if self.status == CONDITIONAL:
            return CONDITIONAL
        return verdict(self.claim, self.hits, self.samples, claims=claims)


def answers(
    case: Case, queries: Sequence[Any], *, runs: int, first: int | None = None, **options: Any
) -> Iterator[Answer]:
    """Yield what comes of explaining some nodes, graphs or links, each counted by the plain loop.

    Args:
        case: the model and its graph, or graphs.
        queries: their numbers; of links both ends.
        runs: inputs that the plain loop runs for each.
        first: how many of these will do where they leave no doubt; all are run when None.
        options: of `Zorro`, besides the case's own.
    """
    # The traced copies and caches of a query are reused, as a user's would be.
    zorro: Zorro | None = None
    for query in queries:
        started = time.perf_counter()
        try:
            if zorro is None:
                zorro = case.zorro(**options)
            explanation = zorro.explain(query)
        except Exception as error:
            is_refusal = isinstance(error, ZorroError)
            yield Answer(
                case.name,
                query,
                "refused" if is_refusal else "crashed",
                message=str(error) if is_refusal else f"{type(error).__name__}: {error}",
                seconds=time.perf_counter() - started,
            )
            continue
        seconds = time.perf_counter() - started
        yield measured(case, explanation, runs=runs, first=first, seconds=seconds)


def measured(
    case: Case,
    explanation: Explanation,
    *,
    runs: int,
    first: int | None = None,
    seconds: float = 0.0,
) -> Answer:
    """Return what an explanation claims with the plain loop's count for its set."""
    asked, claim = explanation.query, claim_of(explanation)
    samples = runs if first is None else first
    hits = case.hits(explanation, runs=samples, seed=SEED + asked.index)
    if samples < runs and is_doubtful(claim, hits, samples):
        samples = runs
        hits = case.hits(explanation, runs=samples, seed=SEED + asked.index)
    return Answer(
        case.name,
        (asked.index, *asked.ends) if asked.ends else asked.index,
        str(explanation.status),
        claim=claim,
        hits=hits,
        samples=samples,
        candidates=explanation.graph.candidates,
        elements=(len(explanation.nodes), len(explanation.features)),
        edges=len(explanation.edges),
        evaluator=explanation.evaluator,
        seconds=seconds,
    )


def claims_in(every: Sequence[Answer]) -> int:
    """Return how many claims there are to test."""
    return sum(answer.claim.count for answer in every)


def predicted_classes(case: Case) -> int:
    """Return how many classes the model predicts somewhere."""
    return int(torch.unique(case.predicted).numel())
