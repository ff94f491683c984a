"""The models of whole graphs that are audited, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric import nn as pyg
from torch_geometric.data import Batch, Data

from honesty_audit import gated, many_graphs
from honesty_audit import graph_models as kinds
from honesty_audit.graph_models import HIDDEN
from honesty_audit.many_graphs import MakeGraphs
from honesty_audit.plain_loop import Model, count_hits_of_graph, evaluating, margins
from honesty_audit.zoo import rare_ones
from zorro import Explanation, Zorro

EPOCHS, RATE = 80, 0.02
BATCH = 40  # graphs that a training step sees


@dataclass(frozen=True)
class GraphEntry:
    """A kind of model of whole graphs.

    `takes` are attributes of the graphs that go into the model; `finish` turns the trained module
    into what Zorro is given, and may change the graphs with it; `quick` entries are those of the
    test.
    """

    name: str
    graphs: MakeGraphs
    build: Callable[[int, int], nn.Module]
    takes: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    finish: Callable[[nn.Module, list[Data]], tuple[Model, list[Data]]] = lambda model, graphs: (
        model,
        graphs,
    )
    columns: int = 2  # of the output
    epochs: int = EPOCHS
    quick: bool = False


@dataclass(frozen=True)
class GraphsCase:
    """A trained model with its graphs, as a user of Zorro has them."""

    name: str
    model: Model
    graphs: list[Data]
    takes: tuple[str, ...]
    options: Mapping[str, Any]
    predicted: Tensor  # (G,)
    margins: Mapping[int, float]

    def queries(self, count: int) -> list[int]:
        """Return graphs to explain."""
        return rare_ones(self.predicted, torch.ones_like(self.predicted, dtype=torch.bool), count)

    def zorro(self, **options: Any) -> Zorro:
        """Return what explains the model, with further options."""
        return Zorro.of_graphs(
            self.model,
            self.graphs,
            model_kwargs={name: name for name in self.takes},
            **{**self.options, **options},
        )

    def hits(self, explanation: Explanation, *, runs: int, seed: int) -> int:
        """Return how many inputs keep the prediction, by the plain loop.

        Of a kind that is not selectable everything is kept.
        """
        graph = self.graphs[explanation.query.index]
        selects = explanation.selected
        return count_hits_of_graph(
            self.model,
            torch.cat([each.x for each in self.graphs]),
            graph,
            nodes=explanation.nodes if "nodes" in selects else range(graph.x.size(0)),
            features=explanation.features if "features" in selects else range(graph.x.size(1)),
            groups=self.options.get("feature_groups", ()),
            samples=runs,
            seed=seed,
            threshold=float(self.options.get("threshold", 0.0)),
            kwargs={name: graph[name] for name in self.takes},
        )


def prepare_graphs(entry: GraphEntry) -> GraphsCase:
    """Build and train a model; the same one each time, and no other randomness is touched."""
    graphs = entry.graphs()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = entry.build(graphs[0].x.size(1), entry.columns)
        _train(module, graphs, entry.takes, entry.epochs)
    model, graphs = entry.finish(module, graphs)
    threshold = float(entry.options.get("threshold", 0.0))
    with evaluating(model):
        outputs = torch.cat([output_of(model, [graph], entry.takes) for graph in graphs])
    column = outputs.dim() == 1 or outputs.size(1) == 1
    predicted = (outputs.flatten() > threshold).long() if column else outputs.argmax(1)
    near = dict(enumerate(margins(outputs, threshold)))
    return GraphsCase(entry.name, model, graphs, entry.takes, entry.options, predicted, near)


def output_of(model: Model, graphs: list[Data], takes: tuple[str, ...]) -> Tensor:
    """Return the output (G, C) for graphs in one batch."""
    batch = Batch.from_data_list(graphs)
    given = {name: batch[name] for name in takes}
    output: Tensor = model(batch.x, batch.edge_index, batch=batch.batch, **given)
    return output


def _train(model: nn.Module, graphs: list[Data], takes: tuple[str, ...], epochs: int) -> None:
    model.train()
    # One that is good for one graph alone is trained as it can be used.
    size = 1 if isinstance(model, kinds.ForgetsTheBatch) else BATCH
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for epoch in range(epochs):
        order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(epoch))
        for first in range(0, len(graphs), size):
            chosen = [graphs[at] for at in order[first : first + size].tolist()]
            labels = torch.cat([graph.y for graph in chosen])
            optimiser.zero_grad()
            output = output_of(model, chosen, takes)
            if output.dim() == 1 or output.size(1) == 1:
                loss = functional.binary_cross_entropy_with_logits(output.flatten(), labels.float())
            else:
                loss = functional.cross_entropy(output, labels)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    model.eval()


def two_layers(layer: Callable[..., nn.Module], **options: Any) -> Callable[[int, int], nn.Module]:
    """Return what builds two layers of a kind and a pooling; `pool`, `norm` and the like too."""
    model = {
        name: options.pop(name) for name in ("pool", "norm", "takes", "width") if name in options
    }

    def build(features: int, classes: int) -> nn.Module:
        layers = (layer(features, HIDDEN, **options), layer(HIDDEN, HIDDEN, **options))
        pool = model.get("pool", pyg.global_mean_pool)
        made = pool() if isinstance(pool, type) else pool
        return kinds.Pooled(*layers, classes=classes, **{**model, "pool": made})

    return build


def _perceptron(before: int, after: int) -> nn.Module:
    return nn.Sequential(nn.Linear(before, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, after))


def gin(before: int, after: int) -> nn.Module:
    return pyg.GINConv(_perceptron(before, after))  # type: ignore[no-any-return]


def _gine(before: int, after: int) -> nn.Module:
    return pyg.GINEConv(_perceptron(before, after), edge_dim=3)  # type: ignore[no-any-return]


def _pna(before: int, after: int) -> nn.Module:
    return pyg.PNAConv(  # type: ignore[no-any-return]
        before, after, ["mean", "max"], ["identity", "amplification"], torch.tensor([0, 5, 5, 2])
    )


def _attention() -> nn.Module:
    return pyg.AttentionalAggregation(nn.Linear(HIDDEN, 1))  # type: ignore[no-any-return]


def _jumping(mode: str) -> Callable[[int, int], nn.Module]:
    return lambda features, classes: kinds.Jumping(features, classes, mode)


def _top_k(kind: Callable[..., nn.Module]) -> Callable[[int, int], nn.Module]:
    return lambda features, classes: kinds.TopK(features, classes, kind)


def _set_to_set(features: int, classes: int) -> nn.Module:
    layers = (pyg.GCNConv(features, HIDDEN), pyg.GCNConv(HIDDEN, HIDDEN))
    pool = pyg.aggr.Set2Set(HIDDEN, processing_steps=2)
    return kinds.Pooled(*layers, pool=pool, classes=classes, width=2 * HIDDEN)


def _attentive(features: int, classes: int) -> nn.Module:
    layers = (pyg.GCNConv(features, HIDDEN), pyg.GCNConv(HIDDEN, HIDDEN))
    return kinds.Pooled(*layers, pool=_attention(), classes=classes)


def _function(model: nn.Module, graphs: list[Data]) -> tuple[Model, list[Data]]:
    return lambda x, edge_index, batch: model(x, edge_index, batch), graphs


ONE_HOT = {"feature_groups": [list(range(many_graphs.KINDS))]}
NODES = {"keep": ("nodes",), **ONE_HOT}

_sets = many_graphs
GRAPH_ZOO = [
    GraphEntry("graphs: GCN, mean", _sets.categories, two_layers(pyg.GCNConv), quick=True),
    GraphEntry(
        "graphs: GCN, sum, atoms as one",
        _sets.categories,
        two_layers(pyg.GCNConv, pool=pyg.global_add_pool),
        options=ONE_HOT,
        quick=True,
    ),
    GraphEntry(
        "graphs: GIN, sum, nodes alone",
        _sets.categories,
        two_layers(gin, pool=pyg.global_add_pool),
        options=NODES,
        quick=True,
    ),
    GraphEntry(
        "graphs: GIN, features alone",
        _sets.categories,
        two_layers(gin, pool=pyg.global_add_pool),
        options={"keep": ("features",)},
    ),
    GraphEntry(
        "graphs: GCN, max", _sets.real_valued, two_layers(pyg.GCNConv, pool=pyg.global_max_pool)
    ),
    GraphEntry("graphs: GAT, mean", _sets.categories, two_layers(pyg.GATConv), options=NODES),
    GraphEntry(
        "graphs: GATv2 with bonds",
        _sets.categories,
        two_layers(pyg.GATv2Conv, edge_dim=3, takes="edge_attr"),
        takes=("edge_attr",),
        options=NODES,
    ),
    GraphEntry(
        "graphs: SAGE, max of neighbours", _sets.real_valued, two_layers(pyg.SAGEConv, aggr="max")
    ),
    GraphEntry(
        "graphs: GCN, edge weights",
        _sets.categories,
        two_layers(pyg.GCNConv, takes="edge_weight"),
        takes=("edge_weight",),
        options=NODES,
    ),
    GraphEntry(
        "graphs: GINE with bonds",
        _sets.categories,
        two_layers(_gine, pool=pyg.global_add_pool, takes="edge_attr"),
        takes=("edge_attr",),
        options=NODES,
        quick=True,
    ),
    GraphEntry("graphs: PNA", _sets.real_valued, two_layers(_pna)),
    GraphEntry("graphs: TransformerConv", _sets.real_valued, two_layers(pyg.TransformerConv)),
    GraphEntry(
        "graphs: EdgeConv",
        _sets.real_valued,
        two_layers(lambda a, b: pyg.EdgeConv(_perceptron(2 * a, b))),
    ),
    GraphEntry(
        "graphs: sum aggregation",
        _sets.categories,
        two_layers(pyg.GCNConv, pool=pyg.aggr.SumAggregation),
    ),
    GraphEntry(
        "graphs: softmax aggregation",
        _sets.real_valued,
        two_layers(pyg.GCNConv, pool=pyg.aggr.SoftmaxAggregation),
    ),
    GraphEntry(
        "graphs: attention aggregation", _sets.categories, _attentive, options=NODES, quick=True
    ),
    GraphEntry("graphs: Set2Set", _sets.categories, _set_to_set, options=NODES),
    GraphEntry(
        "graphs: sorted aggregation",
        _sets.real_valued,
        lambda f, c: kinds.Pooled(
            pyg.GCNConv(f, HIDDEN),
            pyg.GCNConv(HIDDEN, HIDDEN),
            pool=pyg.aggr.SortAggregation(k=4),
            classes=c,
            width=4 * HIDDEN,
        ),
    ),
    GraphEntry("graphs: attention by hand", _sets.categories, kinds.AttentionByHand, options=NODES),
    GraphEntry("graphs: by scatter alone", _sets.categories, kinds.ByHand, quick=True),
    GraphEntry("graphs: jumping knowledge, cat", _sets.categories, _jumping("cat")),
    GraphEntry("graphs: jumping knowledge, max", _sets.categories, _jumping("max"), options=NODES),
    GraphEntry(
        "graphs: jumping knowledge, LSTM", _sets.categories, _jumping("lstm"), options=NODES
    ),
    GraphEntry("graphs: top-k pooling", _sets.real_valued, _top_k(pyg.TopKPooling), quick=True),
    GraphEntry("graphs: self-attention pooling", _sets.real_valued, _top_k(pyg.SAGPooling)),
    GraphEntry(
        "graphs: virtual node", _sets.categories, kinds.VirtualNode, options=NODES, quick=True
    ),
    GraphEntry("graphs: attention over padded graphs", _sets.real_valued, kinds.Dense, quick=True),
    GraphEntry(
        "graphs: GraphNorm",
        _sets.categories,
        two_layers(pyg.GCNConv, norm=lambda: pyg.GraphNorm(HIDDEN)),
        options=NODES,
    ),
    GraphEntry(
        "graphs: BatchNorm",
        _sets.categories,
        two_layers(pyg.GCNConv, norm=lambda: pyg.BatchNorm(HIDDEN)),
    ),
    GraphEntry(
        "graphs: InstanceNorm",
        _sets.real_valued,
        two_layers(pyg.GCNConv, norm=lambda: pyg.InstanceNorm(HIDDEN)),
    ),
    GraphEntry("graphs: centred over the graph", _sets.real_valued, kinds.Normalised, quick=True),
    GraphEntry(
        "graphs: compared with others of the batch",
        _sets.categories,
        kinds.ComparedWithOthers,
        quick=True,
    ),
    GraphEntry(
        "graphs: forgets the batch", _sets.categories, kinds.ForgetsTheBatch, epochs=4, quick=True
    ),
    GraphEntry(
        "graphs: a gate that opens beside a set",
        gated.rings,
        lambda features, classes: gated.GatedByAll(of_nodes=False),
        options={"keep": ("nodes",), "max_evaluations": 100_000},
        epochs=0,
        quick=True,
    ),
    GraphEntry("graphs: counts nodes", _sets.categories, kinds.CountsNodes, options=NODES),
    GraphEntry("graphs: no edges", _sets.categories, kinds.Perceptron),
    GraphEntry("graphs: categories in tables", _sets.whole_numbers, kinds.Embedded, quick=True),
    GraphEntry(
        "graphs: categories in tables, as one",
        _sets.whole_numbers,
        kinds.Embedded,
        options={"feature_groups": [[0, 1]]},
    ),
    GraphEntry(
        "graphs: one logit",
        _sets.categories,
        two_layers(pyg.GCNConv, pool=pyg.global_add_pool),
        options={"threshold": 0.0},
        columns=1,
        quick=True,
    ),
    GraphEntry(
        "graphs: in float64",
        _sets.categories,
        two_layers(pyg.GCNConv),
        finish=lambda model, graphs: (_Doubled(model), graphs),
    ),
    GraphEntry("graphs: a function", _sets.categories, two_layers(pyg.GCNConv), finish=_function),
]


class _Doubled(nn.Module):
    """Computes in double precision and answers in single."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model.double()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.model(x.double(), edge_index, batch).float()  # type: ignore[no-any-return]
