"""Which bonds of mutagenicity's molecules are in NO₂ and NH₂ groups, which make many mutagenic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from zorro.data import archive
from zorro.data.molecules import molecule_file
from zorro.data.storage import raw_folder
from zorro.errors import DatasetError

_FOLDER = "Mutagenicity"
_REMEDY = "get the file again"


def edges_in_groups(molecules: Sequence[Data]) -> list[Tensor]:
    """Return which edges (E,) of each of mutagenicity's molecules are in such a group.

    The file says so for each line of the data set's own list of edges.

    Args:
        molecules: all of them, in the data set's order.
    """
    path = molecule_file("mutagenicity_edge_truth.npz")
    lines = raw_folder(_FOLDER) / f"{_FOLDER}_A.txt"
    words = lines.read_text().replace(",", " ").split()
    listed = _keys(np.array(words, dtype=np.int64).reshape(-1, 2).T - 1)  # (E,)
    in_group = archive.read(path, ["in_motif"], remedy=_REMEDY).get("in_motif", np.empty(0))
    if in_group.shape != listed.shape or in_group.dtype.kind not in "iub":
        raise DatasetError(
            f"{path}: expected an array in_motif with 0 or 1 for each of {listed.size} edges, got "
            f"{in_group.dtype} of shape {in_group.shape}: {_REMEDY}"
        )
    known = listed[in_group.astype(bool)]
    sizes = np.array([molecule.num_nodes for molecule in molecules])
    firsts = np.cumsum(sizes) - sizes  # of each molecule's atoms among all
    keys = [
        _keys(molecule.edge_index.numpy() + first)
        for molecule, first in zip(molecules, firsts, strict=True)
    ]
    found = np.isin(np.concatenate(keys), known)  # (E,)
    if int(found.sum()) != known.size:
        raise DatasetError(f"{path}: expected edges of these molecules, got others: {_REMEDY}")
    return list(torch.split(torch.from_numpy(found), [each.size for each in keys]))


def _keys(edge_index: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each edge (2, E) of the nodes of all molecules, by which it is known."""
    keys: NDArray[np.int64] = edge_index[0] * (1 << 32) + edge_index[1]
    return keys
