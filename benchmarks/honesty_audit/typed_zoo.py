"""The models of several types that are audited, by name: of nodes, links, values and graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric import nn as pyg
from torch_geometric.data import Batch, HeteroData

from honesty_audit import typed_graphs, typed_models
from honesty_audit.plain_loop import evaluating, margins
from honesty_audit.plain_types import KeptOfTypes, count_answers_kept_of_types
from honesty_audit.typed_graphs import IN, ROADS, WRITES, MakeTyped, Relation, Typed
from honesty_audit.typed_models import Convolved, begun
from honesty_audit.zoo import rare_ones
from zorro import Explanation, Zorro

EPOCHS, RATE = 80, 0.02
LINKS = 60  # pairs that are asked about, half of them edges


@dataclass(frozen=True)
class TypedEntry:
    """A kind of model of several types; `quick` entries are those of the test.

    Args:
        name: of the kind.
        graph: on which.
        build: makes the model.
        options: of Zorro.
        call: calls the model as its owner does, on a graph, and for links with these.
        finish: turns the trained module into what Zorro is given, and may change its data with it.
        asks: the type that is asked about, if it is not the graph's, or the relation of links.
        attributes: whether edges' attributes go into the model.
        epochs: of the training.
    """

    name: str
    graph: MakeTyped
    build: Callable[[Typed], nn.Module]
    options: Mapping[str, Any] = field(default_factory=dict)
    call: Callable[..., Any] = lambda model, data: model(data.x_dict, data.edge_index_dict)
    finish: Callable[[nn.Module, HeteroData], tuple[Any, HeteroData]] = lambda model, data: (
        model,
        data,
    )
    asks: str | Relation | None = None
    attributes: bool = False
    epochs: int = EPOCHS
    quick: bool = False


@dataclass(frozen=True)
class TypedCase:
    """A trained model with its graph, or graphs.

    Args:
        name: of the kind.
        model: as Zorro gets it.
        graphs: one, or those that are asked about by their numbers.
        ways: of relations, as the plain loop takes them.
        numbered: types whose features only tell nodes apart.
        options: of Zorro.
        predicted: the classes of all queries.
        asked: every query, in the order of these.
        made: gives what explains the model.
        output: the model's answer for a query on a graph: scores (C,), or a value (1,).
        spread: of the model's outputs, of which a tolerance may be a share.
        link: the relation of links that are asked about.
        margins: how far each query's answer is from another one.
    """

    name: str
    model: Any
    graphs: Sequence[HeteroData]
    ways: Sequence[tuple[Relation, Relation | None]]
    numbered: frozenset[str]
    options: Mapping[str, Any]
    predicted: Tensor
    asked: Sequence[Any]
    made: Callable[..., Zorro]
    output: Callable[[HeteroData, Any], Tensor]
    spread: float = 0.0
    link: Relation | None = None
    margins: Mapping[Any, float] = field(default_factory=dict)

    def queries(self, count: int) -> list[Any]:
        """Return what to explain; of edges, queries whose answer is another without any, first."""
        every = torch.ones_like(self.predicted, dtype=torch.bool)
        if {"edges", "relations"}.isdisjoint(self.options.get("keep", ())):
            return [self.asked[place] for place in rare_ones(self.predicted, every, count)]
        order = [self.asked[place] for place in rare_ones(self.predicted, every, len(every))]
        with evaluating(self.model):
            return sorted(order, key=self._needs_no_edge)[:count]

    def _needs_no_edge(self, query: Any) -> bool:
        data = self.graphs[query] if len(self.graphs) > 1 else self.graphs[0]
        bare = data.clone()
        for relation in bare.edge_types:
            for name, value in bare[relation].items():
                bare[relation][name] = value[..., :0] if name == "edge_index" else value[:0]
        return self._same(self._answer(data, query), self._answer(bare, query))

    def zorro(self, **options: Any) -> Zorro:
        """Return what explains the model, with further options."""
        return self.made(**{**self.options, **options})

    def hits(self, explanation: Explanation, *, runs: int, seed: int) -> int:
        """Return how many inputs keep the answer, by the plain loop."""
        query: Any = explanation.query.asked
        data = self.graphs[query] if explanation.query.level == "graph" else self.graphs[0]
        with evaluating(self.model):
            return count_answers_kept_of_types(
                lambda graph: self._answer(graph, query),
                self._without_link(data, query, explanation),
                _kept(explanation),
                pool=self.graphs,
                ways=self.ways,
                numbered=self.numbered,
                groups=self._groups,
                presence=float(self.options.get("edge_presence", 0.5)),
                samples=runs,
                seed=seed,
                same=self._same,
            )

    @property
    def _groups(self) -> dict[str, list[list[int]]]:
        """Columns that are drawn together, by type."""
        noise = self.options.get("noise", {})
        whole = {
            name: [list(range(self.graphs[0][name].x.size(1)))]
            for name, each in noise.items()
            if each == "rows"
        }
        return {**whole, **self.options.get("feature_groups", {})}

    def _without_link(self, data: HeteroData, query: Any, explanation: Explanation) -> HeteroData:
        """Return the graph without the link that is asked about, in both directions."""
        if explanation.query.level != "link":
            return data
        data, (u, v) = data.clone(), query
        (ways,) = (each for each in self.ways if each[0] == self.link)
        for relation, ends in zip(ways, ((u, v), (v, u)), strict=True):
            if relation is not None:
                edges = data[relation].edge_index
                data[relation].edge_index = edges[:, (edges[0] != ends[0]) | (edges[1] != ends[1])]
        return data

    def _answer(self, data: HeteroData, query: Any) -> float:
        scores = self.output(data, query).flatten()
        if scores.isnan().any():
            return float("nan")
        if scores.numel() > 1:
            return float(scores.argmax())
        if "threshold" in self.options:
            return float(scores > self.options["threshold"])
        return float(scores)

    def _same(self, true: float, other: float) -> bool:
        if "tolerance_share" in self.options:
            return abs(true - other) <= float(self.options["tolerance_share"]) * self.spread
        return true == other


def _kept(explanation: Explanation) -> KeptOfTypes:
    selected = explanation.selected
    by_type: dict[str, Any] = {
        kind: dict(getattr(explanation, kind).items())
        for kind in ("nodes", "features", "edges")
        if kind in selected
    }
    if "types" in selected:
        by_type["types"] = explanation.node_types
    if "relations" in selected:
        by_type["relations"] = explanation.relations
    return KeptOfTypes(**by_type)


def prepare_types(entry: TypedEntry | GraphsEntry) -> TypedCase:
    """Build and train a model; the same one each time, and no other randomness is touched."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if isinstance(entry, GraphsEntry):
            return _of_graphs(entry)
        graph = entry.graph()
        if entry.options.get("directed"):
            apart: list[tuple[Relation, Relation | None]] = [
                (relation, None) for relation in graph.data.edge_types
            ]
            graph = replace(graph, ways=tuple(apart))
        module = entry.build(graph)
        if isinstance(entry.asks, tuple):
            return _of_links(entry, graph, module)
        return _of_nodes(entry, graph, module)


