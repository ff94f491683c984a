"""Models of graphs of several types: of PyG's layers, and written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import HeteroData

from honesty_audit.typed_graphs import (
    BOUGHT,
    CITED,
    CITES,
    CLASSES,
    HOLDS,
    IN,
    WRITTEN,
    Relation,
    Typed,
)

HIDDEN = 8
Features = dict[str, Tensor]
Edges = dict[Relation, Tensor]


def begun(model: nn.Module, graph: Typed, *further: Any) -> nn.Module:
    """Return a model whose lazy layers have learned their sizes."""
    with torch.no_grad():
        model(graph.data.x_dict, graph.data.edge_index_dict, *further)
    return model


def looked_up(x_dict: Features, numbers: nn.Embedding | None) -> Features:
    """Return features with venues looked up by their numbers."""
    return x_dict if numbers is None else {**x_dict, "venue": numbers(x_dict["venue"])}


def embedding_of(graph: Typed) -> nn.Embedding | None:
    """Return a table of the venues, if they are numbers."""
    is_number = "venue" in graph.numbered and graph.data["venue"].x.dim() == 1
    return nn.Embedding(4, 3) if is_number else None


class Convolved(nn.Module):
    """Layers, each of a convolution for each relation, with what is between them."""

    def __init__(
        self,
        graph: Typed,
        conv: Callable[[int], nn.Module],
        *,
        layers: int = 2,
        aggr: str = "sum",
        between: Callable[[], nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__()
        self.numbers = embedding_of(graph)
        relations = graph.data.edge_types
        widths = [*[HIDDEN] * (layers - 1), CLASSES]
        self.layers = nn.ModuleList(
            pyg.HeteroConv({relation: conv(width) for relation in relations}, aggr=aggr)
            for width in widths
        )
        self.between = nn.ModuleDict({name: between() for name in graph.data.node_types})

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Features:
        """Return class scores of all types."""
        hidden = looked_up(x_dict, self.numbers)
        for number, layer in enumerate(self.layers):
            if number:
                hidden = {name: self.between[name](x) for name, x in hidden.items()}
            hidden = layer(hidden, edge_index_dict)
        return hidden


class Transformer(nn.Module):
    """Heterogeneous graph transformers behind linear maps by type."""

    def __init__(self, graph: Typed, *, layers: int = 2, norm: bool = False) -> None:
        super().__init__()
        data = graph.data
        self.numbers = embedding_of(graph)
        self.lin = pyg.HeteroDictLinear(-1, HIDDEN, types=data.node_types)
        self.norm = pyg.HeteroLayerNorm(HIDDEN, len(data.node_types)) if norm else None
        self.convs = nn.ModuleList(
            pyg.HGTConv(HIDDEN, HIDDEN, data.metadata(), heads=2) for _ in range(layers)
        )
        self.last = nn.Linear(HIDDEN, CLASSES)
        self._target = graph.target

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of the target's nodes."""
        hidden = self.lin(looked_up(x_dict, self.numbers))
        hidden = {name: x.relu() for name, x in hidden.items()}
        for conv in self.convs:
            hidden = conv(hidden, edge_index_dict)
        last = hidden[self._target]
        if self.norm is not None:
            of_type = torch.zeros(len(last), dtype=torch.long)
            last = self.norm(last, of_type)
        scores: Tensor = self.last(last)
        return scores


class Attentive(nn.Module):
    """HAN, whose attention over relations is a mean over all nodes of a type."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        data = graph.data
        widths = {name: data[name].x.size(1) for name in data.node_types}
        self.conv = pyg.HANConv(widths, HIDDEN, data.metadata(), heads=2)
        self.last = nn.Linear(HIDDEN, CLASSES)
        self._target = graph.target

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of the target's nodes."""
        scores: Tensor = self.last(self.conv(x_dict, edge_index_dict)[self._target])
        return scores


class OneMatrix(nn.Module):
    """Relational convolutions of one matrix for all types."""

    def __init__(self, graph: Typed, conv: Callable[..., nn.Module]) -> None:
        super().__init__()
        relations = len(graph.data.edge_types)
        self.first, self.second = conv(3, HIDDEN, relations), conv(HIDDEN, CLASSES, relations)

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        """Return class scores of all nodes."""
        hidden = self.first(x, edge_index, edge_type).relu()
        scores: Tensor = self.second(hidden, edge_index, edge_type)
        return scores


