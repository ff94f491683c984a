"""Warnings, the library's and Python's: one line each on stderr, and only a few of a kind."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from typing import TextIO

from zorro.cli import terminal

_MOST_OF_A_KIND = 3


class NoteHandler(logging.Handler):
    """Prints log records above the progress bar, if there is one."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._seen: Counter[str] = Counter()
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print `record` unless it, or enough like it (of the same template), has been printed."""
        text = " ".join(record.getMessage().split())
        if text in self._said:  # an explainer is made to describe a run, and again to work
            return
        self._said.add(text)
        self._seen[record.msg] += 1
        count = self._seen[record.msg]
        if count <= _MOST_OF_A_KIND:
            more = " (further notes like this are left out)" if count == _MOST_OF_A_KIND else ""
            terminal.messages.print(f"zorro: note: {text}{more}", markup=False)


def show() -> None:
    """Show what zorro's loggers and Python's `warnings` have to say from now on."""
    logger = logging.getLogger("zorro")
    for handler in list(logger.handlers):
        if isinstance(handler, NoteHandler):
            logger.removeHandler(handler)
    logger.addHandler(NoteHandler())
    warnings.showwarning = _log_warning


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    logging.getLogger("zorro.cli").warning(f"{category.__name__}: {message}")
