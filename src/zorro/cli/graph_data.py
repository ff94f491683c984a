"""A set of graphs that are asked about as wholes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from zorro import data as datasets
from zorro.cli.levels import without_those_of_links
from zorro.cli.other_class import against_a_class
from zorro.data import GraphDataset
from zorro.data.names import names_of_graphs
from zorro.errors import InputError
from zorro.graph.names import Names
from zorro.models import EdgeInputs
from zorro.models.graph_evaluation import graph_inputs
from zorro.question import Level, Query
from zorro.runs.digests import graphs_digest
from zorro.runs.given import ManyGraphs


@dataclass(frozen=True)
class GraphData:
    """Graphs with a target each.

    Args:
        name: of the data set.
        dataset: that holds them.
    """

    name: str
    dataset: GraphDataset
    level: ClassVar[Level] = "graph"

    @classmethod
    def load(cls, name: str, *, seed: int) -> GraphData:
        """Return the set of graphs of this name."""
        return cls(name, datasets.load_graphs(name, seed=seed))

    @property
    def num_features(self) -> int:
        """How many features a node has."""
        return self.dataset.num_features

    @property
    def num_nodes(self) -> int | None:
        """None: each graph has its own."""
        return None

    @property
    def num_classes(self) -> int | None:
        """How many classes there are, None if the targets are values."""
        return None if self.dataset.targets.is_floating_point() else self.dataset.num_classes

    @property
    def out_channels(self) -> int:
        """How many classes there are, or an `InputError` if the targets are values."""
        return self.dataset.num_classes

    @property
    def names(self) -> Names:
        """What nodes, features, graphs and classes are called."""
        return names_of_graphs(self.dataset)

    @property
    def features(self) -> Tensor | None:
        """The features of all nodes of all graphs (N, d)."""
        return torch.cat([graph.x for graph in self.dataset.graphs])

    def to(self, device: str) -> GraphData:
        """Return the graphs on a device."""
        moved = [graph.clone().to(device) for graph in self.dataset.graphs]
        return replace(self, dataset=replace(self.dataset, graphs=moved))

    def inputs(self, model: nn.Module) -> EdgeInputs:
        """Return what the graphs have for their edges and the model takes, of the first of them."""
        return graph_inputs(model, self.dataset)

    def model_kwargs(self, inputs: EdgeInputs) -> Mapping[str, Any]:
        """Return what is passed to the model, as `Zorro.of_graphs` takes it: by names."""
        return {name: name for name in inputs.passed}

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options of the command as `Zorro.of_graphs` takes them: graphs have no hops."""
        if options.get("hops") is not None:
            raise InputError(
                f"--hops: expected nothing for graphs, all of whose nodes can matter, got "
                f"{options['hops']}"
            )
        taken = {name: value for name, value in options.items() if name != "hops"}
        return without_those_of_links(taken, self.level)

    def question(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is asked of every graph, as `Zorro.explain` takes it."""
        return against_a_class(without_those_of_links(said, self.level))

    def given(self) -> ManyGraphs:
        """Return what a task explains."""
        return ManyGraphs(self.dataset.graphs)

    def digest(self, model_kwargs: Mapping[str, Any]) -> str:
        """Return a digest of the graphs."""
        return graphs_digest(self.dataset.graphs, model_kwargs)

    def shown(self) -> dict[str, Any]:
        """Return what the pages show of it, as options of `zorro.show.report.write`."""
        return {"graphs": self.dataset}

    def audited(self) -> dict[str, Any]:
        """Return what an audit looks at, as options of `Run.audit`."""
        return {"graphs": self.dataset.graphs}

    def queries(self, spec: str, *, seed: int) -> list[Query]:
        """Return the graphs that a notation names."""
        numbers = datasets.parse_graphs(spec, self.dataset, seed=seed)
        return [Query(self.level, number) for number in numbers]

    def truth(self, queries: Sequence[Query]) -> dict[int, float] | None:
        """Return the true classes or values by the queries' keys, None if they are not known."""
        if self.dataset.graphs[0].get("y") is None:
            return None
        kind = int if self.dataset.has_classes else float
        return {query.key: kind(self.dataset.graphs[query.index].y) for query in queries}
