"""A short notation for some of many: numbers, a random sample, the test part, or all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from zorro.arguments import check_seed
from zorro.errors import InputError

NUMBERS = '"12,57", "random:20"'


def select(
    spec: str,
    *,
    what: str,
    count: int,
    test: Callable[[], NDArray[np.int64] | None],
    lacking: str,
    seed: int,
    forms: str = f'{NUMBERS}, "test" or "all"',
) -> list[int]:
    """Return the numbers that `spec` names.

    >>> select("3, 1", what="nodes", count=4, test=lambda: None, lacking="a mask", seed=0)
    [3, 1]

    Args:
        spec: numbers ("12,57"), "random:20" (drawn with `seed` from the test part, or from all
            where there is none; ascending), "test" or "all".
        what: they are numbers of.
        count: of all there are.
        test: gives the numbers of those for testing, None if nobody says which.
        lacking: what would say it.
        seed: of what is random.
        forms: of the notation, as an error tells them.
    """
    check_seed(seed)
    word = spec.strip().lower()
    if word == "all":
        return list(range(count))
    if word == "test":
        if (part := test()) is None:
            raise InputError(f'{what}: expected {lacking} for "test", got none: use "all"')
        numbers: list[int] = part.tolist()
        return numbers
    if word.startswith("random:"):
        amount = word.removeprefix("random:").strip()
        if not amount.isdecimal() or int(amount) == 0:
            raise InputError(f"{what}: expected {forms}, got {spec!r}: give a count of at least 1")
        return _drawn(spec, int(amount), what=what, count=count, test=test(), seed=seed)
    try:
        listed = [int(part) for part in spec.split(",")]
    except ValueError:
        raise InputError(f"{what}: expected {forms}, got {spec!r}") from None
    return in_range(list(dict.fromkeys(listed)), what=what, count=count)


def in_range(numbers: list[int], *, what: str, count: int, of: str = "numbers") -> list[int]:
    """Return the numbers if all are among so many, or raise `InputError`.

    Args:
        numbers: that are told.
        what: they tell.
        count: of all there are.
        of: what they are numbers of.
    """
    for number in numbers:
        if not 0 <= number < count:
            raise InputError(f"{what}: expected {of} from 0 to {count - 1}, got {number}")
    return numbers


def _drawn(
    spec: str, amount: int, *, what: str, count: int, test: NDArray[np.int64] | None, seed: int
) -> list[int]:
    pool = np.arange(count) if test is None else test
    if amount > len(pool):
        kind = what if test is None else f"test {what}"
        raise InputError(
            f"{what}: expected at most {len(pool)}, as there are so many {kind}, got {spec!r}"
        )
    return sorted(np.random.default_rng(seed).choice(pool, size=amount, replace=False).tolist())
