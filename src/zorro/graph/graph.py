"""A graph as a model takes it, in one value that travels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from zorro.elements.types import Types
from zorro.errors import InputError
from zorro.graph.edge_index import Edges, edges_of
from zorro.graph.features import Features, features_of, size_of
from zorro.graph.model_inputs import ModelInputs


@dataclass(frozen=True, eq=False)
class Graph:
    """Features, edges, and what else goes into the model: `model(x, edge_index, **model_kwargs)`.

    Args:
        x: (N, d) features, dense or sparse, or those of a stored graph.
        edge_index: (2, E), or the edges of a stored graph.
        model_kwargs: further arguments of the model.
        directed: whether the two directions of an edge are two edges.
        types: of nodes and edges, where there are several.
    """

    x: Tensor | Features
    edge_index: Tensor | Edges
    model_kwargs: Mapping[str, Any] = field(default_factory=dict)
    directed: bool = False
    types: Types | None = None

    @property
    def num_nodes(self) -> int:
        """N."""
        return size_of(self.x)[0]

    @cached_property
    def features(self) -> Features:
        """Features that are read by rows or columns."""
        return features_of(self.x)

    @cached_property
    def edges(self) -> Edges:
        """Edges that are read by their ends."""
        return edges_of(self.edge_index, self.num_nodes)

    @cached_property
    def model_inputs(self) -> ModelInputs:
        """The further arguments, sorted by what follows into a part of the graph."""
        return ModelInputs.sort(self.model_kwargs, nodes=self.num_nodes, edges=self.edges.num_edges)

    def to(self, device: str | torch.device) -> Graph:
        """Return the same graph on a device; a stored one stays where it is, and is refused."""
        if not isinstance(self.x, Tensor) or not isinstance(self.edge_index, Tensor):
            raise InputError(f"device: expected None for a stored graph, got '{device}'")
        kwargs = {
            name: value.to(device) if isinstance(value, Tensor) else value
            for name, value in self.model_kwargs.items()
        }
        return replace(
            self, x=self.x.to(device), edge_index=self.edge_index.to(device), model_kwargs=kwargs
        )

    def __reduce__(self) -> tuple[type[Graph], tuple[Any, ...]]:
        """Travel as it was given, without what was made of it."""
        kwargs = dict(self.model_kwargs)
        return Graph, (self.x, self.edge_index, kwargs, self.directed, self.types)
