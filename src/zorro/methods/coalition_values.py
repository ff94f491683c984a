"""Shapley values of node sets, from samples that all sets share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Value = Callable[[Tensor], Tensor]  # of node sets (b, n) bool, as (b,)


@dataclass(frozen=True)
class Coalition:
    """A set of nodes that acts as one player, and what it is worth beside the other players."""

    nodes: Tensor  # (n,) bool
    present: Tensor  # (S,), the value of the others of each sample with it
    absent: Tensor  # (S,), without it

    @property
    def shapley_value(self) -> float:
        """The mean of what the coalition adds."""
        return float((self.present - self.absent).mean())


class CoalitionValues:
    """Estimates Shapley values φ(C) of connected node sets C against the nodes around them.

    The players are C, as one, and each of the other nodes within `radius` − 1 edges of it; nodes
    farther away are always there. φ(C) is the expectation of v(P ∪ C) − v(P) over random orders
    of the players, P those before C.

    Orders are drawn once, for all sets: sample s gives each node a place in time and C a place
    t_s, so P is what B_s, the nodes before t_s, has around C. Each set's estimate is distributed
    as with orders of its own. But sets are compared on equal samples, a set's value does not
    depend on when it is asked for, and a set that is another less one node differs from it in
    one of each sample's two inputs, so that only this one is run.

    Args:
        value: v, of node sets.
        neighbours: (n, n) bool, symmetric.
        radius: how far players are from the coalition, plus one.
        samples: how many orders are drawn.
        generator: draws them.
        always: (n,) bool, nodes that are there even without the coalition that they belong to.
    """

    def __init__(
        self,
        value: Value,
        neighbours: Tensor,
        *,
        radius: int,
        samples: int,
        generator: torch.Generator,
        always: Tensor,
    ) -> None:
        self._value = value
        self._neighbours = neighbours.float()
        self._radius = radius
        self._always = always
        places = torch.rand(samples, neighbours.size(0) + 1, generator=generator)
        self._before = places[:, 1:] < places[:, :1]  # (S, n)

    def of(self, nodes: Tensor) -> Coalition:
        """Return a coalition of nodes (n,) with its value."""
        inputs = self._inputs(nodes)  # (2, S, n)
        present, absent = self._value(inputs.flatten(0, 1)).view(2, -1)
        return Coalition(nodes, present, absent)

    def smaller(self, coalition: Coalition, subsets: Sequence[Tensor]) -> list[Coalition]:
        """Return subsets (n,) of a coalition with their values, in one run."""
        if not subsets:
            return []
        known = torch.stack([coalition.present, coalition.absent])  # (2, S)
        inputs = torch.stack([self._inputs(subset) for subset in subsets])  # (k, 2, S, n)
        new = (inputs != self._inputs(coalition.nodes)).any(-1)  # (k, 2, S)
        values = known.repeat(len(subsets), 1, 1)  # (k, 2, S)
        values[new] = self._value(inputs[new])
        return [
            Coalition(subset, present, absent)
            for subset, (present, absent) in zip(subsets, values, strict=True)
        ]

    def _inputs(self, nodes: Tensor) -> Tensor:
        """Return what is there in each sample with and without a coalition (n,), (2, S, n)."""
        others = self._before | ~self._around(nodes)  # (S, n)
        return torch.stack([others | nodes, others & ~nodes | self._always])

    def _around(self, nodes: Tensor) -> Tensor:
        reached = nodes
        for _ in range(self._radius - 1):
            wider = reached | (self._neighbours @ reached.float() > 0)
            if torch.equal(wider, reached):
                break
            reached = wider
        return reached
