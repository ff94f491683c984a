"""An empty figure, made when the first is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zorro.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """Return a figure of so many inches that belongs to no window and to no global state."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("drawing figures", "plot") from None
    return Figure(figsize=(width, height), dpi=150, facecolor="white")
