"""The two streams that people see: results on stdout, everything about the work on stderr."""

from __future__ import annotations

from rich.console import Console, RenderableType

results = Console(highlight=False, soft_wrap=True)
messages = Console(highlight=False, soft_wrap=True, stderr=True)

_PIPE_WIDTH = 160  # a table in a file or pipe need not fit any window


def show_table(table: RenderableType, console: Console) -> None:
    """Print `table` as wide as the terminal allows, or unbroken where there is no terminal."""
    width = console.width if console.is_terminal else _PIPE_WIDTH
    console.print(table, width=width, soft_wrap=False, crop=False)
