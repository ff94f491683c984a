"""Which links to explain: a short notation for pairs of nodes."""

from __future__ import annotations

import re

import numpy as np
from torch import Tensor

from zorro.data.selection import in_range, select
from zorro.errors import InputError

_FORMS = '"3-7,12-5", "random:20" or "test"'
_PAIR = re.compile(r"\s*(\d+)\s*[-–]\s*(\d+)\s*", re.ASCII)  # we print the second kind of dash


def parse_pair(text: str, *, name: str = "link") -> tuple[int, int]:
    """Return the two nodes that a text names.

    >>> parse_pair("3-7")
    (3, 7)

    Args:
        text: such as "3-7".
        name: of the argument.
    """
    found = _PAIR.fullmatch(text)
    if found is None:
        raise InputError(f'{name}: expected two nodes such as "3-7", got {text!r:.60}')
    return int(found[1]), int(found[2])


def parse_links(
    spec: str, *, nodes: int, test: Tensor | None = None, seed: int = 0
) -> list[tuple[int, int]]:
    """Return the pairs of nodes that `spec` names, each once.

    >>> from zorro.data import parse_links
    >>> parse_links("3-1, 0-2", nodes=4)
    [(3, 1), (0, 2)]

    Args:
        spec: pairs of nodes ("3-7,12-5"), "random:20" (drawn with `seed` from the test pairs, in
            their order) or "test".
        nodes: how many there are.
        test: (2, k) the pairs for testing; None if nobody says which.
        seed: of what is random.
    """
    word = spec.strip().lower()
    if word == "test" or word.startswith("random:"):
        if test is None:
            raise InputError(
                f"links: expected pairs such as 3-7, since only a checkpoint of `zorro train "
                f"--links` tells which are for testing, got {spec!r:.60}"
            )
        pairs = [(u, v) for u, v in test.t().tolist()]
        every = np.arange(len(pairs))
        numbers = select(
            spec,
            what="links",
            count=len(pairs),
            test=lambda: every,
            lacking="test pairs",
            seed=seed,
            forms=_FORMS,
        )
        return list(dict.fromkeys(pairs[number] for number in numbers))
    try:
        named = [parse_pair(part) for part in spec.split(",")]
    except InputError:
        raise InputError(f"links: expected {_FORMS}, got {spec!r:.60}") from None
    in_range([end for pair in named for end in pair], what="links", of="nodes", count=nodes)
    return list(dict.fromkeys(named))
