"""The two streams that people see: results on stdout, everything about the work on stderr."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console, RenderableType

_PIPE_WIDTH = 160  # a table in a file or a pipe need not fit any window


def _width(stream: TextIO) -> int | None:
    return None if stream.isatty() else _PIPE_WIDTH


results = Console(highlight=False, soft_wrap=True, width=_width(sys.stdout))
messages = Console(highlight=False, soft_wrap=True, width=_width(sys.stderr), stderr=True)


def show_fitted(content: RenderableType, console: Console) -> None:
    """Print `content` within the width of the window, if there is one."""
    console.print(content, soft_wrap=False, markup=False)