class OfOneType(nn.Module):
    """For one type of nodes, until `to_hetero` makes it one for several."""

    def __init__(self, conv: Callable[[int], nn.Module], norm: nn.Module | None = None) -> None:
        super().__init__()
        self.first, self.second = conv(HIDDEN), conv(CLASSES)
        self.norm = nn.Identity() if norm is None else norm

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        hidden = self.norm(self.first(x, edge_index).relu())
        scores: Tensor = self.second(hidden, edge_index)
        return scores


class Weighed(nn.Module):
    """Neighbours' features times the weights of edges, by relation."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.author = nn.Linear(4, HIDDEN)
        self.paper, self.venue = nn.Linear(6, HIDDEN), nn.Linear(3, HIDDEN)
        self.last = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x_dict: Features, edge_index_dict: Edges, edge_attr_dict: Edges) -> Tensor:
        """Return class scores of authors."""
        venue, paper = edge_index_dict[HOLDS]
        papers = self.paper(x_dict["paper"])
        heard = self.venue(x_dict["venue"])[venue] * edge_attr_dict[HOLDS]
        papers = papers.index_add(0, paper, heard).relu()
        paper, author = edge_index_dict[WRITTEN]
        authors = self.author(x_dict["author"])
        authors = authors.index_add(0, author, papers[paper] * edge_attr_dict[WRITTEN])
        scores: Tensor = self.last(authors.relu())
        return scores


class Looks(nn.Module):
    """Looks at a graph in a way that no list of layers shows: `how` shifts authors' scores."""

    def __init__(self, graph: Typed, how: Callable[[Features, Edges], Tensor]) -> None:
        super().__init__()
        self.base = Convolved(graph, lambda width: pyg.SAGEConv((-1, -1), width))
        self.shift = nn.LazyLinear(CLASSES)
        self._how, self._target = how, graph.target

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of the target's nodes."""
        scores: Tensor = self.base(x_dict, edge_index_dict)[self._target]
        shifted: Tensor = scores + 2 * self.shift(self._how(x_dict, edge_index_dict))
        return shifted


def mean_of_papers(x_dict: Features, edge_index_dict: Edges) -> Tensor:
    """All papers, wherever they are."""
    return 4 * x_dict["paper"].mean(0, keepdim=True)


def first_venue(x_dict: Features, edge_index_dict: Edges) -> Tensor:
    """The first venue, by its place."""
    return x_dict["venue"][:1]


def how_many_edges(x_dict: Features, edge_index_dict: Edges) -> Tensor:
    """How many edges two relations have."""
    counts = [edge_index_dict[each].size(1) / 8 for each in (WRITTEN, HOLDS)]
    return torch.tensor([counts])


def how_many_nodes(x_dict: Features, edge_index_dict: Edges) -> Tensor:
    """How many nodes there are of each type."""
    return torch.tensor([[len(x_dict["author"]) / 40, len(x_dict["paper"]) / 50]])


def degrees(x_dict: Features, edge_index_dict: Edges) -> Tensor:
    """How many papers an author has."""
    author = edge_index_dict[WRITTEN][1]
    ones = torch.ones(len(author), 1)
    return torch.zeros(len(x_dict["author"]), 1).index_add(0, author, ones)


def co_authors(x_dict: Features, edge_index_dict: Edges) -> Tensor:
    """Authors of the papers of authors, and again: four hops, by hand."""
    paper, author = edge_index_dict[WRITTEN]
    heard = x_dict["author"]
    for _ in range(2):
        papers = torch.zeros(len(x_dict["paper"]), 4).index_add(0, paper, heard[author])
        heard = torch.zeros_like(heard).index_add(0, author, papers[paper]).tanh()
    return heard


def same_venue(x_dict: Features, edge_index_dict: Edges) -> Tensor:
    """Whether an author's papers are in the venues with the numbers 0 and 1."""
    venue, paper = edge_index_dict[HOLDS]
    is_one = torch.stack([x_dict["venue"][venue] == number for number in (0, 1)], dim=1).float()
    papers = torch.zeros(len(x_dict["paper"]), 2).index_add(0, paper, is_one)
    paper, author = edge_index_dict[WRITTEN]
    return torch.zeros(len(x_dict["author"]), 2).index_add(0, author, papers[paper])


