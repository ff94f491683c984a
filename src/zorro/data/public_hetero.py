"""Public graphs of several types, as PyG publishes them: DBLP, IMDB and OGB's MAG.

The files hold plain numbers, and are read without what could run code.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse
import torch
from torch import Tensor
from torch_geometric.data import HeteroData, download_url
from torch_geometric.datasets import DBLP, IMDB, OGB_MAG
from torch_geometric.transforms import ToUndirected

from zorro.data.storage import raw_folder, reading

_MATRICES = ("adjM.npz", "labels.npy", "train_val_test_idx.npz")
_MAG = "mag"
_MAG_RELATIONS = (
    ("author", "affiliated_with", "institution"),
    ("author", "writes", "paper"),
    ("paper", "cites", "paper"),
    ("paper", "has_topic", "field_of_study"),
)
_MAG_COUNTS, _MAG_FEATURES = "num-node-dict.csv.gz", "node-feat/paper/node-feat.csv.gz"
_MAG_LABELS = "node-label/paper/node-label.csv.gz"
_MAG_SPLIT = {name: f"split/time/paper/{name}.csv.gz" for name in ("train", "valid", "test")}


def dblp() -> HeteroData:
    """Return authors of four fields, papers, terms and conferences, whose `x` are numbers."""
    features = ("features_0.npz", "features_1.npz", "features_2.npy")
    raw = raw_folder("DBLP")
    with reading("DBLP", raw):
        _download(DBLP.url, raw, [*_MATRICES, *features, "node_types.npy"])
        data = HeteroData()
        for name, file in zip(("author", "paper", "term"), features, strict=True):
            data[name].x = _features(raw / file)
        conferences = int((np.load(raw / "node_types.npy", allow_pickle=False) == 3).sum())
        data["conference"].x = torch.arange(conferences)
        return _with_edges(data, raw)


def imdb() -> HeteroData:
    """Return movies of three genres, directors and actors."""
    features = ("features_0.npz", "features_1.npz", "features_2.npz")
    raw = raw_folder("IMDB")
    with reading("IMDB", raw):
        _download(IMDB.url, raw, [*_MATRICES, *features])
        data = HeteroData()
        for name, file in zip(("movie", "director", "actor"), features, strict=True):
            data[name].x = _features(raw / file)
        return _with_edges(data, raw)


def mag() -> HeteroData:
    """Return papers of 349 venues, authors, institutions and fields, whose `x` are numbers.

    Every relation has its way back, and citations lead both ways.
    """
    raw = raw_folder(_MAG)
    edges = {each: f"relations/{'___'.join(each)}/edge.csv.gz" for each in _MAG_RELATIONS}
    of_nodes = [_MAG_COUNTS, _MAG_FEATURES, _MAG_LABELS, *edges.values()]
    with reading(_MAG, raw):
        inside = {name: f"mag/raw/{name}" for name in of_nodes}
        inside |= {name: f"mag/{name}" for name in _MAG_SPLIT.values()}
        _download(OGB_MAG.url, raw, [*inside], inside=inside)
        data = HeteroData()
        data["paper"].x = _table(raw / _MAG_FEATURES, np.float32)
        names, *counts = np.loadtxt(raw / _MAG_COUNTS, delimiter=",", dtype=str)
        for name, count in zip(names.tolist(), counts[0].tolist(), strict=True):
            if name != "paper":
                data[name].x = torch.arange(int(count))
        data["paper"].y = _table(raw / _MAG_LABELS, np.int64).flatten()
        for file, part in (("train", "train"), ("valid", "val"), ("test", "test")):
            members = _table(raw / _MAG_SPLIT[file], np.int64).flatten()
            data["paper"][f"{part}_mask"] = _mask(members, data["paper"].y.numel())
        for relation, file in edges.items():
            data[relation].edge_index = _table(raw / file, np.int64).t().contiguous()
        both_ways: HeteroData = ToUndirected()(data)
        return both_ways


def _with_edges(data: HeteroData, raw: Path) -> HeteroData:
    """Return types with labels and a split of the first, and edges of one matrix of all nodes."""
    first = data[data.node_types[0]]
    first.y = torch.from_numpy(np.load(raw / "labels.npy", allow_pickle=False)).long()
    split = np.load(raw / "train_val_test_idx.npz", allow_pickle=False)
    for part in ("train", "val", "test"):
        members = torch.from_numpy(split[f"{part}_idx"]).long()
        first[f"{part}_mask"] = _mask(members, first.y.numel())
    starts = np.cumsum([0, *(data[name].x.size(0) for name in data.node_types)])
    adjacency = scipy.sparse.csr_array(scipy.sparse.load_npz(raw / "adjM.npz"))
    if adjacency.shape != (starts[-1], starts[-1]):
        raise ValueError(f"adjM.npz: expected {starts[-1]} rows and columns")
    every = list(enumerate(data.node_types))
    for (one, source), (other, target) in product(every, every):
        block = adjacency[starts[one] : starts[one + 1], starts[other] : starts[other + 1]].tocoo()
        if block.nnz:
            ends = np.stack([block.row, block.col]).astype(np.int64)
            data[source, "to", target].edge_index = torch.from_numpy(ends)
    return data


def _features(path: Path) -> Tensor:
    if path.suffix == ".npy":
        return torch.from_numpy(np.load(path, allow_pickle=False)).float()
    return torch.from_numpy(scipy.sparse.load_npz(path).toarray()).float()


def _table(path: Path, dtype: type[np.generic]) -> Tensor:
    return torch.from_numpy(np.loadtxt(path, delimiter=",", dtype=dtype, ndmin=2))


def _mask(members: Tensor, count: int) -> Tensor:
    mask = torch.zeros(count, dtype=torch.bool)
    mask[members] = True
    return mask


def _download(
    url: str, raw: Path, names: Sequence[str], *, inside: dict[str, str] | None = None
) -> None:
    """Download what is missing of a data set; each file appears whole or not at all.

    Args:
        url: of its archive.
        raw: the folder to put files into.
        names: of the files.
        inside: where the archive has them, if not by the same names.
    """
    missing = [name for name in names if not (raw / name).is_file()]
    if not missing:
        return
    raw.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=raw, prefix=".download-") as beside:
        packed = download_url(url, beside, log=False, filename="archive.zip")
        with zipfile.ZipFile(packed) as archive:
            for name in missing:
                whole = Path(beside) / "file"
                packed_name = (inside or {}).get(name, name)
                with archive.open(packed_name) as source, whole.open("wb") as file:
                    shutil.copyfileobj(source, file)
                (raw / name).parent.mkdir(parents=True, exist_ok=True)
                whole.replace(raw / name)
