"""Explanations as JSON lines, each on disk as soon as it is finished."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from zorro.cli import output_file

if TYPE_CHECKING:
    from zorro.explanation import Explanation

STDOUT = "-"

Write = Callable[["Explanation"], None]


def check(out: str | None, *, force: bool) -> None:
    """Raise `InputError` if `out` is a file that cannot or must not be written."""
    if out not in (None, STDOUT):
        output_file.check(Path(str(out)), force=force)


@contextmanager
def writer(out: str | None) -> Iterator[Write]:
    """Yield a function that writes one explanation to `out`: a file, `-` for stdout, or nowhere."""
    if out is None:
        yield lambda explanation: None
    elif out == STDOUT:
        yield lambda explanation: _write(sys.stdout, explanation)
    else:
        path = Path(out)
        try:
            with path.open("w", encoding="utf-8") as file:
                yield lambda explanation: _write(file, explanation)
        except OSError as error:  # a full disk fails as late as here
            raise output_file.unwritable(path, error) from error


def _write(file: TextIO, explanation: Explanation) -> None:
    file.write(f"{explanation.to_json()}\n")
    file.flush()
