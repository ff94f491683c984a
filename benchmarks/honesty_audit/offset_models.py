"""Models with two classes whose scores have a large part in common, and differ by little."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

Far = Callable[[Tensor, Tensor], Tensor]  # x, edge_index → (N,), or one for all


class Decided(nn.Module):
    """Some nodes decide for themselves, and others by what is far away; all by little.

    Args:
        far: says which class the others are in, by its sign.
        offset: of both scores.
        margin: between the scores of a node that does not decide for itself; others have twice.
    """

    def __init__(self, far: Far, *, offset: float, margin: float) -> None:
        super().__init__()
        self.far, self.offset, self.shift = far, offset, margin / 2
        self.own = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        far = self.far(x, edge_index).sign().expand(len(x))
        decided = torch.where(x[:, 2] > 0.8, self.own * x[:, 0].sign(), far)  # (N,)
        return torch.stack(
            [self.offset + self.shift * decided, self.offset - self.shift * decided], dim=1
        )


def between_halves(x: Tensor, edge_index: Tensor) -> Tensor:
    """Return by how much one half of all nodes is above the other on the mean."""
    half = len(x) // 2
    return x[:half, 1].mean() - x[half:, 1].mean()


def largest(x: Tensor, edge_index: Tensor) -> Tensor:
    """Return by how much the largest of one half of all nodes is above the other's."""
    half = len(x) // 2
    return x[:half, 1].amax() - x[half:, 1].amax()


def first_of_all(x: Tensor, edge_index: Tensor) -> Tensor:
    """Return by how much one node is above another."""
    return x[0, 1] - x[1, 1]


def four_hops(x: Tensor, edge_index: Tensor) -> Tensor:
    """Return the difference of two columns, summed over ways of four edges."""
    total = x[:, 1] - x[:, 3]
    for _ in range(4):
        total = torch.zeros_like(total).index_add(0, edge_index[1], total[edge_index[0]])
    return total


def tied(x: Tensor, edge_index: Tensor) -> Tensor:
    """Return zero, a tie, unless one half of all nodes is above the other: a class is lost then."""
    return -between_halves(x, edge_index).relu()
