"""Where the downloaded files of data sets lie."""

from __future__ import annotations

import os
from pathlib import Path

from zorro.errors import DatasetError

VARIABLE = "ZORRO_DATA"


def raw_folder(folder: str) -> Path:
    """Return where the files of data set `folder` lie, or are to be downloaded to.

    That is `<folder>/raw` in ZORRO_DATA, or else in the user's cache. Nothing else is read or
    written: what PyG keeps in `processed` are pickles, which can run code when they are read.
    """
    given = os.environ.get(VARIABLE)
    root = Path(given).absolute() if given else _cache() / "data"
    raw = root / folder / "raw"
    if given and not raw.is_dir() and not _writable(raw):
        raise DatasetError(
            f"{VARIABLE} is {given}, which has no {folder}/raw and may not be written to: "
            f"put the data set there, or unset {VARIABLE} to download it to the user's cache"
        )
    return raw


def _writable(path: Path) -> bool:
    """Tell whether files may be created in `path`, or in what would hold it."""
    while not path.exists():
        path = path.parent
    # The superuser passes os.access everywhere: a folder without any write permission was meant
    # to stay as it is.
    return bool(path.stat().st_mode & 0o222) and os.access(path, os.W_OK)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "zorro"
