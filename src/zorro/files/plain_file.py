"""Names that a file should have, and a link or a pipe may: in folders that others can write to."""

from __future__ import annotations

import stat
from pathlib import Path


def other_than_file(path: Path) -> str | None:
    """Return what else has a file's name, in words; None for a file, and where there is nothing.

    >>> from pathlib import Path
    >>> Path("lock").symlink_to("/etc/passwd")
    >>> other_than_file(Path("lock"))
    'a link'
    """
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISREG(mode):
        return None
    return "a link" if stat.S_ISLNK(mode) else "something else"
