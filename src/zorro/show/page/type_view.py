"""How pages see explanations where there are several types: nodes are told apart by theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from torch import Tensor

from zorro.elements.groups import gathered
from zorro.elements.types import Types
from zorro.graph.features import features_of
from zorro.graph.names import Names
from zorro.question import Level, Query
from zorro.show import palette
from zorro.show.kept_edges import KeptEdges
from zorro.show.page.address import Address
from zorro.show.page.answers import Answers, ClassAnswers, Truth
from zorro.show.page.node_view import MOST_CONTEXT
from zorro.show.page.view import (
    MOST_IN_FULL,
    Elements,
    NodeKinds,
    ShownValues,
    other_class,
    within_hops,
)
from zorro.show.scene import Scene
from zorro.show.type_scene import TypedEdgeIndex, type_scene


@dataclass(frozen=True)
class TypeView:
    """A graph of several types of which one type's nodes are asked about.

    Args:
        types: of nodes and edges.
        target: the type that is asked about.
        edges: of all types; None if the graph is not at hand.
        y: (n,) of the type that is asked about, the true classes or values.
        names: of nodes, features and classes.
        groups: columns that are one feature together.
        answers: what the model says of nodes.
    """

    types: Types
    target: str
    edges: TypedEdgeIndex | None = None
    y: Tensor | None = None
    names: Names = field(default_factory=Names)
    groups: Elements = ()
    answers: Answers = field(default_factory=ClassAnswers)
    class_colours: ClassVar[Sequence[str]] = palette.CLASSES
    level: ClassVar[Level] = "node"
    counted: ClassVar[str] = "nodes"

    @property
    def kinds(self) -> NodeKinds:
        """The types."""
        return NodeKinds(self.types.names, are_types=True)

    @property
    def has_graph(self) -> bool:
        """Whether neighbourhoods can be drawn and values shown."""
        return self.edges is not None

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
        if self.edges is None:
            return None
        context = MOST_CONTEXT if most is None else most
        return type_scene(
            query.index, selected, self.edges, hops=hops, most_context=context, kept=edges
        )

    def values(
        self, query: Query, nodes: Sequence[int] | None, features: Elements | None
    ) -> ShownValues | None:
        """Return values of features at nodes of the types that have them; others are left empty."""
        if self.edges is None:
            return None
        types, count = self.types, self.types.num_features
        if features is None and count > MOST_IN_FULL:
            return None
        elements = gathered(range(count), self.groups) if features is None else features
        owners = [types.local_feature(members[0])[0] for members in elements]
        rows = [
            node
            for node in ([query.index] if nodes is None else nodes)
            if types.local(node)[0] in owners
        ]
        shown = ShownValues.of(features_of(self.edges.graph.x), rows, elements, self.names)
        for values, node in zip(shown.rows, rows, strict=False):
            own = types.local(node)[0]
            for place in range(len(values)):
                values[place] = values[place] if owners[place] == own else ""
        return shown

    def other(self, address: Address, count: int) -> int | tuple[int, int]:
        """Return a class."""
        return other_class(address)

    def centre(self, query: Query) -> tuple[int, ...]:
        """Return the node itself."""
        return (query.index,)

    def truth(self, query: Query) -> Truth | None:
        """Return the true class or value of a node."""
        return None if self.y is None else self.answers.truth(self.y[query.numbers["node"]])

    def kind(self, query: Query, node: int) -> int | None:
        """Return the number of a node's type."""
        return self.types.names.index(self.types.local(node)[0])

    def kinds_of_all(self, query: Query) -> list[int] | None:
        """Return None: nodes are named by type and number."""
        return None

    def node_label(self, query: Query, node: int) -> str:
        """Return a node's type and its number in it, or its name."""
        return self.names.of_node(node)

    def looked_at(self, *, candidates: int, context: int | None, hops: int) -> str:
        """Say how far away nodes were looked at, and how many more were needed."""
        return within_hops(self.names, candidates, context, hops)
