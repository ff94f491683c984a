"""Molecules of which it is known which atoms decide: what is asked, and the answer atom by atom."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.data import Data

from zorro.data import archive, paper
from zorro.data.archive import Arrays
from zorro.errors import DatasetError

VARIABLE = "ZORRO_MOLECULES"
ATOMS = ("C", "N", "O", "S", "F", "P", "Cl", "Br", "Na", "Ca", "I", "B", "H", "other")
BONDS = ("single", "double", "triple", "aromatic", "unspecified")

# By array: the kinds of numbers it may hold, and its number of dimensions.
_ARRAYS = {
    "atom": ("iu", 1),
    "edge_index": ("iu", 2),
    "edge_attr": ("iuf", 2),
    "num_nodes": ("iu", 1),
    "num_edges": ("iu", 1),
    "y": ("iuf", 1),
    "attribution": ("iuf", 2),
    "train": ("iu", 1),
    "test": ("iu", 1),
    "smiles": ("U", 1),
}
_REMEDY = "get the file again"


def read(name: str, *, classes: bool) -> tuple[list[Data], Tensor, Tensor, tuple[str, ...]]:
    """Return the molecules of a data set, its training and test members, and SMILES strings.

    A molecule has one-hot atoms `x` (n, 14), one-hot bonds `edge_attr` (E, 5), `y` (1,), and what
    each atom contributes, `attribution` (n, k): each column is an acceptable truth, and columns
    that a molecule does not need are NaN.

    Args:
        name: of the data set, whose file is `<name>.npz`.
        classes: whether `y` is a class, and not a value.
    """
    path = molecule_file(f"{name}.npz")
    arrays = archive.read(path, _ARRAYS, remedy=_REMEDY)
    problem = _problem(arrays)
    if problem:
        raise DatasetError(f"{path}: {problem}: {_REMEDY}")
    graphs = _molecules(arrays, classes=classes)
    train, test = (torch.from_numpy(arrays[part].astype(np.int64)) for part in ("train", "test"))
    return graphs, train, test, tuple(arrays["smiles"].tolist())


def molecule_file(name: str) -> Path:
    """Return where a file of molecules lies: in ZORRO_MOLECULES, or beside the paper's material."""
    otherwise = "set it to the folder that holds the molecules"
    return paper.file_beside(name, "molecules", VARIABLE, otherwise=otherwise)


def _molecules(arrays: Arrays, *, classes: bool) -> list[Data]:
    nodes, edges = arrays["num_nodes"].tolist(), arrays["num_edges"].tolist()
    x = functional.one_hot(torch.from_numpy(arrays["atom"].astype(np.int64)), len(ATOMS)).float()
    edge_index = torch.from_numpy(arrays["edge_index"].astype(np.int64))  # (2, E)
    targets = torch.from_numpy(arrays["y"].astype(np.int64 if classes else np.float32))  # (B,)
    of_nodes = [x, torch.from_numpy(arrays["attribution"].astype(np.float32))]
    edge_attr = torch.from_numpy(arrays["edge_attr"].astype(np.float32))  # (E, 5)
    return [
        Data(x=atoms, edge_index=ends, edge_attr=bonds, y=y, attribution=attribution)
        for atoms, attribution, ends, bonds, y in zip(
            *(torch.split(values, nodes) for values in of_nodes),
            torch.split(edge_index, edges, dim=1),
            torch.split(edge_attr, edges),
            torch.split(targets, 1),
            strict=True,
        )
    ]


def _problem(arrays: Arrays) -> str | None:
    """Return what is wrong with the arrays of a file, None if they fit together."""
    problem = archive.misfit(arrays, _ARRAYS)
    if problem:
        return problem
    for name in ("num_nodes", "num_edges"):
        counts = arrays[name].astype(np.int64)
        if counts.size and int(counts.min()) < 0:
            return f"{name}: expected counts, got {arrays[name].min()}"
    molecules = arrays["num_nodes"].size
    nodes, edges = (int(arrays[name].sum()) for name in ("num_nodes", "num_edges"))
    for name, shape in {
        "atom": (nodes,),
        "edge_index": (2, edges),
        "edge_attr": (edges, len(BONDS)),
        "num_edges": (molecules,),
        "y": (molecules,),
        "attribution": (nodes, arrays["attribution"].shape[1]),
        "smiles": (molecules,),
    }.items():
        if arrays[name].shape != shape:
            return f"{name}: expected shape {shape}, got {arrays[name].shape}"
    atoms = arrays["atom"].astype(np.int64)
    for atom in atoms[(atoms < 0) | (atoms >= len(ATOMS))]:
        return f"atom: expected classes from 0 to {len(ATOMS) - 1}, got {atom}"
    return None
