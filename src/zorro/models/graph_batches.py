"""Many graphs as one that falls apart into them, which is how a model takes several at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Batch

from zorro.data.graph_dataset import GraphDataset

_AT_ONCE = 512  # graphs, where nothing is learnt from them


@dataclass(frozen=True)
class GraphBatch:
    """Some graphs of a data set, put side by side.

    Args:
        x: (N, d), the features of all nodes.
        edge_index: (2, E), edges between nodes of one graph.
        batch: (N,), the number of each node's graph, from 0.
        targets: (B,), each graph's class or value.
        inputs: what else the model takes.
    """

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    targets: Tensor
    inputs: Mapping[str, Tensor]


def batch_of(dataset: GraphDataset, members: Tensor, inputs: Sequence[str] = ()) -> GraphBatch:
    """Return the graphs with the numbers `members` (B,) side by side.

    Args:
        dataset: that holds the graphs.
        members: their numbers.
        inputs: names of what the model takes of each graph's edges.
    """
    wanted = {"x", "edge_index", "y", *inputs}
    graphs = [dataset.graphs[number] for number in members.tolist()]
    others = {key for graph in graphs for key in graph.keys() if key not in wanted}  # noqa: SIM118
    whole = Batch.from_data_list(graphs, exclude_keys=sorted(others))
    return GraphBatch(
        x=whole.x,
        edge_index=whole.edge_index,
        batch=whole.batch,
        targets=whole.y.reshape(-1),
        inputs={name: whole[name] for name in inputs},
    )


def shuffled(members: Tensor, size: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    """Return `members` (k,) in an order that `generator` draws, in even pieces of at most `size`.

    >>> [len(piece) for piece in shuffled(torch.arange(10), 4, torch.Generator())]
    [4, 3, 3]
    """
    order = torch.randperm(members.numel(), generator=generator)  # (k,)
    # A piece of one small graph at the end would leave batch norms without statistics.
    pieces: tuple[Tensor, ...] = members[order].tensor_split(math.ceil(members.numel() / size))
    return pieces


def in_order(
    dataset: GraphDataset, members: Tensor, inputs: Sequence[str] = ()
) -> Iterator[GraphBatch]:
    """Yield the graphs with the numbers `members` in large batches, in their order."""
    for piece in torch.split(members, _AT_ONCE):
        yield batch_of(dataset, piece, inputs)
