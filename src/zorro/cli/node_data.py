"""A graph whose nodes are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from torch import Tensor, nn
from torch_geometric.data import Data

from zorro import data as datasets
from zorro import models
from zorro.cli.levels import without_those_of_links
from zorro.cli.other_class import against_a_class
from zorro.data import StoredGraph
from zorro.data.names import names_of
from zorro.errors import InputError
from zorro.graph.names import Names
from zorro.models import EdgeInputs
from zorro.question import Level, Query
from zorro.runs.digests import data_digest
from zorro.runs.given import OneGraph


@dataclass(frozen=True)
class NodeData:
    """One graph, in memory or on disk.

    Args:
        name: of the data set, or its path.
        graph: that it holds.
    """

    name: str
    graph: Data | StoredGraph
    level: ClassVar[Level] = "node"

    @classmethod
    def load(cls, name: str, *, seed: int) -> NodeData:
        """Return the graph of this name."""
        return cls(name, datasets.load(name, seed=seed))

    @property
    def num_features(self) -> int:
        """How many features a node has."""
        return int(self.graph.num_features)

    @property
    def num_nodes(self) -> int | None:
        """How many nodes there are."""
        return int(self.graph.num_nodes)

    @property
    def num_classes(self) -> int | None:
        """How many classes are known, None if there are no labels."""
        return None if self.graph.y is None else int(self.graph.y.max()) + 1

    @property
    def out_channels(self) -> int:
        """How many classes there are, or an `InputError` if that is not known."""
        if self.graph.y is None:
            raise InputError(
                "--dataset: expected labels y, which tell the number of classes, got none: add y, "
                "or use a checkpoint that `zorro train` wrote"
            )
        return int(self.graph.y.max()) + 1

    @property
    def names(self) -> Names:
        """What nodes, features and classes are called."""
        return names_of(self.name)

    @property
    def features(self) -> Tensor | None:
        """The features of all nodes (N, d), None if they are not dense and in memory."""
        x = self.graph.x
        return x if isinstance(x, Tensor) and not x.is_sparse and not x.is_sparse_csr else None

    def to(self, device: str) -> NodeData:
        """Return the graph on a device."""
        return replace(self, graph=self.graph.to(device))

    def inputs(self, model: nn.Module) -> EdgeInputs:
        """Return what the graph has for its edges and the model takes."""
        return models.edge_inputs(model, self.graph)

    def model_kwargs(self, inputs: EdgeInputs) -> Mapping[str, Any]:
        """Return what is passed to the model, as `Zorro` takes it."""
        return inputs.passed

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options of the command as `Zorro` takes them."""
        return without_those_of_links(options, self.level)

    def question(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is asked of every node, as `Zorro.explain` takes it."""
        return against_a_class(without_those_of_links(said, self.level))

    def given(self) -> OneGraph:
        """Return what a task explains."""
        return OneGraph(self.graph.x, self.graph.edge_index)

    def digest(self, model_kwargs: Mapping[str, Any]) -> str:
        """Return a digest of the graph; of a stored one that which was recorded."""
        if isinstance(self.graph, StoredGraph):
            return self.graph.digest
        return data_digest(self.graph.x, self.graph.edge_index, model_kwargs)

    def shown(self) -> dict[str, Any]:
        """Return what the pages show of it, as options of `zorro.show.report.write`."""
        graph = self.graph
        return {"x": graph.x, "edge_index": graph.edge_index, "y": graph.y, "names": self.names}

    def audited(self) -> dict[str, Any]:
        """Return what an audit looks at, as options of `Run.audit`."""
        graph = self.graph
        train_mask = getattr(graph, "train_mask", None)
        parts = {"x": graph.x, "edge_index": graph.edge_index, "y": graph.y}
        return parts if train_mask is None else {**parts, "train_mask": train_mask}

    def queries(self, spec: str, *, seed: int) -> list[Query]:
        """Return the nodes that a notation names."""
        nodes = datasets.parse_nodes(spec, self.graph, dataset=self.name, seed=seed)
        return [Query(self.level, node) for node in nodes]

    def truth(self, queries: Sequence[Query]) -> dict[int, float] | None:
        """Return the true classes by the queries' keys, None if they are not known."""
        y = self.graph.y
        return None if y is None else {query.key: int(y[query.index]) for query in queries}
