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
    """A run that can be read, and how far it is.

    >>> from pathlib import Path
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> from zorro.runs import find_runs
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [9, 11], out="runs/votes")
    >>> [listed] = find_runs(Path("runs"))
    >>> listed.run.asked, listed.counts
    (2, Counts(explained=2, failed=0, certified=2))

    Args:
        run: opened.
        counts: how many queries have ended, and how.
    """

    run: Run
    counts: Counts


@dataclass(frozen=True)
class BrokenRun:
    """A folder that should be a run's and cannot be read, and why.

    >>> from pathlib import Path
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> from zorro.runs import find_runs
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [9], out="runs/votes")
    >>> _ = Path("runs/votes/manifest.json").write_text("{")  # somebody meddles
    >>> [broken] = find_runs(Path("runs"))
    >>> broken.path.name, broken.reason.split(" (")[0]
    ('votes', 'runs/votes/manifest.json is damaged')

    Args:
        path: of the folder.
        reason: what is wrong, and what can be done.
    """

    path: Path
    reason: str


def find_runs(folder: Path) -> Iterator[ListedRun | BrokenRun]:
    """Yield the runs in a folder and all that lies below, by path.

    >>> from pathlib import Path
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> from zorro.runs import find_runs
    >>> club = karate_club()
    >>> for tau in (0.7, 0.9):
    ...     _ = explain_many(
    ...         SimpleConv(), club.x, club.edge_index, [9, 11], out=f"runs/{tau}", tau=tau
    ...     )
    >>> for listed in find_runs(Path("runs")):
    ...     print(listed.run)
    Run('runs/0.7': 2 of 2 nodes explained, 2 certified, 0 failed)
    Run('runs/0.9': 2 of 2 nodes explained, 2 certified, 0 failed)

    Args:
        folder: below which to look, at any depth.
    """
    for path in sorted(folder.rglob(MANIFEST)):
        try:
            run = Run(path.parent)
            yield ListedRun(run, run.counts())
        except RunError as error:
            yield BrokenRun(path.parent, str(error))
