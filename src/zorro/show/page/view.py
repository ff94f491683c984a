"""How pages see explanations: all that differs between nodes, links, graphs and types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch

from zorro.elements.types import Types
from zorro.errors import InputError
from zorro.graph.features import Features
from zorro.graph.names import Labels, Names, counted, label
from zorro.question import Level, Query
from zorro.show import palette
from zorro.show.kept_edges import KeptEdges
from zorro.show.page.address import Address
from zorro.show.page.answers import Answers, Truth
from zorro.show.scene import Scene

Elements = Sequence[Sequence[int]]  # each with its columns

# A heat map of more is neither read nor worth its size; the page says what is left out.
_MOST_ROWS = 60
_MOST_COLUMNS = 120
_LONGEST_NAME = 32  # letters of a group's
MOST_IN_FULL = 30  # features that are shown where all of them are kept


@dataclass(frozen=True)
class NodeKinds:
    """What nodes are told apart by in a drawing: the model's classes, or what they are.

    Args:
        names: of the kinds, by number.
        are_atoms: whether they are chemical elements, whose symbols stand in the nodes' marks.
        are_types: whether they are types of nodes, each of which has a shape of its own.
    """

    names: Labels = field(default_factory=dict)
    are_atoms: bool = False
    are_types: bool = False

    def name(self, number: int) -> str:
        """Return what a kind is called."""
        return label(self.names, number) or f"class {number}"

    @property
    def colours(self) -> Sequence[str]:
        """The colours of the kinds, by number; after the last they begin again."""
        if self.are_atoms:
            return [palette.atom_colour(self.name(number)) for number in range(len(self.names))]
        return palette.CLASSES

    def colour(self, number: int) -> str:
        """Return the colour of a kind."""
        return self.colours[number % len(self.colours)]


@dataclass(frozen=True)
class ShownValues:
    """Values of features at nodes.

    Args:
        nodes: ids.
        features: a feature by its column, a group of them by its first.
        rows: a row per node, of the first of them and of the first features; of a group the name
            of the one that is set, or all values as a text.
    """

    nodes: Sequence[int]
    features: Sequence[int]
    rows: list[list[float | str]]

    @classmethod
    def of(
        cls,
        features: Features,
        nodes: Sequence[int],
        elements: Sequence[Sequence[int]],
        names: Names,
    ) -> ShownValues:
        """Read values, as many as can be shown."""
        shown = elements[:_MOST_COLUMNS]
        columns = [column for members in shown for column in members]
        device = features.device
        first = torch.tensor(nodes[:_MOST_ROWS], dtype=torch.long, device=device)
        wanted = torch.tensor(columns, dtype=torch.long, device=device)
        values = [
            dict(zip(columns, row, strict=True)) for row in features.rows(first)[:, wanted].tolist()
        ]
        rows = [[shown_value(row, members, names) for members in shown] for row in values]
        return cls(nodes, [members[0] for members in elements], rows)


def shown_value(
    row: Mapping[int, float] | Sequence[float], members: Sequence[int], names: Names
) -> float | str:
    """Return the value of a feature in a row; of a group the one that is set, or all values."""
    if len(members) == 1:
        return significant(row[members[0]])
    values = [row[column] for column in members]
    if sorted(values) == [0.0] * (len(values) - 1) + [1.0]:
        return names.of_feature(members[values.index(1.0)])
    return ", ".join(str(significant(value)) for value in values)


def significant(value: float) -> float | int:
    """Return a value with three significant digits, whole numbers without a point."""
    short = float(f"{value:.3g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def group_name(members: Sequence[int], names: Names) -> str:
    """Return what a group of features is called.

    >>> group_name((2, 3), Names(features=["a", "b", "c", "d"])), group_name((0, 1, 2), Names())
    ('c, d', 'features 0, 1, 2')
    """
    given = [label(names.features, column) for column in members]
    texts = [str(column) for column in members] if None in given else [str(text) for text in given]
    listed = ", ".join(texts)
    if len(listed) > _LONGEST_NAME:
        listed = f"{texts[0]}, {texts[1]}, … {texts[-1]}"
    return f"{names.feature}s {listed}" if None in given else listed


def within_hops(
    names: Names, candidates: int, context: int | None, hops: int, *, of: str = ""
) -> str:
    """Say how far away nodes were looked at, and how many more were needed.

    Args:
        names: of the data set.
        candidates: how many nodes could be kept.
        context: how many more were needed; None if the whole graph was taken.
        hops: how far candidates were looked for.
        of: from where they were counted, if that is to be said.
    """
    within = f"{names.counted('nodes', candidates)} within {counted(hops, 'hop')}{of}"
    if context is None:
        return f"{within}, evaluated on the whole graph"
    return f"{within}, evaluated with {names.counted('nodes', context)} of context"


def other_class(address: Address) -> int:
    """Return the class that an answer is compared with, or raise `InputError`."""
    if not isinstance(address, int):
        raise InputError(f"why_not: expected the number of a class, got {address}")
    return address


class View(Protocol):
    """A graph or graphs, and the model's answers, as far as they are at hand."""

    @property
    def level(self) -> Level:
        """Whether nodes are asked about, links or graphs."""
        ...

    @property
    def counted(self) -> str:
        """What of the data the numbers of queries count: its nodes, or its graphs."""
        ...

    @property
    def names(self) -> Names:
        """Of nodes, features and classes."""
        ...

    @property
    def answers(self) -> Answers:
        """What the model says of queries."""
        ...

    @property
    def groups(self) -> Elements:
        """Columns that are one feature together."""
        ...

    @property
    def kinds(self) -> NodeKinds:
        """By which nodes are coloured."""
        ...

    @property
    def types(self) -> Types | None:
        """Of nodes and edges, where there are several."""
        ...

    @property
    def target(self) -> str | None:
        """The type that is asked about, where there are several."""
        ...

    @property
    def class_colours(self) -> Sequence[str]:
        """The colours of the model's classes."""
        ...

    @property
    def has_graph(self) -> bool:
        """Whether drawings can be made and values shown."""
        ...

    def scene(
        self,
        query: Query,
        selected: Sequence[int],
        *,
        hops: int,
        most: int | None = None,
        edges: KeptEdges | None = None,
    ) -> Scene | None:
        """Return how a query is laid out with some nodes selected.

        Args:
            query: that was asked.
            selected: ids of nodes.
            hops: how far a node's neighbourhood reaches.
            most: how many nodes are shown that are not selected; as many as can be read when None.
            edges: that are kept, where sets are of edges.
        """
        ...

    def values(
        self, query: Query, nodes: Sequence[int] | None, features: Elements | None
    ) -> ShownValues | None:
        """Return the values that a set rests on, None if they are not known or say nothing.

        Args:
            query: that was asked.
            nodes: that are kept; None if all are.
            features: that are kept, each with the columns that it has; None if all are.
        """
        ...

    def other(self, address: Address, count: int) -> int | tuple[int, int]:
        """Return what an answer is compared with, as an explainer takes it, or raise `InputError`.

        Args:
            address: a class; of links another link.
            count: of nodes, or graphs.
        """
        ...

    def centre(self, query: Query) -> tuple[int, ...]:
        """Return the nodes that are asked about, none if it is the graph as a whole."""
        ...

    def truth(self, query: Query) -> Truth | None:
        """Return what is right for a query, None if it is not known."""
        ...

    def kind(self, query: Query, node: int) -> int | None:
        """Return by which number a node of a query's graph is coloured, None if by none."""
        ...

    def kinds_of_all(self, query: Query) -> list[int] | None:
        """Return the kinds of all nodes, by which they are named; None if they have other names."""
        ...

    def node_label(self, query: Query, node: int) -> str:
        """Return a short name of a node."""
        ...

    def looked_at(self, *, candidates: int, context: int | None, hops: int) -> str:
        """Say on what a query was evaluated.

        Args:
            candidates: how many nodes could be kept.
            context: how many more were needed; None if the whole graph was taken.
            hops: how far candidates were looked for.
        """
        ...
