"""The graphs of several types by name, and the door through which such graphs come in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from torch_geometric.data import HeteroData

from zorro.data import dblp, hetero_npz, public_hetero
from zorro.data.spelling import hint, known_as
from zorro.errors import InputError

_LOADERS: dict[str, Callable[[], HeteroData]] = {
    "dblp": dblp.read,
    "dblp-pyg": public_hetero.dblp,
    "imdb": public_hetero.imdb,
    "ogb-mag": public_hetero.mag,
}

HETERO_DATASETS = tuple(_LOADERS)


def load_hetero(dataset: str | Path | HeteroData) -> HeteroData:
    """Return the graph of several types that `dataset` names.

    >>> import numpy as np
    >>> from zorro.data import load_hetero
    >>> np.savez(
    ...     "library.npz",
    ...     **{"author/x": np.ones((2, 1), np.float32), "paper/x": np.eye(3, dtype=np.float32)},
    ...     **{"author/writes/paper/edge_index": np.array([[0, 0, 1], [0, 1, 2]])},
    ... )
    >>> data = load_hetero("library.npz")
    >>> data.node_types, data.edge_types
    (['author', 'paper'], [('author', 'writes', 'paper')])

    Args:
        dataset: one of `HETERO_DATASETS` (capitals and separators do not matter), the path of an
            `.npz` with arrays such as `author/x` and `author/writes/paper/edge_index`, or PyG's
            `HeteroData`, which is returned as it is. Of `dblp` venues and terms have no features
            but their numbers; `dblp-pyg`, `imdb` and `ogb-mag` are downloaded as PyG does.
    """
    if isinstance(dataset, HeteroData):
        return dataset
    if not isinstance(dataset, str | Path):
        raise InputError(
            f"dataset: expected a name, the path of an .npz, or torch_geometric.data.HeteroData, "
            f"got {type(dataset).__name__}"
        )
    if isinstance(dataset, Path) or dataset.endswith(".npz") or os.sep in dataset:
        return hetero_npz.read(Path(dataset))
    known = known_as(dataset, HETERO_DATASETS)
    if known is None:
        raise InputError(
            f"dataset: expected one of {', '.join(HETERO_DATASETS)}, the path of an .npz, or "
            f"torch_geometric.data.HeteroData, got {dataset!r}{hint(dataset, HETERO_DATASETS)}"
        )
    return _LOADERS[known]()


def is_hetero_dataset(dataset: str) -> bool:
    """Whether `dataset` names a graph of several types: one of `HETERO_DATASETS`, or such a file.

    >>> from zorro.data import is_hetero_dataset
    >>> is_hetero_dataset("DBLP"), is_hetero_dataset("cora")
    (True, False)

    Args:
        dataset: a name, or the path of an `.npz`, which is opened to see.
    """
    if dataset.endswith(".npz"):
        return hetero_npz.is_hetero(Path(dataset))
    return os.sep not in dataset and known_as(dataset, HETERO_DATASETS) is not None


def chosen_target(data: HeteroData, target: str | None, *, option: str = "target") -> str:
    """Return the type that is asked about: the one that is named, or the only one with classes.

    Args:
        data: PyG's.
        target: as the user names it, if he does.
        option: by which he does.
    """
    if target is not None:
        if target not in data.node_types:
            types = ", ".join(map(repr, data.node_types))
            near = hint(target, data.node_types)
            raise InputError(f"{option}: expected one of the types {types}, got {target!r}{near}")
        return target
    labelled = [name for name in data.node_types if data[name].get("y") is not None]
    if len(labelled) != 1:
        came = " and ".join(labelled) or "no type with classes"
        types = ", ".join(map(repr, data.node_types))
        raise InputError(f"{option}: expected one of the types {types}, got none, and {came}")
    return str(labelled[0])
