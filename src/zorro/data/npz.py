"""Read a graph from a NumPy `.npz` archive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from zorro.data import archive
from zorro.errors import DatasetError, InputError
from zorro.graph.validation import check_edge_tensor, check_graph, check_labels, check_mask

_MASKS = ("train_mask", "val_mask", "test_mask")
_ONE_EACH = ("edge_weight", "edge_type")  # a number per edge; edge_attr may have several
_READ = ("x", "edge_index", "y", *_MASKS, *_ONE_EACH, "edge_attr")
_HOW_TO_WRITE = "write it with numpy.savez(path, x=…, edge_index=…)"


def read(path: Path) -> Data:
    """Return the graph in `path`: arrays `edge_index` and `x`, and what else is known of it.

    That is `y`, the three masks, `edge_weight` (E,), `edge_attr` (E,) or (E, k), and `edge_type`
    (E,). Features, weights and attributes become float32, node numbers, labels and types int64;
    other arrays are ignored. Pickled arrays are refused, so a file from elsewhere cannot run code.
    """
    arrays = archive.read(path, _READ, remedy=_HOW_TO_WRITE)
    for name in ("x", "edge_index"):
        if name not in arrays:
            found = ", ".join(sorted(arrays)) or "nothing"
            raise DatasetError(f"{path} has no array {name!r}, only {found}: add it and try again")
    data = Data(
        x=torch.from_numpy(_numbers(path, "x", arrays["x"], np.float32)),
        edge_index=torch.from_numpy(_integers(path, "edge_index", arrays["edge_index"])),
    )
    if "y" in arrays:
        data.y = torch.from_numpy(_integers(path, "y", arrays["y"]))
    for name in ("edge_weight", "edge_attr"):
        if name in arrays:
            data[name] = torch.from_numpy(_numbers(path, name, arrays[name], np.float32))
    if "edge_type" in arrays:
        data.edge_type = torch.from_numpy(_integers(path, "edge_type", arrays["edge_type"]))
    for name in _MASKS:
        if name in arrays:
            data[name] = torch.from_numpy(_numbers(path, name, arrays[name], None))
    try:
        _check(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return data


def _numbers(
    path: Path, name: str, array: NDArray[np.generic], dtype: type[np.generic] | None
) -> NDArray[np.generic]:
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path}: {name}: expected an array of numbers, got dtype {array.dtype}")
    # What float32 cannot hold becomes infinite, and that is refused.
    with np.errstate(over="ignore"):
        return array if dtype is None else array.astype(dtype)


def _integers(path: Path, name: str, array: NDArray[np.generic]) -> NDArray[np.generic]:
    if array.dtype.kind not in "iu":
        raise InputError(f"{path}: {name}: expected an array of integers, got dtype {array.dtype}")
    return array.astype(np.int64)


def _check(data: Data) -> None:
    check_graph(data.x, data.edge_index)
    if "y" in data:
        check_labels(data.y, nodes=data.num_nodes)
    for name in _MASKS:
        if name in data:
            check_mask(name, data[name], nodes=data.num_nodes)
    for name in ("edge_weight", "edge_attr", "edge_type"):
        if name in data:
            check_edge_tensor(name, data[name], edges=data.num_edges)
    for name in _ONE_EACH:
        if name in data and data[name].dim() != 1:
            raise InputError(
                f"{name}: expected shape ({data.num_edges},), got {tuple(data[name].shape)}"
            )
