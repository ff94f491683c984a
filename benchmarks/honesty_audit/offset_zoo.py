"""The models that are audited whose scores differ by little, far from zero, by name."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from typing import Any, NamedTuple

import torch

from honesty_audit import graphs, hand_written, layered, offset_models, whole_graph
from honesty_audit.casting import in_precision
from honesty_audit.edge_zoo import EdgeEntry
from honesty_audit.graph_zoo import GraphEntry
from honesty_audit.half_zoo import then
from honesty_audit.lifted import Lifted, OfGraphs, OfLinks, OfNodes, OfTypes, lift
from honesty_audit.link_zoo import LinkEntry
from honesty_audit.prepared import ENTRIES, AnyEntry
from honesty_audit.typed_zoo import TypedEntry
from honesty_audit.value_zoo import ValueEntry
from honesty_audit.zoo import Entry


class Level(NamedTuple):
    """Where scores lie, how far apart, and in which precision."""

    offset: float
    margin: float
    dtype: torch.dtype

    @property
    def name(self) -> str:
        """For a page."""
        precision = str(self.dtype).removeprefix("torch.")
        return f"{self.offset:g} ± {self.margin:g} in {precision}"


LEVELS = [
    Level(1e3, 3e-3, torch.float32),
    Level(4.0, 0.0625, torch.bfloat16),
    Level(10.0, 0.015625, torch.float16),
    Level(1e4, 0.05, torch.float32),
    Level(10.0, 1e-4, torch.float32),
    Level(100.0, 1.0, torch.bfloat16),
    Level(1e3, 1.0, torch.float16),
    Level(100.0, 3e-4, torch.float32),
    Level(1e4, 1.0, torch.float32),
]
FAR = {
    "halves of the graph": offset_models.between_halves,
    "largest of all": offset_models.largest,
    "first of all": offset_models.first_of_all,
    "four hops": offset_models.four_hops,
    "tied": offset_models.tied,
}
_TWICE = 2  # levels of each kind


def _decided(name: str, level: Level) -> Entry:
    """Return a kind of model that is not trained, at a level."""
    far, offset, margin = FAR[name], level.offset, level.margin
    return Entry(
        f"{level.name}: {name}",
        graphs.dense,
        lambda graph: offset_models.Decided(far, offset=offset, margin=margin),
        finish=in_precision(level.dtype),
        epochs=0,
        size=150,
    )


def lifted(entry: Any, level: Level) -> Any:
    """Return a kind of model, trained as it is, with its scores at a level."""
    name = f"{level.name}: {entry.name}"
    if isinstance(entry, EdgeEntry):
        return replace(entry, name=name, base=lifted(entry.base, level), quick=False)
    steps = (
        entry.finish,
        lift(_kind(entry), scale=level.margin, offset=level.offset),
        in_precision(level.dtype),
    )
    changes: dict[str, Any] = {"name": name, "finish": then(*steps), "quick": False}
    if isinstance(entry, LinkEntry):
        changes["threshold"] = level.offset
    elif "threshold" in entry.options:
        changes["options"] = {**entry.options, "threshold": level.offset}
    return replace(entry, **changes)


def _kind(entry: AnyEntry) -> type[Lifted]:
    if isinstance(entry, ValueEntry):
        return OfGraphs if entry.of_graphs else OfNodes
    return {Entry: OfNodes, GraphEntry: OfGraphs, LinkEntry: OfLinks, TypedEntry: OfTypes}[
        type(entry)
    ]


def _mean(x: torch.Tensor) -> torch.Tensor:
    return x.mean(0, keepdim=True)


_SHARED = Entry(
    "residual, one GCNConv three times",
    graphs.normalised,
    lambda graph: layered.Residual(graph.features, graphs.CLASSES, shared=True),
)
VALUES = [
    ValueEntry(
        "values: residual, one GCNConv three times",
        False,
        lambda features: layered.Residual(features, 1, shared=True),
        {"tolerance_share": 0.3},
    ),
    ValueEntry(
        "values: global mean",
        False,
        lambda features: whole_graph.GlobalPool(features, 1, pool=_mean),
        {"tolerance_share": 0.2},
    ),
    ValueEntry(
        "values: virtual node",
        False,
        lambda features: whole_graph.VirtualNode(features, 1),
        {"tolerance_share": 0.2, "side": "up"},
    ),
    ValueEntry(
        "values: two hops by index_add",
        False,
        lambda features: hand_written.Scattered(
            features, 1, hops=2, before=hand_written.centred, spread=hand_written.sum_of_neighbours
        ),
        {"tolerance_share": 0.1},
    ),
]
KNOWN = [
    "global mean",
    "virtual node",
    "LayerNorm, one GCNConv three times",
    "GraphNorm",
    "softmax over nodes",
    "LayerNorm, 3 hops by scatter",
    "neighbours behind a gate",
    "first layer flipped, directed",
    "embedding by node number",
    "GCN",
    "GAT",
    "ensemble of three GCNs",
    "one logit",
    "graphs: compared with others of the batch",
    "graphs: forgets the batch",
    "graphs: GCN, mean",
    "graphs: centred over the graph",
    "links: GCN, inner product",
    "links: by scatter alone",
    "values: GIN of graphs",
    "edges: counts all edges",
    "edges: degrees three hops away",
    "edges: GCN",
    "types: mean of all papers",
    "types: the first venue",
    "types: SAGE by relation",
    "types: value, SAGE",
    "types: SAGE, edges",
]
KINDS: list[AnyEntry] = [
    _SHARED,
    EdgeEntry("edges: residual, one GCNConv three times", _SHARED, {"keep": ("edges",)}),
    *VALUES,
    *(ENTRIES[name] for name in KNOWN),
]
OFFSET_ZOO: list[AnyEntry] = [
    *(_decided(name, level) for name in FAR for level in LEVELS[: _TWICE + 1]),
    *(lifted(entry, level) for entry, level in zip(KINDS, cycle(LEVELS), strict=False)),
]
