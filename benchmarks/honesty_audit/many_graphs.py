"""Sets of small graphs whose classes depend on which kinds of nodes are linked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

GRAPHS = 160
KINDS = 5
LEAST, MOST = 6, 18  # nodes of a graph

MakeGraphs = Callable[[], list[Data]]


@cache
def categories() -> list[Data]:
    """Nodes of five kinds, one-hot, as atoms are; bonds of three types, one-hot, and weights."""
    draw = torch.Generator().manual_seed(5)
    return [_graph(draw) for _ in range(GRAPHS)]


@cache
def real_valued() -> list[Data]:
    """The same graphs with real-valued features."""
    draw = torch.Generator().manual_seed(6)
    return [_changed(graph, _blurred(graph.x, draw)) for graph in categories()]


@cache
def whole_numbers() -> list[Data]:
    """The same graphs with each node's kind, and its number of links up to three, as integers."""
    return [
        _changed(
            graph,
            torch.stack([graph.x.argmax(1), _degrees(graph).clamp(max=3)], dim=1),
        )
        for graph in categories()
    ]


@cache
def motifs() -> list[Data]:
    """Trees with a ring of five at them, and class 1 where the ring has a chord; no features."""
    draw = torch.Generator().manual_seed(7)
    return [_motif(draw) for _ in range(GRAPHS)]


def _motif(draw: torch.Generator) -> Data:
    nodes = int(torch.randint(3, 8, (1,), generator=draw))
    above = [int(torch.randint(node, (1,), generator=draw)) for node in range(1, nodes)]
    chord = int(torch.randint(2, (1,), generator=draw))
    links = [
        *zip(above, range(1, nodes), strict=True),
        *((nodes + place, nodes + (place + 1) % 5) for place in range(5)),
        (0, nodes),
        *([(nodes, nodes + 2)] if chord else []),
    ]
    return Data(
        x=torch.ones(nodes + 5, KINDS),
        edge_index=to_undirected(torch.tensor(links).t(), num_nodes=nodes + 5),
        y=torch.tensor([chord]),
    )


def _graph(draw: torch.Generator) -> Data:
    """Return a tree with some further links; class 1 where the first two kinds are linked twice."""
    nodes = int(torch.randint(LEAST, MOST + 1, (1,), generator=draw))
    above = [int(torch.randint(node, (1,), generator=draw)) for node in range(1, nodes)]
    links = torch.tensor([above, list(range(1, nodes))])
    further = torch.randint(nodes, (2, nodes // 5), generator=draw)
    links = torch.cat([links, further[:, further[0] != further[1]]], dim=1)
    edge_index = to_undirected(links, num_nodes=nodes)
    kind = torch.randint(KINDS, (nodes,), generator=draw)
    ends = kind[edge_index]
    both = ((ends[0] == 0) & (ends[1] == 1)).sum() + (kind == 2).sum() // 3
    type_of_bond = (edge_index.sum(0) + edge_index.prod(0)) % 3  # the same in both directions
    return Data(
        x=torch.nn.functional.one_hot(kind, KINDS).float(),
        edge_index=edge_index,
        edge_attr=torch.nn.functional.one_hot(type_of_bond, 3).float(),
        edge_weight=0.5 + 0.5 * type_of_bond.float(),
        y=(both >= 2).long().reshape(1),
    )


def _changed(graph: Data, x: Tensor) -> Data:
    other = graph.clone()
    other.x = x
    return other


def _blurred(x: Tensor, draw: torch.Generator) -> Tensor:
    return x + 0.3 * torch.randn(x.shape, generator=draw)


def _degrees(graph: Data) -> Tensor:
    return torch.bincount(graph.edge_index[1], minlength=graph.num_nodes)
