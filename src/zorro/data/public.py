"""The public data sets of the paper, read by PyG's own readers.

Features are used as they come: the paper's models were trained on raw features, and row
normalisation costs them up to 65 points of accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.datasets import Amazon, Planetoid
from torch_geometric.io import fs, read_npz, read_planetoid_data

from zorro.arguments import check_seed
from zorro.data import published_files
from zorro.data.storage import raw_folder, reading

COMPUTERS = "Computers"
AMAZON_TRAINING_NODES_PER_CLASS = 20
AMAZON_TEST_NODES = 1000


def citation(folder: str) -> Data:
    """Return Cora, CiteSeer or PubMed with its public split."""
    return _read(folder, lambda raw: read_planetoid_data(str(raw), folder))


def amazon_computers(*, seed: int) -> Data:
    """Return Amazon Computers with 20 training nodes per class and 1,000 other test nodes."""
    (name,) = published_files.PUBLISHED[COMPUTERS]
    data = _read(COMPUTERS, lambda raw: read_npz(str(raw / name), to_undirected=True))
    data.train_mask, data.test_mask = split(
        data.y,
        per_class=AMAZON_TRAINING_NODES_PER_CLASS,
        test=AMAZON_TEST_NODES,
        seed=seed,
    )
    return data


def split(y: Tensor, *, per_class: int, test: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return a training mask of `per_class` nodes of each class and a test mask of `test` others.

    >>> train_mask, test_mask = split(torch.tensor([0, 0, 0, 1, 1]), per_class=1, test=3, seed=0)
    >>> int(train_mask.sum()), int(test_mask.sum()), int((train_mask & test_mask).sum())
    (2, 3, 0)
    """
    order = np.random.default_rng(check_seed(seed)).permutation(y.numel())
    shuffled = torch.from_numpy(order).to(y.device)  # (N,)
    train_mask = torch.zeros(y.numel(), dtype=torch.bool, device=y.device)
    for label in range(int(y.max()) + 1):
        train_mask[shuffled[y[shuffled] == label][:per_class]] = True
    test_mask = torch.zeros_like(train_mask)
    test_mask[shuffled[~train_mask[shuffled]][:test]] = True
    return train_mask, test_mask


def _read(folder: str, read: Callable[[Path], Data]) -> Data:
    """Return what `read` makes of the raw files of a data set, downloaded if they are missing."""
    raw = raw_folder(folder)
    with reading(folder, raw):
        _download(folder, raw)
        published_files.check(raw, folder)
        return read(raw)


def _download(folder: str, raw: Path) -> None:
    """Download what is missing of a data set; each file appears whole or not at all."""
    missing = [name for name in published_files.PUBLISHED[folder] if not (raw / name).exists()]
    if not missing:
        return
    source = (Amazon if folder == COMPUTERS else Planetoid).url.rstrip("/")
    raw.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=raw, prefix=".download-") as beside:
        for name in missing:
            fs.cp(f"{source}/{name}", beside)
            (Path(beside) / name).replace(raw / name)
