"""Which nodes of a graph are explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from timing.large_queries import within_two_hops
from torch_geometric.data import Data
from torch_geometric.utils import degree

from dense_graphs.cells import Cell

SEED = 0


@dataclass(frozen=True)
class Query:
    """A node to explain: a random one, or a hub."""

    node: int
    kind: Literal["random", "hub"]
    within_two_hops: int
    on_the_whole_graph: bool = False  # GNNExplainer as well


def queries(cell: Cell, graph: Data, *, nodes: int, hubs: int) -> list[Query]:
    """Return random test nodes, always the same (a larger sample begins alike), and hubs."""
    tested = graph.test_mask.nonzero().flatten().numpy()
    order = np.random.default_rng(SEED).permutation(tested)
    by_degree = degree(graph.edge_index[1], graph.num_nodes).argsort(descending=True, stable=True)
    hub_nodes = by_degree[list(cell.hubs[:hubs])].numpy()
    asked = np.concatenate([order[:nodes], hub_nodes])
    seen = within_two_hops(graph, asked)
    return [
        Query(
            int(node),
            "random" if place < nodes else "hub",
            int(seen[place]),
            place < min(nodes, cell.on_the_whole_graph),
        )
        for place, node in enumerate(asked)
    ]


def warm_up(graph: Data, asked: list[Query]) -> int:
    """Return the node with fewest neighbours, but some, that is not asked about."""
    degrees = degree(graph.edge_index[1], graph.num_nodes)
    degrees[degrees == 0] = float("inf")
    degrees[[query.node for query in asked]] = float("inf")
    return int(degrees.argmin())
