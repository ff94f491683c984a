"""Labels placed beside points so that they cover neither each other nor the points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Of the usual fonts, in parts of the font's size.
_WIDTH, _HEIGHT = 0.62, 1.15
_DIRECTIONS = (0, 45, -45, 90, -90, 135, -135, 180)  # from that outwards, in degrees
_GAP = 1.5  # points between a node and its label


@dataclass(frozen=True)
class Label:
    """A text whose middle is at (x, y)."""

    text: str
    x: float
    y: float


def font_size(labels: int) -> float:
    """Return a size in points at which so many labels are readable."""
    return next((size for most, size in ((12, 9.0), (40, 8.0), (100, 7.0)) if labels <= most), 6.0)


def placed(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    *,
    obstacles: Sequence[tuple[float, float]],
    size: float,
    points_per_unit: float,
    radius: float,
) -> list[Label]:
    """Return labels beside points, in the order of importance, without those that find no place.

    Args:
        points: where the labelled nodes are; the middle of the picture is (0, 0).
        texts: their labels.
        obstacles: all that must not be covered, the points among them.
        size: of the font, in points.
        points_per_unit: how large the picture's unit is printed.
        radius: of the nodes, in points.
    """
    free = _Space(np.array(obstacles, float).reshape(-1, 2), radius / points_per_unit)
    height = _HEIGHT * size / points_per_unit
    labels = []
    for (x, y), text in zip(points, texts, strict=True):
        width = _WIDTH * size * max(1, len(text)) / points_per_unit
        outwards = math.atan2(y, x) if (x, y) != (0, 0) else math.pi / 2
        for turn in _DIRECTIONS:
            angle = outwards + math.radians(turn)
            reach = (radius + _GAP) / points_per_unit
            middle = (
                x + math.cos(angle) * (reach + width / 2),
                y + math.sin(angle) * (reach + height / 2),
            )
            if free.take(middle, width / 2, height / 2):
                labels.append(Label(text, *middle))
                break
    return labels


class _Space:
    """Where labels may still go."""

    def __init__(self, points: NDArray[np.float64], radius: float) -> None:
        self._points = points
        self._radius = radius
        self._boxes = np.zeros((0, 4))

    def take(self, middle: tuple[float, float], half_width: float, half_height: float) -> bool:
        """Take a box if it is free."""
        x, y = middle
        aside = np.abs(self._points - middle) < (half_width, half_height)
        near = np.abs(self._points - middle) - (half_width, half_height)
        near = np.hypot(*np.maximum(near, 0).T) < self._radius
        boxes = self._boxes
        covers = (np.abs(boxes[:, 0] - x) < boxes[:, 2] + half_width) & (
            np.abs(boxes[:, 1] - y) < boxes[:, 3] + half_height
        )
        if bool(aside.all(axis=1).any()) or bool(near.any()) or bool(covers.any()):
            return False
        self._boxes = np.vstack([boxes, [x, y, half_width, half_height]])
        return True
