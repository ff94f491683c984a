"""An empty figure, made when the first is asked for."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Literal

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


def save(figure: Figure, file: IO[bytes], *, kind: Literal["svg", "png"]) -> None:
    """Write a figure so that the same one gives the same bytes."""
    from matplotlib import rc_context

    dateless = {"Date": None} if kind == "svg" else {}
    with rc_context({"svg.hashsalt": "zorro"}):  # from which the ids of its parts are made
        figure.savefig(file, format=kind, bbox_inches="tight", metadata=dateless)
