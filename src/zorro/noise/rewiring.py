"""Edges that are not kept lead elsewhere: pairs of them exchange ends, so that degrees stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zorro.elements import EDGES, Selection
from zorro.elements.edges import EdgeElements
from zorro.noise.edges import EdgesOfSamples, drawn_words
from zorro.noise.streams import Purpose, seed_of

_COST = 200.0  # nanoseconds, of the messages along an edge and its place


@dataclass(frozen=True)
class Rewiring:
    """Edges that are not kept exchange ends in pairs, (a, b) and (c, d) becoming (a, d) and (c, b).

    Every node keeps its degree, of either direction where edges have one. A pair stays as it is
    where an exchange would give an edge from a node to itself or one that is there already.
    Attributes stay with the place of an edge. What a prediction sees may then lie anywhere.
    """

    pool: Mapping[str, Tensor] | None = None
    needs_the_whole_graph = True

    def draws(self, edges: EdgeElements, *, seed: int, query: int, samples: range) -> RewiredDraws:
        """Draw the noise of one query's edges."""
        own = seed_of(seed, Purpose.REWIRING)
        return RewiredDraws(edges, drawn_words(edges, own, query, samples))


@dataclass(frozen=True, eq=False)
class RewiredDraws:
    """The noise of one query's edges, drawn.

    Args:
        edges: the elements.
        words: (S, m) by which the edges of a sample are put in an order, and turned.
    """

    edges: EdgeElements
    words: Tensor
    donors = None
    why_not_traced = "edges are rewired"

    @property
    def pool(self) -> Mapping[str, Tensor]:
        """Attributes are not redrawn."""
        return {}

    @property
    def present(self) -> Tensor:
        """All edges are there (S, m)."""
        return torch.ones_like(self.words, dtype=torch.bool)

    @property
    def cost_per_sample(self) -> float:
        """What a sample costs in nanoseconds, roughly and by its size."""
        return _COST * self.edges.of_column.numel()

    def only(self, samples: Tensor) -> RewiredDraws:
        """Return the noise of some samples alone."""
        return RewiredDraws(self.edges, self.words[samples])

    def joined(self, others: Sequence[Any]) -> RewiredDraws:
        """Return this noise and that of other samples of the same query, one after the other."""
        return RewiredDraws(self.edges, torch.cat([self.words, *(one.words for one in others)]))

    def under(self, selection: Selection) -> EdgesOfSamples:
        """Return the edges of all samples under a selection."""
        kept = selection.masks.get(EDGES)
        ends = self.edges.ends.cpu().numpy()  # (m, 2)
        movable = (ends[:, 0] != ends[:, 1]) & (self.edges.number.cpu().numpy() == 0)
        if kept is None:
            movable[:] = False
        else:
            movable &= ~kept.cpu().numpy()
        places = np.flatnonzero(movable)
        rewired = np.stack([self._exchanged(ends, words[places], places) for words in self._words])
        return EdgesOfSamples(
            self.present, ends=torch.as_tensor(rewired, device=self.edges.ends.device)
        )

    @property
    def _words(self) -> Any:
        return self.words.cpu().numpy()

    def _exchanged(self, ends: Any, words: Any, places: Any) -> Any:
        """Return the ends (m, 2) of all edges in one sample.

        Args:
            ends: of the graph.
            words: (k,) random ones of those that may move.
            places: (k,) which these are.
        """
        order = places[np.argsort(words, kind="stable")]
        first, second = order[: order.size // 2 * 2].reshape(-1, 2).T  # pairs
        turned = np.zeros(len(ends), dtype=bool)
        if not self.edges.directed:  # in which direction an edge is taken is as random
            turned[places] = words & 1
        a, b = _turned(ends[first], turned[first]).T
        c, d = _turned(ends[second], turned[second]).T
        keys = np.stack([self._key(a, d), self._key(c, b)])  # (2, pairs)
        known, count = np.unique(keys, return_counts=True)
        repeated = known[count > 1]
        possible = (a != d) & (c != b)
        possible &= ~np.isin(keys, self._key(*ends.T)).any(0) & ~np.isin(keys, repeated).any(0)
        result = ends.copy()
        result[first[possible]] = np.stack([a, d], axis=1)[possible]
        result[second[possible]] = np.stack([c, b], axis=1)[possible]
        return result

    def _key(self, u: Any, v: Any) -> Any:
        if not self.edges.directed:
            u, v = np.minimum(u, v), np.maximum(u, v)
        return u * self.edges.nodes + v


def _turned(ends: Any, turned: Any) -> Any:
    return np.where(turned[:, None], ends[:, ::-1], ends)
