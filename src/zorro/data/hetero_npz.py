"""Read a graph of several types from a NumPy `.npz` archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import HeteroData

from zorro.data import archive
from zorro.errors import DatasetError, InputError
from zorro.graph.validation import check_labels, check_mask

_MASKS = ("train_mask", "val_mask", "test_mask")
_OF_NODES = ("x", "y", *_MASKS)
_EDGES = "edge_index"
_HOW_TO_WRITE = (
    'write it with numpy.savez(path, **{"author/x": …, "author/writes/paper/edge_index": …})'
)


def is_hetero(path: Path) -> bool:
    """Whether a file holds a graph of several types: the edges of a relation by its three names."""
    return any(name.count("/") == 3 and name.endswith(_EDGES) for name in _held(path))


def read(path: Path) -> HeteroData:
    """Return the graph in `path`: `type/x` and `source/relation/target/edge_index` of each.

    A type may have `y` and the three masks. Where `x` is (n,) of integers they are numbers of
    nodes, which have no features else. Features become float32, all whole numbers int64; other
    arrays are refused, pickled ones too.
    """
    arrays = archive.read(path, _held(path), remedy=_HOW_TO_WRITE)
    data = HeteroData()
    for name, array in sorted(arrays.items(), key=lambda item: item[0].count("/")):
        *key, what = name.split("/")
        if len(key) == 1 and what in _OF_NODES:
            data[key[0]][what] = _node_values(path, name, what, array)
        elif len(key) == 3 and what == _EDGES:
            data[key[0], key[1], key[2]].edge_index = _whole(path, name, array)
        else:
            raise DatasetError(
                f"{path}: expected arrays as author/x, author/y, author/train_mask and "
                f"author/writes/paper/edge_index, got {name!r}"
            )
    ends = {end for source, _, target in data.edge_types for end in (source, target)}
    for name in sorted(ends | set(data.node_types)):
        _check(path, name, data)
    return data


def _held(path: Path) -> list[str]:
    """Return the names of the arrays in a file, none if it cannot be read."""
    try:
        with zipfile.ZipFile(path) as packed:
            return [name.removesuffix(".npy") for name in packed.namelist()]
    except (OSError, zipfile.BadZipFile):
        return []


def _node_values(path: Path, name: str, what: str, array: NDArray[np.generic]) -> Tensor:
    if what in _MASKS:
        return torch.from_numpy(array)
    if what == "x" and not (array.ndim == 1 and array.dtype.kind in "iu"):
        if array.dtype.kind not in "biuf":
            raise InputError(f"{path}: {name}: expected numbers, got {array.dtype}")
        return torch.from_numpy(array.astype(np.float32))
    return _whole(path, name, array)


def _whole(path: Path, name: str, array: NDArray[np.generic]) -> Tensor:
    if array.dtype.kind not in "iu":
        raise InputError(f"{path}: {name}: expected whole numbers, got {array.dtype}")
    return torch.from_numpy(array.astype(np.int64))


def _check(path: Path, name: str, data: HeteroData) -> None:
    """Raise `InputError` unless a type has features, and labels and masks with a value for each."""
    values = {what: data[name].get(what) for what in _OF_NODES}
    if values["x"] is None:
        raise InputError(
            f"{path}: {name}/x: expected features, or the numbers of the nodes, got none"
        )
    nodes = values["x"].size(0)
    try:
        if values["y"] is not None:
            check_labels(values["y"], nodes=nodes)
        for mask in _MASKS:
            if values[mask] is not None:
                check_mask(mask, values[mask], nodes=nodes)
    except InputError as error:
        raise InputError(f"{path}: {name}/{error}") from None
