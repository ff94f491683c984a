"""The order in which edges matter to a certified set, as scores beside those of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

Pair = tuple[int, int]  # nodes of the whole graph, the smaller first


def order_scores(
    ends: Tensor, *, losses: Mapping[Pair, float], added: Sequence[Pair] = ()
) -> Tensor:
    """Return a score (m,) for each edge that rises with what it is worth.

    First counts the fidelity that is lost without it (or, of an edge that is not kept, gained with
    it); of equal ones the edge that the search added first is worth most, and one that it never
    added least. Equal scores mean that neither tells two edges apart.

    >>> ends = torch.tensor([[0, 1], [0, 2], [1, 2], [2, 3]])
    >>> order_scores(ends, losses={(0, 1): 0.1, (0, 2): 0.4, (1, 2): 0.1}, added=[(1, 2), (0, 1)])
    tensor([1., 3., 2., 0.])

    Args:
        ends: (m, 2), the nodes of each edge by their ids, the smaller first.
        losses: by edge; 0 for those that are not there.
        added: the edges in the order in which the search added them.
    """
    place = {pair: number for number, pair in enumerate(added)}
    worth = [(losses.get((u, v), 0.0), -place.get((u, v), len(place))) for u, v in ends.tolist()]
    rank = {value: number for number, value in enumerate(sorted(set(worth)))}
    return torch.tensor([float(rank[value]) for value in worth])
