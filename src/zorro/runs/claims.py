"""The claims of a run, counted again on other noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from zorro.evaluation import FidelityEstimate
from zorro.evaluation.evidence import clopper_pearson
from zorro.explanation import Explanation
from zorro.runs.homogeneity import (
    certificate_p_value,
    fidelity_noticed,
    joint_p_value,
    share_p_value,
)
from zorro.runs.recount import Counted
from zorro.search.beyond_chance import claim_beyond
from zorro.search.certificate import Certificate

Verdict = Literal["shown again", "not refuted", "refuted", "other answer", "no claim"]
SAMPLES = 1000
ERROR = 0.01  # the probability, at most, with which an honest run is called broken
POWER = 0.95  # the probability with which a false claim is noticed, of what is said to be


@dataclass(frozen=True)
class CheckedClaim:
    """A claim and what came of counting again.

    Args:
        key: of the query.
        claimed: the fidelity that was certified, None if none was.
        certificate: as it was recorded, None where nothing was certified.
        chance: of the empty set as it was recorded, where the claim goes beyond that.
        counted: on other noise, None where there was nothing to count.
        verdict: `"shown again"` if the new samples alone show the claim, `"refuted"` if they show
            that it is false, `"not refuted"` if they are too few to show either, `"other answer"`
            if it is about an answer that the model does not give.
        p_value: of the recorded hits and the new ones being of one fidelity. A claim that is false
            by bad luck alone has a small one no more often than a true claim.
    """

    key: int
    claimed: float | None = None
    certificate: Certificate | None = None
    chance: FidelityEstimate | None = None
    counted: Counted | None = None
    verdict: Verdict = "no claim"
    p_value: float = 1.0


@dataclass(frozen=True)
class CheckedClaims:
    """All claims of a run.

    Args:
        claims: query by query.
        attempted: how many queries a certificate was attempted for.
        tau: that all of them claim.
        delta: the probability with which each may be false; None where nothing is certified.
    """

    claims: Sequence[CheckedClaim]
    attempted: int
    tau: float
    delta: float | None

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each verdict."""
        return dict(Counter(claim.verdict for claim in self.claims))

    @property
    def made(self) -> int:
        """How many claims there are."""
        return sum(claim.claimed is not None for claim in self.claims)

    @property
    def p_value(self) -> float:
        """The probability, at most, with which the claims of an honest run look so bad."""
        return self._joint[0]

    @property
    def is_broken(self) -> bool:
        """Whether the claims are worse than bad luck explains, or about other answers."""
        return self.p_value <= ERROR or any(c.verdict == "other answer" for c in self.claims)

    @property
    def suspects(self) -> list[CheckedClaim]:
        """Those that are refuted, that are about other answers, or whose records are not honest."""
        joint, count = self._joint
        lowest = sorted(claim.p_value for claim in self.claims)[:count] if joint <= ERROR else []
        most = max(lowest, default=-1.0)
        return [
            claim
            for claim in self.claims
            if claim.verdict in ("refuted", "other answer")
            or claim.p_value <= most
            or joint_p_value([claim.p_value], self.attempted)[0] <= ERROR
        ]

    @cached_property
    def noticed(self) -> float | None:
        """Up to what true fidelity a false claim would be noticed, whichever it was.

        With the probability `POWER`, were it the only one; None where nothing is claimed.
        """
        each = [
            fidelity_noticed(
                claim.certificate,
                claim.counted.fidelity.samples,
                queries=self.attempted,
                error=ERROR,
                power=POWER,
            )
            for claim in self.claims
            if claim.certificate is not None and claim.counted is not None
        ]
        return min(each, default=None)

    @property
    def _joint(self) -> tuple[float, int]:
        made = [claim.p_value for claim in self.claims if claim.claimed is not None]
        return joint_p_value(made, self.attempted)


def check_claims(
    explanations: Sequence[Explanation],
    count: Callable[[Explanation], Counted],
    *,
    tau: float,
    delta: float | None,
    on_query: Callable[[int, int], None] = lambda done, total: None,
) -> CheckedClaims:
    """Count every certified claim again.

    Args:
        explanations: of a run.
        count: on the run's own model, with another seed than the run's, see `recount`.
        tau: that the run was asked for, whatever its explanations say.
        delta: likewise.
        on_query: told how many are counted, and of how many.
    """
    made = sum(e.certified for e in explanations)
    checked = []
    for done, e in enumerate(explanations, 1):
        if e.certified and e.certificate is not None:
            tail = ERROR / made
            checked.append(_checked(e, e.certificate, count(e), tau=tau, delta=delta, tail=tail))
        else:
            checked.append(CheckedClaim(e.query.key))
        on_query(done, len(explanations))
    attempted = sum(e.certificate is not None for e in explanations)
    return CheckedClaims(checked, attempted, tau, delta)


def _checked(
    e: Explanation,
    certificate: Certificate,
    counted: Counted,
    *,
    tau: float,
    delta: float | None,
    tail: float,
) -> CheckedClaim:
    """Return what comes of counting one claim again.

    Args:
        e: that claims.
        certificate: its proof.
        counted: on other noise.
        tau: of the run.
        delta: of the run.
        tail: the probability with which a true claim may be called refuted.
    """
    claimed = tau if e.chance is None else claim_beyond(e.chance, tau, delta)[0]
    return CheckedClaim(
        key=e.query.key,
        claimed=claimed,
        certificate=certificate,
        chance=e.chance,
        counted=counted,
        verdict=_verdict(e, counted, claimed, tau=tau, tail=tail),
        p_value=_p_value(e, certificate, counted),
    )


def _verdict(
    e: Explanation, counted: Counted, claimed: float, *, tau: float, tail: float
) -> Verdict:
    """Return whether the new samples alone show that a claim is true, or that it is false.

    By Clopper and Pearson's bounds. A claim that goes beyond chance asks for the more, the more
    often random inputs get the answer, which is counted again too.
    """
    if counted.other_answer:
        return "other answer"
    fewest = most = claimed
    if counted.chance is not None and e.chance is not None and e.chance.value < 1:
        tail /= 2
        low, high = clopper_pearson(counted.chance.hits, counted.chance.samples, tail)
        fewest = max(claimed, low + tau * (1 - low))
        most = max(claimed, high + tau * (1 - high))
    lower, upper = clopper_pearson(counted.fidelity.hits, counted.fidelity.samples, tail)
    if upper < fewest:
        return "refuted"
    return "shown again" if lower >= most else "not refuted"


def _p_value(e: Explanation, certificate: Certificate, counted: Counted) -> float:
    """Return a p-value of all that an explanation records of its samples and what was counted."""
    new = counted.fidelity
    each = [
        certificate_p_value(certificate, new.hits, new.samples),
        share_p_value(e.fidelity, new),  # measured on samples of its own
    ]
    if e.chance is not None and counted.chance is not None:
        each.append(share_p_value(e.chance, counted.chance))
    return min(1.0, len(each) * min(each))
