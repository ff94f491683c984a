"""Where downloaded data sets lie, and a place to write beside those that may only be read."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from zorro.errors import DatasetError

VARIABLE = "ZORRO_DATA"


def dataset_root(folder: str) -> Path:
    """Return a root that PyG can read data set `folder` from and write into.

    That is the folder in ZORRO_DATA, or else in the user's cache. PyG writes `processed` beside
    `raw`: if ZORRO_DATA must not be written to, the root is a folder of the cache in which
    `<folder>/raw` is a link to the real one.
    """
    given = os.environ.get(VARIABLE)
    if not given:
        return _cache() / "data"
    root = Path(given).absolute()
    if _writable(root / folder):
        return root
    raw = root / folder / "raw"
    if not raw.is_dir():
        raise DatasetError(
            f"{VARIABLE} is {given}, which has no {folder}/raw and may not be written to: "
            f"put the data set there, or unset {VARIABLE} to download it to the user's cache"
        )
    return _linked_root(root, folder, raw)


def _linked_root(root: Path, folder: str, raw: Path) -> Path:
    digest = hashlib.sha256(str(root).encode()).hexdigest()[:12]
    linked = _cache() / f"linked-{digest}"
    link = linked / folder / "raw"
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            link.symlink_to(raw, target_is_directory=True)
    except OSError as error:
        raise DatasetError(
            f"{root} may only be read, and {linked} could not be made to write beside it "
            f"({error}): set XDG_CACHE_HOME to a folder that can be written to"
        ) from error
    return linked


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
