"""Finished measurements, one line of JSON each, so that an interrupted run can go on."""

from __future__ import annotations

import json
from pathlib import Path

from timing.cells import Row


def read(path: Path) -> list[Row]:
    """Return the rows of a file, none if there is no file."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]  # not one cut off


def append(path: Path, row: Row) -> None:
    """Add a row to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