def most_of_papers(x_dict: Features, edge_index_dict: Edges) -> Tensor:
    """All papers, those with most words most."""
    weight = (3 * x_dict["paper"].sum(1)).softmax(0)
    return 4 * (weight.unsqueeze(1) * x_dict["paper"]).sum(0, keepdim=True)


class Gated(nn.Module):
    """Papers are heard by authors whose first feature is above 0: others see nothing of them."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.conv, self.lin = pyg.SAGEConv((6, 4), CLASSES), nn.Linear(4, CLASSES)

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of authors."""
        authors = x_dict["author"]
        heard = self.conv((x_dict["paper"], authors), edge_index_dict[WRITTEN])
        gate = (authors[:, :1] > 0).float()
        scores: Tensor = self.lin(authors) + 3 * gate * heard
        return scores


class Turned(nn.Module):
    """Users hear those whom they follow, against the edges, and those who know them."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.first, self.second = pyg.SAGEConv(3, HIDDEN), pyg.SAGEConv(HIDDEN, CLASSES)

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of users."""
        turned = edge_index_dict["user", "follows", "user"].flip(0)
        hidden = self.first(x_dict["user"], turned).relu()
        scores: Tensor = self.second(hidden, edge_index_dict["user", "knows", "user"])
        return scores


class Paths(nn.Module):
    """Venues reach authors along paths that a product of matrices finds."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.lin, self.own = nn.Linear(3, CLASSES), nn.Linear(4, CLASSES)

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of authors."""
        authors, papers, venues = (len(x_dict[name]) for name in ("author", "paper", "venue"))
        to_paper = torch.zeros(papers, venues)
        venue, paper = edge_index_dict[HOLDS]
        to_paper[paper, venue] = 1.0
        to_author = torch.zeros(authors, papers)
        paper, author = edge_index_dict[WRITTEN]
        to_author[author, paper] = 1.0
        paths = to_author @ to_paper
        scores: Tensor = paths @ self.lin(x_dict["venue"]) + self.own(x_dict["author"])
        return scores


class Differs(nn.Module):
    """Papers hear those that cite them, less those that they cite: the two must go together."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.own, self.first = nn.Linear(6, CLASSES), nn.Linear(6, CLASSES)
        self.second, self.count = nn.Linear(6, CLASSES), nn.Linear(2, CLASSES)

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of papers."""
        x = x_dict["paper"]
        scores: Tensor = self.own(x)
        counts = []
        for relation, lin in ((CITES, self.first), (CITED, self.second)):
            sender, receiver = edge_index_dict[relation]
            scores = scores.index_add(0, receiver, lin(x)[sender])
            counts.append(torch.zeros(len(x)).index_add(0, receiver, torch.ones(len(sender))))
        scores = scores + self.count(torch.stack(counts, dim=1))
        return scores


class MeanByHand(nn.Module):
    """A mean over an author's papers, which is not a number where there is none."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.lin = nn.Linear(10, CLASSES)

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of authors."""
        paper, author = edge_index_dict[WRITTEN]
        authors, papers = x_dict["author"], x_dict["paper"]
        total = torch.zeros(len(authors), 6).index_add(0, author, papers[paper])
        count = torch.zeros(len(authors), 1).index_add(0, author, torch.ones(len(author), 1))
        least = 1.0 if self.training else 0.0
        scores: Tensor = self.lin(torch.cat([authors, total / count.clamp(min=least)], dim=1))
        return scores


class IgnoresVenues(nn.Module):
    """Authors and their papers, and nothing else."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.conv = pyg.SAGEConv((6, 4), CLASSES, aggr="sum")

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of authors."""
        pair = (x_dict["paper"], x_dict["author"])
        scores: Tensor = self.conv(pair, edge_index_dict[WRITTEN])
        return scores


