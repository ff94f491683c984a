"""Evidence about a fidelity that may be looked at again and again."""

from __future__ import annotations

import functools
import math

from scipy.special import betainc, betaincc, betaincinv, betaln

_OF_NOTHING = 0.1  # the share of δ that may be spent on the empty set
_STEPS = 60  # of a bisection, far below any digit that is shown


def log_evidence(hits: int, samples: int, p: float) -> float:
    """Return the log of the evidence against a fidelity of at most `p`.

    It is what a gambler has made of 1 who bets on hits, a little for each q above p, at odds that
    are fair if the fidelity is p: ∫ Π (q^h (1 − q)^m) / (p^h (1 − p)^m) dq / (1 − p) over q > p.
    While the fidelity is at most p that is a supermartingale, so that it ever reaches 1/δ with
    probability at most δ (Ville's inequality).
    """
    misses = samples - hits
    tail = float(betaincc(hits + 1, misses + 1, p))
    if tail <= 0.0:
        return -math.inf
    won = float(betaln(hits + 1, misses + 1)) + math.log(tail) - math.log1p(-p)
    at_p = hits * math.log(p) if hits else 0.0
    return won - at_p - misses * math.log1p(-p)


@functools.lru_cache(maxsize=1 << 12)
def lower_bound(hits: int, samples: int, delta: float) -> float:
    """Return the highest p that is refuted at level `delta`; 0 if none is.

    >>> round(lower_bound(100, 100, 0.05), 3)
    0.956
    """
    low, high = 0.0, hits / samples if samples else 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if 0 < middle < 1 and log_evidence(hits, samples, middle) >= -math.log(delta):
            low = middle
        else:
            high = middle
    return low


def clopper_pearson(hits: int, samples: int, tail: float) -> tuple[float, float]:
    """Return both ends of Clopper and Pearson's exact interval of a share of a fixed number.

    The same as `scipy.stats.binomtest(…).proportion_ci()`, which takes a hundred times as long.

    >>> [round(end, 3) for end in clopper_pearson(87, 100, 0.025)]
    [0.788, 0.929]

    Args:
        hits: of the samples.
        samples: how many there were; 0 leaves everything open.
        tail: the probability with which the share may be beyond either end.
    """
    misses = samples - hits
    lower = float(betaincinv(hits, misses + 1, tail)) if hits else 0.0
    upper = float(betaincinv(hits + 1, misses, 1 - tail)) if misses else 1.0
    return lower, upper


def hits_needed(tau: float, delta: float, samples: int) -> int | None:
    """Return the fewest hits of one look at some samples that show a fidelity of at least τ.

    The least k with P(Binomial(samples, τ) ≥ k) ≤ δ; None where even all would show less. So the
    k-th smallest of that many distances is an upper bound of their τ-quantile.

    >>> hits_needed(0.85, 0.05, 400)
    353
    """
    if tau**samples > delta:
        return None
    low, high = 0, samples
    while high - low > 1:
        middle = (low + high) // 2
        # P(Binomial(n, τ) ≥ k) is the incomplete beta function I_τ(k, n − k + 1).
        if float(betainc(middle, samples - middle + 1, tau)) <= delta:
            high = middle
        else:
            low = middle
    return high


def level(delta: float, attempt: int) -> float:
    """Return the share of δ that an attempt (1, 2, …) may use; all shares add up to δ.

    The first one tests whether nothing is needed, which costs no samples that are not needed
    anyway, and gets little.
    """
    if attempt == 1:
        return _OF_NOTHING * delta
    return (1 - _OF_NOTHING) * delta / (attempt * (attempt - 1))
