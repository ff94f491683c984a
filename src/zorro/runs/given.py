"""What a task explains: the nodes of one graph, or several graphs as wholes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.errors import InputError
from zorro.explainer import Zorro
from zorro.graph.edge_index import Edges, edges_of
from zorro.graph.features import Features, features_of, size_of
from zorro.graph.stored.verification import OnProgress
from zorro.question import Level
from zorro.runs.digests import data_digest, graphs_digest

Device = str | torch.device


class GivenData(Protocol):
    """What is at hand, and at which level it is explained."""

    level: ClassVar[Level]

    @property
    def count(self) -> int:
        """How many can be asked about."""
        ...

    @property
    def device(self) -> torch.device:
        """Where it is held."""
        ...

    @property
    def pool(self) -> Features:
        """The features (N, d) of all nodes, from which noise is drawn."""
        ...

    def to(self, device: Device) -> GivenData:
        """Return it on a device; what the caller holds stays where it is."""
        ...

    def explainer(self, model: nn.Module, options: Mapping[str, Any]) -> Zorro:
        """Return what explains a model's answers on it."""
        ...

    def described(self, model_kwargs: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Return its sizes and its digest, for a manifest.

        Args:
            model_kwargs: what else the model gets.
            on_progress: told how many bytes of a stored graph are verified, and of how many.
        """
        ...


@dataclass(frozen=True)
class OneGraph:
    """A graph whose nodes are explained.

    Args:
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
    """

    x: Tensor | Features
    edge_index: Tensor | Edges
    level: ClassVar[Level] = "node"

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return size_of(self.x)[0]

    @property
    def device(self) -> torch.device:
        """Where the features are."""
        return self.x.device

    @property
    def pool(self) -> Features:
        """The graph's features."""
        return features_of(self.x)

    def to(self, device: Device) -> OneGraph:
        """Return the graph on a device, or raise `InputError` if it is stored."""
        if not (isinstance(self.x, Tensor) and isinstance(self.edge_index, Tensor)):
            raise InputError(f"device: expected None for a stored graph, got '{device}'")
        return OneGraph(self.x.to(device), self.edge_index.to(device))

    def explainer(self, model: nn.Module, options: Mapping[str, Any]) -> Zorro:
        """Return what explains the model's answers for nodes."""
        return Zorro(model, self.x, self.edge_index, **options)

    def described(self, model_kwargs: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Return the graph's sizes and its digest."""
        nodes, features = size_of(self.x)
        return {
            "nodes": nodes,
            "features": features,
            "edges": edges_of(self.edge_index, nodes).num_edges,
            "sha256": data_digest(self.x, self.edge_index, model_kwargs, on_progress=on_progress),
        }


@dataclass(frozen=True)
class ManyGraphs:
    """Graphs that are explained as wholes.

    Args:
        graphs: PyG's `Data`, two at least.
    """

    graphs: Sequence[Data]
    level: ClassVar[Level] = "graph"

    @property
    def count(self) -> int:
        """How many graphs there are."""
        return len(self.graphs)

    @property
    def device(self) -> torch.device:
        """Where the first graph's features are."""
        device: torch.device = self.graphs[0].x.device
        return device

    @property
    def pool(self) -> Features:
        """The features of all graphs."""
        return features_of(torch.cat([graph.x for graph in self.graphs]))

    def to(self, device: Device) -> ManyGraphs:
        """Return copies of the graphs on a device."""
        return ManyGraphs([graph.clone().to(device) for graph in self.graphs])

    def explainer(self, model: nn.Module, options: Mapping[str, Any]) -> Zorro:
        """Return what explains the model's answers for graphs."""
        return Zorro.of_graphs(model, self.graphs, **options)

    def described(self, model_kwargs: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Return the sizes of all graphs together, and their digest."""
        return {
            "graphs": len(self.graphs),
            "nodes": sum(graph.x.size(0) for graph in self.graphs),
            "features": self.graphs[0].x.size(1),
            "edges": sum(graph.edge_index.size(1) for graph in self.graphs),
            "sha256": graphs_digest(self.graphs, model_kwargs),
        }
