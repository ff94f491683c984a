"""Whether one feature tells a class on its own, as a leaked label would."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zorro.audit.setting import UNKNOWN, Labels
from zorro.audit.share import Share


@dataclass(frozen=True)
class Telltale:
    """How well a feature alone tells a class from all others, at its best cut.

    Args:
        inside: of what is of the class, the share on the class's side of the cut.
        outside: of what is not, the share on the other side.
    """

    inside: Share
    outside: Share

    def tells(self, least: float) -> bool:
        """Whether both shares are that large, by the lower ends of their intervals."""
        return min(self.inside.lower, self.outside.lower) >= least


def telltale_of(
    values: NDArray[np.float64], labels: Labels, number: int, *, confidence: float
) -> Telltale | None:
    """Return how well values tell a class; None where one side is empty.

    The cut is where the two shares add up to the most, be the class above it or below.

    Args:
        values: (N,), of the feature.
        labels: (N,), true classes, −1 where they are not known.
        number: of the class.
        confidence: of the intervals.
    """
    known = labels != UNKNOWN
    values, is_class = values[known], labels[known] == number
    inside, outside = int(is_class.sum()), int((~is_class).sum())
    if not inside or not outside:
        return None
    order = np.argsort(values, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(values[order]) > 0) + 1, len(values))
    below = np.cumsum(is_class[order])[ends - 1]  # of the class, up to each cut
    others_below = ends - below
    above_is_class = (inside - below) / inside + others_below / outside
    best = int(np.argmax(np.maximum(above_is_class, 2 - above_is_class)))
    mine, theirs = int(below[best]), int(others_below[best])
    if above_is_class[best] >= 1:
        mine, theirs = inside - mine, outside - theirs
    return Telltale(Share(mine, inside, confidence), Share(outside - theirs, outside, confidence))
