"""Arrays as files: written piece by piece, read as memory maps."""

from __future__ import annotations

import hashlib
import math
import mmap
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from zorro.errors import DatasetError, InputError
from zorro.files.lock import hold, open_lock
from zorro.graph.stored.layout import ArrayRecord

Array = NDArray[Any]
_LOCK = "lock"


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder beside `folder` that takes its name when all went well, or else is deleted.

    What a killed process has left is taken over: the folder is locked while it is written.
    """
    _refuse_taken(folder)
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _held(unfinished):
            try:
                _refuse_taken(folder)
                yield unfinished
                unfinished.rename(folder)
            except BaseException:
                shutil.rmtree(unfinished, ignore_errors=True)
                raise
            (folder / _LOCK).unlink()
    except OSError as error:
        reason = error.strerror or str(error)
        raise DatasetError(f"{folder} could not be written: {reason}") from error


def _refuse_taken(folder: Path) -> None:
    if folder.exists() or folder.is_symlink():
        raise InputError(f"folder: expected a name that is free, got {folder}, which exists")


@contextmanager
def _held(unfinished: Path) -> Iterator[None]:
    """Make a folder, or empty the one that was left, as the only process that writes to it."""
    while True:
        if unfinished.is_symlink():  # what it leads to is not ours to empty
            raise DatasetError(f"{unfinished} is a link: remove it, which frees the name")
        unfinished.mkdir(exist_ok=True)
        try:
            lock = open_lock(unfinished / _LOCK)
        except FileNotFoundError:
            continue  # it has just been finished or deleted
        try:
            try:
                hold(lock)
            except BlockingIOError:
                raise DatasetError(
                    f"{unfinished} is being written by another process: wait for it to finish"
                ) from None
            if not _is_at(lock, unfinished / _LOCK):
                continue
            for entry in unfinished.iterdir():
                if entry.name != _LOCK:
                    shutil.rmtree(entry) if _is_folder(entry) else entry.unlink()
            yield
            return
        finally:
            os.close(lock)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_at(lock: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except FileNotFoundError:
        return False


class ArrayFolder:
    """Writes arrays into a folder, and remembers what it has written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records: dict[str, ArrayRecord] = {}

    @contextmanager
    def array(self, name: str, dtype: DTypeLike, shape: tuple[int, ...]) -> Iterator[ArrayFile]:
        """Yield a file to which the array `name` is appended, part after part."""
        with path_of(self.folder, name).open("xb") as file:
            array = ArrayFile(file, np.dtype(dtype), shape)
            yield array
        self.records[name] = array.record()

    def write(self, name: str, array: Array) -> None:
        """Write an array at once."""
        with self.array(name, array.dtype, array.shape) as file:
            file.append(array)


class ArrayFile:
    """One `.npy` that grows; written as a file, since a map of a full disk kills the process."""

    def __init__(self, file: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self._file = file
        self._dtype = dtype
        self._shape = shape
        self._written = 0
        self._digest = hashlib.sha256()
        header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(file, header)

    def append(self, part: Array) -> None:
        """Append values to the array."""
        part = np.ascontiguousarray(part, dtype=self._dtype)
        self._written += part.size
        if part.size:
            content = part.reshape(-1).view(np.uint8).data
            self._digest.update(content)
            self._file.write(content)

    def record(self) -> ArrayRecord:
        """Return what was written."""
        assert self._written == math.prod(self._shape)
        return ArrayRecord(self._dtype.str, self._shape, self._digest.hexdigest())


def mapped(folder: Path, name: str, record: ArrayRecord, *, scattered: bool = False) -> Tensor:
    """Return an array's file as a tensor of which only the parts that are read are loaded.

    The map is private: writing to the tensor would leave the file as it is.

    Args:
        folder: of the graph.
        name: of the array.
        record: what the file must hold.
        scattered: load no more than the entries that are read, not what lies around them too.
    """
    path = path_of(folder, name)
    if path.exists() and not path.is_file():
        raise DatasetError(f"{path} cannot be opened (not a file): store the graph again")
    try:
        array = npy.open_memmap(path, mode="c")  # which refuses pickles
        if scattered and isinstance(array.base, mmap.mmap) and hasattr(mmap, "MADV_RANDOM"):
            array.base.madvise(mmap.MADV_RANDOM)
        tensor = torch.from_numpy(array)
    except (OSError, ValueError, TypeError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DatasetError(f"{path} cannot be opened ({reason}): store the graph again") from error
    if (array.dtype.str, array.shape) != (record.dtype, record.shape):
        raise DatasetError(
            f"{path}: expected {record.dtype} of shape {record.shape}, got {array.dtype.str} of "
            f"shape {array.shape}: store the graph again"
        )
    if (found := path.stat().st_size) != array.offset + array.nbytes:
        raise DatasetError(
            f"{path}: expected {array.offset + array.nbytes:,} bytes, got {found:,}: store the "
            "graph again"
        )
    if not array.flags.c_contiguous:
        raise DatasetError(
            f"{path}: expected values row after row, got others: store the graph again"
        )
    return tensor


def path_of(folder: Path, name: str) -> Path:
    """Return the file of an array."""
    return folder / f"{name}.npy"
