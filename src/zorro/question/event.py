"""What must happen on a perturbed input for it to count as a hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional


class Event(Protocol):
    """A yes-or-no question about class scores."""

    def happens(self, scores: Tensor) -> Tensor:
        """Return for scores (…, C) whether the event happens, (…) bool."""
        ...

    def log_probability(self, scores: Tensor) -> Tensor:
        """Return a smooth measure of how nearly it happens, (…), at most 0."""
        ...

    def gap(self, scores: Tensor) -> Tensor:
        """Return how far the scores are from deciding otherwise, (…), at least 0."""
        ...


@dataclass(frozen=True)
class Predicts:
    """The model predicts class a."""

    a: int

    def happens(self, scores: Tensor) -> Tensor:
        """Whether a has the highest score, which no class has where one is NaN."""
        # NaN is what `argmax` takes for the highest, so where a is that, its score would be NaN.
        return (scores.argmax(-1) == self.a) & ~scores[..., self.a].isnan()

    def log_probability(self, scores: Tensor) -> Tensor:
        """The log of a's probability."""
        return scores.log_softmax(-1)[..., self.a]

    def gap(self, scores: Tensor) -> Tensor:
        """The distance of the two highest scores."""
        if scores.size(-1) == 2:  # without sorting
            return (scores[..., 0] - scores[..., 1]).abs()
        best = scores.topk(2, dim=-1).values
        return best[..., 0] - best[..., 1]


@dataclass(frozen=True)
class Beats:
    """The model prefers class a to class b, whatever it thinks of others."""

    a: int
    b: int

    def happens(self, scores: Tensor) -> Tensor:
        """Whether a's score is above b's."""
        return scores[..., self.a] > scores[..., self.b]

    def log_probability(self, scores: Tensor) -> Tensor:
        """The log of a's probability among the two."""
        return functional.logsigmoid(scores[..., self.a] - scores[..., self.b])

    def gap(self, scores: Tensor) -> Tensor:
        """The distance of the two scores."""
        return (scores[..., self.a] - scores[..., self.b]).abs()


@dataclass(frozen=True)
class PredictsOtherThan:
    """The model predicts any class but b."""

    b: int

    def happens(self, scores: Tensor) -> Tensor:
        """Whether another class has the highest score, which none has where one is NaN."""
        return (scores.argmax(-1) != self.b) & ~scores.amax(-1).isnan()

    def log_probability(self, scores: Tensor) -> Tensor:
        """The log of the others' probability."""
        return self._others(scores.log_softmax(-1)).logsumexp(-1)

    def gap(self, scores: Tensor) -> Tensor:
        """The distance of b's score and the best of the others'."""
        return (self._others(scores).amax(-1) - scores[..., self.b]).abs()

    def _others(self, scores: Tensor) -> Tensor:
        return torch.cat([scores[..., : self.b], scores[..., self.b + 1 :]], dim=-1)


@dataclass(frozen=True)
class StaysBetween:
    """A value moves no further than to the ends of a band, which belong to it; either may be open.

    Args:
        value: from which it moves.
        low: least by which it may move, −∞ for no limit.
        high: most by which it may move, ∞ for no limit.
        softness: the distance over which leaving the band counts more and more.
    """

    value: float
    low: float
    high: float
    softness: float

    def happens(self, scores: Tensor) -> Tensor:
        """Whether the value lies in the band, its ends included, as Python's own floats say."""
        change = self._change(scores)
        return (change >= self.low) & (change <= self.high)

    def log_probability(self, scores: Tensor) -> Tensor:
        """The log of a share that falls off over the band's ends."""
        return functional.logsigmoid(self._room(scores) / self.softness)

    def gap(self, scores: Tensor) -> Tensor:
        """The distance from the nearest end."""
        return self._room(scores).abs()

    def _room(self, scores: Tensor) -> Tensor:
        """Return how far inside the band the value is, negative outside."""
        change = self._change(scores)
        return torch.minimum(change - self.low, self.high - change)

    def _change(self, scores: Tensor) -> Tensor:
        """Return how far the value has moved; in single precision ends would be rounded too."""
        return scores[..., 0].double() - self.value


@dataclass(frozen=True)
class IsAmongTheFirst:
    """Of scores side by side the first is among the k highest.

    Args:
        k: how many may share the place; fewer than there are others.
    """

    k: int

    def happens(self, scores: Tensor) -> Tensor:
        """Whether fewer than k others are as high; NaN is below nothing, and nothing below it."""
        return (~(scores[..., 1:] < scores[..., :1])).sum(-1) < self.k

    def log_probability(self, scores: Tensor) -> Tensor:
        """The log of its probability against the k-th of the others."""
        return functional.logsigmoid(self._lead(scores))

    def gap(self, scores: Tensor) -> Tensor:
        """The distance from the k-th of the others."""
        return self._lead(scores).abs()

    def _lead(self, scores: Tensor) -> Tensor:
        return scores[..., 0] - scores[..., 1:].topk(self.k, dim=-1).values[..., -1]
