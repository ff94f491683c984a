"""What a task explains where there are several types: nodes of one, links, or whole graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData

from zorro.arguments import whole_numbers
from zorro.elements.types import Types
from zorro.errors import InputError
from zorro.explainer import Zorro
from zorro.graph.features import Features, features_of
from zorro.graph.graph import Graph
from zorro.graph.packed import pack
from zorro.graph.stored.verification import OnProgress
from zorro.question import About, Level, Query
from zorro.runs.digests import digest
from zorro.runs.given import AsWholes, Device, against_a_class, numbered, pairs_in, some_of

Relation = tuple[str, str, str]


@dataclass(frozen=True)
class TypedGraph:
    """A graph of several types of which one type's nodes are explained, or links between two.

    Args:
        data: PyG's.
        target: a type, or (source type, relation, target type).
    """

    data: HeteroData
    target: str | Relation

    @property
    def level(self) -> Level:
        """Whether nodes or links are asked about."""
        return "node" if isinstance(self.target, str) else "link"

    @property
    def about(self) -> About:
        """What is asked about, and of which types it is."""
        types = (self.target,) if isinstance(self.target, str) else (self.target[0], self.target[2])
        for name in types:
            if name not in self.data.node_types:
                every = ", ".join(map(repr, self.data.node_types))
                raise InputError(f"target: expected one of the types {every}, got {name!r}")
        counts, firsts = list(self._counts.items()), {}
        for place, (name, _) in enumerate(counts):
            firsts[name] = sum(count for _, count in counts[:place])
        return About(self.level, types, tuple(firsts[name] for name in types))

    @property
    def count(self) -> int:
        """How many can be asked about: nodes of the type, or pairs."""
        each = [self._counts[name] for name in self.about.types]
        return each[0] if len(each) == 1 else each[0] * each[1]

    @property
    def device(self) -> torch.device:
        """Where the features are."""
        return self.graph.x.device

    @property
    def pool(self) -> Features:
        """The features of all types beside one another."""
        return features_of(self.graph.x)

    @cached_property
    def graph(self) -> Graph:
        """All types as one graph, as it is explained."""
        return pack(self.data, {}, directed=None)[0]

    @property
    def types(self) -> Types:
        """Of nodes, and the relations between them."""
        types = self.graph.types
        assert types is not None, "what is packed has types"
        return types

    @property
    def _counts(self) -> dict[str, int]:
        return {name: int(self.data[name].num_nodes) for name in self.data.node_types}

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data, "target": self.target}  # workers pack it for themselves

    def to(self, device: Device) -> TypedGraph:
        """Return a copy of the graph on a device."""
        return TypedGraph(self.data.clone().to(device), self.target)

    def queries(self, asked: Any) -> list[Query]:
        """Return what is asked about, by numbers in the types: nodes, a mask, or pairs."""
        about, counts = self.about, [self._counts[name] for name in self.about.types]
        if len(counts) == 1:
            return numbered(about, "nodes", asked, counts[0])
        pairs = []
        for place, pair in enumerate(pairs_in("pairs", asked)):
            ends = list(pair)
            if len(ends) != 2:
                raise InputError(f"pairs[{place}]: expected two nodes (u, v), got {pair!r:.60}")
            each = zip(ends, counts, strict=True)
            ends = [whole_numbers(f"pairs[{place}]", [end], count)[0] for end, count in each]
            pairs.append(about.query(*ends))
        return some_of("pairs", dict.fromkeys(pairs))

    def question(self, asked: Mapping[str, Any], queries: Sequence[Query]) -> dict[str, Any]:
        """Return against which class each is asked, or with which links it is compared, if any."""
        if self.level == "node":
            return against_a_class(asked)
        return {name: value for name, value in asked.items() if value is not None}

    def explainer(self, model: nn.Module, options: Mapping[str, Any]) -> Zorro:
        """Return what explains the model's answers."""
        given = dict(options)
        if self.level == "node":
            given.pop("carries_messages", None)
        groups = given.get("feature_groups")
        if groups is not None and not isinstance(groups, Mapping):
            given["feature_groups"] = self.groups_by_type(groups)
        return Zorro.of_hetero(model, self.data, self.target, **given)

    def groups_by_type(self, groups: Sequence[Sequence[int]]) -> dict[str, list[list[int]]] | None:
        """Return groups of columns among those of all types, by type."""
        found: dict[str, list[list[int]]] = {}
        for group in groups:
            each = [self.types.local_feature(column) for column in group]
            found.setdefault(each[0][0], []).append([number for _, number in each])
        return found or None

    def described(self, model_kwargs: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Return how many nodes each type has, all sizes, the digest, and what is asked about."""
        return {
            "level": self.level,
            "types": self._counts,
            "features_of_types": {one.name: one.features for one in self.types.nodes},
            "relations": [list(each) for each in self.types.relations],
            "back": list(self.types.back),
            "one_way": list(self.types.one_way),
            "target": list(self.about.types),
            "nodes": self.types.num_nodes,
            "features": self.types.num_features,
            "columns": self.pool.shape[1],
            "edges": self.graph.edges.num_edges,
            "sha256": hetero_digest(self.data, model_kwargs),
        }


@dataclass(frozen=True)
class ManyTypedGraphs(AsWholes):
    """Graphs of several types that are explained as wholes.

    Args:
        graphs: PyG's `HeteroData`, of the same types and relations.
    """

    graphs: Sequence[HeteroData]

    @property
    def device(self) -> torch.device:
        """Where the first graph's features are."""
        device: torch.device = next(iter(self.graphs[0].x_dict.values())).device
        return device

    @property
    def pool(self) -> Features:
        """The features of all types of the first graph beside one another."""
        return features_of(self._first.x)

    @cached_property
    def _first(self) -> Graph:
        return pack(self.graphs[0], {}, directed=None)[0]

    def __getstate__(self) -> dict[str, Any]:
        return {"graphs": self.graphs}

    def to(self, device: Device) -> ManyTypedGraphs:
        """Return copies of the graphs on a device."""
        return ManyTypedGraphs([graph.clone().to(device) for graph in self.graphs])

    def described(self, model_kwargs: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Return how many nodes of each type all graphs have together, and their digest."""
        types = self._first.types
        assert types is not None, "what is packed has types"
        counts = {
            name: sum(int(graph[name].num_nodes) for graph in self.graphs) for name in types.names
        }
        return {
            "graphs": len(self.graphs),
            "types": counts,
            "target": [],
            "nodes": sum(counts.values()),
            "features": types.num_features,
            "columns": self.pool.shape[1],
            "edges": sum(int(graph.num_edges) for graph in self.graphs),
            "sha256": digest(*(hetero_digest(graph, model_kwargs) for graph in self.graphs)),
        }


def hetero_digest(data: HeteroData, model_kwargs: Mapping[str, Any]) -> str:
    """Return a digest of a graph of several types, and of the model's further arguments.

    Args:
        data: PyG's.
        model_kwargs: as `Zorro.of_hetero` takes them: tensors, or dictionaries of them.
    """
    values: list[Any] = []
    for name in data.node_types:
        x: Tensor | None = data[name].get("x")
        values += [name, int(data[name].num_nodes) if x is None else x]
    for relation in data.edge_types:
        values += [relation, data[relation].edge_index]
    for name in sorted(model_kwargs):
        given = model_kwargs[name]
        parts = given.items() if isinstance(given, Mapping) else [(None, given)]
        values += [name, *(part for key, value in parts for part in (key, value))]
    return digest(*values)
