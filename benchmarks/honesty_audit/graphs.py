"""Small graphs whose labels depend on the neighbours: sparse, dense, categorical, directed, …"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import torch
from torch import Tensor
from torch_geometric.utils import coalesce, sort_edge_index, subgraph, to_undirected

from zorro import data

CLASSES = 4
DEGREE = 3.0  # on the mean
HOMOPHILY = 0.8  # share of edges within a class


@dataclass(frozen=True)
class Graph:
    """What a model is trained and explained on; `kwargs` are its further arguments."""

    x: Tensor  # (N, d)
    edge_index: Tensor  # (2, E)
    y: Tensor  # (N,)
    kwargs: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        """N."""
        return self.x.size(0)

    @property
    def features(self) -> int:
        """d."""
        return self.x.size(1)


MakeGraph = Callable[[int], Graph]


@cache
def citation(nodes: int) -> Graph:
    """Undirected, with communities and sparse features of 0 and 1, as papers and words have."""
    draw = torch.Generator().manual_seed(1)
    topic = torch.randint(CLASSES, (nodes,), generator=draw)
    edge_index = to_undirected(_links(topic, draw), num_nodes=nodes)
    words = torch.arange(48) % CLASSES
    chance = torch.where(topic.unsqueeze(1) == words, 0.22, 0.06)  # (N, d)
    x = (torch.rand(nodes, 48, generator=draw) < chance).float()
    return Graph(x, edge_index, _labels(x @ _one_hot(words), edge_index))


@cache
def dense(nodes: int) -> Graph:
    """The same kind of graph with real-valued features."""
    draw = torch.Generator().manual_seed(2)
    topic = torch.randint(CLASSES, (nodes,), generator=draw)
    edge_index = to_undirected(_links(topic, draw), num_nodes=nodes)
    centres = torch.randn(CLASSES, 24, generator=draw)
    x = 0.6 * centres[topic] + torch.randn(nodes, 24, generator=draw)
    return Graph(x, edge_index, _labels(x @ centres.t(), edge_index))


@cache
def categorical(nodes: int) -> Graph:
    """Twelve columns of categories 0 to 4, as whole numbers."""
    draw = torch.Generator().manual_seed(3)
    topic = torch.randint(CLASSES, (nodes,), generator=draw)
    edge_index = to_undirected(_links(topic, draw), num_nodes=nodes)
    x = torch.randint(5, (nodes, 12), generator=draw)
    telling = torch.rand(nodes, 12, generator=draw) < 0.5
    x = torch.where(telling, topic.unsqueeze(1), x)
    votes = torch.stack([(x == c).sum(1).float() for c in range(CLASSES)], dim=1)  # (N, C)
    return Graph(x, edge_index, _labels(votes, edge_index))


def normalised(nodes: int) -> Graph:
    """The citation graph with fewer edges; rows sum to one, as `NormalizeFeatures` makes them."""
    graph = citation(nodes)
    pairs = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    return replace(
        graph,
        x=graph.x / graph.x.sum(1, keepdim=True).clamp(min=1),
        edge_index=to_undirected(pairs[:, torch.arange(pairs.size(1)) % 3 > 0], num_nodes=nodes),
    )


def categorical_float(nodes: int) -> Graph:
    """The same categories as floating-point numbers."""
    graph = categorical(nodes)
    return replace(graph, x=graph.x.float())


@cache
def directed(nodes: int) -> Graph:
    """Sparse features; edges have a direction, and labels depend on both ends."""
    draw = torch.Generator().manual_seed(4)
    topic = torch.randint(CLASSES, (nodes,), generator=draw)
    edge_index = _links(topic, draw)
    words = torch.arange(48) % CLASSES
    chance = torch.where(topic.unsqueeze(1) == words, 0.22, 0.06)
    x = (torch.rand(nodes, 48, generator=draw) < chance).float()
    both = torch.cat([edge_index, edge_index.flip(0)], dim=1)
    return Graph(x, edge_index, _labels(x @ _one_hot(words), both))


@cache
def components(nodes: int) -> Graph:
    """The citation graph with only the edges within each of five parts, and some nodes alone."""
    graph = citation(nodes)
    part = torch.arange(nodes) % 5
    alone = torch.arange(nodes) % 17 == 0
    sender, receiver = graph.edge_index
    kept = (part[sender] == part[receiver]) & ~alone[sender] & ~alone[receiver]
    chain = torch.arange(nodes - 5)
    chain = torch.stack([chain, chain + 5])[:, ~alone[:-5] & ~alone[5:]]
    edge_index = to_undirected(
        torch.cat([graph.edge_index[:, kept], chain], dim=1), num_nodes=nodes
    )
    return replace(graph, edge_index=edge_index)


def weighted(nodes: int) -> Graph:
    """The dense graph with a weight per edge."""
    return _with_edges(nodes, "edge_weight", lambda edges, draw: torch.rand(edges, generator=draw))


def attributed(nodes: int) -> Graph:
    """The dense graph with four attributes per edge."""
    return _with_edges(
        nodes, "edge_attr", lambda edges, draw: torch.randn(edges, 4, generator=draw)
    )


def typed(nodes: int) -> Graph:
    """The dense graph with one of three types per edge."""
    return _with_edges(
        nodes, "edge_type", lambda edges, draw: torch.randint(3, (edges,), generator=draw)
    )


def several(nodes: int) -> Graph:
    """The dense graph with a type per edge, and a second one, of another type, for each other."""
    graph = dense(nodes)
    draw = torch.Generator().manual_seed(7)
    pairs = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    first = torch.randint(3, (pairs.size(1),), generator=draw)
    links = torch.cat([pairs, pairs[:, ::2]], dim=1)
    types = torch.cat([first, (first[::2] + 1) % 3])
    edge_index = torch.cat([links, links.flip(0)], dim=1)
    return replace(graph, edge_index=edge_index, kwargs={"edge_type": types.repeat(2)})


def with_loops(nodes: int) -> Graph:
    """The citation graph with an edge from every third node to itself."""
    graph = citation(nodes)
    loops = torch.arange(0, nodes, 3).repeat(2, 1)
    return replace(graph, edge_index=torch.cat([graph.edge_index, loops], dim=1))


def placed(nodes: int) -> Graph:
    """The dense graph with a further input per node."""
    draw = torch.Generator().manual_seed(6)
    return replace(dense(nodes), kwargs={"pos": torch.randn(nodes, 3, generator=draw)})


def by_receiver(nodes: int) -> Graph:
    """The citation graph with its edges in the order of their receivers."""
    graph = citation(nodes)
    return replace(graph, edge_index=sort_edge_index(graph.edge_index, sort_by_row=False))


def has_cora() -> bool:
    """Whether Cora is at hand without a download."""
    return bool(os.environ.get("ZORRO_DATA"))


@cache
def cora(nodes: int) -> Graph:
    """A connected piece of Cora with the commonest 64 words."""
    whole = data.load("cora")
    kept = torch.zeros(whole.num_nodes, dtype=torch.bool)
    sender, receiver = whole.edge_index
    kept[sender.bincount().argmax()] = True
    for _ in range(8):  # hops, more than are needed
        near = sender[kept[receiver] & ~kept[sender]].unique()
        kept[near[: nodes - int(kept.sum())]] = True
    edge_index, _ = subgraph(kept, whole.edge_index, relabel_nodes=True)
    x = whole.x[kept]
    common = x.count_nonzero(0).topk(64).indices
    return Graph(
        (x[:, common] > 0).float(), edge_index, whole.y[kept].unique(return_inverse=True)[1]
    )


def _with_edges(nodes: int, name: str, values: Callable[[int, torch.Generator], Tensor]) -> Graph:
    graph = dense(nodes)
    draw = torch.Generator().manual_seed(5)
    return replace(graph, kwargs={name: values(graph.edge_index.size(1), draw)})


def _links(topic: Tensor, draw: torch.Generator) -> Tensor:
    """Return edges (2, E): each node has one to a like node, and there are some more."""
    nodes = topic.numel()
    sender = torch.cat(
        [
            torch.arange(nodes),
            torch.randint(nodes, (int(nodes * (DEGREE / 2 - 1)),), generator=draw),
        ]
    )
    like = torch.rand(sender.numel(), generator=draw) < HOMOPHILY
    receiver = torch.empty_like(sender)
    for at, node in enumerate(sender.tolist()):
        others = torch.arange(nodes) != node
        if like[at]:
            others &= topic == topic[node]
        options = others.nonzero().flatten()
        receiver[at] = options[torch.randint(options.numel(), (1,), generator=draw)]
    edges: Tensor = coalesce(torch.stack([sender, receiver]))
    return edges


def _labels(votes: Tensor, edge_index: Tensor) -> Tensor:
    """Return the class (N,) that a node and its neighbours within two hops vote (N, C) for."""
    votes = votes - votes.mean(0)
    for _ in range(2):
        sender, receiver = edge_index
        votes = votes + torch.zeros_like(votes).index_add(0, receiver, votes[sender])
    return votes.argmax(1)


def _one_hot(words: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(words, CLASSES).float()
