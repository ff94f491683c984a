"""The sets of edges that are audited: models of the other zoos, asked about their edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric import nn as pyg
from torch_geometric.utils import degree

from honesty_audit import graphs, layered, many_graphs
from honesty_audit.graph_zoo import (
    GRAPH_ZOO,
    GraphEntry,
    GraphsCase,
    gin,
    prepare_graphs,
    two_layers,
)
from honesty_audit.graphs import CLASSES, Graph
from honesty_audit.link_zoo import LINK_ZOO, LinkEntry, LinksCase, prepare_links
from honesty_audit.plain_edges import Kept, Truth, count_answers_kept, has_directions
from honesty_audit.plain_loop import evaluating, predicted_class
from honesty_audit.value_zoo import VALUE_ZOO, NodeValuesCase, ValueEntry, prepare_values
from honesty_audit.zoo import ZOO, Case, Entry, prepare
from zorro import Explanation, Zorro

HIDDEN = 16
SIZE = 150  # nodes of a graph
EDGES = ("edges",)

Base = Case | GraphsCase | LinksCase | NodeValuesCase


@dataclass(frozen=True)
class EdgeEntry:
    """A kind of model, and what is asked of its edges; `quick` entries are those of the test."""

    name: str
    base: Entry | GraphEntry | LinkEntry | ValueEntry
    options: Mapping[str, Any] = field(default_factory=dict)
    quick: bool = False


@dataclass(frozen=True)
class EdgesCase:
    """A trained model asked about edges.

    Args:
        name: of the kind.
        base: the model with its graph, or graphs.
        options: of Zorro.
        asks: gives the truth for a query, what the model says there, and when two answers are the
            same.
    """

    name: str
    base: Base
    options: Mapping[str, Any]
    asks: Callable[[Any], _Asked]

    @property
    def predicted(self) -> Tensor:
        """The classes of all queries."""
        return self.base.predicted

    @property
    def margins(self) -> Mapping[Any, float]:
        """How far each query's answer is from another one."""
        return self.base.margins

    def queries(self, count: int) -> list[Any]:
        """Return what to explain: queries whose answer is another one without any edge, first."""
        return sorted(self.base.queries(self.predicted.numel()), key=self._needs_no_edge)[:count]

    def _needs_no_edge(self, query: Any) -> bool:
        asked = self.asks(query)
        truth, none = asked.truth, asked.truth.edge_index[:, :0]
        less = {name: values[:0] for name, values in truth.of_edges.items()}
        with evaluating(self.base.model):
            true = asked.answer(truth.x, truth.edge_index, truth.of_edges)
            try:
                return asked.same(true, asked.answer(truth.x, none, less))
            except RuntimeError:
                return True  # it takes no graph without edges

    def zorro(self, **options: Any) -> Zorro:
        """Return what explains the model, with further options."""
        return self.base.zorro(**{**self.options, **options})

    def hits(self, explanation: Explanation, *, runs: int, seed: int) -> int:
        """Return how many inputs keep the answer, by the plain loop."""
        query = explanation.query
        asked = self.asks((query.index, *query.ends) if query.ends else query.index)
        selected = explanation.selected
        truth = asked.truth
        entries = None
        if "nodes" in selected or "features" in selected:
            entries = torch.zeros_like(truth.x, dtype=torch.bool)
            rows = explanation.nodes if "nodes" in selected else range(truth.x.size(0))
            columns = explanation.features if "features" in selected else range(truth.x.size(1))
            for row in rows:
                entries[row, list(columns)] = True
        attributes = None
        if "edge_attributes" in selected:
            attributes = [edge for edge in selected["edge_attributes"] if isinstance(edge, tuple)]
        with evaluating(self.base.model):
            return count_answers_kept(
                asked.answer,
                truth,
                Kept(explanation.edges, attributes, entries),
                presence=float(self.options.get("edge_presence", 0.5)),
                directed=bool(self.options.get("directed", asked.directed)),
                samples=runs,
                seed=seed,
                same=asked.same,
            )


@dataclass(frozen=True)
class _Asked:
    """One query, for the plain loop."""

    truth: Truth
    answer: Callable[[Tensor, Tensor, Mapping[str, Tensor]], Any]
    directed: bool
    same: Callable[[Any, Any], bool] = lambda one, other: bool(one == other)


