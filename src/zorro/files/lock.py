"""Locks that go with the process that holds them."""

from __future__ import annotations

import os
from pathlib import Path

from zorro.files.plain_file import other_than_file

try:
    import fcntl
except ImportError:  # not on Windows, where nothing keeps two processes apart
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None
_NOT_ON_WINDOWS = ("O_NOFOLLOW", "O_NONBLOCK")


def open_lock(path: Path) -> int:
    """Open a file that is only to be locked, and make it where there is none.

    Raises `OSError` where a link or a pipe has its name: it is not followed and not waited for.
    """
    if (found := other_than_file(path)) is not None:
        raise OSError(f"{path}: expected a file, got {found}")
    flags = os.O_RDWR | os.O_CREAT
    for name in _NOT_ON_WINDOWS:
        flags |= getattr(os, name, 0)
    return os.open(path, flags, 0o666)


def hold(lock: int) -> None:
    """Take a lock, if there are locks here; raise `OSError` where another process holds it."""
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
