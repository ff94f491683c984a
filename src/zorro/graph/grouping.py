"""Items grouped by a key, once, so that reading a group costs what it holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


@dataclass(frozen=True)
class Grouping:
    """Numbers in groups: those of group k stand from start[k] to start[k + 1].

    >>> Grouping.by_key(torch.tensor([2, 0, 2, 1]), 3).members(torch.tensor([2, 0]))
    tensor([0, 2, 1])
    """

    start: Tensor  # (groups + 1,)
    ordered: Tensor | None  # (t,), group after group; None where that is 0, 1, …, t − 1

    @classmethod
    def by_key(cls, keys: Tensor, groups: int) -> Grouping:
        """Group the numbers 0 … t−1 by their keys, ascending within a group.

        Args:
            keys: (t,), the key of each number, from 0 to `groups` − 1.
            groups: how many keys there are.
        """
        total = keys.numel()
        # Of a matrix with a one at (number, key), the columns are the groups. Turning rows into
        # columns is a counting sort, at 10 million keys 3 times as fast as a stable argsort.
        one_each = (np.ones(total, np.int8), keys.cpu().numpy(), np.arange(total + 1))
        by_key = sp.csr_array(one_each, shape=(total, groups)).tocsc()
        return cls(
            torch.from_numpy(by_key.indptr).to(keys.device),
            torch.from_numpy(by_key.indices).to(keys.device),
        )

    def members(self, keys: Tensor, *, most: int | None = None) -> Tensor:
        """Return the numbers of some groups, group after group, `most` of each at most."""
        start = self.start[keys].long()
        count = self.start[keys + 1].long() - start
        if most is not None:
            count = count.clamp(max=most)
        place = ranges(start, count)
        return place if self.ordered is None else self.ordered[place].long()


def ranges(start: Tensor, count: Tensor) -> Tensor:
    """Return start[i], start[i] + 1, …, `count[i]` numbers for each i, one after the other."""
    shift = start - (count.cumsum(0) - count)
    return torch.arange(int(count.sum()), device=start.device) + repeated(shift, count)


def repeated(values: Tensor, count: Tensor) -> Tensor:
    """Return values[i] `count[i]` times for each i; on a CPU NumPy is many times as fast."""
    if values.device.type == "cpu" and values.dtype != torch.bfloat16:  # which NumPy lacks
        return torch.from_numpy(np.repeat(values.numpy(), count.numpy()))
    return values.repeat_interleave(count)


def quotient(numbers: Tensor, divisor: int) -> Tensor:
    """Divide whole numbers that are not negative; NumPy does it without dividing."""
    if numbers.device.type == "cpu":
        return torch.from_numpy(numbers.numpy() // divisor)
    return numbers // divisor


def quotient_and_rest(numbers: Tensor, divisor: int) -> tuple[Tensor, Tensor]:
    """Divide whole numbers that are not negative, with what is left over."""
    times = quotient(numbers, divisor)
    return times, numbers - times * divisor
