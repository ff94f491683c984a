"""Is a claim true? What the plain loop counted, against what was claimed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, fisher_exact

from zorro import Explanation

CHANCE = 1e-3  # of calling any true claim of an audit false
DOUBT = 0.1  # of looking closer at a true claim, about
PROVED = ("certified", "nothing needed")
CONDITIONAL = "conditional"  # further nodes were left as they are: says nothing of the whole graph


@dataclass(frozen=True)
class Claim:
    """What an explanation says of the fidelity of its set on the whole graph.

    `bound` is what the fidelity was proved to reach, None if nothing was proved; `hits` of
    `samples` is the reported figure, 0 of 0 if there is none.
    """

    bound: float | None = None
    hits: int = 0
    samples: int = 0

    @property
    def count(self) -> int:
        """How many statements can be false."""
        return (self.bound is not None) + (self.samples > 0)


def claim_of(explanation: Explanation) -> Claim:
    """Return what an explanation claims."""
    if str(explanation.status) == CONDITIONAL:
        return Claim()
    reported = explanation.fidelity
    bound = None
    if explanation.status in PROVED:
        certificate = explanation.certificate
        proved = certificate is not None and certificate.certified
        bound = certificate.bound if certificate and proved else explanation.parameters.tau
    return Claim(bound, reported.hits, reported.samples)


def surprise(claim: Claim, hits: int, samples: int) -> float:
    """Return how improbable the plain loop's count is if the claim is true: the smallest p-value.

    A bound is tested one-sided (a fidelity at the bound gives so few hits with this probability),
    a reported figure by Fisher's exact test of two samples of one share.
    """
    p = 1.0
    if claim.bound is not None:
        p = min(p, float(binom.cdf(hits, samples, claim.bound)))
    if claim.samples:
        table = [[claim.hits, claim.samples - claim.hits], [hits, samples - hits]]
        p = min(p, float(fisher_exact(np.array(table)).pvalue))
    return p


def is_doubtful(claim: Claim, hits: int, samples: int) -> bool:
    """Whether a count leaves it open that a claim is false, so that more inputs should be run."""
    return surprise(claim, hits, samples) < DOUBT


def verdict(claim: Claim, hits: int, samples: int, *, claims: int) -> str:
    """Return `"holds"`, `"FALSE"`, or `"no claim"` where nothing was proved.

    Args:
        claim: what was said.
        hits: the plain loop's count.
        samples: how many inputs it ran.
        claims: how many are tested in all; the level is divided by it (Bonferroni).
    """
    if surprise(claim, hits, samples) < CHANCE / max(claims, 1):
        return "FALSE"
    return "no claim" if claim.bound is None else "holds"
