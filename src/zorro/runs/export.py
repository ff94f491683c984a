"""A run as one file for other tools: Parquet, CSV or JSON lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from zorro.errors import MissingExtraError, RunError
from zorro.files.whole_file import whole_file
from zorro.runs.flat import columns, flat_rows
from zorro.runs.run import Run

_ROWS_AT_ONCE = 2000


def to_parquet(run: Run, path: str | Path) -> int:
    """Write one row per query, with list columns; return how many."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("exporting Parquet", "runs") from None
    types = {
        "integer": pa.int64(),
        "number": pa.float64(),
        "text": pa.string(),
        "truth": pa.bool_(),
        "integers": pa.list_(pa.int64()),
        "numbers": pa.list_(pa.float64()),
        "texts": pa.list_(pa.string()),
    }
    schema = pa.schema(
        [(name, types[kind]) for name, kind in columns(run.about, typed=run.typed).items()]
    )

    def write(file: IO[bytes]) -> int:
        count = 0
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            for rows in _batches(run):
                writer.write_table(pa.Table.from_pylist(rows, schema=schema))
                count += len(rows)
        return count

    return _written(Path(path), write)


def to_csv(run: Run, path: str | Path) -> int:
    """Write one row per query, lists as JSON; return how many."""

    def write(file: IO[bytes]) -> int:
        count = 0
        text = _Encoded(file)
        writer = csv.DictWriter(
            text, list(columns(run.about, typed=run.typed)), lineterminator="\n"
        )
        writer.writeheader()
        for row in flat_rows(run.stored_rows(), run.about, typed=run.typed):
            writer.writerow(
                {
                    name: json.dumps(value) if isinstance(value, list) else value
                    for name, value in row.items()
                }
            )
            count += 1
        return count

    return _written(Path(path), write)


def to_jsonl(run: Run, path: str | Path) -> int:
    """Write each explanation whole, as `Explanation.from_json` reads it; return how many.

    What could not be explained, or is damaged, is left out.
    """

    def write(file: IO[bytes]) -> int:
        count = 0
        for explanation in run.explanations():
            file.write(f"{explanation.to_json()}\n".encode())
            count += 1
        return count

    return _written(Path(path), write)


FORMATS: dict[str, Callable[[Run, str | Path], int]] = {
    "parquet": to_parquet,
    "csv": to_csv,
    "jsonl": to_jsonl,
}


class _Encoded:
    """What `csv` writes to: text that becomes bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(text.encode())


def _batches(run: Run) -> Iterator[list[dict[str, Any]]]:
    rows = flat_rows(run.stored_rows(), run.about, typed=run.typed)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        yield some


def _written(path: Path, write: Callable[[IO[bytes]], int]) -> int:
    """Write a file that appears whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            return write(file)
    except OSError as error:
        raise RunError(f"{path} could not be written: {error}") from error
