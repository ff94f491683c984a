"""Small sets of graphs to train and test on."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from zorro.data import GraphDataset, load_graphs


def random_graph(seed: int, *, nodes: int = 9, features: int = 4) -> Data:
    """Return an undirected graph with random features, edge weights and attributes."""
    generator = torch.Generator().manual_seed(seed)
    ends = torch.randint(nodes, (2, 2 * nodes), generator=generator)
    ends = ends[:, ends[0] != ends[1]]
    edge_index = torch.cat([ends, ends.flip(0)], dim=1)
    weight = torch.rand(ends.size(1), generator=generator) + 0.5
    return Data(
        x=torch.randn(nodes, features, generator=generator),
        edge_index=edge_index,
        y=torch.tensor([seed % 2]),
        edge_weight=weight.repeat(2),
        edge_attr=torch.rand(edge_index.size(1), 3, generator=generator),
    )


def rings_and_paths(count: int = 60) -> GraphDataset:
    """Return rings (class 1) and paths (class 0) of 4 to 9 nodes that are told apart by degrees."""
    graphs = []
    for number in range(count):
        nodes, closed = 4 + number % 6, number % 2
        first = torch.arange(nodes - 1 + closed)
        ends = torch.stack([first, (first + 1) % nodes])
        edge_index = torch.cat([ends, ends.flip(0)], dim=1)
        degrees = edge_index[0].bincount(minlength=nodes)
        x = torch.stack([degrees == 1, degrees == 2], dim=1).float()
        bonds = torch.ones(edge_index.size(1), 1)
        graphs.append(Data(x=x, edge_index=edge_index, edge_attr=bonds, y=torch.tensor([closed])))
    return load_graphs(graphs)
