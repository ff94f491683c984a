"""How bonds are drawn: as one line, as two or three, or as one with a dashed one on its left."""

from __future__ import annotations

Stroke = tuple[float, bool]  # how far to the left, in distances of lines, and if dashed

_STROKES: dict[str, tuple[Stroke, ...]] = {
    "double": ((-0.5, False), (0.5, False)),
    "triple": ((-1.0, False), (0.0, False), (1.0, False)),
    "aromatic": ((0.0, False), (1.0, True)),
}


def strokes(bond: str | None) -> tuple[Stroke, ...]:
    """Return the lines that an edge is drawn as.

    >>> strokes("double"), strokes(None)
    (((-0.5, False), (0.5, False)), ((0.0, False),))
    """
    return _STROKES.get(bond or "", ((0.0, False),))