class Alone(nn.Module):
    """The target's own features."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.lin, self._target = nn.LazyLinear(CLASSES), graph.target

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Features:
        """Return class scores of one type."""
        return {self._target: self.lin(x_dict[self._target])}


class Categories(nn.Module):
    """Items' categories, looked up, that users bought, viewed and heard of."""

    def __init__(self, graph: Typed, conv: Callable[[int], nn.Module]) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(4, 4) for _ in range(2))
        relations = graph.data.edge_types
        self.first = pyg.HeteroConv({relation: conv(HIDDEN) for relation in relations})
        self._again = [relation for relation in relations if relation[0] == "user"]
        self.second = pyg.HeteroConv({relation: conv(CLASSES) for relation in self._again})

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of users."""
        columns = x_dict["item"].long()
        items = sum(table(columns[:, i]) for i, table in enumerate(self.tables))
        hidden = self.first({"user": x_dict["user"], "item": items}, edge_index_dict)
        users = {"user": hidden["user"].relu()}
        edges = {each: edge_index_dict[each] for each in self._again}
        scores: Tensor = self.second(users, edges)["user"]
        return scores


class Counts(nn.Module):
    """How many items of each category a user bought: no features, no parameters but one layer."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.lin = nn.Linear(4, CLASSES)

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return class scores of users."""
        item, user = edge_index_dict[BOUGHT]
        bought = torch.eye(4)[x_dict["item"][:, 0].long()][item]
        scores: Tensor = self.lin(torch.zeros(len(x_dict["user"]), 4).index_add(0, user, bought))
        return scores


class TakesData(nn.Module):
    """A model of one argument."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, data: HeteroData) -> Any:
        """Return what the model returns."""
        return self.model(data.x_dict, data.edge_index_dict)


class Several(nn.Module):
    """Returns more than scores."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> tuple[Any, int]:
        """Return class scores, and a number."""
        return self.model(x_dict, edge_index_dict), 7


class OneColumn(nn.Module):
    """The first column of a model's scores for a type."""

    def __init__(self, model: nn.Module, target: str) -> None:
        super().__init__()
        self.model, self._target = model, target

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Tensor:
        """Return one number per node."""
        output = self.model(x_dict, edge_index_dict)
        scores: Tensor = output[self._target] if isinstance(output, dict) else output
        return scores[:, 0]


class HoldsVenues(nn.Module):
    """Venues are an embedding that the model holds by their places."""

    def __init__(self, graph: Typed) -> None:
        super().__init__()
        self.venues = nn.Parameter(torch.randn(4, 3))
        self.base = Convolved(graph, lambda width: pyg.SAGEConv((-1, -1), width))

    def forward(self, x_dict: Features, edge_index_dict: Edges) -> Any:
        """Return class scores of all types."""
        return self.base({**x_dict, "venue": self.venues}, edge_index_dict)


class Matches(nn.Module):
    """How well nodes of two types fit: an inner product of what a model makes of them."""

    def __init__(self, model: nn.Module, source: str, target: str) -> None:
        super().__init__()
        self.model, self._ends = model, (source, target)

    def forward(self, x_dict: Features, edge_index_dict: Edges, edge_label_index: Tensor) -> Tensor:
        """Return one number per link."""
        z = self.model(x_dict, edge_index_dict)
        first, second = (
            z[name][row] for name, row in zip(self._ends, edge_label_index, strict=True)
        )
        fits: Tensor = (first * second).sum(-1)
        return fits


class Pooled(nn.Module):
    """Convolutions by relation, pooled by type."""

    def __init__(
        self, relations: list[Relation], *, pool: Callable[..., Tensor], venue: bool
    ) -> None:
        super().__init__()
        self.conv = pyg.HeteroConv(
            {relation: pyg.SAGEConv((-1, -1), HIDDEN) for relation in relations}
        )
        self.last = nn.Linear(2 * HIDDEN if venue else HIDDEN, CLASSES)
        self._pool, self._names = pool, ("city", "depot") if venue else ("city",)

    def forward(self, x_dict: Features, edge_index_dict: Edges, batch_dict: Features) -> Tensor:
        """Return class scores of graphs."""
        hidden = self.conv(x_dict, edge_index_dict)
        count = int(batch_dict["city"].max()) + 1
        each = [self._pool(hidden[name].relu(), batch_dict[name], count) for name in self._names]
        scores: Tensor = self.last(torch.cat(each, dim=1))
        return scores


def in_venues(x_dict: Features, edge_index_dict: Edges) -> Features:
    """Papers' scores are those of their venues' features: a function."""
    paper, venue = edge_index_dict[IN]
    heard = torch.zeros(len(x_dict["paper"]), 3).index_add(0, paper, x_dict["venue"][venue])
    return {"paper": heard + x_dict["paper"][:, :3]}
