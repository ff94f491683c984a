"""Many searches' certificates at once: coins for hits, and what each attempt decides of them.

`Attempt`, made as a search makes it, is asked once what it does at so many hits of so many samples;
all searches that have come to these go on together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorro.elements import KEPT, Kind, Space
from zorro.elements.selection import nothing_of
from zorro.search.certified import _Search

_SEARCHED = 100  # samples of the search, on which the empty set is tested first
_STEP = 50  # as many of them at a time
Counts = NDArray[np.int64]


@dataclass
class Simulated:
    """What came of each search: the attempt that passed, 0 if none did, and its counts."""

    attempt: Counts
    hits: Counts
    samples: Counts


def simulate(
    generator: np.random.Generator,
    fidelities: NDArray[np.float64],
    *,
    tau: float,
    delta: float = 0.05,
    planned: int = 8000,
    kinds: tuple[Kind, ...] = KEPT,
) -> Simulated:
    """Test one set after another, as `zorro.search.certified` does, until one passes.

    Args:
        generator: of the hits.
        fidelities: (R, K) of the sets that each search tests: first of the empty one, on samples of
            the search, then of others, on unseen ones.
        tau: that is to be reached.
        delta: of all attempts together.
        planned: samples that an attempt may take.
        kinds: of elements.
    """
    runs, attempts = fidelities.shape
    found = Simulated(*(np.zeros(runs, dtype=np.int64) for _ in range(3)))
    for number in range(1, attempts + 1):
        left = np.flatnonzero(found.attempt == 0)
        decisions = _Decisions(number, tau=tau, delta=delta, planned=planned, kinds=kinds)
        hits, samples = np.zeros((2, left.size), dtype=np.int64)
        batch = decisions.next_batch(hits, samples)
        while (goes_on := batch > 0).any():
            hits[goes_on] += generator.binomial(
                batch[goes_on], fidelities[left[goes_on], number - 1]
            )
            samples += batch
            batch = np.where(goes_on, decisions.next_batch(hits, samples), 0)
        passed = decisions.passed(hits, samples)
        found.attempt[left[passed]] = number
        found.hits[left[passed]], found.samples[left[passed]] = hits[passed], samples[passed]
    return found


class _Decisions:
    """What one search's attempt of a number does at each of the counts that were met."""

    def __init__(self, number: int, *, planned: int, tau: float, delta: float, kinds: Any) -> None:
        nothing: Any = None
        search = _Search(nothing, nothing, nothing, tau=tau, samples=_SEARCHED)
        selection = nothing_of(Space(3, 3, kinds, edges=3))
        self._attempt = search._attempted(selection, delta, planned, 1.0, number)
        self._number = number
        self._known: dict[tuple[int, int], int] = {}

    def next_batch(self, hits: Counts, samples: Counts) -> Counts:
        """Return how many samples are drawn next: none by those that have passed, or are lost."""
        return self._each(hits, samples).clip(min=0)

    def passed(self, hits: Counts, samples: Counts) -> NDArray[np.bool_]:
        return self._each(hits, samples) == -1

    def _each(self, hits: Counts, samples: Counts) -> Counts:
        met, which = np.unique(np.stack([hits, samples]), axis=1, return_inverse=True)
        decided = [self._one(int(h), int(s)) for h, s in met.T]
        return np.array(decided, dtype=np.int64)[which.reshape(-1)]

    def _one(self, hits: int, samples: int) -> int:
        """Return how many samples come next, 0 if the attempt is lost, -1 if it has passed."""
        if (hits, samples) not in self._known:
            attempt = self._attempt
            attempt.hits, attempt.samples = hits, samples
            if attempt.passed:
                decision = -1
            elif attempt.lost:
                decision = 0
            elif self._number == 1 and samples < _SEARCHED:
                decision = _STEP
            else:
                decision = attempt.next_batch
            self._known[hits, samples] = decision
        return self._known[hits, samples]
