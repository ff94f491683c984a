"""The models that are audited, by name: on which graph, how built, and what Zorro is told."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric import nn as pyg

from honesty_audit import gated, graphs, hand_written, layered, whole_graph
from honesty_audit.casting import in_precision
from honesty_audit.graphs import CLASSES, Graph, MakeGraph
from honesty_audit.plain_loop import Model, count_hits, evaluating, margins
from zorro import Explanation, Zorro

HIDDEN = 16
EPOCHS, RATE = 60, 0.02
SIZE, SMALL = 300, 150  # nodes of a graph; of one that is always run as a whole


@dataclass(frozen=True)
class Entry:
    """A kind of model.

    `finish` turns the trained module into what Zorro is given, and may change the graph with it;
    `asked` says which nodes (N,) may be asked about; `size` is the number of nodes; `quick` entries
    are those of the test.
    """

    name: str
    graph: MakeGraph
    build: Callable[[Graph], nn.Module]
    finish: Callable[[nn.Module, Graph], tuple[Model, Graph]] = lambda model, graph: (model, graph)
    options: Mapping[str, Any] = field(default_factory=dict)
    epochs: int = EPOCHS
    asked: Callable[[Graph], Tensor] = lambda graph: torch.ones(graph.nodes, dtype=torch.bool)
    size: int = SIZE
    quick: bool = False


@dataclass(frozen=True)
class Case:
    """A trained model with its graph, as a user of Zorro has them."""

    name: str
    model: Model
    graph: Graph
    options: Mapping[str, Any]
    predicted: Tensor  # (N,) the classes
    asked: Tensor  # (N,) which nodes may be asked about
    margins: Mapping[int, float] = field(default_factory=dict)

    @property
    def threshold(self) -> float:
        """Where a one-column output turns from class 0 to class 1."""
        return float(self.options.get("threshold", 0.0))

    def queries(self, count: int) -> list[int]:
        """Return nodes to explain."""
        return rare_ones(self.predicted, self.asked, count)

    def zorro(self, **options: Any) -> Zorro:
        """Return what explains the model, with further options."""
        graph = self.graph
        return Zorro(
            self.model,
            graph.x,
            graph.edge_index,
            model_kwargs=graph.kwargs,
            **{**self.options, **options},
        )

    def hits(self, explanation: Explanation, *, runs: int, seed: int) -> int:
        """Return how many inputs keep the prediction, by the plain loop."""
        kinds = explanation.selected  # of what is not selected all is kept on what is
        return count_hits(
            self.model,
            self.graph.x,
            self.graph.edge_index,
            explanation.node,
            nodes=explanation.nodes if "nodes" in kinds else range(self.graph.nodes),
            features=explanation.features if "features" in kinds else range(self.graph.features),
            samples=runs,
            seed=seed,
            threshold=self.threshold,
            kwargs=self.graph.kwargs,
        )


def rare_ones(predicted: Tensor, asked: Tensor, count: int) -> list[int]:
    """Return queries at random, of other classes than the commonest.

    Noise alone often gives the commonest class, which then needs no explanation.

    Args:
        predicted: (N,) the classes.
        asked: (N,) which may be asked about.
        count: how many.
    """
    rare = ((predicted != predicted.mode().values) & asked).nonzero().flatten()
    if rare.numel() < count:
        rare = asked.nonzero().flatten()
    order = torch.randperm(rare.numel(), generator=torch.Generator().manual_seed(11))
    return sorted(rare[order[:count]].tolist())


def prepare(entry: Entry, size: int | None = None) -> Case:
    """Build and train a model; the same one each time, and no other randomness is touched.

    Args:
        entry: the kind of model.
        size: nodes of the graph; the entry's own when None.
    """
    graph = entry.graph(entry.size if size is None else size)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = entry.build(graph)
        _train(module, graph, entry.epochs)
    model, graph = entry.finish(module, graph)
    with evaluating(model):
        output = model(graph.x, graph.edge_index, **graph.kwargs)
    threshold = entry.options.get("threshold", 0.0)
    column = output.dim() == 1 or output.size(1) == 1
    predicted = (output.flatten() > threshold).long() if column else output.argmax(1)
    asked = entry.asked(graph)
    return Case(
        entry.name,
        model,
        graph,
        entry.options,
        predicted,
        asked,
        {
            node: margin
            for node, margin in enumerate(margins(output, threshold))
            if bool(asked[node])
        },
    )


def _train(model: nn.Module, graph: Graph, epochs: int) -> None:
    model.train()
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.Adam(parameters, lr=RATE, weight_decay=5e-4)
    for _ in range(epochs):
        optimiser.zero_grad()
        output = model(graph.x, graph.edge_index, **graph.kwargs)
        if output.dim() == 1 or output.size(1) == 1:
            is_first = (graph.y == 0).to(output.dtype)
            loss = functional.binary_cross_entropy_with_logits(output.flatten(), is_first)
        else:
            loss = functional.cross_entropy(output, graph.y)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    model.eval()


def _classes(graph: Graph) -> int:
    return int(graph.y.max()) + 1


def _sized(kind: Callable[..., nn.Module], **options: Any) -> Callable[[Graph], nn.Module]:
    """Return what builds a model from its numbers of features and classes."""
    return lambda graph: kind(graph.features, _classes(graph), **options)


def _numbered(kind: Callable[..., nn.Module]) -> Callable[[Graph], nn.Module]:
    """Return what builds a model that knows the number of nodes too."""
    return lambda graph: kind(graph.nodes, graph.features, _classes(graph))


def _two(layer: Callable[..., nn.Module], **options: Any) -> Callable[[Graph], nn.Module]:
    """Return what builds two layers of a kind."""
    return lambda graph: layered.Stack(*_pair(layer, graph, **options))


def _pair(layer: Callable[..., nn.Module], graph: Graph, **options: Any) -> list[nn.Module]:
    return [
        layer(graph.features, HIDDEN, **options),
        layer(HIDDEN, _classes(graph), **options),
    ]


def _one(layer: Callable[..., nn.Module], **options: Any) -> Callable[[Graph], nn.Module]:
    """Return what builds one layer and a linear one."""
    return lambda graph: layered.Stack(
        layer(graph.features, HIDDEN, **options), last=nn.Linear(HIDDEN, _classes(graph))
    )


def _normed(norm: Callable[[], nn.Module]) -> Callable[[Graph], nn.Module]:
    """Return what builds two convolutions with a norm between them."""
    return lambda graph: layered.Normed(_pair(pyg.GCNConv, graph), norm)


def _perceptron(before: int, after: int) -> nn.Module:
    return nn.Sequential(nn.Linear(before, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, after))


def _layer_norm(kind: Callable[..., nn.Module], **options: Any) -> Callable[[Graph], nn.Module]:
    """Return what builds a model with a layer norm on its input."""
    return lambda graph: kind(
        graph.features, _classes(graph), before=nn.LayerNorm(graph.features), **options
    )


def _scripted(model: nn.Module, graph: Graph) -> tuple[Model, Graph]:
    return torch.jit.script(model), graph


def _recorded(model: nn.Module, graph: Graph) -> tuple[Model, Graph]:
    return torch.jit.trace(model, (graph.x, graph.edge_index)), graph  # type: ignore[no-untyped-call]


def _function(model: nn.Module, graph: Graph) -> tuple[Model, Graph]:
    return lambda x, edge_index: model(x, edge_index), graph


def _left_training(model: nn.Module, graph: Graph) -> tuple[Model, Graph]:
    return model.train(), graph


def _tiny(model: nn.Module, graph: Graph) -> tuple[Model, Graph]:
    assert isinstance(model, layered.Stack)
    with torch.no_grad():
        for parameter in model.layers[-1].parameters():
            parameter.mul_(1e-6)
    return model, graph


def _deep(graph: Graph) -> nn.Module:
    widths = [graph.features, *[HIDDEN] * 5, _classes(graph)]
    pairs = itertools.pairwise(widths)
    return layered.Stack(*(pyg.GCNConv(before, after) for before, after in pairs))


def _ensemble(graph: Graph) -> nn.Module:
    return layered.Ensemble(*(layered.Stack(*_pair(pyg.GCNConv, graph)) for _ in range(3)))


def _mixed_flow(graph: Graph) -> nn.Module:
    return layered.Stack(
        pyg.SAGEConv(graph.features, HIDDEN),
        pyg.SAGEConv(HIDDEN, _classes(graph), flow="target_to_source"),
    )


def _both_directions(graph: Graph) -> nn.Module:
    first, second = _pair(pyg.SAGEConv, graph)
    return layered.Stack(pyg.DirGNNConv(first), pyg.DirGNNConv(second))


def _mean(x: Tensor) -> Tensor:
    return x.mean(0, keepdim=True)


def _max(x: Tensor) -> Tensor:
    return x.max(0, keepdim=True).values


def _over_nodes(x: Tensor) -> Tensor:
    return x * x.softmax(0) * x.size(0)


def _edge_network(graph: Graph) -> nn.Module:
    first = nn.Sequential(nn.Linear(4, graph.features * HIDDEN), nn.Tanh())
    second = nn.Sequential(nn.Linear(4, HIDDEN * CLASSES), nn.Tanh())
    return layered.Attributed(
        pyg.NNConv(graph.features, HIDDEN, first), pyg.NNConv(HIDDEN, CLASSES, second)
    )


def _with_edge_attributes(layer: Callable[..., nn.Module]) -> Callable[[Graph], nn.Module]:
    return lambda graph: layered.Attributed(*_pair(layer, graph, edge_dim=4))


def _edge_isomorphism(graph: Graph) -> nn.Module:
    return layered.Attributed(
        pyg.GINEConv(_perceptron(graph.features, HIDDEN), edge_dim=4),
        pyg.GINEConv(_perceptron(HIDDEN, CLASSES), edge_dim=4),
    )


def _isomorphism(graph: Graph) -> nn.Module:
    return layered.Stack(
        pyg.GINConv(_perceptron(graph.features, HIDDEN)),
        pyg.GINConv(_perceptron(HIDDEN, _classes(graph))),
    )


def _mixed_powers(graph: Graph) -> nn.Module:
    return layered.Stack(
        pyg.MixHopConv(graph.features, HIDDEN, powers=[0, 1, 2]),
        last=nn.Linear(3 * HIDDEN, _classes(graph)),
    )


def _gated(graph: Graph) -> nn.Module:
    return layered.Stack(
        pyg.GatedGraphConv(graph.features, num_layers=2),
        last=nn.Linear(graph.features, _classes(graph)),
    )


def _heads(graph: Graph) -> nn.Module:
    return layered.Stack(
        pyg.GATConv(graph.features, 8, heads=2), pyg.GATConv(16, _classes(graph), heads=1)
    )


def _gps(graph: Graph) -> nn.Module:
    return layered.Stack(
        pyg.GCNConv(graph.features, HIDDEN),
        pyg.GPSConv(HIDDEN, pyg.GCNConv(HIDDEN, HIDDEN), heads=2, norm="layer_norm"),
        last=nn.Linear(HIDDEN, _classes(graph)),
    )


def _union(graph: Graph) -> nn.Module:
    return pyg.LINKX(graph.nodes, graph.features, HIDDEN, _classes(graph), num_layers=1)  # type: ignore[no-any-return]


def _u_net(graph: Graph) -> nn.Module:
    return pyg.GraphUNet(graph.features, HIDDEN, _classes(graph), depth=2)  # type: ignore[no-any-return]


def _one_logit(graph: Graph) -> nn.Module:
    return layered.Stack(pyg.GCNConv(graph.features, HIDDEN), pyg.GCNConv(HIDDEN, 1))


# Of models whose single run is slow: a search step and the final figure run fewer of them.
SLOW = {"k": 3, "fresh_samples": 300}
REUSED = [
    Entry(
        "LayerNorm, one GCNConv three times",
        graphs.citation,
        _layer_norm(hand_written.Reused),
        quick=True,
    ),
    Entry(
        "centred input, one GCNConv three times",
        graphs.citation,
        _sized(hand_written.Reused, before=hand_written.centred),
        quick=True,
    ),
    Entry(
        "LayerNorm, one GCNConv three times, real-valued input",
        graphs.dense,
        _layer_norm(hand_written.Reused),
    ),
]
HAND_WRITTEN = [
    *(
        Entry(
            f"LayerNorm, {hops} hop{'s' * (hops > 1)} by scatter",
            graphs.citation,
            _layer_norm(hand_written.Scattered, hops=hops),
            quick=hops != 2,
        )
        for hops in (1, 2, 3)
    ),
    *(
        Entry(
            f"LayerNorm, {hops} hop{'s' * (hops > 1)} by index_add",
            graphs.dense,
            _layer_norm(hand_written.Scattered, hops=hops, spread=hand_written.sum_of_neighbours),
            quick=hops == 2,
        )
        for hops in (1, 2, 3)
    ),
    Entry(
        "comparison first, 2 hops by scatter",
        graphs.dense,
        _sized(hand_written.Scattered, hops=2, before=hand_written.compared),
        quick=True,
    ),
    Entry(
        "centred input, 2 hops by scatter, several components",
        graphs.components,
        _sized(hand_written.Scattered, hops=2, before=hand_written.centred),
    ),
    Entry(
        "neighbours behind a gate",
        graphs.citation,
        _sized(hand_written.Gated),
        asked=lambda graph: graph.x[:, :4].sum(1) > 0,  # the gate is closed: nothing to be seen
        quick=True,
    ),
    Entry("sparse matrix product", graphs.citation, _sized(hand_written.SummedBySparseProduct)),
    Entry("dense adjacency", graphs.citation, _sized(hand_written.DenseAdjacency), options=SLOW),
    Entry("attention by scatter", graphs.dense, _sized(hand_written.OwnAttention)),
    Entry("degree as a feature", graphs.citation, _sized(hand_written.DegreeFeature)),
    Entry(
        "features ignored",
        graphs.citation,
        lambda graph: hand_written.IgnoresFeatures(_classes(graph)),
    ),
]
DIRECTED = [
    Entry(
        "first layer flipped, directed",
        graphs.directed,
        _sized(hand_written.FlippedFirst),
        quick=True,
    ),
    Entry(
        "to_undirected inside, directed",
        graphs.directed,
        _sized(hand_written.MadeUndirected),
        quick=True,
    ),
    Entry("DirGNNConv, directed", graphs.directed, _both_directions, quick=True),
    Entry("mixed flows, directed", graphs.directed, _mixed_flow, quick=True),
    Entry("GCN, directed", graphs.directed, _two(pyg.GCNConv)),
    Entry(
        "SAGE against the edges, directed",
        graphs.directed,
        _two(pyg.SAGEConv, flow="target_to_source"),
    ),
]
WHOLE_GRAPH = [
    Entry("GraphNorm", graphs.citation, _normed(lambda: pyg.GraphNorm(HIDDEN)), quick=True),
    Entry("PairNorm", graphs.citation, _normed(pyg.PairNorm), quick=True),
    Entry("MeanSubtractionNorm", graphs.citation, _normed(pyg.MeanSubtractionNorm)),
    Entry("InstanceNorm", graphs.citation, _normed(lambda: pyg.InstanceNorm(HIDDEN))),
    Entry(
        "BatchNorm without running statistics",
        graphs.citation,
        _normed(lambda: pyg.BatchNorm(HIDDEN, track_running_stats=False)),
    ),
    Entry("BatchNorm", graphs.citation, _normed(lambda: pyg.BatchNorm(HIDDEN))),
    Entry("DiffGroupNorm", graphs.dense, _normed(lambda: pyg.DiffGroupNorm(HIDDEN, 3))),
    Entry("columns standardised over nodes", graphs.dense, _sized(whole_graph.Standardised)),
    Entry("global mean", graphs.citation, _sized(whole_graph.GlobalPool, pool=_mean), quick=True),
    Entry(
        "a gate that opens beside a set",
        gated.ring,
        lambda graph: gated.GatedByAll(of_nodes=True),
        options={"keep": ("nodes",), "max_evaluations": 100_000},
        epochs=0,
    ),
    Entry("global max", graphs.dense, _sized(whole_graph.GlobalPool, pool=_max)),
    Entry("virtual node", graphs.citation, _sized(whole_graph.VirtualNode)),
    Entry("virtual node, several components", graphs.components, _sized(whole_graph.VirtualNode)),
    Entry("softmax over nodes", graphs.dense, _sized(whole_graph.Between, middle=_over_nodes)),
    Entry(
        "nearest neighbours in feature space", graphs.dense, _sized(whole_graph.NearestNeighbours)
    ),
    Entry("attention over all nodes", graphs.dense, _sized(whole_graph.SmallTransformer)),
    Entry("GPSConv", graphs.dense, _gps, options=SLOW),
    Entry("top-k pooling", graphs.citation, _sized(whole_graph.Pooled)),
    Entry("Graph U-Net", graphs.citation, _u_net, options=SLOW),
    Entry("LINKX", graphs.citation, _union),
    Entry(
        "embedding by node number",
        graphs.citation,
        _numbered(whole_graph.NumberedNodes),
        quick=True,
    ),
    Entry("position buffer", graphs.citation, _numbered(whole_graph.PositionBuffer)),
]
LAYERS = [
    Entry("GCN", graphs.citation, _two(pyg.GCNConv), quick=True),
    *([Entry("GCN on Cora", graphs.cora, _two(pyg.GCNConv))] if graphs.has_cora() else []),
    Entry("GCN, several components", graphs.components, _two(pyg.GCNConv)),
    Entry("GCN, cached", graphs.citation, _two(pyg.GCNConv, cached=True)),
    Entry("GCN, edge weights", graphs.weighted, lambda g: layered.Weighted(*_pair(pyg.GCNConv, g))),
    Entry("GAT", graphs.citation, _heads, quick=True),
    Entry("GATv2", graphs.dense, _two(pyg.GATv2Conv)),
    Entry("SAGE, mean", graphs.citation, _two(pyg.SAGEConv)),
    Entry("SAGE, max", graphs.dense, _two(pyg.SAGEConv, aggr="max")),
    Entry("SAGE, LSTM", graphs.by_receiver, _two(pyg.SAGEConv, aggr="lstm")),
    Entry("GIN", graphs.citation, _isomorphism),
    Entry("SGConv", graphs.citation, lambda g: pyg.SGConv(g.features, _classes(g), K=3)),
    Entry("TAGConv", graphs.citation, _two(pyg.TAGConv, K=2)),
    Entry("ChebConv", graphs.citation, _two(pyg.ChebConv, K=3)),
    Entry("ARMAConv", graphs.citation, _one(pyg.ARMAConv, num_stacks=2, num_layers=2)),
    Entry("MixHopConv", graphs.citation, _mixed_powers),
    Entry("GCN2Conv", graphs.citation, _sized(layered.Initial)),
    Entry("APPNP", graphs.citation, _sized(layered.Personalised)),
    Entry("JumpingKnowledge", graphs.citation, _sized(layered.Jumping)),
    Entry("GatedGraphConv", graphs.dense, _gated),
    Entry(
        "TransformerConv, edge attributes",
        graphs.attributed,
        _with_edge_attributes(pyg.TransformerConv),
    ),
    Entry("GINEConv, edge attributes", graphs.attributed, _edge_isomorphism),
    Entry("NNConv, edge attributes", graphs.attributed, _edge_network),
    Entry("RGCNConv, edge types", graphs.typed, _sized(layered.Typed)),
    Entry("node-level argument", graphs.placed, _sized(layered.Placed)),
    Entry("ensemble of three GCNs", graphs.citation, _ensemble, quick=True),
    Entry("MLP", graphs.citation, _sized(layered.Perceptron)),
]
FORMS = [
    Entry("categories as floats", graphs.categorical_float, _sized(layered.Embedded), quick=True),
    Entry("categories as whole numbers", graphs.categorical, _sized(layered.Embedded), quick=True),
    Entry("GCN in float16", graphs.dense, _two(pyg.GCNConv), finish=in_precision(torch.float16)),
    Entry("GCN in bfloat16", graphs.dense, _two(pyg.GCNConv), finish=in_precision(torch.bfloat16)),
    Entry("GCN in float64", graphs.dense, _two(pyg.GCNConv), finish=in_precision(torch.float64)),
    Entry(
        "forward(x, edge_index, **kwargs)",
        graphs.weighted,
        lambda g: layered.AnyArguments(*_pair(pyg.GCNConv, g)),
    ),
    Entry("scripted", graphs.citation, _sized(hand_written.Scriptable), finish=_scripted),
    Entry("scripted GCN", graphs.citation, _two(pyg.GCNConv), finish=_scripted),
    Entry(
        "traced by torch.jit", graphs.citation, _sized(hand_written.Scriptable), finish=_recorded
    ),
    Entry("GCN traced by torch.jit", graphs.citation, _two(pyg.GCNConv), finish=_recorded),
    Entry("plain function", graphs.citation, _two(pyg.GCNConv), finish=_function),
    Entry(
        "left in training mode", graphs.citation, _sized(layered.Dropping), finish=_left_training
    ),
    Entry("one logit", graphs.citation, _one_logit, options={"threshold": 0.0}),
    Entry("deep GCN, tiny scores", graphs.citation, _deep, finish=_tiny),
    Entry("GCN at random weights", graphs.citation, _two(pyg.GCNConv), epochs=0),
]
SMALLER = [replace(entry, size=SMALL) for entry in WHOLE_GRAPH]
ZOO = [*REUSED, *HAND_WRITTEN, *DIRECTED, *SMALLER, *LAYERS, *FORMS]
