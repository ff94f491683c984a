"""Which edges a right answer rests on, where that is known: those inside of a motif."""

from __future__ import annotations

from torch import Tensor

NO_MOTIF = -1


def edges_in_motifs(edge_index: Tensor, motif: Tensor) -> Tensor:
    """Return which edges (E,) have both ends in the same motif.

    >>> import torch
    >>> motif = torch.tensor([-1, -1, 0, 0, 1])
    >>> edges_in_motifs(torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]), motif)
    tensor([False, False,  True, False])

    Args:
        edge_index: (2, E).
        motif: (N,), the number of each node's motif; −1 for nodes that are in none.
    """
    sender, receiver = motif[edge_index[0]], motif[edge_index[1]]
    return (sender == receiver) & (sender != NO_MOTIF)
