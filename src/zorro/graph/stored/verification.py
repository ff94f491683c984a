"""Whether a stored graph is what its record says: its files, and that they make one graph.

Digests tell that nothing was changed. That offsets ascend, ids exist, and what was derived from
edges and features (edges by sender, the columns) follows from them is checked too: the digest of
a graph covers only what the rest is derived from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from zorro.errors import DatasetError
from zorro.graph.grouping import Grouping, ranges
from zorro.graph.stored.arrays import Array, path_of
from zorro.graph.stored.layout import MASKS, ArrayRecord, Record

OnProgress = Callable[[int, int], None]

_AT_ONCE = 1 << 22  # numbers held at a time
_ROUNDING = 32  # steps of the features' type that two ways to sum up a column may differ by


def verify(
    folder: Path, record: Record, *, on_progress: OnProgress = lambda done, total: None
) -> None:
    """Read all of a stored graph and raise `DatasetError` if anything in it is not as recorded.

    Args:
        folder: of the graph, whose files have the types and shapes of the record.
        record: what they must hold.
        on_progress: told how many bytes are done, and of how many.
    """
    files = _Files(folder, record, on_progress)
    for name in record.arrays:
        files.check_digest(name)
    _check_incoming(files)
    _check_outgoing(files)
    _check_columns(files)
    _check_labels(files)
    files.tell_rest()


class _Files:
    """The arrays of a graph, read part by part."""

    def __init__(self, folder: Path, record: Record, on_progress: OnProgress) -> None:
        self.folder = folder
        self.record = record
        self._tell = on_progress
        self._total = 2 * sum(_bytes(array) for array in record.arrays.values())
        self._done = 0

    def check_digest(self, name: str) -> None:
        """Compare an array's values with their digest."""
        found = hashlib.sha256()
        for _, part in self.parts(name):
            found.update(part.view(np.uint8).data)
        if found.hexdigest() != self.record.arrays[name].sha256:
            raise self.unfit(name, "expected the values of its digest in graph.json, got others")

    def parts(self, name: str) -> Iterator[tuple[int, Array]]:
        """Yield an array as flat parts, each with the place of its first value."""
        array = self.record.arrays[name]
        dtype = np.dtype(array.dtype)
        left = _bytes(array) // dtype.itemsize
        first = 0
        try:
            with path_of(self.folder, name).open("rb") as file:
                file.seek(-_bytes(array), 2)  # the header is what comes before
                while left:
                    part = np.fromfile(file, dtype, min(left, _AT_ONCE))
                    if not part.size:
                        raise self.unfit(name, "expected more values, got the end of the file")
                    yield first, part
                    first += part.size
                    left -= part.size
                    self._add(part.nbytes)
        except OSError as error:
            raise self.unfit(
                name, f"expected a file that can be read, got an error ({error.strerror or error})"
            ) from error

    def mapped(self, name: str) -> Array:
        """Return an array of which single values are looked up."""
        array: Array = np.load(path_of(self.folder, name), mmap_mode="r", allow_pickle=False)
        return array

    def starts(self, name: str) -> NDArray[np.int64]:
        """Return where groups begin, in memory, if they come one after the other."""
        start: NDArray[np.int64] = np.concatenate(
            [part.astype(np.int64) for _, part in self.parts(name)]
        )
        if (np.diff(start) < 0).any():
            at = int(np.flatnonzero(np.diff(start) < 0)[0])
            raise self.unfit(
                name, f"expected ascending values, got {start[at]} and then {start[at + 1]}"
            )
        return start

    def check_ids(self, name: str, part: Array, count: int) -> None:
        """Raise unless a part holds ids below `count`."""
        outside = part[(part < 0) | (part >= count)]
        if outside.size:
            raise self.unfit(name, f"expected ids from 0 to {count - 1}, got {outside[0]}")

    def tell_rest(self) -> None:
        """Say that everything is done."""
        self._add(self._total - self._done)

    def unfit(self, name: str, problem: str) -> DatasetError:
        """Return the error about an array."""
        return DatasetError(
            f"{path_of(self.folder, name)}: {problem}: the graph was changed or damaged since it "
            "was stored; store it again"
        )

    def _add(self, count: int) -> None:
        self._done = min(self._total, self._done + count)
        self._tell(self._done, self._total)


def _check_incoming(files: _Files) -> None:
    files.starts("in_indptr")
    for _, senders in files.parts("in_senders"):
        files.check_ids("in_senders", senders, files.record.nodes)


def _check_outgoing(files: _Files) -> None:
    """Check that the edges by sender are all edges, ascending for each sender."""
    start = files.starts("out_indptr")
    senders = files.mapped("in_senders")
    for edges, sender in _ascending(files, "out_edges", start, files.record.edges):
        if not (senders[edges] == sender).all():
            raise files.unfit("out_edges", "expected the edges of each sender, got others")


