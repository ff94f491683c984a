"""Small graphs of several types: words, numbers of nodes, one-way relations, attributes, …"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

CLASSES = 3
Relation = tuple[str, str, str]


@dataclass(frozen=True)
class Typed:
    """A graph of several types whose nodes of one have classes.

    Args:
        data: features and edges.
        target: the type that has classes.
        y: (n,) these.
        ways: relations, each with the one that leads back along its edges: itself, or none.
        numbered: types whose features only tell nodes apart.
    """

    data: HeteroData
    target: str
    y: Tensor
    ways: tuple[tuple[Relation, Relation | None], ...]
    numbered: frozenset[str] = field(default_factory=frozenset)


MakeTyped = Callable[[], Typed]
WRITES, WRITTEN = ("author", "writes", "paper"), ("paper", "rev_writes", "author")
IN, HOLDS = ("paper", "in", "venue"), ("venue", "rev_in", "paper")
BOTH_WAYS = ((WRITES, WRITTEN), (IN, HOLDS))


def _die(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _classes(scores: Tensor) -> Tensor:
    """Return the highest column once each has the same mean and spread."""
    spread = (scores - scores.mean(0)).abs().mean(0).clamp(min=1e-6)
    return ((scores - scores.mean(0)) / spread).argmax(1)


def _library(venues: Tensor | None, *, authors: int = 40, papers: int = 50) -> Typed:
    """Authors write papers in venues; an author's class follows from words and venues."""
    die = _die(4)
    count = 4
    x = torch.randn(authors, 4, generator=die)
    words = (torch.rand(papers, 6, generator=die) < 0.35).float()
    writer = torch.arange(authors).repeat_interleave(3)
    written = torch.randint(papers, (3 * authors,), generator=die)
    pairs = _distinct(torch.stack([writer, written]))
    place = torch.stack([torch.arange(papers), torch.randint(count, (papers,), generator=die)])
    data = HeteroData()
    data["author"].x, data["paper"].x = x, words
    if venues is None:
        data["venue"].num_nodes = count
    else:
        data["venue"].x = venues
    data[WRITES].edge_index, data[WRITTEN].edge_index = pairs, pairs.flip(0)
    data[IN].edge_index, data[HOLDS].edge_index = place, place.flip(0)
    liked = torch.randn(count, CLASSES, generator=die)
    of_paper = words[:, :CLASSES] + 0.7 * liked[place[1]]
    heard = torch.zeros(authors, CLASSES).index_add(0, pairs[0], of_paper[pairs[1]])
    numbered = frozenset({"venue"}) if venues is not None and _numbers(venues) else frozenset()
    return Typed(data, "author", _classes(heard + 0.3 * x[:, :CLASSES]), BOTH_WAYS, numbered)


def _distinct(edges: Tensor) -> Tensor:
    """Return each edge once."""
    return torch.tensor(sorted({tuple(pair) for pair in edges.t().tolist()})).t().contiguous()


def _numbers(venues: Tensor) -> bool:
    return venues.dim() == 1 or torch.equal(venues, torch.eye(len(venues)))


def by_number() -> Typed:
    """Venues are numbers that the model looks up."""
    return _library(torch.arange(4))


def one_hot() -> Typed:
    """Venues are one-hot numbers."""
    return _library(torch.eye(4))


def featured() -> Typed:
    """Venues have features."""
    return _library(torch.randn(4, 3, generator=_die(1)))


def without() -> Typed:
    """Venues have nothing."""
    return _library(None)


def small() -> Typed:
    """The same with fewer nodes, for models that see all of them."""
    venues = torch.randn(4, 3, generator=_die(1))
    return _library(venues, authors=14, papers=18)


def even() -> Typed:
    """All types have as many columns, for models of one matrix."""
    graph = featured()
    for name in graph.data.node_types:
        graph.data[name].x = graph.data[name].x[:, :3].contiguous()
    return graph


def apart() -> Typed:
    """Some authors have written nothing."""
    graph = by_number()
    kept = graph.data[WRITES].edge_index[0] >= 8
    graph.data[WRITES].edge_index = graph.data[WRITES].edge_index[:, kept]
    graph.data[WRITTEN].edge_index = graph.data[WRITTEN].edge_index[:, kept]
    return graph


def doubled() -> Typed:
    """In double precision."""
    graph = featured()
    for name in graph.data.node_types:
        graph.data[name].x = graph.data[name].x.double()
    return graph


def hub() -> Typed:
    """All authors are joined to one node, which has features of its own."""
    graph = featured()
    authors = int(graph.data["author"].num_nodes)
    joined = torch.stack([torch.zeros(authors, dtype=torch.long), torch.arange(authors)])
    graph.data["hub"].x = torch.randn(1, 2, generator=_die(6))
    forth, back = ("hub", "joins", "author"), ("author", "rev_joins", "hub")
    graph.data[forth].edge_index, graph.data[back].edge_index = joined, joined.flip(0)
    return replace(graph, ways=(*graph.ways, (forth, back)))


def unrelated() -> Typed:
    """One of the relations has no edges."""
    graph = featured()
    relation = ("author", "knows", "author")
    graph.data[relation].edge_index = torch.empty(2, 0, dtype=torch.long)
    return replace(graph, ways=(*graph.ways, (relation, relation)))


