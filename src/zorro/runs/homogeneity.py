"""Whether recorded hits and hits that are counted again can be of the same fidelity.

A false claim may be an honest one: its test was passed by luck, which happens with a probability
of at most δ, and the more rarely the lower the fidelity is. So what is tested here is not a claim
but its record: that the recorded hits and the new ones are of one fidelity, whatever that is.
Neither τ nor δ is needed for that.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betaincc, betaln
from scipy.stats import binom

from zorro.evaluation import FidelityEstimate
from zorro.evaluation.evidence import clopper_pearson, level
from zorro.search.certificate import Certificate

_Numbers = NDArray[np.float64]
# In the angle whose squared sine is a share, standard errors are everywhere 1 / (2 √samples).
_ANGLES = np.linspace(0, np.pi / 2, 1025)
_NEAR = 6.0  # standard errors around the recorded share in which there are more of them


def certificate_p_value(certificate: Certificate, hits: int, samples: int) -> float:
    """Return a p-value of a certificate's hits and later ones being of one fidelity.

    It is small where the later share is too low for what was recorded, however often the test
    looked at its hits before it stopped, and however many sets failed before.

    >>> from zorro.search.certificate import certificate_of
    >>> passed = certificate_of(0.85, 0.05, hits=366, samples=400, attempts=2)
    >>> [f"{certificate_p_value(passed, hits, 1000):.1g}" for hits in (910, 850, 800, 479)]
    ['1', '0.01', '1e-06', '5e-57']

    Args:
        certificate: as it was recorded.
        hits: later ones, on noise of another seed.
        samples: how many there were; the number was fixed before.
    """
    part = level(1.0, certificate.attempts)
    return _p_value(certificate.hits, certificate.samples, part, hits, samples)


def share_p_value(recorded: FidelityEstimate, counted: FidelityEstimate) -> float:
    """Return a p-value of two shares being one, of which neither may be too high.

    >>> recorded = FidelityEstimate(900, 1000)
    >>> [f"{share_p_value(recorded, FidelityEstimate(h, 1000)):.1g}" for h in (830, 905, 960)]
    ['9e-05', '1', '2e-05']
    """
    old, new = recorded, counted
    fallen = _p_value(old.hits, old.samples, 1.0, new.hits, new.samples)
    misses, new_misses = old.samples - old.hits, new.samples - new.hits
    risen = _p_value(misses, old.samples, 1.0, new_misses, new.samples)
    return min(1.0, 2 * min(fallen, risen))


def _p_value(old_hits: int, old_samples: int, part: float, hits: int, samples: int) -> float:
    """Return a p-value of old hits and later ones being of one fidelity, and not of a lower one.

    If it is p, what a gambler makes of 1 who bets on the old hits at odds that are fair for p has
    an expectation of at most 1. The probability of so few later hits is a p-value that does not
    depend on the old ones. A p-value divided by such a number is one again (Ignatiadis, Wang and
    Ramdas, E-values as unnormalized weights in multiple testing, 2024); what counts is the p at
    which the quotient is largest. Both fall with p: between two ends the probability is at most
    that at the lower one, and the gambler's money at least that at the upper one.

    Args:
        old_hits: that were recorded.
        old_samples: how many there were; the test may have stopped at any number of them.
        part: of the 1 that was bet on these.
        hits: later ones.
        samples: how many there were; the number was fixed before.
    """
    ends, money = _log_money(old_hits, old_samples, part)
    with np.errstate(divide="ignore"):
        few = np.log(bdtr(hits, samples, ends[:-1]))
    return math.exp(min(0.0, float((few - money[1:]).max())))


@functools.lru_cache(maxsize=64)
def _log_money(hits: int, samples: int, part: float) -> tuple[_Numbers, _Numbers]:
    """Return fidelities p from 0 to 1, and at each the log of a gambler's money.

    Half of it is bet as `zorro.evaluation.evidence.log_evidence` has it, and half is kept: for p
    above the recorded share, where nothing is to be won, the other half is left.
    """
    misses = samples - hits
    at, near = math.asin(math.sqrt(hits / samples)), _NEAR / (2 * math.sqrt(samples))
    angles = np.concatenate([_ANGLES, np.linspace(at - near, at + near, 257).clip(0, np.pi / 2)])
    ends = np.unique(np.sin(angles) ** 2)
    p = ends[1:-1]
    with np.errstate(divide="ignore"):
        won = betaln(hits + 1, misses + 1) + np.log(betaincc(hits + 1, misses + 1, p))
    bet = math.log(part) + won - hits * np.log(p) - (misses + 1) * np.log1p(-p)
    money = np.logaddexp(bet, 0.0) - math.log(2)
    return ends, np.concatenate([[math.inf], money, [-math.log(2)]])


def joint_p_value(p_values: Sequence[float], queries: int) -> tuple[float, int]:
    """Return a p-value of all records of a run, and how many of the lowest ones give it.

    If all are honest, k of n independent p-values are at most p with a probability of at most
    P(Binomial(n, p) ≥ k). This is tried of the k-th lowest for each k, which has the share
    1 / (k (k + 1)) of the error: one record that is impossible counts, and so do many that are
    unlikely.

    >>> joint_p_value([1e-9, 1.0, 0.4], 5)[1], joint_p_value([0.01, 0.01, 0.02, 0.01, 0.02], 5)[1]
    (1, 5)

    Args:
        p_values: of the queries of which something was certified.
        queries: how many there are with those of which nothing could be certified.
    """
    lowest = np.sort(np.asarray(p_values, dtype=np.float64))
    if lowest.size == 0:
        return 1.0, 0
    k = np.arange(1, lowest.size + 1)
    joint = k * (k + 1) * binom.sf(k - 1, queries, lowest)
    best = int(joint.argmin())
    return min(1.0, float(joint[best])), best + 1


def fidelity_noticed(
    certificate: Certificate, samples: int, *, queries: int, error: float, power: float
) -> float:
    """Return up to what true fidelity a record is noticed to be false, be it the only one.

    Args:
        certificate: as it was recorded.
        samples: that are counted.
        queries: of the run.
        error: the joint p-value at which it is noticed.
        power: the probability with which it is.
    """
    most = -math.expm1(math.log1p(-error / 2) / queries)  # of the lowest, see `joint_p_value`
    low, high = -1, samples  # hits that are few enough, and the fewest that are too many
    while high - low > 1:
        middle = (low + high) // 2
        if certificate_p_value(certificate, middle, samples) <= most:
            low = middle
        else:
            high = middle
    return clopper_pearson(low + 1, samples, 1 - power)[0] if low >= 0 else 0.0
