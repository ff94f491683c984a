"""Explain some nodes of a model and count, by the plain loop, how far what is said is true."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from honesty_audit.plain_loop import count_hits
from honesty_audit.verdict import CONDITIONAL, Claim, claim_of, verdict
from honesty_audit.zoo import Case
from zorro import Explanation, Zorro, ZorroError

NO_CLAIM = Claim()
SEED = 20_000  # of the plain loop's draws, which are its own


@dataclass(frozen=True)
class Answer:
    """What came of one query.

    `status` is the explanation's, or `"refused"` or `"crashed"` with a `message`; `hits` of
    `samples` is the plain loop's count, 0 of 0 where there is nothing to count.
    """

    model: str
    node: int
    status: str
    claim: Claim = NO_CLAIM
    hits: int = 0
    samples: int = 0
    candidates: int = 0
    elements: tuple[int, int] = (0, 0)  # nodes, features
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


def answers(case: Case, nodes: Sequence[int], *, runs: int, **options: Any) -> Iterator[Answer]:
    """Yield what comes of explaining some nodes, each counted by the plain loop.

    Args:
        case: the model and its graph.
        nodes: the queries.
        runs: inputs that the plain loop runs for each.
        options: of `Zorro`, besides the case's own.
    """
    graph = case.graph
    # The traced copies and caches of a query are reused, as a user's would be.
    zorro: Zorro | None = None
    for node in nodes:
        started = time.perf_counter()
        try:
            if zorro is None:
                zorro = Zorro(
                    case.model,
                    graph.x,
                    graph.edge_index,
                    model_kwargs=graph.kwargs,
                    **{**case.options, **options},
                )
            explanation = zorro.explain(node)
        except Exception as error:
            is_refusal = isinstance(error, ZorroError)
            yield Answer(
                case.name,
                node,
                "refused" if is_refusal else "crashed",
                message=str(error) if is_refusal else f"{type(error).__name__}: {error}",
                seconds=time.perf_counter() - started,
            )
            continue
        seconds = time.perf_counter() - started
        yield measured(case, explanation, runs=runs, seconds=seconds)


def measured(case: Case, explanation: Explanation, *, runs: int, seconds: float = 0.0) -> Answer:
    """Return what an explanation claims with the plain loop's count for its set."""
    node = explanation.node
    hits = count_hits(
        case.model,
        case.graph.x,
        case.graph.edge_index,
        node,
        nodes=explanation.nodes,
        features=explanation.features,
        samples=runs,
        seed=SEED + node,
        threshold=case.threshold,
        kwargs=case.graph.kwargs,
    )
    return Answer(
        case.name,
        node,
        str(explanation.status),
        claim=claim_of(explanation),
        hits=hits,
        samples=runs,
        candidates=explanation.graph.candidates,
        elements=(len(explanation.nodes), len(explanation.features)),
        evaluator=explanation.evaluator,
        seconds=seconds,
    )


def claims_in(every: Sequence[Answer]) -> int:
    """Return how many claims there are to test."""
    return sum(answer.claim.count for answer in every)


def predicted_classes(case: Case) -> int:
    """Return how many classes the model predicts somewhere."""
    return int(torch.unique(case.predicted).numel())
