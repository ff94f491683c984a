"""The outcomes of a run, in one SQLite file that only the driver writes."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from zorro.errors import RunError
from zorro.files.plain_file import other_than_file
from zorro.runs.task import FAILED, Outcome, Query

_NAME = "outcomes"
_TABLE = """\
CREATE TABLE outcomes (
    position INTEGER PRIMARY KEY,  -- in the order in which queries were asked for
    node INTEGER NOT NULL,         -- the query's key, which for a node is its number
    status TEXT NOT NULL,
    certified INTEGER NOT NULL,
    explanation TEXT,              -- as JSON; NULL if it failed
    error TEXT,
    trace TEXT,
    seconds REAL NOT NULL,
    finished TEXT NOT NULL
)"""  # to the letter: see `_check_schema`
_BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps next to its file
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")  # the end of a journal that names another one
_TRIES = 5  # to copy a store that is being written
_PATIENCE = 10.0  # seconds for another reader or writer to finish


@dataclass(frozen=True)
class Counts:
    """How many queries have ended, and how."""

    explained: int
    failed: int
    certified: int


@dataclass(frozen=True)
class DamagedRow:
    """A row of a run that cannot be used, and why; place and key are None if they are not told.

    >>> import sqlite3
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [9, 11], out="runs/votes")
    >>> with sqlite3.connect("runs/votes/outcomes.sqlite") as file:  # somebody meddles
    ...     _ = file.execute("UPDATE outcomes SET status = 'reached' WHERE position = 1")
    >>> [damaged] = run.damaged()
    >>> damaged.key, damaged.reason
    (11, 'node, status or certified: not those of the explanation')
    >>> [found.nodes for found in run.explanations()]  # the others are as they were
    [(33,)]

    Args:
        position: its place in the order in which queries were asked for.
        key: of the query.
        reason: why it cannot be used.
    """

    position: int | None
    key: int | None
    reason: str


class Store:
    """Outcomes, one committed row per query.

    Args:
        path: of the file.
        write: whether it may be made and added to.
    """

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self._path = path
        self._write = write
        self._closing = ExitStack()
        _check_files(path)
        if not write and not path.exists():
            raise RunError(f"{path} is missing: this run has not begun, or its folder is damaged")
        with self._explained():
            if write and not path.exists():
                _make(path)
            self._connection = self._connected()
            if write:
                # Readers go on reading; a commit is on the disk when it returns.
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")

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
            self._closing.close()

    def _connected(self) -> sqlite3.Connection:
        """Return a connection to the file, or to a copy where SQLite may not write beside it.

        Whoever was killed may have left rows in a write-ahead log, which can only be read with
        an index beside it. On a read-only disk that index cannot be made.
        """
        if self._write:
            return _connection(self._path, "rw")
        try:
            return _connection(self._path, "ro")
        except sqlite3.OperationalError as error:
            name = getattr(error, "sqlite_errorname", "")
            if not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise
        folder = Path(self._closing.enter_context(TemporaryDirectory(prefix="zorro-run-")))
        try:
            return _connection(_copied(self._path, folder), "rw")
        except OSError as error:
            self._closing.close()
            reason = error.strerror or error
            raise RunError(f"{self._path} cannot be copied to be read: {reason}") from error
        except sqlite3.Error:
            self._closing.close()
            raise

    def add(self, outcome: Outcome) -> None:
        """Write an outcome; when this returns it is kept. A second one of a query replaces it."""
        row = (
            outcome.query.position,
            outcome.query.key,
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

    def ended(self, *, failed_too: bool = True) -> Iterator[tuple[int, int]]:
        """Yield the positions and the keys of queries that have ended."""
        condition = "" if failed_too else f"WHERE status IS NOT '{FAILED}'"
        with self._explained():
            yield from self._connection.execute(f"SELECT position, node FROM outcomes {condition}")

    def outcomes(self, *, key: int | None = None, failed: bool | None = None) -> Iterator[Outcome]:
        """Yield outcomes as `rows` does, and raise `RunError` at a damaged one."""
        for row in self.rows(key=key, failed=failed):
            if isinstance(row, DamagedRow):
                raise RunError(f"{self._path}: row {row.position} is damaged ({row.reason})")
            yield row

    def rows(
        self, *, key: int | None = None, failed: bool | None = None
    ) -> Iterator[Outcome | DamagedRow]:
        """Yield outcomes in the order in which they were asked for, and what is none as that.

        Args:
            key: only this query's.
            failed: only those that failed, or only those that did not.
        """
        conditions = ["1 = 1"]
        if key is not None:
            conditions.append(f"node = {int(key)}")
        if failed is not None:
            # What is only half of either is among both.
            kept = "" if failed else "NOT "
            conditions.append(f"(status IS {kept}'{FAILED}' OR explanation IS {kept}NULL)")
        with self._explained():
            for row in self._connection.execute(
                "SELECT position, node, status, certified, explanation, error, trace, seconds "
                f"FROM outcomes WHERE {' AND '.join(conditions)} ORDER BY position"
            ):
                yield _outcome(*row)

    def counts(self) -> Counts:
        """Count what there is."""
        with self._explained():
            total, failed, certified = self._connection.execute(
                f"SELECT count(*), total(status IS '{FAILED}'), "
                f"total(certified IS 1 AND status IS NOT '{FAILED}') FROM outcomes"
            ).fetchone()
        return Counts(int(total - failed), int(failed), int(certified))

    def median_length(self, field: str) -> float:
        """Return the median number of elements of a kind that explanations hold; 0 if none does."""
        path = f"$.selected.{field}"
        # NULL where there is no such list, be it because the explanation is no JSON.
        length = (
            "CASE WHEN NOT json_valid(explanation) THEN NULL "
            f"WHEN json_type(explanation, '{path}') = 'array' "
            f"THEN json_array_length(explanation, '{path}') END"
        )
        with self._explained():
            (count,) = self._connection.execute(f"SELECT count({length}) FROM outcomes").fetchone()
            middle = self._connection.execute(
                f"SELECT {length} AS length FROM outcomes WHERE length IS NOT NULL "
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


def _outcome(
    position: Any,
    key: Any,
    status: Any,
    certified: Any,
    explanation: Any,
    error: Any,
    trace: Any,
    seconds: Any,
) -> Outcome | DamagedRow:
    """Return a row as an outcome if each column holds what it should; SQLite takes anything."""
    whole = {"position": position, "node": key, "certified": certified}
    texts = {"explanation": explanation, "error": error, "trace": trace}
    problems = [
        *(name for name, value in whole.items() if not isinstance(value, int)),
        *(name for name, value in texts.items() if not isinstance(value, str | None)),
        *(() if isinstance(status, str) else ["status"]),
        *(() if isinstance(seconds, int | float) else ["seconds"]),
    ]
    place, known = (value if isinstance(value, int) else None for value in (position, key))
    if problems:
        return DamagedRow(place, known, f"{problems[0]}: not of the type that it should be")
    if (explanation is None) != (status == FAILED):
        return DamagedRow(place, known, f"status: {status[:40]!r} does not fit what it holds")
    return Outcome(
        Query(position, key), status, bool(certified), explanation, error, trace, seconds
    )


def _connection(path: Path, mode: str) -> sqlite3.Connection:
    """Open a store, and make sure that it is one before anything of it is read or written."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_PATIENCE
    )
    try:
        connection.text_factory = _text
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        _check_schema(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_schema(connection: sqlite3.Connection) -> None:
    """Raise `sqlite3.DatabaseError` if a file holds more than our table, or another in its place.

    A trigger would change what is written, a view could run for ever, and what a column is to hold
    by default, or is computed from, is somebody else's expression. So the text must be ours.
    """
    found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    for kind, name, _ in found:
        if (kind, name) != ("table", _NAME):
            raise sqlite3.DatabaseError(f"expected nothing but its table, got {kind} {name!r:.60}")
    if [sql for *_, sql in found] != [_TABLE]:
        got = "another" if found else "none"
        raise sqlite3.DatabaseError(f"expected the table {_NAME!r} as zorro makes it, got {got}")


def _copied(path: Path, folder: Path) -> Path:
    """Copy a store with its write-ahead log, of one moment even if somebody writes elsewhere."""
    log = path.with_name(f"{path.name}-wal")
    for _ in range(_TRIES):
        before = _start(log)
        # The log last: what is moved out of it meanwhile is still in it, until it begins anew.
        shutil.copyfile(path, folder / path.name)
        if before is not None:
            shutil.copyfile(log, folder / log.name)
        if _start(log) == before:
            return folder / path.name
    raise RunError(f"{path} is being written: wait for that to finish")


def _start(log: Path) -> bytes | None:
    """Return the beginning of a log, which differs when it begins anew; None if there is none."""
    try:
        with log.open("rb") as file:
            return file.read(32)
    except FileNotFoundError:
        return None


def _text(value: bytes) -> str | bytes:
    """Return a text, or its bytes where they are none, so that other rows can be read."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _check_files(path: Path) -> None:
    """Raise `RunError` if something else has the name of a file that SQLite would open.

    A link leads out of the run, a pipe is waited for for ever, and a journal that names another
    one makes SQLite delete what it names. Ours, of single files, never do.
    """
    for file in (path, *(path.with_name(path.name + ending) for ending in _BESIDE)):
        if (found := other_than_file(file)) is not None:
            raise RunError(f"{file}: expected a file, got {found}: this is not a run's")
    journal = path.with_name(f"{path.name}-journal")
    with suppress(FileNotFoundError), journal.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - len(_NAMES_ANOTHER)))
        if opened.read() == _NAMES_ANOTHER:
            raise RunError(f"{journal}: expected the journal of one file, got one of several")


def _make(path: Path) -> None:
    """Make an empty store, which readers see whole or not at all."""
    try:
        with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
            partial = Path(folder) / path.name
            with closing(sqlite3.connect(partial)) as connection, connection:
                connection.execute(_TABLE)
            partial.replace(path)
    except OSError as error:
        raise RunError(f"{path} could not be written: {error.strerror or error}") from error


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
