"""The graphs by name: public ones as they come, planted ones generated once and kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from torch_geometric.data import Data

from dense_graphs.planted import Shape, generate
from zorro import data
from zorro.files.whole_file import whole_file

FEATURES = (32, 64, 128, 256, 512)  # of the small graphs

PLANTED = {
    "arxiv-shape": Shape(),
    **{
        f"small-{features}": Shape(
            nodes=3000, edges=15_000, features=features, classes=8, tail=0.5, signal=0.4
        )
        for features in FEATURES
    },
}


def load(name: str, folder: Path) -> Data:
    """Return a graph of a public name or of `PLANTED`, the latter from `folder` if it is there."""
    if name not in PLANTED:
        return data.load(name)
    path = folder / f"{name}.npz"
    if not path.exists():
        print(f"generating {name} …", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {key: value.numpy() for key, value in generate(PLANTED[name]).to_dict().items()}
        with whole_file(path) as file:
            np.savez(file, **arrays)
    return data.load(path)
