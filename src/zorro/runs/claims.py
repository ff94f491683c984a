"""The claims of a run, measured again on other noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.stats import binom

from zorro.audit.crossing import MeasuredOn
from zorro.evaluation import FidelityEstimate
from zorro.evaluation.evidence import clopper_pearson
from zorro.explanation import Explanation

Verdict = Literal["shown again", "not refuted", "refuted", "no claim"]
SAMPLES = 1000
_WRONG = 0.01  # the probability with which any true claim of a run is called refuted


@dataclass(frozen=True)
class CheckedClaim:
    """A claim and what came of measuring it again.

    Args:
        key: of the query.
        claimed: the fidelity that was certified, None if none was.
        measured: on other noise, None where there was nothing to measure.
        verdict: `"shown again"` if the new samples alone show the claim, `"refuted"` if they show
            that it is false, `"not refuted"` if they are too few to show either.
    """

    key: int
    claimed: float | None
    measured: FidelityEstimate | None
    verdict: Verdict


@dataclass(frozen=True)
class CheckedClaims:
    """All claims of a run.

    Args:
        claims: query by query.
        delta: the share of claims that may be false.
    """

    claims: Sequence[CheckedClaim]
    delta: float

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each verdict."""
        return dict(Counter(claim.verdict for claim in self.claims))

    @property
    def refuted(self) -> list[CheckedClaim]:
        """Those that are shown to be false."""
        return [claim for claim in self.claims if claim.verdict == "refuted"]

    @property
    def is_broken(self) -> bool:
        """Whether more are refuted than the claims' own δ explains, at a level of 1 %."""
        made = sum(claim.verdict != "no claim" for claim in self.claims)
        return float(binom.sf(len(self.refuted) - 1, made, self.delta)) < _WRONG


def check_claims(
    explanations: Sequence[Explanation],
    measured_on: MeasuredOn,
    *,
    on_query: Callable[[int, int], None] = lambda done, total: None,
) -> CheckedClaims:
    """Measure every certified claim again.

    A claim is refuted if Clopper and Pearson's upper bound lies below what was certified, at an
    error that is split over all claims, and shown again if their lower bound lies above.

    Args:
        explanations: of a run.
        measured_on: measures sets on the run's own model, with another seed than the run's.
        on_query: told how many are measured, and of how many.
    """
    made = [e for e in explanations if e.certified]
    tail = _WRONG / max(1, len(made))
    checked = []
    for done, e in enumerate(explanations, 1):
        if e.certified and e.certificate is not None:
            claimed, measured = e.certificate.tau, measured_on(e)
            lower, upper = clopper_pearson(measured.hits, measured.samples, tail)
            verdict: Verdict = "not refuted"
            if upper < claimed:
                verdict = "refuted"
            elif lower >= claimed:
                verdict = "shown again"
            checked.append(CheckedClaim(e.query.key, claimed, measured, verdict))
        else:
            checked.append(CheckedClaim(e.query.key, None, None, "no claim"))
        on_query(done, len(explanations))
    deltas = [e.certificate.delta for e in made if e.certificate is not None]
    return CheckedClaims(checked, max(deltas, default=0.0))