def _of_nodes(entry: TypedEntry, graph: Typed, module: nn.Module) -> TypedCase:
    target = graph.target if entry.asks is None else entry.asks
    assert isinstance(target, str)
    data = graph.data

    def output(model: Any, data: HeteroData) -> Tensor:
        given = entry.call(model, data)
        given = given[0] if isinstance(given, tuple) else given
        scores: Tensor = given[target] if isinstance(given, dict) else given
        return scores

    first = len(graph.y)  # of a model of one matrix, the target's are the first
    parameters = [each for each in module.parameters() if each.requires_grad]
    if parameters and target == graph.target:
        optimiser = torch.optim.Adam(parameters, lr=RATE)
        for _ in range(entry.epochs):
            optimiser.zero_grad()
            scores = output(module, data)
            if scores.dim() == 1:
                is_first = (graph.y == 0).to(scores.dtype)
                loss = functional.binary_cross_entropy_with_logits(scores, is_first)
            else:
                loss = functional.cross_entropy(scores[:first], graph.y)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    model, data = entry.finish(module.eval(), data)
    with evaluating(model):
        scores = output(model, data)
    scores = scores[: data[target].num_nodes]
    near = dict(enumerate(margins(scores, float(entry.options.get("threshold", 0.0)))))
    if scores.dim() == 1 and "threshold" in entry.options:
        predicted = (scores > entry.options["threshold"]).long()
    elif scores.dim() == 1:
        values = scores.double().contiguous()  # torch warns of what it would copy
        predicted = torch.bucketize(values, values.quantile(values.new_tensor([0.25, 0.5, 0.75])))
    else:
        predicted = scores.argmax(1)
    further = {"edge_attr_dict": data.collect("edge_attr")} if entry.attributes else {}
    return TypedCase(
        entry.name,
        model,
        [data],
        graph.ways,
        graph.numbered,
        entry.options,
        predicted,
        range(len(predicted)),
        lambda **options: Zorro.of_hetero(model, data, target, model_kwargs=further, **options),
        lambda graph, node: output(model, graph)[node],
        spread=float(scores.double().std()) if scores.dim() == 1 else 0.0,
        margins={} if "tolerance_share" in entry.options else near,
    )


