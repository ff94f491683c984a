"""How pages see explanations of whole graphs: the graphs, and what their nodes are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from zorro.elements.groups import gathered
from zorro.elements.types import Types
from zorro.graph.features import features_of
from zorro.graph.names import Labels, Names, check_labels, label
from zorro.question import Level, Query
from zorro.show import palette
from zorro.show.graph_scene import MOST_SHOWN, Layout, graph_scene, layout_of
from zorro.show.kept_edges import KeptEdges
from zorro.show.page.address import Address
from zorro.show.page.answers import Answers, ClassAnswers, Truth
from zorro.show.page.view import (
    MOST_IN_FULL,
    Elements,
    NodeKinds,
    ShownValues,
    other_class,
)
from zorro.show.scene import Scene


@dataclass(frozen=True, eq=False)
class GraphView:
    """Graphs, each asked about as a whole, and what their parts are called.

    Nodes whose features are one-hot are told apart by them, as atoms are.

    Args:
        graphs: PyG's `Data`, with `y` if true classes or values are known; none if they are not at
            hand.
        bonds: what the columns of a one-hot `edge_attr` mean.
        names: of nodes, features, graphs and classes.
        groups: columns that are one feature together.
        answers: what the model says of graphs.
    """

    graphs: Sequence[Data] = ()
    bonds: Labels = ()
    names: Names = field(default_factory=Names)
    groups: Elements = ()
    answers: Answers = field(default_factory=ClassAnswers)
    class_colours: ClassVar[Sequence[str]] = palette.CLASSES
    level: ClassVar[Level] = "graph"
    types: ClassVar[Types | None] = None
    target: ClassVar[str | None] = None
    counted: ClassVar[str] = "graphs"

    def __post_init__(self) -> None:
        features = self.graphs[0].x.size(1) if self.graphs else None
        check_labels("feature_names", self.names.features, features)
        check_labels("class_names", self.names.classes, None)
        check_labels("bonds", self.bonds, None)

    @property
    def has_graph(self) -> bool:
        """Whether the graphs are at hand."""
        return len(self.graphs) > 0

    @cached_property
    def kinds(self) -> NodeKinds:
        """What the nodes are, by the one feature that each has."""
        count = self.graphs[0].x.size(1) if self._are_one_hot else 0
        names = {
            number: label(self.names.features, number) or f"{self.names.feature} {number}"
            for number in range(count)
        }
        return NodeKinds(names, are_atoms=_are_elements(list(names.values())))

    def scene(
        self,
        query: Query,
        selected: Sequence[int],
        *,
        hops: int,
        most: int | None = None,
        edges: KeptEdges | None = None,
    ) -> Scene | None:
        """Return how a graph is laid out."""
        if not self.graphs:
            return None
        shown = MOST_SHOWN if most is None else max(MOST_SHOWN, most)
        return graph_scene(selected, self._layout(query.index), most=shown, edges=edges)

    def values(
        self, query: Query, nodes: Sequence[int] | None, features: Elements | None
    ) -> ShownValues | None:
        """Return values of features at nodes; what a node is, is seen in the drawing already."""
        if not self.graphs:
            return None
        x: Tensor = self.graphs[query.index].x  # (n, d)
        if features is None and (self._are_one_hot or x.size(1) > MOST_IN_FULL):
            return None
        rows = range(x.size(0)) if nodes is None else nodes
        elements = gathered(range(x.size(1)), self.groups) if features is None else features
        return ShownValues.of(features_of(x), list(rows), elements, self.names)

    def other(self, address: Address, count: int) -> int | tuple[int, int]:
        """Return a class."""
        return other_class(address)

    def centre(self, query: Query) -> tuple[int, ...]:
        """Return none: a graph is none of its nodes."""
        return ()

    def truth(self, query: Query) -> Truth | None:
        """Return the true class or value of a graph."""
        y = self.graphs[query.index].get("y") if self.graphs else None
        return None if y is None else self.answers.truth(y)

    def kind(self, query: Query, node: int) -> int | None:
        """Return which feature a node has, if it is one of several."""
        every = self.kinds_of_all(query)
        return None if every is None else every[node]

    def kinds_of_all(self, query: Query) -> list[int] | None:
        """Return which feature each node has, if it is one of several."""
        return self._kinds_in(query.index)

    def node_label(self, query: Query, node: int) -> str:
        """Return a node's number, behind what it is if that is short."""
        kind = self.kind(query, node)
        symbol = self.kinds.name(kind) if kind is not None and self.kinds.are_atoms else ""
        return f"{symbol}{node}"

    def looked_at(self, *, candidates: int, context: int | None, hops: int) -> str:
        """Say that the whole graph was looked at."""
        return f"all {self.names.counted('nodes', candidates)} of the {self.names.graph}"

    @cached_property
    def _are_one_hot(self) -> bool:
        return len(self.graphs) > 0 and all(
            bool(((graph.x == 0) | (graph.x == 1)).all() and (graph.x.sum(1) == 1).all())
            for graph in self.graphs
        )

    def _kinds_in(self, number: int) -> list[int] | None:
        if not self.graphs or not self._are_one_hot:
            return None
        which: list[int] = self.graphs[number].x.argmax(1).tolist()
        return which

    @cached_property
    def _layouts(self) -> dict[int, Layout]:
        return {}

    def _layout(self, number: int) -> Layout:
        """Return where a graph's nodes stand, computed once."""
        if number not in self._layouts:
            graph, every = self.graphs[number], self._kinds_in(number)
            named = every is not None and self.kinds.are_atoms
            self._layouts[number] = layout_of(
                graph.edge_index,
                graph.x.size(0),
                bonds=self._bonds_of(graph),
                atoms=[self.kinds.name(kind) for kind in every or []] if named else None,
            )
        return self._layouts[number]

    def _bonds_of(self, graph: Data) -> list[str | None] | None:
        """Return what each edge is, None if that is not known."""
        attributes = graph.get("edge_attr")
        if not self.bonds or not isinstance(attributes, Tensor) or attributes.dim() != 2:
            return None
        which = attributes.argmax(1)
        known = torch.where(attributes.sum(1) == 1, which, -1).tolist()
        return [label(self.bonds, number) if number >= 0 else None for number in known]


def _are_elements(names: Sequence[str]) -> bool:
    """Whether names are chemical symbols: carbon's among them, and no long one but "other"."""
    return "C" in names and all(len(name) <= 2 or name == "other" for name in names)
