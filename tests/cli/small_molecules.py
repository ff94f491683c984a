"""A small data set in the files of MUTAG, and models of its graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

GRAPHS = 30
ATOMS = 7
# A model of your own that cannot do without the bonds.
BONDS = """
import torch
import torch_geometric.nn as gnn
from torch import nn


class Net(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(3)
            self.conv = gnn.GINEConv(nn.Linear(features, 8), edge_dim=4)
            self.last = nn.Linear(8, classes)

    def forward(self, x, edge_index, edge_attr, batch=None):
        x = self.conv(x, edge_index, edge_attr).relu()
        return self.last(gnn.global_add_pool(x, batch))
"""


def write(root: Path) -> None:
    """Write rings of 6 to 9 atoms under a folder that is to be ZORRO_DATA.

    Every other one is of class 1 and has two atoms of the last kind side by side.
    """
    rng = np.random.default_rng(0)
    pairs: list[tuple[int, int]] = []
    atoms: list[int] = []
    bonds: list[int] = []
    owner: list[int] = []
    classes: list[int] = []
    for number in range(GRAPHS):
        size, first = 6 + number % 4, len(atoms) + 1
        kinds = rng.integers(0, ATOMS - 1, size)
        kinds[:2] = ATOMS - 1 if number % 2 else 0
        for place in range(size):
            one, other = first + place, first + (place + 1) % size
            pairs += [(one, other), (other, one)]
            bonds += [int(rng.integers(0, 4))] * 2
        atoms += kinds.tolist()
        owner += [number + 1] * size
        classes.append(1 if number % 2 else -1)
    raw = root / "MUTAG" / "raw"
    raw.mkdir(parents=True)
    parts: dict[str, list[Any]] = {
        "A": [f"{one}, {other}" for one, other in pairs],
        "graph_indicator": owner,
        "graph_labels": classes,
        "node_labels": atoms,
        "edge_labels": bonds,
    }
    for part, lines in parts.items():
        (raw / f"MUTAG_{part}.txt").write_text("\n".join(map(str, lines)) + "\n")
