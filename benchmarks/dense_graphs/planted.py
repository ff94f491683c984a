"""Graphs with planted classes, degrees with a heavy tail and dense, correlated features.

ogbn-arxiv's shape without its download: nodes cite nodes of their own class more often than others,
a few nodes are cited by thousands, and features are mixtures of a few hidden topics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data
from torch_geometric.utils import index_to_mask

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """How large a planted graph is, and how hard its classes are to tell; the rest is seeded."""

    nodes: int = 169_343
    edges: int = 1_166_243  # undirected
    features: int = 128
    classes: int = 40
    tail: float = 0.72  # degrees fall with this power of a node's rank
    homophily: float = 0.5  # share of edges drawn within a class
    signal: float = 0.23  # how far a class's topics lie from another's, in standard deviations
    topics: int = 24
    share_trained_on: float = 0.5
    seed: int = 0


def generate(shape: Shape) -> Data:
    """Return the graph, each edge in both directions.

    Shapes that differ in their features alone have the same edges, classes and split.
    """
    chance = np.random.default_rng(shape.seed)
    y = _classes(shape, chance)
    edge_index = torch.from_numpy(_edges(shape, y, chance))
    order = torch.from_numpy(chance.permutation(shape.nodes))
    x = torch.from_numpy(_features(shape, y, chance).astype(np.float32))
    trained_on = int(shape.share_trained_on * shape.nodes)
    return Data(
        x=x,
        edge_index=edge_index,
        y=torch.from_numpy(y),
        train_mask=index_to_mask(order[:trained_on], shape.nodes),
        test_mask=index_to_mask(order[trained_on:], shape.nodes),
    )


def _classes(shape: Shape, chance: np.random.Generator) -> Integers:
    """Draw every node's class; the k-th class is about 1/k as frequent as the first."""
    share = 1 / np.arange(2, shape.classes + 2)
    return chance.choice(shape.classes, size=shape.nodes, p=share / share.sum())


def _edges(shape: Shape, y: Integers, chance: np.random.Generator) -> Integers:
    """Draw edges whose ends are chosen by weight, one of them often from the other's class."""
    weight = np.arange(1, shape.nodes + 1) ** -shape.tail
    weight = chance.permutation(weight)
    by_class = np.argsort(y, kind="stable")
    reached = np.concatenate([[0.0], np.cumsum(weight[by_class])])
    first = np.concatenate([[0], np.cumsum(np.bincount(y, minlength=shape.classes))])

    def chosen(low: Floats, high: Floats) -> Integers:
        place = low + chance.random(low.size) * (high - low)
        found = np.searchsorted(reached, place, side="right") - 1
        nodes: Integers = by_class[found.clip(max=shape.nodes - 1)]
        return nodes

    known = np.empty(0, dtype=np.int64)
    every = np.arange(shape.nodes)  # each begins one edge, so that none stays alone
    while known.size < shape.edges:
        count = shape.edges - known.size - every.size
        one = np.concatenate([every, chosen(np.zeros(count), np.full(count, reached[-1]))])
        every = every[:0]
        alike = chance.random(one.size) < shape.homophily
        low = np.where(alike, reached[first[y[one]]], 0.0)
        high = np.where(alike, reached[first[y[one] + 1]], reached[-1])
        other = chosen(low, high)
        key = np.minimum(one, other) * shape.nodes + np.maximum(one, other)
        known = np.unique(np.concatenate([known, key[one != other]]))
    ends = np.stack([known // shape.nodes, known % shape.nodes])  # (2, edges)
    return np.concatenate([ends, ends[::-1]], axis=1)


def _features(shape: Shape, y: Integers, chance: np.random.Generator) -> Floats:
    """Mix a node's topics, which lean towards its class's, into features; a little noise stays."""
    centres = shape.signal * chance.standard_normal((shape.classes, shape.topics))
    topics = centres[y] + chance.standard_normal((shape.nodes, shape.topics))
    mixing = chance.standard_normal((shape.topics, shape.features)) / np.sqrt(shape.topics)
    noise = 0.3 * chance.standard_normal((shape.nodes, shape.features))
    features: Floats = topics @ mixing + noise
    return features
