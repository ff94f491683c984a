"""Divide graphs into parts that have like shares of every class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from zorro.arguments import check_seed

TRAIN_VAL_TEST = (8, 1, 1)


def deal(targets: Tensor, shares: Sequence[int], *, seed: int) -> list[Tensor]:
    """Return the numbers of the graphs in each part, ascending.

    The graphs are ordered by target, equal ones at random, and each run of `sum(shares)` of them
    is dealt out at random. What is left at the end goes to the first parts.

    >>> train, val, test = deal(torch.tensor([0, 1] * 10), (8, 1, 1), seed=0)
    >>> train.numel(), val.numel(), test.numel(), (test % 2).tolist() in ([0, 1], [1, 0])
    (16, 2, 2, True)

    Args:
        targets: (B,), a class or a value per graph.
        shares: how many of each run a part gets.
        seed: of what is random.
    """
    rng = np.random.default_rng(check_seed(seed))
    values = targets.cpu().numpy()  # (B,)
    order = np.lexsort((rng.random(values.size), values))  # (B,)
    cards = np.repeat(np.arange(len(shares)), shares)
    part = np.empty(values.size, dtype=np.int64)
    for first in range(0, values.size, cards.size):
        run = order[first : first + cards.size]
        part[run] = rng.permutation(cards[: run.size])
    return [torch.from_numpy(np.flatnonzero(part == number)) for number in range(len(shares))]