def _of_links(entry: TypedEntry, graph: Typed, module: nn.Module) -> TypedCase:
    relation = entry.asks
    assert isinstance(relation, tuple)
    data = graph.data
    edges = data[relation].edge_index
    optimiser = torch.optim.Adam(module.parameters(), lr=RATE)
    sizes = [int(data[name].num_nodes) for name in relation[::2]]
    for _ in range(entry.epochs):
        others = torch.stack([torch.randint(size, (edges.size(1),)) for size in sizes])
        links = torch.cat([edges, others], dim=1)
        there = (torch.arange(links.size(1)) < edges.size(1)).float()
        optimiser.zero_grad()
        scores = module(data.x_dict, data.edge_index_dict, links)
        functional.binary_cross_entropy_with_logits(scores, there).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    model, data = entry.finish(module.eval(), data)
    some = edges[:, torch.randperm(edges.size(1))[: LINKS // 2]]
    others = torch.stack([torch.randint(size, (LINKS // 2,)) for size in sizes])
    pairs = torch.cat([some, others], dim=1)
    options = {"threshold": 0.0, **entry.options}
    with evaluating(model):
        scores = model(data.x_dict, data.edge_index_dict, pairs)
    predicted = (scores > options["threshold"]).long()
    asked = [tuple(pair) for pair in pairs.t().tolist()]
    # Links are rarer than pairs that are none: these are the commonest, and asked about last.
    return TypedCase(
        entry.name,
        model,
        [data],
        graph.ways,
        graph.numbered,
        options,
        predicted,
        asked,
        lambda **options: Zorro.of_hetero(model, data, relation, **options),
        lambda graph, link: model(
            graph.x_dict, graph.edge_index_dict, torch.tensor([[link[0]], [link[1]]])
        ),
        link=relation,
        margins=dict(zip(asked, margins(scores, options["threshold"]), strict=True)),
    )


@dataclass(frozen=True)
class GraphsEntry:
    """A kind of model of whole graphs of several types."""

    name: str
    build: Callable[[], nn.Module]
    options: Mapping[str, Any] = field(default_factory=dict)
    finish: Callable[[nn.Module, list[HeteroData]], tuple[Any, list[HeteroData]]] = (
        lambda model, graphs: (model, graphs)
    )
    epochs: int = EPOCHS
    call: Callable[..., Tensor] = lambda model, data: model(
        data.x_dict, data.edge_index_dict, data.batch_dict
    )
    quick: bool = False


def _of_graphs(entry: GraphsEntry) -> TypedCase:
    graphs, y = typed_graphs.maps()
    whole = Batch.from_data_list(graphs)
    module = entry.build()
    with torch.no_grad():
        module(whole.x_dict, whole.edge_index_dict, whole.batch_dict)
    optimiser = torch.optim.Adam(module.parameters(), lr=RATE)
    for _ in range(entry.epochs):
        optimiser.zero_grad()
        scores = module(whole.x_dict, whole.edge_index_dict, whole.batch_dict)
        functional.cross_entropy(scores, y).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    model, graphs = entry.finish(module.eval(), graphs)
    with evaluating(model):
        scores = entry.call(model, Batch.from_data_list(graphs))

    def output(graph: HeteroData, query: int) -> Tensor:
        return entry.call(model, Batch.from_data_list([graph]))[0]

    return TypedCase(
        entry.name,
        model,
        graphs,
        ROADS,
        frozenset(),
        entry.options,
        scores.argmax(1),
        range(len(graphs)),
        lambda **options: Zorro.of_graphs(model, graphs, **options),
        output,
        margins=dict(enumerate(margins(scores))),
    )


def _sage(width: int, **options: Any) -> nn.Module:
    conv: nn.Module = pyg.SAGEConv((-1, -1), width, **options)
    return conv


def _gat(width: int) -> nn.Module:
    conv: nn.Module = pyg.GATConv((-1, -1), width, add_self_loops=False)
    return conv


def _gatv2(width: int) -> nn.Module:
    conv: nn.Module = pyg.GATv2Conv((-1, -1), width, add_self_loops=False)
    return conv


def _graph_conv(width: int) -> nn.Module:
    conv: nn.Module = pyg.GraphConv((-1, -1), width)
    return conv


def _transformer(width: int) -> nn.Module:
    conv: nn.Module = pyg.TransformerConv((-1, -1), width)
    return conv


def _gcn(width: int) -> nn.Module:
    conv: nn.Module = pyg.GCNConv(-1, width)
    return conv


def _cached(width: int) -> nn.Module:
    conv: nn.Module = pyg.GCNConv(-1, width, cached=True)
    return conv


def _with_bases(before: int, after: int, relations: int) -> nn.Module:
    conv: nn.Module = pyg.RGCNConv(before, after, relations, num_bases=2)
    return conv


class _Isomorphism(nn.Module):
    """GIN between two types: sums of neighbours, mapped."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own, self.heard = nn.LazyLinear(width), nn.LazyLinear(width)
        self.sum = pyg.SimpleConv(aggr="sum")
        self.map = nn.Sequential(nn.ReLU(), nn.Linear(width, width))

    def forward(self, x: Any, edge_index: Tensor) -> Tensor:
        """Return the nodes that edges lead to."""
        pair = x if isinstance(x, tuple) else (x, x)
        mapped: Tensor = self.map(self.own(pair[1]) + self.heard(self.sum(pair, edge_index)))
        return mapped


def _convolved(conv: Callable[[int], nn.Module], **options: Any) -> Callable[[Typed], nn.Module]:
    return lambda graph: begun(Convolved(graph, conv, **options), graph)


def _hgt(graph: Typed) -> nn.Module:
    return begun(typed_models.Transformer(graph), graph)


def _looks(how: Callable[..., Tensor]) -> Callable[[Typed], nn.Module]:
    return lambda graph: begun(typed_models.Looks(graph, how), graph)


def _made(kind: Callable[[Typed], nn.Module]) -> Callable[[Typed], nn.Module]:
    return lambda graph: begun(kind(graph), graph)


def _to_hetero(
    conv: Callable[[int], nn.Module], norm: nn.Module | None = None
) -> Callable[[Typed], nn.Module]:
    def build(graph: Typed) -> nn.Module:
        single = typed_models.OfOneType(conv, norm)
        made: nn.Module = pyg.to_hetero(single, graph.data.metadata())
        return begun(made, graph)

    return build


def _one_matrix(conv: Callable[..., nn.Module]) -> Callable[[Typed], nn.Module]:
    return lambda graph: typed_models.OneMatrix(graph, conv)


def _as_one(model: nn.Module, data: HeteroData) -> Tensor:
    one = data.to_homogeneous()
    scores: Tensor = model(one.x, one.edge_index, one.edge_type)
    return scores


def _taking_data(model: nn.Module, data: HeteroData) -> Any:
    if isinstance(model, typed_models.TakesData):
        return model(data)
    return model(data.x_dict, data.edge_index_dict)


def _weighed(model: nn.Module, data: HeteroData) -> Tensor:
    scores: Tensor = model(data.x_dict, data.edge_index_dict, data.collect("edge_attr"))
    return scores


def _make_weighed(graph: Typed) -> nn.Module:
    return typed_models.Weighed(graph)


def _shop(conv: Callable[[int], nn.Module]) -> Callable[[Typed], nn.Module]:
    return lambda graph: begun(typed_models.Categories(graph, conv), graph)


def _one_column(graph: Typed) -> nn.Module:
    return typed_models.OneColumn(_hgt(graph), graph.target)


def _one_column_of_sage(graph: Typed) -> nn.Module:
    return typed_models.OneColumn(_convolved(_sage)(graph), graph.target)


def _doubled(graph: Typed) -> nn.Module:
    return begun(Convolved(graph, _sage).double(), graph)


def _matches(source: str, target: str) -> Callable[[Typed], nn.Module]:
    return lambda graph: typed_models.Matches(_convolved(_sage)(graph), source, target)


def _dropping() -> nn.Module:
    return nn.Sequential(nn.ReLU(), nn.Dropout(0.4))


def _pooled(pool: Callable[..., Tensor], *, venue: bool = True) -> Callable[[], nn.Module]:
    relations = list(typed_graphs.maps(1)[0][0].edge_types)
    return lambda: typed_models.Pooled(relations, pool=pool, venue=venue)


def _keep(*kinds: str, **options: Any) -> dict[str, Any]:
    return {"keep": kinds, **options}


SAGE, HGT = _convolved(_sage), _hgt
G = typed_graphs

NODES = [
    TypedEntry("types: SAGE by relation", G.by_number, SAGE, quick=True),
    TypedEntry("types: SAGE by relation, features for all", G.featured, SAGE),
    TypedEntry("types: SAGE by relation, one-hot numbers", G.one_hot, SAGE, quick=True),
    TypedEntry("types: SAGE by relation, some apart", G.apart, SAGE),
    TypedEntry(
        "types: SAGE by relation, max", G.featured, _convolved(lambda w: _sage(w, aggr="max"))
    ),
    TypedEntry("types: SAGE by relation, three layers", G.small, _convolved(_sage, layers=3)),
    TypedEntry("types: mean over relations", G.by_number, _convolved(_sage, aggr="mean")),
    TypedEntry("types: max over relations", G.by_number, _convolved(_sage, aggr="max")),
    TypedEntry("types: GAT by relation", G.by_number, _convolved(_gat), quick=True),
    TypedEntry("types: GATv2 by relation", G.featured, _convolved(_gatv2)),
    TypedEntry("types: GraphConv by relation", G.by_number, _convolved(_graph_conv)),
    TypedEntry("types: TransformerConv by relation", G.featured, _convolved(_transformer)),
    TypedEntry("types: sums, mapped, by relation", G.featured, _convolved(_Isomorphism)),
    TypedEntry("types: GCN of one type", G.cites, _convolved(_gcn), quick=True),
    TypedEntry("types: HGT", G.by_number, HGT, quick=True),
    TypedEntry("types: HGT, features for all", G.featured, HGT),
    TypedEntry(
        "types: HGT, LayerNorm by type",
        G.by_number,
        _made(lambda graph: typed_models.Transformer(graph, norm=True)),
    ),
    TypedEntry("types: HAN", G.small, _made(typed_models.Attentive), quick=True),
    TypedEntry("types: to_hetero, SAGE", G.featured, _to_hetero(_sage), quick=True),
    TypedEntry("types: to_hetero, GAT", G.featured, _to_hetero(_gat)),
    TypedEntry("types: to_hetero, GraphNorm", G.small, _to_hetero(_sage, pyg.GraphNorm(8))),
    TypedEntry("types: to_hetero, BatchNorm", G.featured, _to_hetero(_sage, pyg.BatchNorm(8))),
    TypedEntry("types: RGCN", G.even, _one_matrix(pyg.RGCNConv), call=_as_one, quick=True),
    TypedEntry("types: FastRGCN", G.even, _one_matrix(pyg.FastRGCNConv), call=_as_one),
    TypedEntry("types: RGAT", G.even, _one_matrix(pyg.RGATConv), call=_as_one),
    TypedEntry(
        "types: GraphNorm over a type", G.small, _convolved(_sage, between=lambda: pyg.GraphNorm(8))
    ),
    TypedEntry(
        "types: BatchNorm without running statistics",
        G.small,
        _convolved(_sage, between=lambda: pyg.BatchNorm(8, track_running_stats=False)),
    ),
    TypedEntry("types: PairNorm over a type", G.small, _convolved(_sage, between=pyg.PairNorm)),
    TypedEntry("types: mean of all papers", G.small, _looks(typed_models.mean_of_papers)),
    TypedEntry("types: the first venue", G.small, _looks(typed_models.first_venue), quick=True),
    TypedEntry("types: how many nodes", G.small, _looks(typed_models.how_many_nodes)),
    TypedEntry("types: degrees", G.featured, _looks(typed_models.degrees)),
    TypedEntry("types: four hops by hand", G.featured, _looks(typed_models.co_authors), quick=True),
    TypedEntry("types: venues ignored", G.by_number, typed_models.IgnoresVenues),
    TypedEntry("types: edges ignored", G.by_number, _made(typed_models.Alone)),
    TypedEntry("types: categories, one way", G.shop, _shop(_sage), quick=True),
    TypedEntry("types: categories, GAT, one way", G.shop, _shop(_gat)),
    TypedEntry("types: categories counted", G.shop, typed_models.Counts),
    TypedEntry("types: weights of edges", G.weighed, _make_weighed, call=_weighed, attributes=True),
    TypedEntry(
        "types: a HeteroData",
        G.by_number,
        SAGE,
        finish=lambda model, data: (typed_models.TakesData(model), data),
        call=_taking_data,
    ),
    TypedEntry(
        "types: a tuple",
        G.by_number,
        SAGE,
        {"output": lambda out: out[0]},
        finish=lambda model, data: (typed_models.Several(model), data),
    ),
    TypedEntry(
        "types: a function",
        G.featured,
        lambda graph: nn.Identity(),
        finish=lambda model, data: (typed_models.in_venues, data),
        asks="paper",
        epochs=0,
    ),
    TypedEntry("types: double precision", G.doubled, _doubled),
    TypedEntry(
        "types: left in training mode",
        G.by_number,
        _convolved(_sage, between=_dropping),
        finish=lambda model, data: (model.train(), data),
    ),
    TypedEntry("types: one logit", G.by_number, _one_column_of_sage, {"threshold": 0.0}),
]
NODES += [
    TypedEntry("types: papers behind a gate", G.by_number, _made(typed_models.Gated), quick=True),
    TypedEntry("types: edges turned, one way", G.shop, _made(typed_models.Turned), quick=True),
    TypedEntry("types: paths by a matrix", G.featured, _made(typed_models.Paths)),
    TypedEntry("types: the same venue", G.by_number, _looks(typed_models.same_venue)),
    TypedEntry("types: softmax over papers", G.small, _looks(typed_models.most_of_papers)),
    TypedEntry("types: cached GCN of one type", G.cites, _convolved(_cached)),
    TypedEntry("types: a type of one node", G.hub, SAGE),
    TypedEntry("types: a relation without edges", G.unrelated, SAGE),
    TypedEntry("types: sparse words", G.sparse, SAGE),
    TypedEntry("types: RGCN with bases", G.even, _one_matrix(_with_bases), call=_as_one),
    TypedEntry(
        "types: noise of whole rows, of papers",
        G.featured,
        SAGE,
        {"noise": {"paper": "rows"}},
        quick=True,
    ),
    TypedEntry(
        "types: groups of words",
        G.by_number,
        SAGE,
        {"feature_groups": {"paper": [[0, 1, 2], [3, 5]], "author": [[1, 3]]}},
        quick=True,
    ),
]
VALUES = [
    TypedEntry("types: value, HGT", G.by_number, _one_column, {"tolerance_share": 0.5}, quick=True),
    TypedEntry("types: value, SAGE", G.featured, _one_column_of_sage, {"tolerance_share": 0.7}),
    TypedEntry(
        "types: value, relations",
        G.featured,
        _one_column_of_sage,
        _keep("relations", tolerance_share=0.6),
    ),
    TypedEntry(
        "types: value, edges", G.by_number, _one_column, _keep("edges", tolerance_share=0.7)
    ),
]
KINDS = [
    TypedEntry("types: SAGE, nodes", G.by_number, SAGE, _keep("nodes")),
    TypedEntry("types: SAGE, features", G.by_number, SAGE, _keep("features"), quick=True),
    TypedEntry("types: SAGE, edges", G.by_number, SAGE, _keep("edges"), quick=True),
    TypedEntry(
        "types: SAGE, edges, the set alone", G.by_number, SAGE, _keep("edges", edge_presence=0.0)
    ),
    TypedEntry("types: SAGE, types", G.by_number, SAGE, _keep("types"), quick=True),
    TypedEntry("types: SAGE, relations", G.by_number, SAGE, _keep("relations"), quick=True),
    TypedEntry("types: SAGE, types and relations", G.by_number, SAGE, _keep("types", "relations")),
    TypedEntry("types: SAGE, types and features", G.by_number, SAGE, _keep("types", "features")),
    TypedEntry("types: SAGE, nodes and edges", G.by_number, SAGE, _keep("nodes", "edges")),
    TypedEntry(
        "types: SAGE, features and relations", G.featured, SAGE, _keep("features", "relations")
    ),
    TypedEntry(
        "types: SAGE, nodes, features and edges",
        G.by_number,
        SAGE,
        _keep("nodes", "features", "edges"),
    ),
    TypedEntry(
        "types: GAT, edges", G.featured, _convolved(_gat), _keep("edges", edge_presence=0.7)
    ),
    TypedEntry("types: HGT, edges", G.by_number, HGT, _keep("edges"), quick=True),
    TypedEntry("types: HGT, types", G.by_number, HGT, _keep("types")),
    TypedEntry("types: HGT, relations", G.by_number, HGT, _keep("relations", edge_presence=0.0)),
    TypedEntry("types: HGT, nodes and relations", G.by_number, HGT, _keep("nodes", "relations")),
    TypedEntry("types: HAN, edges", G.small, _made(typed_models.Attentive), _keep("edges")),
    TypedEntry("types: HAN, relations", G.small, _made(typed_models.Attentive), _keep("relations")),
    TypedEntry(
        "types: RGCN, edges", G.even, _one_matrix(pyg.RGCNConv), _keep("edges"), call=_as_one
    ),
    TypedEntry(
        "types: RGCN, types and relations",
        G.even,
        _one_matrix(pyg.RGCNConv),
        _keep("types", "relations"),
        call=_as_one,
    ),
    TypedEntry("types: to_hetero, edges", G.featured, _to_hetero(_sage), _keep("edges")),
    TypedEntry("types: one way, edges", G.shop, _shop(_sage), _keep("edges"), quick=True),
    TypedEntry("types: one way, relations", G.shop, _shop(_sage), _keep("relations")),
    TypedEntry("types: one way, nodes and edges", G.shop, _shop(_sage), _keep("nodes", "edges")),
    TypedEntry(
        "types: weights, edges, some twice",
        G.weighed,
        _make_weighed,
        _keep("edges"),
        call=_weighed,
        attributes=True,
        quick=True,
    ),
    TypedEntry("types: degrees, edges", G.featured, _looks(typed_models.degrees), _keep("edges")),
    TypedEntry(
        "types: how many edges", G.small, _looks(typed_models.how_many_edges), _keep("edges")
    ),
    TypedEntry(
        "types: how many edges, relations",
        G.small,
        _looks(typed_models.how_many_edges),
        _keep("relations"),
        quick=True,
    ),
    TypedEntry(
        "types: four hops by hand, edges", G.small, _looks(typed_models.co_authors), _keep("edges")
    ),
    TypedEntry(
        "types: mean of all papers, types",
        G.small,
        _looks(typed_models.mean_of_papers),
        _keep("types"),
    ),
    TypedEntry(
        "types: venues ignored, relations",
        G.by_number,
        typed_models.IgnoresVenues,
        _keep("relations"),
    ),
    TypedEntry("types: the model's own venues", G.without, _made(typed_models.HoldsVenues)),
    TypedEntry(
        "types: the model's own venues, edges",
        G.without,
        _made(typed_models.HoldsVenues),
        _keep("edges"),
    ),
    TypedEntry("types: directions apart", G.featured, SAGE, _keep("edges", directed=True)),
    TypedEntry(
        "types: directions apart, relations", G.by_number, HGT, _keep("relations", directed=True)
    ),
    TypedEntry("types: edges turned, edges", G.shop, _made(typed_models.Turned), _keep("edges")),
    TypedEntry(
        "types: paths by a matrix, edges", G.small, _made(typed_models.Paths), _keep("edges")
    ),
    TypedEntry("types: a type of one node, edges", G.hub, SAGE, _keep("edges")),
    TypedEntry(
        "types: groups of words and edges",
        G.by_number,
        SAGE,
        _keep("features", "edges", feature_groups={"paper": [[0, 1, 2], [3, 5]]}),
    ),
    TypedEntry("types: citations and their reverse, edges", G.cited, SAGE, _keep("edges")),
    TypedEntry(
        "types: citations and their reverse, differences, edges",
        G.cited,
        _made(typed_models.Differs),
        _keep("edges"),
        quick=True,
    ),
    TypedEntry(
        "types: citations and their reverse, nodes and edges",
        G.cited,
        _made(typed_models.Differs),
        _keep("nodes", "edges"),
    ),
    TypedEntry("types: HGT, citations and their reverse, edges", G.cited, HGT, _keep("edges")),
    TypedEntry(
        "types: NaN alone, edges", G.featured, _made(typed_models.MeanByHand), _keep("edges")
    ),
    TypedEntry("types: one type, edges", G.cites, _convolved(_gcn), _keep("edges")),
    TypedEntry(
        "types: one type, nodes and edges", G.cites, _convolved(_gcn), _keep("nodes", "edges")
    ),
]
OF_LINKS = [
    TypedEntry(
        "types: links, author and paper",
        G.by_number,
        _matches("author", "paper"),
        asks=WRITES,
        quick=True,
    ),
    TypedEntry("types: links, paper and venue", G.by_number, _matches("paper", "venue"), asks=IN),
    TypedEntry(
        "types: links, edges", G.featured, _matches("author", "paper"), _keep("edges"), asks=WRITES
    ),
    TypedEntry(
        "types: links, types and relations",
        G.featured,
        _matches("author", "paper"),
        _keep("types", "relations"),
        asks=WRITES,
    ),
]
OF_GRAPHS = [
    GraphsEntry("types: graphs, mean", _pooled(pyg.global_mean_pool), quick=True),
    GraphsEntry("types: graphs, sum", _pooled(pyg.global_add_pool)),
    GraphsEntry("types: graphs, max of cities", _pooled(pyg.global_max_pool, venue=False)),
    GraphsEntry("types: graphs, edges", _pooled(pyg.global_add_pool), _keep("edges"), quick=True),
    GraphsEntry("types: graphs, types", _pooled(pyg.global_mean_pool), _keep("types")),
    GraphsEntry("types: graphs, relations", _pooled(pyg.global_add_pool), _keep("relations")),
    GraphsEntry(
        "types: graphs, nodes and edges", _pooled(pyg.global_mean_pool), _keep("nodes", "edges")
    ),
]
TYPED_ZOO: list[TypedEntry | GraphsEntry] = [*NODES, *VALUES, *KINDS, *OF_LINKS, *OF_GRAPHS]
