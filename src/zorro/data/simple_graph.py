"""Undirected graphs without loops as sets of pairs: grown, disturbed, written as an edge index."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

Edges = set[tuple[int, int]]


def barabasi_albert(nodes: int, links: int, rng: np.random.Generator) -> Edges:
    """Grow a graph in which each new node links to `links` others in proportion to their degree.

    >>> len(barabasi_albert(20, 1, np.random.default_rng(0)))
    19
    """
    edges: Edges = set()
    targets = set(range(links))
    ends: list[int] = []  # every node as often as its degree
    for node in range(links, nodes):
        edges |= {(target, node) for target in targets}
        ends += [*sorted(targets), *[node] * links]
        targets = set()
        while len(targets) < links:
            targets.add(ends[rng.integers(len(ends))])
    return edges


def add_random_edges(
    edges: Edges, left: range, right: range, count: int, rng: np.random.Generator
) -> None:
    """Add `count` edges between `left` and `right` that `edges` does not hold yet."""
    wanted = len(edges) + count
    while len(edges) < wanted:
        u, v = int(rng.choice(left)), int(rng.choice(right))
        if u != v:
            edges.add((min(u, v), max(u, v)))


def both_directions(edges: Edges) -> Tensor:
    """Return an edge index (2, E) that holds each edge in both directions, in order.

    >>> both_directions({(0, 2), (0, 1)})
    tensor([[0, 0, 1, 2],
            [1, 2, 0, 0]])
    """
    pairs = sorted([*edges, *((v, u) for u, v in edges)])
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).t().contiguous()
