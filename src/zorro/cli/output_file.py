"""Refuse an output that cannot be written before the work for it begins."""

from __future__ import annotations

import tempfile
from pathlib import Path

from zorro.errors import InputError
from zorro.files.whole_file import whole_file


def check(path: Path, *, force: bool) -> None:
    """Raise `InputError` unless `path` can be written and holds nothing, or `force` is given."""
    if path.is_dir():
        raise InputError(
            f"--out: expected a file, got {path}, which is a folder: name a file in it"
        )
    if not force and path.is_file() and path.stat().st_size > 0:
        raise InputError(
            f"--out: expected a new file, got {path}, which holds something: add --force to "
            "replace it"
        )
    try:
        if path.exists():
            path.open("ab").close()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise unwritable(path, error) from error


def write(path: Path, text: str) -> None:
    """Write a text that appears whole or not at all."""
    try:
        with whole_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> InputError:
    """Return the error for an output that the system refuses to write."""
    return InputError(
        f"--out: expected a file that can be written, got {path}: {error.strerror or error}"
    )
