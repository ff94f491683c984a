"""A random set of a given size: what the choice of elements is worth beyond their number."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.methods.masks import Masks
from zorro.methods.registry import method
from zorro.methods.subject import Subject
from zorro.question import Query


@method("random")
class RandomSet:
    """Selects nodes and features at random, all sets of the size being equally likely.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import RandomSet, Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)  # its friends are 0 and 3
    >>> masks = RandomSet((2, 1)).explain(subject)  # as large as two nodes and one feature
    >>> masks.nodes.sum(), masks.features.sum()
    (tensor(2), tensor(1))

    Args:
        sizes: how many nodes and features: two numbers, or for each query the two numbers of the
            explanation that it is compared with.
    """

    def __init__(self, sizes: tuple[int, int] | Mapping[int, tuple[int, int]]) -> None:
        self._sizes = sizes

    def explain(self, subject: Subject) -> Masks:
        """Return the query's own random set."""
        nodes, features = self._size_of(subject.graph.asked)
        x = subject.graph.candidate_x  # (n, d)
        generator = subject.generator()
        return Masks(
            nodes=_chosen("nodes", nodes, x.size(0), generator).to(x.device),
            features=_chosen("features", features, x.size(1), generator).to(x.device),
        )

    def _size_of(self, query: Query) -> tuple[int, int]:
        if not isinstance(self._sizes, Mapping):
            return self._sizes
        if query.index not in self._sizes:
            raise InputError(f"sizes: expected the size of {query}'s explanation, got none")
        return self._sizes[query.index]


def _chosen(name: str, count: int, size: int, generator: torch.Generator) -> Tensor:
    """Return a mask (size,) with `count` elements."""
    if not 0 <= count <= size:
        raise InputError(f"sizes: expected 0 to {size} {name}, got {count}")
    mask = torch.zeros(size, dtype=torch.bool)
    mask[torch.randperm(size, generator=generator)[:count]] = True
    return mask
