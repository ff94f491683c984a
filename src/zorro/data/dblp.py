"""DBLP: authors of four fields, their papers, where these appeared and the terms of their titles.

Venues and terms have no features: `x` are their numbers, for models to look up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import HeteroData
from torch_geometric.transforms import ToUndirected

from zorro.data import archive, paper
from zorro.data.archive import Arrays
from zorro.errors import DatasetError

VARIABLE = "ZORRO_HETERO"
FILE = "dblp.npz"
FIELDS = ("databases", "data mining", "artificial intelligence", "information retrieval")

# By number. Each one's number of papers and its authors' fields were compared with what is known of
# the conferences.
VENUES = (
    *("AAAI", "CIKM", "CVPR", "ECIR", "ECML", "EDBT", "ICDE", "ICDM", "ICML", "IJCAI"),
    *("KDD", "PAKDD", "PKDD", "PODS", "SDM", "SIGIR", "SIGMOD", "VLDB", "WWW", "WSDM"),
)

_FEATURES = {"author": "a_x", "paper": "p_x"}
_PARTS = ("train", "val", "test")
# By array: the relation that its rows, papers and others, tell.
_RELATIONS = {
    "pa": ("author", "writes", "paper"),
    "pc": ("paper", "in", "venue"),
    "pt": ("paper", "has", "term"),
}
# By array: the kinds of numbers it may hold, and its number of dimensions.
_ARRAYS = {
    **{f"{stem}_{part}": ("iu", 1) for stem in _FEATURES.values() for part in ("indptr", "shape")},
    **{f"{stem}_indices": ("iu", 1) for stem in _FEATURES.values()},
    **{f"{stem}_data": ("iuf", 1) for stem in _FEATURES.values()},
    **dict.fromkeys(_RELATIONS, ("iu", 2)),
    **dict.fromkeys(("y", *_PARTS), ("iu", 1)),
}
_REMEDY = "get the file again"


def read() -> HeteroData:
    """Return authors with fields `y` and a split, papers, venues and terms, and ways back too."""
    path = hetero_file(FILE)
    arrays = archive.read(path, _ARRAYS, remedy=_REMEDY)
    problem = _problem(arrays)
    if problem:
        raise DatasetError(f"{path}: {problem}: {_REMEDY}")
    data = HeteroData()
    for name, stem in _FEATURES.items():
        data[name].x = _features(arrays, stem)
    authors = data["author"]
    authors.y = torch.from_numpy(arrays["y"].astype(np.int64))  # (N_author,)
    for part in _PARTS:
        mask = torch.zeros(authors.y.numel(), dtype=torch.bool)
        mask[torch.from_numpy(arrays[part].astype(np.int64))] = True
        authors[f"{part}_mask"] = mask
    for array, name in (("pc", "venue"), ("pt", "term")):
        data[name].x = torch.arange(int(arrays[array][1].max()) + 1)
    for array, relation in _RELATIONS.items():
        pairs = torch.from_numpy(arrays[array].astype(np.int64))  # (2, E), papers first
        data[relation].edge_index = pairs if relation[0] == "paper" else pairs.flip(0)
    both_ways: HeteroData = ToUndirected()(data)
    return both_ways


def hetero_file(name: str) -> Path:
    """Return where a file lies: in ZORRO_HETERO, or beside the paper's material."""
    otherwise = "set it to the folder that holds it, or take dblp-pyg, which is downloaded"
    return paper.file_beside(name, "hetero", VARIABLE, otherwise=otherwise)


def _features(arrays: Arrays, stem: str) -> Tensor:
    """Return the dense features (N, d) of a type; where no values are given, all are ones."""
    rows, columns = (int(size) for size in arrays[f"{stem}_shape"])
    starts = arrays[f"{stem}_indptr"].astype(np.int64)
    x = np.zeros((rows, columns), dtype=np.float32)
    values = arrays[f"{stem}_data"] if arrays[f"{stem}_data"].size else 1.0
    x[np.repeat(np.arange(rows), starts[1:] - starts[:-1]), arrays[f"{stem}_indices"]] = values
    return torch.from_numpy(x)


def _problem(arrays: Arrays) -> str | None:
    """Return what is wrong with the arrays of a file, None if they fit together."""
    problem = archive.misfit(arrays, _ARRAYS)
    if problem:
        return problem
    for stem in _FEATURES.values():
        problem = _csr_problem(arrays, stem)
        if problem:
            return problem
    authors, papers = (int(arrays[f"{stem}_shape"][0]) for stem in _FEATURES.values())
    if arrays["y"].size != authors:
        return f"y: expected a field for each of {authors} authors, got {arrays['y'].size}"
    for name in _PARTS:
        if _outside(arrays[name], authors):
            return f"{name}: expected authors from 0 to {authors - 1}, got others"
    for name in _RELATIONS:
        pairs = arrays[name]
        if pairs.shape[0] != 2 or not pairs.size or int(pairs[1].astype(np.int64).min()) < 0:
            return f"{name}: expected pairs of numbers from 0, got shape {pairs.shape}"
        if _outside(pairs[0], papers) or (name == "pa" and _outside(pairs[1], authors)):
            return f"{name}: expected papers from 0 to {papers - 1} and authors, got others"
    return None


def _csr_problem(arrays: Arrays, stem: str) -> str | None:
    """Return what is wrong with a type's features in compressed rows, None if nothing is."""
    starts, columns, shape = (arrays[f"{stem}_{part}"] for part in ("indptr", "indices", "shape"))
    if shape.size != 2 or int(shape.astype(np.int64).min()) < 1 or starts.size != int(shape[0]) + 1:
        return f"{stem}_indptr: expected one more than {stem}_shape's rows, got {starts.size}"
    steps = np.diff(starts.astype(np.int64), prepend=0, append=columns.size)
    if steps[0] != 0 or int(steps.min()) < 0 or steps[-1] != 0:
        return f"{stem}_indptr: expected to rise from 0 to {columns.size}, got another range"
    if _outside(columns, int(shape[1])):
        return f"{stem}_indices: expected columns from 0 to {int(shape[1]) - 1}, got others"
    if arrays[f"{stem}_data"].size not in (0, columns.size):
        return f"{stem}_data: expected {columns.size} values or none"
    return None


def _outside(numbers: NDArray[np.generic], below: int) -> bool:
    whole = numbers.astype(np.int64)
    return bool(whole.size) and not 0 <= int(whole.min()) <= int(whole.max()) < below