def _check_columns(files: _Files) -> None:
    """Check that features are finite, and their columns what is kept of them by column."""
    name = "x_values" if files.record.sparse else "x"
    size = files.record.features
    count = np.concatenate([part for _, part in files.parts("column_counts")])  # (d,)
    if (count < 0).any():
        raise files.unfit("column_counts", f"expected no negative counts, got {count.min()}")
    start = np.cumsum(count) - count  # (d,)
    kept = files.mapped("column_values")
    done = np.zeros(size, np.int64)
    sums, sizes = np.zeros(size), np.zeros(size)
    one_each = True
    for by_column, here in _by_column(files):
        if not np.isfinite(by_column).all():
            raise files.unfit(name, "expected finite values, got others")
        if (done + here > count).any():
            raise files.unfit(
                "column_counts", "expected the non-zero values of each column, got other counts"
            )
        place = ranges(torch.from_numpy(start + done), torch.from_numpy(here)).numpy()
        if not (kept[place] == by_column).all():
            raise files.unfit("column_values", f"expected the columns of {name}, got other values")
        filled = here > 0
        one_each &= bool((np.repeat(kept[start[filled]], here[filled]) == by_column).all())
        column = np.repeat(np.arange(size), here)
        sums += np.bincount(column, by_column, size)
        sizes += np.bincount(column, np.abs(by_column), size)
        done += here
    if (done != count).any():
        raise files.unfit(
            "column_counts", "expected the non-zero values of each column, got other counts"
        )
    if one_each != files.record.one_value_each:
        raise files.unfit(
            "column_values", f"expected one value each: {one_each}, got the opposite in graph.json"
        )
    means = np.concatenate([part for _, part in files.parts("column_means")])  # (d,)
    limits = np.finfo(means.dtype)
    allowed = _ROUNDING * float(limits.eps) * sizes / files.record.nodes + float(limits.tiny)
    if not (np.abs(means - sums / files.record.nodes) <= allowed).all():
        raise files.unfit(
            "column_means", f"expected the means of the columns of {name}, got others"
        )


def _by_column(files: _Files) -> Iterator[tuple[Array, NDArray[np.int64]]]:
    """Yield the non-zero features of some rows after the other, column after column.

    Yields:
        The values (v,), by ascending row in each column, and how many each column has (d,).
    """
    size = files.record.features
    if files.record.sparse:
        start = files.starts("x_indptr")
        columns = _ascending(files, "x_columns", start, size)
        for (_, values), (column, _) in zip(files.parts("x_values"), columns, strict=True):
            column, values = column[values != 0], values[values != 0]
            ordered = Grouping.by_key(torch.from_numpy(column.astype(np.int64)), size).ordered
            assert ordered is not None
            yield values[ordered.numpy()], np.bincount(column, minlength=size)
        return
    x = files.mapped("x")
    for first, last in pairwise([*range(0, len(x), max(1, _AT_ONCE // size)), len(x)]):
        columns_here = np.ascontiguousarray(x[first:last].T)  # (d, n)
        filled = columns_here != 0
        yield columns_here[filled], filled.sum(1)


def _ascending(
    files: _Files, name: str, start: NDArray[np.int64], count: int
) -> Iterator[tuple[Array, NDArray[np.int64]]]:
    """Yield an array of ids in parts, and the group of each, if they ascend in each group.

    Args:
        files: of the graph.
        name: of the array.
        start: (groups + 1,), where its groups begin.
        count: how many ids there are.
    """
    last = (-1, -1)  # group and id of the part before
    for first, ids in files.parts(name):
        files.check_ids(name, ids, count)
        group = _group(start, first, first + ids.size)  # (n,)
        after = (group[1:] > group[:-1]) | (ids[1:] > ids[:-1])
        if not after.all() or last >= (int(group[0]), int(ids[0])):
            raise files.unfit(name, "expected ascending values in each group, got others")
        last = (int(group[-1]), int(ids[-1]))
        yield ids, group


def _check_labels(files: _Files) -> None:
    for name in ("y", *MASKS):
        if name in files.record.arrays:
            for _, part in files.parts(name):
                if name == "y" and (part < 0).any():
                    raise files.unfit(name, f"expected class numbers from 0, got {part.min()}")
                if name != "y" and (part.view(np.uint8) > 1).any():
                    raise files.unfit(name, "expected truth values, got others")


def _group(start: NDArray[np.int64], first: int, last: int) -> NDArray[np.int64]:
    """Return the group of each of the places from `first` to `last`."""
    low, high = np.searchsorted(start, [first, last - 1], side="right") - 1
    bounds: NDArray[np.int64] = np.clip(start[low : high + 2], first, last)
    return np.repeat(np.arange(low, high + 1), bounds[1:] - bounds[:-1])


def _bytes(array: ArrayRecord) -> int:
    return int(np.prod(array.shape, dtype=object)) * np.dtype(array.dtype).itemsize
