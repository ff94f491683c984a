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
    """A text whose middle is at (x, y), and about how large it is."""

    text: str
    x: float
    y: float
    width: float
    height: float


def font_size(labels: int) -> float:
    """Return a size in points at which so many labels are readable."""
    return next((size for most, size in ((12, 9.0), (40, 8.0), (100, 7.0)) if labels <= most), 6.0)


def placed(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    *,
    radii: Sequence[float],
    size: float,
    points_per_unit: float,
) -> list[Label]:
    """Return labels beside points, in the order of importance, without those that find no place.

    Args:
        points: where the labelled nodes are; the middle of the picture is (0, 0).
        texts: their labels.
        radii: of the nodes, in points.
        size: of the font, in points.
        points_per_unit: how large the picture's unit is printed.
    """
    free = _Space(np.array(points).reshape(-1, 2), np.array(radii) / points_per_unit)
    height = _HEIGHT * size / points_per_unit
    labels = []
    for (x, y), text, radius in zip(points, texts, radii, strict=True):
        width = _WIDTH * size * max(1, len(text)) / points_per_unit
        outwards = math.atan2(y, x) if (x, y) != (0, 0) else math.pi / 2
        reach = (radius + _GAP) / points_per_unit
        for turn in _DIRECTIONS:
            angle = outwards + math.radians(turn)
            middle = (
                x + math.cos(angle) * (reach + width / 2),
                y + math.sin(angle) * (reach + height / 2),
            )
            if free.take(middle, width / 2, height / 2):
                labels.append(Label(text, *middle, width, height))
                break
    return labels


class _Space:
    """Where labels may still go.

    Args:
        points: (n, 2), with
        radii: (n,) around them, which labels must not touch.
    """

    def __init__(self, points: NDArray[np.float64], radii: NDArray[np.float64]) -> None:
        self._points = points
        self._radii = radii
        self._boxes = np.zeros((0, 4))  # middles and half sizes

    def take(self, middle: tuple[float, float], half_width: float, half_height: float) -> bool:
        """Take a box if it is free."""
        half = np.array([half_width, half_height])
        beyond = np.maximum(np.abs(self._points - middle) - half, 0)
        touches = np.hypot(beyond[:, 0], beyond[:, 1]) < self._radii
        apart = np.abs(self._boxes[:, :2] - middle) - self._boxes[:, 2:] - half
        if bool(touches.any()) or bool((apart < 0).all(axis=1).any()):
            return False
        self._boxes = np.vstack([self._boxes, [*middle, *half]])
        return True
