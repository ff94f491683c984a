"""The fidelity of a set by a plain loop over the whole graph, which shares no code with ours.

Every feature of every node of the graph that is not kept is drawn anew from its column, every
number of a node from the numbers of its type, and the model is called as its user calls it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData

Kept = Mapping[str, Mapping[str, Sequence[int]]]  # "nodes" and "features", by type


def stayed(
    model: nn.Module,
    data: HeteroData,
    target: str,
    kept: Mapping[int, Kept],
    *,
    samples: int,
    seed: int,
) -> dict[int, int]:
    """Return in how many samples the answer for each node is what it is in truth.

    Args:
        model: called as `model(x_dict, edge_index_dict)`.
        data: the whole graph.
        target: the type of the nodes.
        kept: of each node the set that is kept.
        samples: how many.
        seed: of the noise.
    """
    true = {name: _dense(data[name].x) for name in data.node_types}
    draw = torch.Generator().manual_seed(seed)
    assert not model.training, "dropout would answer"
    with torch.no_grad():
        answer = model(true, data.edge_index_dict).argmax(1)
        counts = dict.fromkeys(kept, 0)
        for _ in range(samples):
            noise = {name: _drawn(x, draw) for name, x in true.items()}
            for node, one in kept.items():
                given = {name: _with_true(noise[name], true[name], name, one) for name in true}
                scores: Any = model(given, data.edge_index_dict)
                counts[node] += int(scores[node].argmax() == answer[node])
    assert target in data.node_types
    return counts


def _dense(x: Tensor) -> Tensor:
    return x if x.layout == torch.strided else x.to_dense()


def _drawn(x: Tensor, draw: torch.Generator) -> Tensor:
    rows = torch.randint(x.size(0), x.shape, generator=draw)
    return x.gather(0, rows)


def _with_true(noise: Tensor, true: Tensor, name: str, kept: Kept) -> Tensor:
    nodes = torch.tensor(list(kept["nodes"].get(name, ())), dtype=torch.long)
    if nodes.numel() == 0:
        return noise
    given = noise.clone()
    if true.dim() == 1:  # numbers of nodes, kept with their node
        given[nodes] = true[nodes]
    else:
        columns = torch.tensor(list(kept["features"].get(name, ())), dtype=torch.long)
        given[nodes[:, None], columns] = true[nodes[:, None], columns]
    return given