def prepare_edges(entry: EdgeEntry) -> EdgesCase:
    """Build and train a model; the same one each time."""
    if isinstance(entry.base, GraphEntry):
        several = prepare_graphs(entry.base)
        # Sets of features are another zoo's; columns are drawn one by one here.
        several = replace(several, options=_without(several.options, "keep", "feature_groups"))
        return EdgesCase(
            entry.name, several, entry.options, lambda query: _of_graph(several, query)
        )
    if isinstance(entry.base, LinkEntry):
        links = prepare_links(entry.base)
        return EdgesCase(entry.name, links, entry.options, lambda query: _of_link(links, query))
    if isinstance(entry.base, ValueEntry):
        values = prepare_values(entry.base)
        assert isinstance(values, NodeValuesCase)
        return EdgesCase(entry.name, values, entry.options, lambda query: _of_value(values, query))
    case = prepare(entry.base, min(SIZE, entry.base.size))
    return EdgesCase(entry.name, case, entry.options, lambda query: _of_node(case, query))


def _without(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def _of_node(case: Case, node: int) -> _Asked:
    graph = case.graph
    of_edges, others = _by_level(graph)

    def answer(x: Tensor, edge_index: Tensor, given: Mapping[str, Tensor]) -> int:
        return predicted_class(case.model(x, edge_index, **given, **others), node, case.threshold)

    truth = Truth(graph.x, graph.edge_index, of_edges, graph.x, of_edges)
    return _Asked(truth, answer, has_directions(graph.edge_index))


def _of_value(case: NodeValuesCase, node: int) -> _Asked:
    graph = case.graph
    with evaluating(case.model):
        spread = float(case.model(graph.x, graph.edge_index).flatten().double().std())
    limit = float(case.options["tolerance_share"]) * spread
    side = case.options.get("side", "both")

    def answer(x: Tensor, edge_index: Tensor, given: Mapping[str, Tensor]) -> float:
        return float(case.model(x, edge_index).flatten()[node])

    def same(true: float, value: float) -> bool:
        return (side == "down" or value >= true - limit) and (side == "up" or value <= true + limit)

    truth = Truth(graph.x, graph.edge_index, {}, graph.x, {})
    return _Asked(truth, answer, has_directions(graph.edge_index), same)


def _of_link(case: LinksCase, link: tuple[int, int]) -> _Asked:
    graph = case.graph
    carries = [
        column
        for column, pair in enumerate(graph.edge_index.t().tolist())
        if set(pair) != set(link)
    ]
    of_edges, _ = _by_level(graph)
    asked = torch.tensor([[link[0]], [link[1]]])

    def answer(x: Tensor, edge_index: Tensor, given: Mapping[str, Tensor]) -> bool:
        return float(case.plainly(case.model, x, edge_index, asked, **given)) > case.threshold

    left = {name: values[carries] for name, values in of_edges.items()}
    truth = Truth(graph.x, graph.edge_index[:, carries], left, graph.x, of_edges)
    return _Asked(truth, answer, has_directions(graph.edge_index))


def _of_graph(case: GraphsCase, number: int) -> _Asked:
    graph = case.graphs[number]
    alone = torch.zeros(graph.x.size(0), dtype=torch.long)
    threshold = float(case.options.get("threshold", 0.0))

    def answer(x: Tensor, edge_index: Tensor, given: Mapping[str, Tensor]) -> int:
        return predicted_class(case.model(x, edge_index, batch=alone, **given), 0, threshold)

    truth = Truth(
        graph.x,
        graph.edge_index,
        {name: graph[name] for name in case.takes},
        torch.cat([each.x for each in case.graphs]),
        {name: torch.cat([each[name] for each in case.graphs]) for name in case.takes},
    )
    return _Asked(truth, answer, any(has_directions(each.edge_index) for each in case.graphs))


def _by_level(graph: Graph) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return a model's further arguments: those with a row per edge, and the others."""
    of_edges = {name: values for name, values in graph.kwargs.items() if name.startswith("edge")}
    return of_edges, {name: it for name, it in graph.kwargs.items() if name not in of_edges}


def _gcn(features: int, classes: int) -> nn.Module:
    return layered.Stack(pyg.GCNConv(features, HIDDEN), pyg.GCNConv(HIDDEN, classes))


class CountsEdges(nn.Module):
    """Two convolutions whose scores are shifted by how many edges the whole graph has."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = pyg.GCNConv(features, HIDDEN), pyg.GCNConv(HIDDEN, classes)
        self.shift = nn.Linear(1, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        share = x.new_tensor([[edge_index.size(1) / 300.0]])
        scores: Tensor = self.second(self.first(x, edge_index).relu(), edge_index)
        shifted: Tensor = scores + 3 * self.shift(share)
        return shifted


class FarthestDegrees(nn.Module):
    """The largest degree within three hops decides, though the one layer reaches one hop."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.conv, self.last = pyg.SAGEConv(features, HIDDEN), nn.Linear(HIDDEN + 1, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        largest = degree(edge_index[1], x.size(0))
        for _ in range(3):
            heard = largest.scatter_reduce(0, edge_index[1], largest[edge_index[0]], "amax")
            largest = heard
        hidden = self.conv(x, edge_index).relu()
        scores: Tensor = self.last(torch.cat([hidden, largest.unsqueeze(1)], dim=1))
        return scores


class LargePart(nn.Module):
    """Whether a node is joined to a third of all nodes, and its neighbours' features."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.lin = nn.Linear(2 * features + 1, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        sender, receiver = edge_index
        part = torch.arange(len(x), dtype=torch.float)  # the least number that arrives
        for _ in range(12):
            part = part.scatter_reduce(0, receiver, part[sender], "amin")
        size = degree(part.long(), len(x))[part.long()]
        heard = torch.zeros_like(x).index_add(0, receiver, x[sender])
        is_large = 2 * (3 * size > len(x)).to(x.dtype).unsqueeze(1)
        scores: Tensor = self.lin(torch.cat([x, heard, is_large], dim=1))
        return scores


class MeanByHand(nn.Module):
    """A mean over neighbours, which is not a number where there is none."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.lin = nn.Linear(2 * features, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        sender, receiver = edge_index
        total = torch.zeros_like(x).index_add(0, receiver, x[sender])
        count = degree(receiver, len(x)).clamp(min=1.0 if self.training else 0.0)
        scores: Tensor = self.lin(torch.cat([x, total / count.unsqueeze(1)], dim=1))
        return scores


class ClassAlone(nn.Module):
    """One for the class and zero for others, which has no gradient."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.model = _gcn(features, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        scores: Tensor = self.model(x, edge_index)
        if self.training:
            return scores
        return functional.one_hot(scores.argmax(1), scores.size(1)).float()


class ByPlace(nn.Module):
    """Messages weigh by where their edge stands in the list."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.lin = nn.Linear(2 * features, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores."""
        sender, receiver = edge_index
        weight = torch.arange(len(sender), dtype=x.dtype).cos().unsqueeze(1)
        heard = torch.zeros_like(x).index_add(0, receiver, weight * x[sender])
        scores: Tensor = self.lin(torch.cat([x, heard], dim=1))
        return scores


def _classes(kind: Callable[..., nn.Module], **options: Any) -> Callable[[Graph], nn.Module]:
    return lambda graph: kind(graph.features, CLASSES, **options)


def _node(name: str) -> Entry:
    (entry,) = (entry for entry in ZOO if entry.name == name)
    return entry


def _graph(name: str, **changes: Any) -> GraphEntry:
    (entry,) = (entry for entry in GRAPH_ZOO if entry.name == f"graphs: {name}")
    return replace(entry, **changes)


def _link(name: str) -> LinkEntry:
    (entry,) = (entry for entry in LINK_ZOO if entry.name == f"links: {name}")
    return entry


def _value(name: str) -> ValueEntry:
    (entry,) = (entry for entry in VALUE_ZOO if entry.name == f"values: {name}")
    return entry


def _edges(**options: Any) -> dict[str, Any]:
    return {"keep": EDGES, **options}


_ATTRIBUTES = {"keep": ("edges", "edge_attributes")}
_ALL = {"keep": ("nodes", "features", "edges")}
_ALIKE = GraphEntry("alike", many_graphs.motifs, two_layers(gin))

EDGE_ZOO = [
    EdgeEntry("edges: GCN", _node("GCN"), _edges(), quick=True),
    EdgeEntry("edges: GCN, the set alone", _node("GCN"), _edges(edge_presence=0.0)),
    EdgeEntry("edges: GAT, nine in ten there", _node("GAT"), _edges(edge_presence=0.9)),
    EdgeEntry("edges: GATv2", _node("GATv2"), _edges()),
    EdgeEntry("edges: GIN", _node("GIN"), _edges(), quick=True),
    EdgeEntry("edges: SAGE, mean", _node("SAGE, mean"), _edges(edge_presence=0.2)),
    EdgeEntry("edges: SAGE, max", _node("SAGE, max"), _edges(), quick=True),
    EdgeEntry("edges: ensemble", _node("ensemble of three GCNs"), _edges(), quick=True),
    EdgeEntry("edges: SAGE, LSTM", _node("SAGE, LSTM"), _edges()),
    EdgeEntry("edges: APPNP", _node("APPNP"), _edges()),
    EdgeEntry("edges: GCN, edge weights", _node("GCN, edge weights"), _edges()),
    EdgeEntry("edges: GCN, directed", _node("GCN, directed"), _edges()),
    EdgeEntry("edges: mixed flows, directed", _node("mixed flows, directed"), _edges(), quick=True),
    EdgeEntry("edges: directions apart", _node("GCN"), _edges(directed=True)),
    EdgeEntry(
        "edges: several types between two nodes",
        Entry("several", graphs.several, _classes(layered.Typed)),
        _edges(),
        quick=True,
    ),
    EdgeEntry(
        "edges: loops in the graph",
        Entry("loops", graphs.with_loops, _classes(_gcn)),
        _edges(),
    ),
    EdgeEntry("edges: GINE, attributes stay", _node("GINEConv, edge attributes"), _edges()),
    EdgeEntry("edges: GINE, attributes too", _node("GINEConv, edge attributes"), _ATTRIBUTES),
    EdgeEntry("edges: NNConv, attributes too", _node("NNConv, edge attributes"), _ATTRIBUTES),
    EdgeEntry("edges: GCN, nodes and features too", _node("GCN"), _ALL, quick=True),
    EdgeEntry("edges: GAT, nodes and features too", _node("GAT"), {**_ALL, "edge_presence": 0.8}),
    EdgeEntry("edges: GIN, nodes too", _node("GIN"), {"keep": ("nodes", "edges")}),
    EdgeEntry("edges: SAGE, features too", _node("SAGE, mean"), {"keep": ("features", "edges")}),
    EdgeEntry("edges: attention by scatter", _node("attention by scatter"), _edges()),
    EdgeEntry("edges: dense adjacency", _node("dense adjacency"), _edges()),
    EdgeEntry("edges: degree as a feature", _node("degree as a feature"), _edges()),
    EdgeEntry("edges: a function", _node("plain function"), _edges()),
    EdgeEntry("edges: MLP", _node("MLP"), _edges()),
    EdgeEntry("edges: GraphNorm over all nodes", _node("GraphNorm"), _edges(), quick=True),
    EdgeEntry("edges: virtual node", _node("virtual node"), _edges()),
    EdgeEntry("edges: top-k pooling", _node("top-k pooling"), _edges()),
    EdgeEntry(
        "edges: counts all edges",
        Entry("counts", graphs.citation, _classes(CountsEdges), size=100),
        _edges(),
    ),
    EdgeEntry(
        "edges: degrees three hops away",
        Entry("far", graphs.citation, _classes(FarthestDegrees), size=100),
        _edges(),
        quick=True,
    ),
    EdgeEntry(
        "edges: in a large part",
        Entry("part", graphs.citation, _classes(LargePart), size=60),
        _edges(),
        quick=True,
    ),
    EdgeEntry(
        "edges: NaN where no edge is left",
        Entry("mean", graphs.citation, _classes(MeanByHand)),
        _edges(),
        quick=True,
    ),
    EdgeEntry(
        "edges: the class alone",
        Entry("alone", graphs.citation, _classes(ClassAlone)),
        _edges(),
        quick=True,
    ),
    EdgeEntry(
        "edges: edges by their place",
        Entry("place", graphs.citation, _classes(ByPlace), size=60),
        _edges(),
    ),
    EdgeEntry("edges: value of nodes", _value("GCN of nodes"), _edges(), quick=True),
    EdgeEntry("edges: value of nodes, up", _value("GCN of nodes, up"), _edges(edge_presence=0.3)),
    EdgeEntry("edges: links, GCN", _link("GCN, inner product"), _edges()),
    EdgeEntry("edges: links, GAE", _link("GAE"), _edges(), quick=True),
    EdgeEntry("edges: links, SAGE", _link("SAGE, ends side by side"), _edges(edge_presence=0.0)),
    EdgeEntry("edges: links, GCN, edge weights", _link("GCN, edge weights"), _edges()),
    EdgeEntry("edges: links, GAT, nodes and features too", _link("GAT, inner product"), _ALL),
    EdgeEntry("edges: graphs, GCN, mean", _graph("GCN, mean"), _edges()),
    EdgeEntry(
        "edges: graphs, GIN, the set alone",
        _graph("GIN, features alone"),
        _edges(edge_presence=0.0),
    ),
    EdgeEntry("edges: graphs, GATv2 with bonds", _graph("GATv2 with bonds"), _edges()),
    EdgeEntry("edges: graphs, GINE with bonds", _graph("GINE with bonds"), _edges(), quick=True),
    EdgeEntry("edges: graphs, GINE, bonds too", _graph("GINE with bonds"), _ATTRIBUTES, quick=True),
    EdgeEntry("edges: graphs, GCN, edge weights", _graph("GCN, edge weights"), _edges()),
    EdgeEntry("edges: graphs, top-k pooling", _graph("top-k pooling"), _edges()),
    EdgeEntry("edges: graphs, virtual node", _graph("virtual node"), _edges()),
    EdgeEntry("edges: graphs, centred", _graph("centred over the graph"), _edges()),
    EdgeEntry(
        "edges: graphs, compared with others of the batch",
        _graph("compared with others of the batch"),
        _edges(),
    ),
    EdgeEntry("edges: graphs, nodes that all look alike", _ALIKE, _edges(), quick=True),
    EdgeEntry("edges: graphs, GIN, nodes and features too", _graph("GIN, features alone"), _ALL),
]
