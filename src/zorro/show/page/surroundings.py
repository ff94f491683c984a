"""What explanations lie in: the graph and the model's answers, as far as they are at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from zorro.errors import InputError
from zorro.explanation import Explanation
from zorro.graph.edge_index import Edges, EdgesByReceiver, edges_of
from zorro.graph.features import Features, features_of, size_of
from zorro.graph.names import Names, check_labels
from zorro.model.predictor import Predictor
from zorro.question.reading import Classes
from zorro.show.scene import Scene, scene_of

MOST_CONTEXT = 40  # nodes of a drawing that are not selected


@dataclass(frozen=True)
class Surroundings:
    """A graph, what the model says of its nodes, and what they are called.

    Args:
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
        y: (N,), the true classes.
        predicted: (N,), the model's classes.
        names: of nodes, features and classes.
    """

    x: Tensor | Features | None = None
    edge_index: Tensor | Edges | None = None
    y: Tensor | None = None
    predicted: Tensor | None = None
    names: Names = field(default_factory=Names)

    def __post_init__(self) -> None:
        if (self.x is None) != (self.edge_index is None):
            raise InputError("x and edge_index: expected both or neither, got only one")
        nodes, features = (None, None) if self.x is None else size_of(self.x)
        check_labels("node_names", self.names.nodes, nodes)
        check_labels("feature_names", self.names.features, features)
        check_labels("class_names", self.names.classes, None)
        if self.y is not None and nodes is not None and self.y.shape != (nodes,):
            raise InputError(f"y: expected shape ({nodes},), got {tuple(self.y.shape)}")

    @property
    def has_graph(self) -> bool:
        """Whether neighbourhoods can be drawn and values shown."""
        return self.x is not None

    @cached_property
    def _edges(self) -> EdgesByReceiver:
        assert self.x is not None
        assert self.edge_index is not None
        return EdgesByReceiver(edges_of(self.edge_index, size_of(self.x)[0]))

    @cached_property
    def _features(self) -> Features:
        assert self.x is not None
        return features_of(self.x)

    def scene(self, explanation: Explanation) -> Scene | None:
        """Return how an explanation's neighbourhood is laid out."""
        return self.scene_around(explanation.node, explanation.nodes, hops=explanation.graph.hops)

    def scene_around(
        self,
        node: int,
        selected: Sequence[int],
        *,
        hops: int,
        most_context: int = MOST_CONTEXT,
    ) -> Scene | None:
        """Return how the neighbourhood of a node is laid out, with some nodes selected."""
        if self.edge_index is None:
            return None
        return scene_of(node, selected, self._edges, hops=hops, most_context=most_context)

    def values(self, nodes: Sequence[int], features: Sequence[int]) -> list[list[float]] | None:
        """Return the values of some features of some nodes, a row per node."""
        if self.x is None:
            return None
        device = self._features.device
        rows = self._features.rows(torch.tensor(nodes, dtype=torch.long, device=device))
        columns = torch.tensor(features, dtype=torch.long, device=device)
        kept: list[list[float]] = rows[:, columns].tolist()  # (n, f)
        return kept

    def truth(self, node: int) -> int | None:
        """Return the true class of a node, None if it is not known."""
        return None if self.y is None else int(self.y[node])

    def answer(self, node: int) -> int | None:
        """Return the model's class of a node, None if it is not known."""
        return None if self.predicted is None else int(self.predicted[node])


def predicted_classes(
    model: nn.Module,
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    *,
    model_kwargs: Mapping[str, Any] | None = None,
    threshold: float | None = None,
) -> Tensor | None:
    """Return the model's class of each node (N,).

    None where the model need not be able to run on the whole graph: for sparse features, and for
    a graph that is not in memory.
    """
    everything = x if isinstance(x, Tensor) else x.in_memory
    edges = edge_index if isinstance(edge_index, Tensor) else edge_index.in_memory
    if everything is None or everything.layout != torch.strided or edges is None:
        return None
    predictor = Predictor(model, reading=Classes(threshold))
    return predictor.scores(everything, edges, model_kwargs or {}).argmax(dim=1).cpu()
