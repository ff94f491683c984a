"""How pages see explanations of links: a graph, and which pairs of its nodes are linked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from zorro.elements.types import Types
from zorro.graph.names import Labels, Names
from zorro.question import About, Level, Query
from zorro.show import palette
from zorro.show.kept_edges import KeptEdges
from zorro.show.link_scene import link_scene
from zorro.show.page.address import Address, query_at
from zorro.show.page.answers import Answers, ClassAnswers, Truth
from zorro.show.page.node_view import MOST_CONTEXT, NodeView
from zorro.show.page.view import Elements, NodeKinds, ShownValues, within_hops
from zorro.show.scene import Scene

_STRIDE = 1 << 31  # more than any graph in memory has nodes, so that two of them make one number


@dataclass(frozen=True)
class LinkView:
    """A graph, what its nodes are, and which of them are known to be linked.

    Args:
        graph: its nodes and the edges that carry messages, as far as they are at hand; the model
            says nothing of single nodes.
        links: (2, E), all that are known, if it is known which answers are right.
        node_classes: (N,), what nodes are told apart by.
        node_class_names: what these are called.
        carries_messages: whether a link that is asked about and is an edge stays one.
        answers: what the model says of links.
    """

    graph: NodeView = field(default_factory=NodeView)
    links: Tensor | None = None
    node_classes: Tensor | None = None
    node_class_names: Labels = ()
    carries_messages: bool = False
    answers: Answers = field(default_factory=ClassAnswers)
    level: ClassVar[Level] = "link"
    types: ClassVar[Types | None] = None
    target: ClassVar[str | None] = None
    counted: ClassVar[str] = "nodes"

    @property
    def names(self) -> Names:
        """Of nodes, features and classes of links."""
        return self.graph.names

    @property
    def groups(self) -> Elements:
        """Columns that are one feature together."""
        return self.graph.groups

    @property
    def kinds(self) -> NodeKinds:
        """The classes of nodes."""
        return NodeKinds(self.node_class_names)

    @property
    def class_colours(self) -> Sequence[str]:
        """Others than those of nodes, where a link is there or not."""
        are_two = len(self.answers.class_names(self.names)) == len(palette.LINKS)
        return palette.LINKS if are_two else palette.CLASSES

    @property
    def has_graph(self) -> bool:
        """Whether neighbourhoods can be drawn and values shown."""
        return self.graph.has_graph

    def scene(
        self,
        query: Query,
        selected: Sequence[int],
        *,
        hops: int,
        most: int | None = None,
        edges: KeptEdges | None = None,
    ) -> Scene | None:
        """Return how the neighbourhood of a link's ends is laid out."""
        if not self.graph.has_graph:
            return None
        return link_scene(
            query,
            selected,
            self.graph.edges,
            hops=hops,
            most_context=MOST_CONTEXT if most is None else most,
            carries_messages=self.carries_messages,
            edges=edges,
        )

    def values(
        self, query: Query, nodes: Sequence[int] | None, features: Elements | None
    ) -> ShownValues | None:
        """Return values of features at nodes: at both ends, if all nodes are kept."""
        return self.graph.values(query, self.centre(query) if nodes is None else nodes, features)

    def other(self, address: Address, count: int) -> int | tuple[int, int]:
        """Return another link."""
        return query_at("why_not", address, About(self.level), count).asked

    def centre(self, query: Query) -> tuple[int, ...]:
        """Return the link's ends."""
        return tuple(dict.fromkeys((query.index, *query.ends[:1])))

    def truth(self, query: Query) -> Truth | None:
        """Return whether there is such a link."""
        if self.links is None or query.to is None:
            return None
        wanted = torch.tensor(query.index * _STRIDE + query.to)
        place = int(torch.searchsorted(self._keys, wanted))
        is_there = place < self._keys.numel() and bool(self._keys[place] == wanted)
        return self.answers.truth(torch.tensor(int(is_there)))

    def kind(self, query: Query, node: int) -> int | None:
        """Return the class of a node."""
        return None if self.node_classes is None else int(self.node_classes[node])

    def kinds_of_all(self, query: Query) -> list[int] | None:
        """Return None: a node is not named by its class."""
        return None

    def node_label(self, query: Query, node: int) -> str:
        """Return a node's name, or its number."""
        return self.graph.node_label(query, node)

    def looked_at(self, *, candidates: int, context: int | None, hops: int) -> str:
        """Say how far away from the ends nodes were looked at, and how many more were needed."""
        return within_hops(self.names, candidates, context, hops, of=" of either end")

    @cached_property
    def _keys(self) -> Tensor:
        """A number for each known link, ascending."""
        assert self.links is not None
        one, other = self.links.cpu()
        keys: Tensor = (one * _STRIDE + other).sort().values
        return keys
