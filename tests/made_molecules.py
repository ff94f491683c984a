"""Small made-up molecules, and a model that counts some of their atoms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Data

from zorro.data import GraphDataset
from zorro.runs import Run, explain_graphs

ATOMS = ("C", "N", "O")
BONDS = ("single", "double", "aromatic")


class CountsNitrogen(nn.Module):
    """Class 1 where a molecule has more nitrogen than `most`; carbon counts a little, too."""

    def __init__(self, most: float = 1.5) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor([0.02, 1.0, -0.3]))
        self.most = most

    def forward(self, x, edge_index, batch=None):
        batch = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
        size = int(batch.max()) + 1
        total = x.new_zeros(size).index_add(0, batch, x @ self.weights)
        return torch.stack([torch.zeros_like(total), total - self.most], dim=1)


def molecule(atoms: str, links: list[tuple[int, int]], bonds: list[int], y: int) -> Data:
    """A graph of atoms, each link in both directions."""
    pairs = torch.tensor(links).t()
    kinds = torch.tensor([ATOMS.index(atom) for atom in atoms])
    return Data(
        x=nn.functional.one_hot(kinds, len(ATOMS)).float(),
        edge_index=torch.cat([pairs, pairs.flip(0)], dim=1),
        edge_attr=nn.functional.one_hot(torch.tensor(bonds * 2), len(BONDS)).float(),
        y=torch.tensor([y]),
    )


def ring_with(tail: str, y: int) -> Data:
    """An aromatic ring of six carbons with a chain, its last bond a double one."""
    links = [(i, (i + 1) % 6) for i in range(6)]
    links += [(5 + i, 6 + i) for i in range(len(tail))]
    bonds = [2] * 6 + [0] * (len(tail) - 1) + [1]
    return molecule("CCCCCC" + tail, links, bonds, y)


def molecules() -> GraphDataset:
    """Rings with chains; the second class has nitrogen in them."""
    tails = ["NNO", "NNN", "CO", "OC", "NNCN", "CCO", "NCNN", "O"]
    graphs = [ring_with(tail, int(tail.count("N") > 1)) for tail in tails]
    none = torch.empty(0, dtype=torch.int64)
    return GraphDataset(
        name="mutag",  # by which atoms are called atoms
        graphs=graphs,
        train=torch.arange(len(graphs)),
        val=none,
        test=none,
        class_names=("harmless", "harmful"),
        feature_names=ATOMS,
        edge_label_names=BONDS,
    )


def molecule_run(folder: Path, model: nn.Module, **options: Any) -> Run:
    """A real run of some of the molecules."""
    numbers = options.pop("numbers", [0, 1, 4])
    return explain_graphs(
        model, molecules().graphs, numbers, out=folder, engine="in-process", samples=60, **options
    )
