"""How pages see explanations of nodes: their graph, and the model's answers for its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from torch import Tensor

from zorro.elements.groups import gathered
from zorro.elements.types import Types
from zorro.errors import InputError
from zorro.graph.edge_index import Edges, EdgesByReceiver, edges_of
from zorro.graph.features import Features, features_of, size_of
from zorro.graph.names import Names, check_labels, label
from zorro.question import Level, Query
from zorro.show import palette
from zorro.show.kept_edges import KeptEdges
from zorro.show.page.address import Address
from zorro.show.page.answers import Answers, ClassAnswers, Truth
from zorro.show.page.view import (
    MOST_IN_FULL,
    Elements,
    NodeKinds,
    ShownValues,
    other_class,
    within_hops,
)
from zorro.show.scene import Scene, scene_of

MOST_CONTEXT = 40  # nodes of a drawing that are not selected


@dataclass(frozen=True)
class NodeView:
    """A graph, what the model says of its nodes, and what they are called.

    Args:
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
        y: (N,), the true classes or values; (N, K) of several labels or values.
        predicted: (N,), the model's classes.
        names: of nodes, features and classes.
        groups: columns that are one feature together.
        answers: what the model says of nodes.
    """

    x: Tensor | Features | None = None
    edge_index: Tensor | Edges | None = None
    y: Tensor | None = None
    predicted: Tensor | None = None
    names: Names = field(default_factory=Names)
    groups: Elements = ()
    answers: Answers = field(default_factory=ClassAnswers)
    class_colours: ClassVar[Sequence[str]] = palette.CLASSES
    level: ClassVar[Level] = "node"
    types: ClassVar[Types | None] = None
    target: ClassVar[str | None] = None
    counted: ClassVar[str] = "nodes"

    def __post_init__(self) -> None:
        if (self.x is None) != (self.edge_index is None):
            raise InputError("x and edge_index: expected both or neither, got only one")
        nodes, features = (None, None) if self.x is None else size_of(self.x)
        check_labels("node_names", self.names.nodes, nodes)
        check_labels("feature_names", self.names.features, features)
        check_labels("class_names", self.names.classes, None)
        if self.y is not None and nodes is not None and tuple(self.y.shape[:1]) != (nodes,):
            raise InputError(f"y: expected shape ({nodes},), got {tuple(self.y.shape)}")

    @property
    def kinds(self) -> NodeKinds:
        """The model's classes."""
        return NodeKinds(self.answers.class_names(self.names))

    @property
    def has_graph(self) -> bool:
        """Whether neighbourhoods can be drawn and values shown."""
        return self.x is not None

    @cached_property
    def edges(self) -> EdgesByReceiver:
        """The edges, by receiver; only where the graph is at hand."""
        assert self.x is not None
        assert self.edge_index is not None
        return EdgesByReceiver(edges_of(self.edge_index, size_of(self.x)[0]))

    @cached_property
    def _features(self) -> Features:
        assert self.x is not None
        return features_of(self.x)

    def scene(
        self,
        query: Query,
        selected: Sequence[int],
        *,
        hops: int,
        most: int | None = None,
        edges: KeptEdges | None = None,
    ) -> Scene | None:
        """Return how the neighbourhood of a node is laid out."""
        if self.edge_index is None:
            return None
        context = MOST_CONTEXT if most is None else most
        return scene_of(
            query.index, selected, self.edges, hops=hops, most_context=context, edges=edges
        )

    def values(
        self, query: Query, nodes: Sequence[int] | None, features: Elements | None
    ) -> ShownValues | None:
        """Return values of features at nodes: at the query, if all nodes are kept."""
        if self.x is None:
            return None
        count = size_of(self.x)[1]
        if features is None and count > MOST_IN_FULL:
            return None
        elements = gathered(range(count), self.groups) if features is None else features
        rows = [query.index] if nodes is None else nodes
        return ShownValues.of(self._features, rows, elements, self.names)

    def other(self, address: Address, count: int) -> int | tuple[int, int]:
        """Return a class."""
        return other_class(address)

    def centre(self, query: Query) -> tuple[int, ...]:
        """Return the node itself."""
        return (query.index,)

    def truth(self, query: Query) -> Truth | None:
        """Return the true class or value of a node."""
        return None if self.y is None else self.answers.truth(self.y[query.index])

    def kind(self, query: Query, node: int) -> int | None:
        """Return the model's class of a node."""
        return None if self.predicted is None else int(self.predicted[node])

    def kinds_of_all(self, query: Query) -> list[int] | None:
        """Return None: a node is not named by its class."""
        return None

    def node_label(self, query: Query, node: int) -> str:
        """Return a node's name, or its number."""
        return label(self.names.nodes, node) or str(node)

    def looked_at(self, *, candidates: int, context: int | None, hops: int) -> str:
        """Say how far away nodes were looked at, and how many more were needed."""
        return within_hops(self.names, candidates, context, hops)
