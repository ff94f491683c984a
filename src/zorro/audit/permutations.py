"""What comes by chance where labels are dealt out anew among those that could have had them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from zorro.audit.share import Numbers

_ROUNDS = 999  # the smallest p-value is one in a thousand
_MOST_ENTRIES = 1 << 22  # of the statistics' parts that are held at once
_TIE = 1e-9


def permute_within(strata: NDArray[np.int64], *, entries: int) -> Iterator[NDArray[np.int64]]:
    """Yield indices (p, n) that shuffle n things within their strata; the first row does not.

    Args:
        strata: (n,), of each thing.
        entries: that are held for each row, by which the rows are few enough.
    """
    rng = np.random.default_rng(0)
    at_once = max(1, _MOST_ENTRIES // max(1, entries))
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    as_it_is = np.arange(len(strata))[None]
    yield as_it_is
    for start in range(0, _ROUNDS, at_once):
        rows = np.repeat(as_it_is, min(at_once, _ROUNDS - start), axis=0)
        for some in members:
            rows[:, some] = rng.permuted(rows[:, some], axis=1)
        yield rows


def standardise(statistics: Numbers) -> Numbers:
    """Return statistics (1 + rounds, k) of mean 0 and spread 1 over all rounds, each by itself."""
    spread = statistics.std(axis=0)
    deviation = statistics - statistics.mean(axis=0)
    # What no permutation changes stands out in none of them.
    scaled: Numbers = np.divide(
        deviation, spread, out=np.zeros_like(deviation), where=spread > _TIE
    )
    return scaled


def adjusted_by_permutation(statistics: Numbers, *, families: int) -> Numbers:
    """Return p-values by which no statistic is called large, for all of them together.

    Westfall and Young's: each statistic is compared with the largest one of each permutation, so
    that the chance of any false discovery is controlled, however they depend. The observed ones
    count as a permutation, which makes the test exact.

    Args:
        statistics: (1 + rounds, k) that can be compared with each other, the observed ones first.
        families: how many families of tests share the error.
    """
    largest = statistics.max(axis=1, initial=-np.inf)  # (1 + rounds,)
    as_large = (largest[:, None] >= statistics[0] - _TIE).mean(axis=0)
    found: Numbers = np.minimum(1.0, families * as_large)
    return found
