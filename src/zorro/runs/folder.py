"""A run's folder: what was asked in a JSON file, what came of it in a SQLite file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zorro.errors import RunError
from zorro.files.lock import hold, open_lock
from zorro.files.plain_file import other_than_file
from zorro.files.plain_json import parse
from zorro.files.whole_file import whole_file
from zorro.runs.manifest import FORMAT, Manifest, checked, refuse_other

MANIFEST = "manifest.json"
OUTCOMES = "outcomes.sqlite"
_LOCK = "lock"
_MOST_BYTES = 1 << 26  # of a manifest; it holds no results


def is_run(folder: Path) -> bool:
    """Whether a folder looks like a run's."""
    return (folder / MANIFEST).is_file()


def has_outcomes(folder: Path) -> bool:
    """Whether something has the name of a run's outcomes, a link that leads nowhere included."""
    return os.path.lexists(folder / OUTCOMES)


def read_manifest(folder: Path) -> Manifest:
    """Return what a run was asked."""
    path = folder / MANIFEST
    if not folder.exists():
        raise RunError(f"there is no run at {folder}: check the path")
    if not path.is_file():
        raise RunError(f"{folder} is not a run: it has no {MANIFEST}")
    if (found := other_than_file(path)) is not None:
        raise RunError(f"{path}: expected a file, got {found}: this is not a run's")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
        manifest = parse(path.read_bytes())
        if isinstance(manifest, dict) and manifest.get("format", FORMAT) != FORMAT:
            raise RunError(
                f"{path} has format {str(manifest['format'])[:40]}, and this version reads {FORMAT}"
            )
        return checked(manifest)
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        raise RunError(f"{path} is damaged ({error}): restore it, or use another folder") from error


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
    except OSError as error:
        raise RunError(f"a run cannot be made in {folder}: {error}") from error
    write_manifest(folder, manifest)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write down what a run was asked."""
    try:
        with whole_file(folder / MANIFEST) as file:
            file.write(json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n")
    except OSError as error:
        raise RunError(f"a run cannot be written in {folder}: {error}") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run as its only driver; the lock goes with the process that holds it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open_lock(folder / _LOCK)
    except OSError as error:
        raise RunError(f"a run cannot be made in {folder}: {error}") from error
    try:
        try:
            hold(lock)
        except OSError:
            raise RunError(f"{folder} is being written by another process") from None
        yield
    finally:
        os.close(lock)
