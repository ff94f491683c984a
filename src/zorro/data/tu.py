"""Sets of graphs in the TU Dortmund collection's format: text files, read by PyG's own reader."""

from __future__ import annotations

import shutil
import zipfile
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.datasets import TUDataset
from torch_geometric.io import fs, read_tu_data

from zorro.data.storage import raw_folder, reading
from zorro.errors import DatasetError

_ALWAYS = ("A", "graph_indicator", "graph_labels", "node_labels")
_EDGE_LABELS = "edge_labels"


def read(folder: str, *, edge_labels: bool) -> list[Data]:
    """Return the graphs of a data set, downloaded if they are missing.

    Node labels become one-hot `x`, edge labels one-hot `edge_attr`, and graph labels `y` (1,), 0
    for the smallest. Attributes beside the labels are not read. Edges are ordered by their ends.

    Args:
        folder: the data set's name in the collection.
        edge_labels: whether it has some.
    """
    parts = (*_ALWAYS, _EDGE_LABELS) if edge_labels else _ALWAYS
    names = [f"{folder}_{part}.txt" for part in parts]
    raw = raw_folder(folder)
    with reading(folder, raw):
        _download(folder, raw, names)
        for name in names:
            if not (raw / name).is_file():
                raise DatasetError(f"{raw / name}: expected a file, got something else: remove it")
        return _graphs(raw, folder)


def _graphs(raw: Path, folder: str) -> list[Data]:
    _check_owners(raw, folder)
    whole, slices, sizes = read_tu_data(str(raw), folder)
    x = whole.x[:, sizes["num_node_attributes"] :]  # (N, d)
    attributed = whole.edge_attr is not None and sizes["num_edge_labels"] > 0
    bounds, edge_bounds = slices["x"].tolist(), slices["edge_index"].tolist()
    _check_sizes(raw, folder, x=x, y=whole.y, bounds=bounds)
    graphs = []
    for number, (first, end) in enumerate(pairwise(bounds)):
        edges = slice(*edge_bounds[number : number + 2])
        graph = Data(x=x[first:end], edge_index=whole.edge_index[:, edges])
        graph.y = whole.y[number : number + 1]  # (1,)
        if attributed:
            graph.edge_attr = whole.edge_attr[edges, sizes["num_edge_attributes"] :]
        graphs.append(graph)
    return graphs


def _check_owners(raw: Path, folder: str) -> None:
    """Raise `DatasetError` if a graph has no nodes, or nodes that stand apart."""
    words = (raw / f"{folder}_graph_indicator.txt").read_text().split()
    indicator = np.array(words, dtype=np.int64)
    if not np.isin(np.diff(indicator, prepend=0), (0, 1)).all():
        raise DatasetError(
            f"{raw}/{folder}_graph_indicator.txt: expected numbers 1, 1, …, 2, 2, … without a gap, "
            f"got others: delete {raw.parent} to download the data set again"
        )


def _check_sizes(raw: Path, folder: str, *, x: Tensor, y: Tensor, bounds: list[int]) -> None:
    """Raise `DatasetError` where files disagree, which the reader does not notice."""
    for what, part, found, expected in (
        ("nodes", "node_labels", x.size(0), bounds[-1]),
        ("graphs", "graph_labels", y.size(0), len(bounds) - 1),
    ):
        if found != expected:
            raise DatasetError(
                f"{raw}/{folder}_{part}.txt: expected a line for each of {expected} {what}, got "
                f"{found}: delete {raw.parent} to download the data set again"
            )


def _download(folder: str, raw: Path, names: list[str]) -> None:
    """Download what is missing of a data set; each file appears whole or not at all."""
    missing = [name for name in names if not (raw / name).exists()]
    if not missing:
        return
    raw.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=raw, prefix=".download-") as beside:
        fs.cp(f"{TUDataset.url}/{folder}.zip", beside)
        with zipfile.ZipFile(Path(beside) / f"{folder}.zip") as archive:
            for name in missing:
                whole = Path(beside) / name
                with archive.open(f"{folder}/{name}") as packed, whole.open("wb") as file:
                    shutil.copyfileobj(packed, file)
                whole.replace(raw / name)
