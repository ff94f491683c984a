"""A folder for files that other processes map; those of owners that were killed are removed.

A folder belongs to whoever holds the lock in it. The lock goes with the process that holds it, and
is seen by all who see the folder, from other containers too, where process ids mean nothing.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zorro.files.lock import HAS_LOCKS, hold

_PREFIX = "zorro-shared-"
# A folder has this name until its lock is held: others could not tell it from one left behind.
_UNFINISHED = "zorro-making-"
_LOCK = "lock"


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Yield a folder of this process; what killed processes left behind is removed."""
    remove_left_behind()
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED))
    folder = unfinished.with_name(_PREFIX + unfinished.name.removeprefix(_UNFINISHED))
    lock = os.open(unfinished / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with suppress(OSError):  # without locks here, nobody can take it for left behind either
            hold(lock)
        unfinished.rename(folder)
        yield folder
    finally:
        _remove(folder, lock)


def remove_left_behind() -> None:
    """Remove the folders whose owners have ended without removing them."""
    if not HAS_LOCKS:  # what killed processes leave behind stays
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # held by its owner, gone by now, or not ours to remove
            _remove_if_left_behind(folder)


def _remove_if_left_behind(folder: Path) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return
    try:
        # Whatever lies there under this name: it is not followed and not waited for.
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        folder.rmdir()  # only if it is empty: the lock is the last to be removed
        return
    try:
        hold(lock)
    except OSError:
        os.close(lock)
        raise
    _remove(folder, lock)


def _remove(folder: Path, lock: int) -> None:
    """Remove a folder, the lock last: whoever is killed in between leaves it recognisable."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.name != _LOCK:
                entry.unlink()
    os.close(lock)
    shutil.rmtree(folder, ignore_errors=True)
