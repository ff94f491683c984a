"""The runs below a folder: one that is broken does not hide the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zorro.errors import RunError
from zorro.runs.folder import MANIFEST
from zorro.runs.run import Run
from zorro.runs.store import Counts


@dataclass(frozen=True)
class ListedRun:
    """A run that can be read, and how far it is."""

    run: Run
    counts: Counts


@dataclass(frozen=True)
class BrokenRun:
    """A folder that should be a run's and cannot be read, and why."""

    path: Path
    reason: str


def find_runs(folder: Path) -> Iterator[ListedRun | BrokenRun]:
    """Yield the runs in a folder and all that lies below, by path."""
    for path in sorted(folder.rglob(MANIFEST)):
        try:
            run = Run(path.parent)
            yield ListedRun(run, run.counts())
        except RunError as error:
            yield BrokenRun(path.parent, str(error))
