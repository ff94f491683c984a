"""Where the downloaded files of data sets lie."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def reading(folder: str, raw: Path) -> Iterator[None]:
    """Say what to do about whatever goes wrong while a data set is downloaded and read.

    Args:
        folder: the data set's.
        raw: where its files lie.
    """
    try:
        yield
    except DatasetError:
        raise
    except Exception as error:  # PyG's download and parsing raise errors of every kind
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DatasetError(
            f"{folder} could not be downloaded or read ({reason}): check the network, "
            f"or delete {raw.parent} if a download was broken off"
        ) from error


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
