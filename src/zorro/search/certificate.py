"""Proof, on noise that the search has not seen, that a fidelity is above a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass

from zorro.evaluation.evidence import level, log_evidence, lower_bound

LEAST = 100  # samples of a batch if nothing better is known
_STEP = 50  # batches are multiples of this
FAVOUR = 0.5  # standard errors
_GUESS_COUNTS = 0.5  # how much a guess at the fidelity counts, in batches


@dataclass(frozen=True)
class Certificate:
    """That a set's fidelity is at least τ is true with probability 1 − δ, or was not shown.

    `bound` is a lower confidence bound of the fidelity at the level that the last attempt had
    left. It holds at any number of samples, so that looking again and again does not hurt, and
    for all attempts together, so that trying one set after another does not either.
    """

    tau: float
    delta: float
    certified: bool
    bound: float
    hits: int  # of the last attempt
    samples: int
    attempts: int

    @property
    def shown(self) -> float:
        """The fidelity that the hits show, which is τ at least where that was shown."""
        return max(self.tau, self.bound) if self.certified else self.bound


def certificate_of(
    tau: float, delta: float, *, hits: int, samples: int, attempts: int
) -> Certificate:
    """Return what so many hits of the last attempt prove: nothing where there was none.

    Args:
        tau: the fidelity that was to be shown.
        delta: of all attempts together.
        hits: of the last attempt.
        samples: that it took.
        attempts: how many there were.
    """
    allowed = level(delta, attempts) if attempts else 0.0
    return Certificate(
        tau=tau,
        delta=delta,
        certified=attempts > 0 and is_shown(tau, allowed, hits, samples),
        bound=lower_bound(hits, samples, allowed) if attempts else 0.0,
        hits=hits,
        samples=samples,
        attempts=attempts,
    )


def is_shown(tau: float, delta: float, hits: int, samples: int) -> bool:
    """Whether hits refute at level `delta` that the fidelity is below τ."""
    if tau >= 1 or samples == 0:
        return False
    return log_evidence(hits, samples, tau) >= -math.log(delta)


def share_needed(tau: float, delta: float, samples: int) -> float:
    """Return the lowest share of hits among so many samples that proves a fidelity of τ.

    >>> round(share_needed(0.85, 0.025, 1000), 3)
    0.887
    """
    low, high = math.floor(tau * samples), samples
    while low < high:
        middle = (low + high) // 2
        if log_evidence(middle, samples, tau) >= -math.log(delta):
            high = middle
        else:
            low = middle + 1
    return low / samples


class Attempt:
    """One set's test: hits are added until the evidence suffices or the case looks lost.

    Args:
        tau: what the fidelity is to be shown to reach.
        delta: the probability of being wrong that this attempt may use.
        most: samples after which it is given up.
        expected: a guess at the fidelity, by which the first batch is chosen.
        least: samples of a batch if nothing better is known.
        favour: by how many standard errors a share may be too low to suffice, and is not given up.
    """

    def __init__(
        self,
        *,
        tau: float,
        delta: float,
        most: int,
        expected: float = 1.0,
        least: int = LEAST,
        favour: float = FAVOUR,
    ) -> None:
        self._least = least
        self._expected = expected
        self._tau = tau
        self._delta = delta
        self._most = most
        self._favour = favour
        self.hits = 0
        self.samples = 0

    def add(self, hits: int, samples: int) -> None:
        """Take down what further samples gave."""
        self.hits += hits
        self.samples += samples

    @property
    def passed(self) -> bool:
        """Whether a fidelity below τ is refuted."""
        return is_shown(self._tau, self._delta, self.hits, self.samples)

    @property
    def lost(self) -> bool:
        """Whether going on is hopeless: no samples left, or a share too low to suffice in the end.

        The share is taken as some standard errors higher than it is, in its favour.
        """
        if self.samples >= self._most:
            return True
        if self.samples == 0:
            return False
        share = self.hits / self.samples
        share = min(1.0, share + self._favour * math.sqrt(share * (1 - share) / self.samples))
        in_the_end = log_evidence(math.floor(share * self._most), self._most, self._tau)
        return in_the_end < -math.log(self._delta)

    @property
    def next_batch(self) -> int:
        """How many samples to draw next: as many as suffice if the hit rate holds.

        A look too many costs little, and so do some samples too many; it is only a guess.
        """
        weight = LEAST * _GUESS_COUNTS
        share = (self.hits + weight * self._expected) / (self.samples + weight)
        left = self._most - self.samples
        for more in range(_STEP, max(self._least, self.samples) * 2 + 1, _STEP):
            hits = math.floor(self.hits + share * more)
            if log_evidence(hits, self.samples + more, self._tau) >= -math.log(self._delta):
                return min(more, left)
        return min(max(self._least, self.samples), left)