def sparse() -> Typed:
    """Papers have many words, few of them each."""
    graph = featured()
    papers = int(graph.data["paper"].num_nodes)
    more = (torch.rand(papers, 60, generator=_die(8)) < 0.04).float()
    graph.data["paper"].x = torch.cat([graph.data["paper"].x, more], dim=1)
    return graph


BOUGHT, FOLLOWS = ("item", "bought_by", "user"), ("user", "follows", "user")
VIEWED, KNOWS = ("item", "viewed_by", "user"), ("user", "knows", "user")


def shop() -> Typed:
    """Items reach users by two relations, one way; users follow users, and know each other."""
    die = _die(7)
    users, items = 40, 30
    data = HeteroData()
    data["user"].x = torch.randn(users, 3, generator=die)
    data["item"].x = torch.randint(4, (items, 2), generator=die)  # categories
    for relation, edges in ((BOUGHT, 70), (VIEWED, 60)):
        ends = [torch.randint(size, (edges,), generator=die) for size in (items, users)]
        data[relation].edge_index = _distinct(torch.stack(ends))
    follows = _distinct(torch.randint(users, (2, 60), generator=die))
    data[FOLLOWS].edge_index = follows[:, follows[0] < follows[1]]
    known = torch.randint(users, (2, 35), generator=die)
    known = known[:, known[0] != known[1]]
    data[KNOWS].edge_index = _distinct(torch.cat([known, known.flip(0)], dim=1))
    item, user = data[BOUGHT].edge_index
    one_hot = torch.eye(4)[data["item"].x[:, 0]][:, :CLASSES]
    heard = torch.zeros(users, CLASSES).index_add(0, user, one_hot[item])
    first, second = data[KNOWS].edge_index
    heard = heard.index_add(0, second, 0.5 * data["user"].x[first])
    ways = ((BOUGHT, None), (VIEWED, None), (FOLLOWS, None), (KNOWS, KNOWS))
    return Typed(data, "user", _classes(heard + 0.3 * data["user"].x), ways)


def weighed() -> Typed:
    """Each edge has a weight, the same in both directions; some papers are twice in a venue."""
    graph = featured()
    die = _die(3)
    data = graph.data
    again = data[IN].edge_index[:, :12]
    data[IN].edge_index = torch.cat([data[IN].edge_index, again], dim=1)
    data[HOLDS].edge_index = data[IN].edge_index.flip(0)
    for relation, back in BOTH_WAYS:
        weight = torch.rand(data[relation].edge_index.size(1), 1, generator=die)
        data[relation].edge_attr = data[back].edge_attr = weight
    return graph


def cites() -> Typed:
    """One type alone, whose nodes cite each other in both directions."""
    die = _die(2)
    data = HeteroData()
    data["paper"].x = (torch.rand(60, 8, generator=die) < 0.3).float()
    edges = torch.randint(60, (2, 110), generator=die)
    edges = edges[:, edges[0] != edges[1]]
    relation = ("paper", "cites", "paper")
    data[relation].edge_index = _distinct(torch.cat([edges, edges.flip(0)], dim=1))
    sender, receiver = data[relation].edge_index
    x = data["paper"].x[:, :CLASSES]
    heard = x.index_add(0, receiver, x[sender])
    return Typed(data, "paper", _classes(heard), ((relation, relation),))


CITES, CITED = ("paper", "cites", "paper"), ("paper", "cited_by", "paper")


def cited() -> Typed:
    """Papers cite papers, some one another; that they are cited is a relation of its own."""
    graph = featured()
    papers = int(graph.data["paper"].num_nodes)
    once = torch.randint(papers, (2, 70), generator=_die(9))
    forth = _distinct(torch.cat([once, once[:, :30].flip(0)], dim=1))
    graph.data[CITES].edge_index, graph.data[CITED].edge_index = forth, forth.flip(0)
    x = graph.data["paper"].x[:, :CLASSES]
    heard = x.index_add(0, forth[1], x[forth[0]]).index_add(0, forth[0], -0.7 * x[forth[1]])
    ways = (*graph.ways, (CITES, CITED))
    return replace(graph, target="paper", y=_classes(heard), ways=ways)


ROAD, SERVES, SERVED = (
    ("city", "road", "city"),
    ("depot", "serves", "city"),
    ("city", "rev_serves", "depot"),
)
ROADS = ((ROAD, ROAD), (SERVES, SERVED))


def maps(count: int = 60) -> tuple[list[HeteroData], Tensor]:
    """Many graphs: cities in a ring with depots, and a class each; some have no depot."""
    die = _die(5)
    graphs, scores = [], []
    for number in range(count):
        cities = int(torch.randint(4, 9, (1,), generator=die))
        depots = 0 if number % 9 == 5 else int(torch.randint(1, 4, (1,), generator=die))
        data = HeteroData()
        data["city"].x = torch.randn(cities, 4, generator=die)
        data["depot"].x = (torch.rand(depots, 3, generator=die) < 0.5).float()
        ring = torch.stack([torch.arange(cities), (torch.arange(cities) + 1) % cities])
        data[ROAD].edge_index = torch.cat([ring, ring.flip(0)], dim=1)
        ends = [torch.arange(depots), torch.randint(cities, (depots,), generator=die)]
        data[SERVES].edge_index = torch.stack(ends)
        data[SERVED].edge_index = data[SERVES].edge_index.flip(0)
        graphs.append(data)
        scores.append(data["city"].x[:, :CLASSES].mean(0) + data["depot"].x.sum(0))
    return graphs, _classes(torch.stack(scores))
