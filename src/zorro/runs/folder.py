"""A run's folder: what was asked in a JSON file, what came of it in a SQLite file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zorro.errors import RunError
from zorro.runs.manifest import FORMAT, Manifest, refuse_other
from zorro.whole_file import whole_file

try:
    import fcntl
except ImportError:  # not on Windows, where nothing keeps two drivers apart
    fcntl = None  # type: ignore[assignment]

MANIFEST = "manifest.json"
OUTCOMES = "outcomes.sqlite"
_LOCK = "lock"


def is_run(folder: Path) -> bool:
    """Whether a folder looks like a run's."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """Return what a run was asked."""
    path = folder / MANIFEST
    if not folder.exists():
        raise RunError(f"there is no run at {folder}: check the path")
    if not path.is_file():
        raise RunError(f"{folder} is not a run: it has no {MANIFEST}")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(manifest, dict) or not isinstance(manifest["queries"]["count"], int):
            raise ValueError("it is not what a run writes")
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} is damaged ({error}): restore it, or use another folder") from error
    if manifest.get("format") != FORMAT:
        raise RunError(
            f"{path} has format {manifest.get('format')!r}, and this version reads {FORMAT}"
        )
    return manifest


def prepare(folder: Path, manifest: Manifest) -> None:
    """Make a run's folder, or make sure that it is the folder of the same run."""
    if is_run(folder):
        refuse_other(read_manifest(folder), manifest, folder)
        return
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} is a file: a run needs a folder of its own")
    try:
        if folder.exists() and any(entry.name != _LOCK for entry in folder.iterdir()):
            raise RunError(f"{folder} holds something else: a run needs a folder of its own")
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / MANIFEST) as file:
            file.write(json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n")
    except OSError as error:
        raise RunError(f"a run cannot be made in {folder}: {error}") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run as its only driver; the lock goes with the process that holds it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / _LOCK).open("a", encoding="utf-8")
    except OSError as error:
        raise RunError(f"a run cannot be made in {folder}: {error}") from error
    with file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RunError(f"{folder} is being written by another process") from None
        yield
