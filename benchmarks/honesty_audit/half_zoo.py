"""The models in half precision that are audited, by name: trained before, or at random weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from typing import Any, Literal

import torch
from torch import nn
from torch_geometric import nn as pyg

from honesty_audit import graphs, layered
from honesty_audit.casting import in_precision
from honesty_audit.edge_zoo import EdgeEntry
from honesty_audit.graph_zoo import GraphEntry
from honesty_audit.graphs import CLASSES, Graph, MakeGraph
from honesty_audit.lifted import centre, centre_of_graphs
from honesty_audit.link_zoo import LinkEntry
from honesty_audit.prepared import ENTRIES, AnyEntry
from honesty_audit.typed_zoo import TypedEntry
from honesty_audit.value_zoo import ValueEntry
from honesty_audit.zoo import Entry

HIDDEN = 16
Weights = Literal["trained", "random", "centred"]
SIZE = 150  # nodes of a graph


def then(*steps: Callable[..., Any]) -> Callable[..., Any]:
    """Return what finishes a model in several steps, each with what the last one gives."""

    def finish(model: Any, data: Any) -> Any:
        for step in steps:
            model, data = step(model, data)
        return model, data

    return finish


def halved(entry: Any, dtype: torch.dtype, weights: Weights) -> Any:
    """Return a kind of model in half precision.

    Models of links and of several types are always trained: at random weights they have one answer.

    Args:
        entry: the kind.
        dtype: half precision.
        weights: trained in single precision, or random as they begin; or these with an offset that
            puts no class ahead on the mean, so that there are several.
    """
    of_what = entry.base if isinstance(entry, EdgeEntry) else entry
    if isinstance(of_what, LinkEntry | TypedEntry):
        weights = "trained"
    name = f"{str(dtype).removeprefix('torch.')}, {weights}: {entry.name}"
    if isinstance(entry, EdgeEntry):
        return replace(entry, name=name, base=halved(entry.base, dtype, weights), quick=False)
    steps = [entry.finish]
    if weights == "centred" and isinstance(entry, Entry):
        steps.append(centre)
    if weights == "centred" and isinstance(entry, GraphEntry):
        steps.append(centre_of_graphs)
    changes: dict[str, Any] = {"size": SIZE} if isinstance(entry, Entry) else {}
    return replace(
        entry,
        name=name,
        epochs=entry.epochs if weights == "trained" else 0,
        finish=then(*steps, in_precision(dtype)),
        quick=False,
        **changes,
    )


def _residual(graph: MakeGraph, name: str, *, seed: int = 0, **options: Any) -> Entry:
    def build(graph: Graph) -> nn.Module:
        torch.manual_seed(seed)
        return layered.Residual(graph.features, CLASSES, **options)

    return Entry(f"residual, {name}", graph, build)


def _stack(graph: MakeGraph, name: str, layer: Callable[..., nn.Module], depth: int) -> Entry:
    def build(graph: Graph) -> nn.Module:
        widths = [graph.features, *[HIDDEN] * (depth - 1), CLASSES]
        return layered.Stack(*(layer(*widths[at : at + 2]) for at in range(depth)))

    return Entry(name, graph, build)


def _gin(before: int, after: int) -> nn.Module:
    conv: nn.Module = pyg.GINConv(nn.Sequential(nn.Linear(before, after), nn.ReLU()))
    return conv


def _pna(before: int, after: int) -> nn.Module:
    degrees = torch.tensor([0, 60, 60, 40, 30, 10])
    scalers = ["identity", "amplification"]
    conv: nn.Module = pyg.PNAConv(before, after, ["mean", "max", "std"], scalers, degrees)
    return conv


def _mixed(before: int, after: int) -> nn.Module:
    conv: nn.Module = pyg.SAGEConv(before, after, aggr=["mean", "max", "sum"])
    return conv


_SHARED = _residual(graphs.normalised, "one GCNConv three times", shared=True)
DEEP = [
    _SHARED,
    _residual(graphs.dense, "one GCNConv three times, real values", shared=True),
    _residual(
        graphs.normalised, "one SAGEConv four times", conv=pyg.SAGEConv, layers=4, shared=True
    ),
    _residual(graphs.normalised, "one GATConv three times", conv=pyg.GATConv, shared=True),
    _residual(graphs.dense, "one GINConv three times", conv=_gin, shared=True),
    _residual(graphs.normalised, "four GCNConv, LayerNorm", layers=4, norm=nn.LayerNorm),
    _residual(graphs.dense, "eight GCNConv, LayerNorm", layers=8, norm=nn.LayerNorm),
    _residual(
        graphs.dense, "six SAGEConv, BatchNorm", conv=pyg.SAGEConv, layers=6, norm=pyg.BatchNorm
    ),
    _stack(graphs.normalised, "two GCNConv, rows that sum to one", pyg.GCNConv, 2),
    _stack(graphs.normalised, "four GCNConv", pyg.GCNConv, 4),
    _stack(graphs.dense, "six GCNConv", pyg.GCNConv, 6),
    _stack(graphs.dense, "four GATv2Conv", pyg.GATv2Conv, 4),
    _stack(graphs.dense, "two PNAConv", _pna, 2),
    _stack(graphs.dense, "SAGE, mean, max and sum", _mixed, 2),
]
# Their first weights leave what the later applications of the layer add below bfloat16's roundings.
FAINT = [
    *(
        _residual(
            graphs.normalised, f"one GCNConv three times, seed {seed}", shared=True, seed=seed
        )
        for seed in (3, 11, 15, 16, 18)
    ),
    *(
        _residual(
            graphs.normalised,
            f"one GATConv three times, seed {seed}",
            conv=pyg.GATConv,
            shared=True,
            seed=seed,
        )
        for seed in (11, 12)
    ),
]
KNOWN = [
    "LayerNorm, one GCNConv three times",
    "centred input, one GCNConv three times",
    "LayerNorm, 3 hops by scatter",
    "LayerNorm, 3 hops by index_add",
    "comparison first, 2 hops by scatter",
    "neighbours behind a gate",
    "first layer flipped, directed",
    "GraphNorm",
    "PairNorm",
    "BatchNorm",
    "InstanceNorm",
    "global mean",
    "global max",
    "virtual node",
    "softmax over nodes",
    "GAT",
    "GATv2",
    "SAGE, mean",
    "SAGE, max",
    "GIN",
    "SGConv",
    "TAGConv",
    "ChebConv",
    "MixHopConv",
    "GCN2Conv",
    "APPNP",
    "JumpingKnowledge",
    "ensemble of three GCNs",
    "one logit",
    "graphs: GCN, mean",
    "graphs: GIN, sum, nodes alone",
    "graphs: GCN, max",
    "graphs: GAT, mean",
    "graphs: PNA",
    "graphs: GraphNorm",
    "graphs: BatchNorm",
    "graphs: virtual node",
    "graphs: attention aggregation",
    "graphs: by scatter alone",
    "graphs: compared with others of the batch",
    "links: GCN, inner product",
    "links: SAGE, ends side by side",
    "links: GAT, inner product",
    "links: by scatter alone",
    "values: GCN of nodes",
    "values: GCN of nodes, up",
    "values: GIN of graphs",
    "values: GIN of graphs, down",
    "edges: GCN",
    "edges: GIN",
    "edges: SAGE, max",
    "edges: GCN, nodes and features too",
    "edges: counts all edges",
    "edges: value of nodes",
    "edges: links, GCN",
    "edges: graphs, GCN, mean",
    "types: SAGE by relation",
    "types: GAT by relation",
    "types: HGT",
    "types: to_hetero, SAGE",
    "types: HAN",
    "types: mean of all papers",
    "types: value, SAGE",
    "types: SAGE, edges",
    "types: SAGE, relations",
    "types: links, author and paper",
    "types: graphs, mean",
]
OTHERS: list[AnyEntry] = [
    *(ENTRIES[name] for name in KNOWN),
    EdgeEntry("edges: residual, one GCNConv three times", _SHARED, {"keep": ("edges",)}),
    ValueEntry(
        "values: residual, one GCNConv three times",
        False,
        lambda features: layered.Residual(features, 1, shared=True),
        {"tolerance_share": 0.5},
    ),
]
_WAYS: list[tuple[torch.dtype, Weights]] = [
    (torch.bfloat16, "random"),
    (torch.float16, "centred"),
    (torch.bfloat16, "trained"),
    (torch.bfloat16, "centred"),
    (torch.float16, "trained"),
    (torch.float16, "random"),
]
HALF_ZOO: list[AnyEntry] = [
    *(halved(entry, torch.bfloat16, "random") for entry in FAINT),
    *(halved(entry, *way) for entry in DEEP for way in _WAYS[:4]),
    *(halved(entry, *way) for entry, way in zip(OTHERS, cycle(_WAYS), strict=False)),
]
