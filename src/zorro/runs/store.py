"""The outcomes of a run, in one SQLite file that only the driver writes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from zorro.errors import RunError
from zorro.runs.task import FAILED, Outcome, Query

_TABLE = """
CREATE TABLE outcomes (
    position INTEGER PRIMARY KEY,  -- in the order in which nodes were asked for
    node INTEGER NOT NULL,
    status TEXT NOT NULL,
    certified INTEGER NOT NULL,
    explanation TEXT,              -- as JSON; NULL if it failed
    error TEXT,
    trace TEXT,
    seconds REAL NOT NULL,
    finished TEXT NOT NULL
)
"""
_PATIENCE = 10.0  # seconds for another reader or writer to finish


@dataclass(frozen=True)
class Counts:
    """How many queries have ended, and how."""

    explained: int
    failed: int
    certified: int


class Store:
    """Outcomes, one committed row per query.

    Args:
        path: of the file.
        write: whether it may be made and added to.
    """

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self._path = path
        if not write and not path.exists():
            raise RunError(f"{path} is missing: this run has not begun, or its folder is damaged")
        with self._explained():
            if write and not path.exists():
                _make(path)
            mode = "rw" if write else "ro"
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_PATIENCE
            )
            if write:
                # Readers go on reading; a commit is on the disk when it returns.
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("SELECT count(*) FROM outcomes WHERE position < 0")
        self._write = write

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave one file that can be copied and read anywhere."""
        try:
            if self._write:
                self._connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error:
            pass  # somebody is reading, or the disk is full: SQLite mends it on the next opening
        finally:
            self._connection.close()

    def add(self, outcome: Outcome) -> None:
        """Write an outcome; when this returns it is kept. A second one of a query replaces it."""
        row = (
            outcome.query.position,
            outcome.query.node,
            outcome.status,
            outcome.certified,
            outcome.explanation,
            outcome.error,
            outcome.trace,
            outcome.seconds,
            datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        with self._explained(), self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row
            )

    def ended(self, *, failed_too: bool = True) -> Iterator[int]:
        """Yield the positions of queries that have ended."""
        condition = "" if failed_too else f"WHERE status <> '{FAILED}'"
        with self._explained():
            for (position,) in self._connection.execute(
                f"SELECT position FROM outcomes {condition}"
            ):
                yield position

    def outcomes(self, *, node: int | None = None, failed: bool | None = None) -> Iterator[Outcome]:
        """Yield outcomes in the order in which they were asked for.

        Args:
            node: only this node's.
            failed: only those that failed, or only those that did not.
        """
        conditions = ["1 = 1"]
        if node is not None:
            conditions.append(f"node = {int(node)}")
        if failed is not None:
            conditions.append(f"status {'=' if failed else '<>'} '{FAILED}'")
        with self._explained():
            for row in self._connection.execute(
                "SELECT position, node, status, certified, explanation, error, trace, seconds "
                f"FROM outcomes WHERE {' AND '.join(conditions)} ORDER BY position"
            ):
                position, at, status, certified, *others = row
                yield Outcome(Query(position, at), status, bool(certified), *others)

    def counts(self) -> Counts:
        """Count what there is."""
        with self._explained():
            total, failed, certified = self._connection.execute(
                f"SELECT count(*), total(status = '{FAILED}'), total(certified) FROM outcomes"
            ).fetchone()
        return Counts(int(total - failed), int(failed), int(certified))

    def median_length(self, field: str) -> float:
        """Return the median length of a list that explanations hold; 0 if there are none."""
        length = f"json_array_length(explanation, '$.{field}')"
        with self._explained():
            (count,) = self._connection.execute(
                "SELECT count(explanation) FROM outcomes"
            ).fetchone()
            middle = self._connection.execute(
                f"SELECT {length} AS length FROM outcomes WHERE explanation IS NOT NULL "
                "ORDER BY length LIMIT ? OFFSET ?",
                (2 - count % 2, max(0, (count - 1) // 2)),
            ).fetchall()
        return float(sum(length for (length,) in middle) / max(1, len(middle)))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say of an error of SQLite's which file it is about, and what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise RunError(f"{self._path}: {_advice(error)} ({error})") from error


def _make(path: Path) -> None:
    """Make an empty store, which readers see whole or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.unlink(missing_ok=True)
    with closing(sqlite3.connect(partial)) as connection, connection:
        connection.execute(_TABLE)
    partial.replace(path)


def _advice(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    for start, advice in {
        "SQLITE_FULL": "the disk is full: make room, then give the same command again, which goes "
        "on with what is missing",
        "SQLITE_READONLY": "the run may not be written to: check the permissions of its folder",
        "SQLITE_CANTOPEN": "the run cannot be opened: check the permissions of its folder",
        "SQLITE_BUSY": "another program holds the run: wait for it to finish",
        "SQLITE_NOTADB": "not a run's file: it is damaged, or something else",
        "SQLITE_CORRUPT": "the file is damaged: restore it, or start anew in another folder",
        "SQLITE_IOERR": "the disk does not work as it should",
    }.items():
        if name.startswith(start):
            return advice
    return "the run cannot be used"
