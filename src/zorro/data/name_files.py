"""Names of nodes, features and classes that people keep in files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zorro.data import archive
from zorro.errors import DatasetError, InputError
from zorro.graph.names import Labels, Names, check_labels

ARRAYS = {"classes": "class_names", "features": "feature_names", "nodes": "node_names"}
_MOST_BYTES = 1 << 30
_REMEDY = "write it with numpy.savez(path, feature_names=numpy.array([…]))"


def read_names(path: Path, kind: str) -> Labels:
    """Return the names in a file: a list of all, or of some by their numbers.

    A text has one on each line. A CSV has one in each row, or a number and a name, with a heading
    or without. An `.npz` has an array of texts: `class_names`, `feature_names` or `node_names`.

    Args:
        path: of the file.
        kind: `"classes"`, `"features"` or `"nodes"`.
    """
    if path.suffix.lower() == ".npz":
        return _in_archive(path, kind)
    text = _text(path)
    if path.suffix.lower() == ".csv":
        return _in_table(path, text)
    return text.splitlines()


def names_in_archive(path: Path) -> Names:
    """Return the names that a graph's `.npz` holds beside its arrays."""
    found = archive.read(path, tuple(ARRAYS.values()), remedy=_REMEDY)
    given: dict[str, Any] = {
        kind: _in_archive(path, kind) for kind, name in ARRAYS.items() if name in found
    }
    return Names(**given)


def check_names(names: Names, *, nodes: int | None, features: int, classes: int | None) -> None:
    """Raise `InputError` unless there are as many names as there are things.

    Args:
        names: to be checked.
        nodes: how many there are, None if they are counted elsewhere.
        features: how many there are.
        classes: how many are known; there may be more.
    """
    check_labels("--node-names", names.nodes, nodes)
    check_labels("--feature-names", names.features, features)
    check_labels("--class-names", names.classes, None)
    count = len(names.classes)
    if classes is not None and not isinstance(names.classes, Mapping) and 0 < count < classes:
        raise InputError(f"--class-names: expected at least {classes} texts, got {count}")


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DatasetError(f"{path} has more than {_MOST_BYTES:,} bytes: names are short")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is no text in UTF-8 ({error})") from error
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error


def _in_table(path: Path, text: str) -> Labels:
    rows = [row for row in _rows(path, text) if row]
    widths = {len(row) for row in rows}
    if widths == {1}:
        return [row[0] for row in rows]
    if widths != {2}:
        raise InputError(
            f"{path}: expected rows with a name, or with a number and a name, got rows of "
            f"{', '.join(map(str, sorted(widths))) or 'no'} cells"
        )
    if rows and not rows[0][0].strip().isdecimal():
        rows = rows[1:]  # a heading
    named: dict[int, str] = {}
    for number, name in rows:
        if not number.strip().isdecimal():
            raise InputError(f"{path}: expected a number before each name, got {number!r:.40}")
        named[int(number)] = name
    return named


def _rows(path: Path, text: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(text))
    except csv.Error as error:
        raise InputError(f"{path}: expected CSV, got something else ({error})") from error


def _in_archive(path: Path, kind: str) -> Labels:
    name = ARRAYS[kind]
    arrays = archive.read(path, (name,), remedy=_REMEDY)
    if name not in arrays:
        found = ", ".join(sorted(arrays)) or "nothing"
        raise DatasetError(f"{path} has no array {name!r}, only {found}")
    array = arrays[name]
    if array.dtype.kind != "U" or array.ndim != 1:
        raise InputError(
            f"{path}: {name}: expected a list of texts, got {array.dtype} of shape {array.shape}"
        )
    texts: list[str] = array.tolist()
    return texts
