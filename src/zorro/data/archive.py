"""Read plain arrays from a NumPy `.npz` archive that somebody else wrote."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from zorro.errors import DatasetError
from zorro.model.memory import available

_ENDING = ".npy"

Arrays = Mapping[str, NDArray[np.generic]]


def read(path: Path, names: Collection[str], *, remedy: str) -> dict[str, NDArray[np.generic]]:
    """Return the arrays in `path` by their names; those that are none of `names` are left empty.

    Pickled arrays are refused, so a file from elsewhere cannot run code.

    Args:
        path: of the archive.
        names: of the arrays that are wanted; each may be missing.
        remedy: what to do about an archive that cannot be read, the end of the error.
    """
    if not path.is_file():
        raise DatasetError(f"there is no file {path}: check the path")
    try:
        with zipfile.ZipFile(path) as archive:
            held = [name for name in archive.namelist() if name.endswith(_ENDING)]
            wanted = [name for name in held if name.removesuffix(_ENDING) in names]
            _check_sizes(archive, wanted)
            arrays: dict[str, NDArray[np.generic]] = {
                name.removesuffix(_ENDING): np.empty(0) for name in held
            }
            for name in wanted:
                with archive.open(name) as file:
                    arrays[name.removesuffix(_ENDING)] = npy.read_array(file, allow_pickle=False)
            return arrays
    except (
        OSError,
        ValueError,
        EOFError,
        MemoryError,
        NotImplementedError,  # ways of compression that Python does not know
        RuntimeError,  # encrypted
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise DatasetError(
            f"{path} is not a readable .npz of plain arrays ({error}): {remedy}"
        ) from error


def misfit(arrays: Arrays, expected: Mapping[str, tuple[str, int]]) -> str | None:
    """Return which array is not there or is of another make, None if all are as expected.

    Args:
        arrays: by their names.
        expected: of each the kinds of numbers that it may hold, and its number of dimensions.
    """
    for name, (kinds, dimensions) in expected.items():
        if name not in arrays:
            return f"expected an array {name!r}, got {', '.join(sorted(arrays)) or 'none'}"
        array = arrays[name]
        if array.dtype.kind not in kinds or array.ndim != dimensions:
            return f"{name}: got {array.dtype} of shape {array.shape}, which cannot be used"
    return None


def _check_sizes(archive: zipfile.ZipFile, names: list[str]) -> None:
    """Raise `ValueError` if arrays are said to be larger than what is there, or than the memory.

    What an archive or a header claims costs nothing to claim, so it is looked at first.
    """
    total = 0
    for name in names:
        with archive.open(name) as file:
            size = _claimed(file)
            held = archive.getinfo(name).file_size - file.tell()
        if size != held:
            raise ValueError(f"{name} is said to hold {size:,} bytes of values, and has {held:,}")
        total += size
    if total > (free := available()):
        raise ValueError(f"its arrays need {total:,} bytes of memory, and {free:,} are free")


def _claimed(file: IO[bytes]) -> int:
    """Return how many bytes of values an array's header says that there are."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
    return int(math.prod(shape)) * int(dtype.itemsize)
