"""What a task explains: nodes of one graph, links between them, of several types, or graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, SupportsIndex

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.arguments import whole_number, whole_numbers
from zorro.errors import InputError
from zorro.explainer import Zorro
from zorro.graph.edge_index import Edges, edges_of
from zorro.graph.features import Features, features_of, size_of
from zorro.graph.stored.verification import OnProgress
from zorro.question import About, Level, Query
from zorro.question.asking import ABOUT_LINKS
from zorro.question.decision import Comparison
from zorro.runs.digests import data_digest, graphs_digest

Device = str | torch.device


class GivenData(Protocol):
    """What is at hand, and at which level it is explained."""

    @property
    def level(self) -> Level:
        """What queries are: nodes, links or graphs."""
        ...

    @property
    def about(self) -> About:
        """The same, and of which type where there are several."""
        ...

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

    def queries(self, asked: Any) -> list[Query]:
        """Return what a user asks about, each once and in order, or refuse what is none of it."""
        ...

    def question(self, asked: Mapping[str, Any], queries: Sequence[Query]) -> dict[str, Any]:
        """Return what is asked of every query in plain values, or refuse what cannot be.

        Args:
            asked: options of `Zorro.explain`; those that are None are left out.
            queries: of which it is asked.
        """
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
    about: ClassVar[About] = About("node")

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

    def queries(self, asked: Any) -> list[Query]:
        """Return the nodes that are asked about, by their numbers or a mask."""
        return numbered(self.about, "nodes", asked, self.count)

    def question(self, asked: Mapping[str, Any], queries: Sequence[Query]) -> dict[str, Any]:
        """Return against which class each is asked, if any."""
        return against_a_class(asked)

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
class LinksOf:
    """A graph of which links between nodes are explained.

    Args:
        graph: whose edges carry messages.
    """

    graph: OneGraph
    level: ClassVar[Level] = "link"
    about: ClassVar[About] = About("link")

    @property
    def count(self) -> int:
        """How many pairs of nodes there are."""
        return self.graph.count**2

    @property
    def device(self) -> torch.device:
        """Where the features are."""
        return self.graph.device

    @property
    def pool(self) -> Features:
        """The graph's features."""
        return self.graph.pool

    def to(self, device: Device) -> LinksOf:
        """Return the graph on a device, or raise `InputError` if it is stored."""
        return LinksOf(self.graph.to(device))

    def queries(self, asked: Any) -> list[Query]:
        """Return the links that are asked about: pairs of nodes, or PyG's tensor of them (2, k)."""
        nodes, name = self.graph.count, "pairs"
        every = (ABOUT_LINKS.query(pair, nodes, name=name) for pair in pairs_in(name, asked))
        return some_of(name, dict.fromkeys(every))

    def question(self, asked: Mapping[str, Any], queries: Sequence[Query]) -> dict[str, Any]:
        """Return with which links or ends each link is compared, if it can be."""
        given = {name: value for name, value in asked.items() if value is not None}
        if "among" in given:
            given["among"] = whole_numbers("among", given["among"], self.graph.count)
        comparison = Comparison(**given)
        if comparison.contrast != "beats":
            raise InputError(
                f"contrast: expected 'beats' for links, which are ahead of others or not, got "
                f"{comparison.contrast!r}"
            )
        for query in queries:
            ABOUT_LINKS.compared(query, comparison, self.graph.count)
        if "why_not" in given:
            given["why_not"] = whole_numbers("why_not", given["why_not"], self.graph.count)
        return given

    def explainer(self, model: nn.Module, options: Mapping[str, Any]) -> Zorro:
        """Return what explains the model's answers for links."""
        return Zorro.of_links(model, self.graph.x, self.graph.edge_index, **options)

    def described(self, model_kwargs: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Return the graph's sizes and its digest, and that its links are asked about."""
        return {"level": self.level, **self.graph.described(model_kwargs, on_progress)}


class AsWholes:
    """Graphs that are explained as wholes, of one type or of several."""

    graphs: Sequence[Any]
    level: ClassVar[Level] = "graph"
    about: ClassVar[About] = About("graph")

    @property
    def count(self) -> int:
        """How many graphs there are."""
        return len(self.graphs)

    def queries(self, asked: Any) -> list[Query]:
        """Return the graphs that are asked about, by their numbers or a mask."""
        return numbered(self.about, "numbers", asked, self.count)

    def question(self, asked: Mapping[str, Any], queries: Sequence[Query]) -> dict[str, Any]:
        """Return against which class each is asked, if any."""
        return against_a_class(asked)

    def explainer(self, model: nn.Module, options: Mapping[str, Any]) -> Zorro:
        """Return what explains the model's answers for graphs."""
        return Zorro.of_graphs(model, self.graphs, **options)


@dataclass(frozen=True)
class ManyGraphs(AsWholes):
    """Graphs that are explained as wholes.

    Args:
        graphs: PyG's `Data`, two at least.
    """

    graphs: Sequence[Data]

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

    def described(self, model_kwargs: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Return the sizes of all graphs together, and their digest."""
        return {
            "graphs": len(self.graphs),
            "nodes": sum(graph.x.size(0) for graph in self.graphs),
            "features": self.graphs[0].x.size(1),
            "edges": sum(graph.edge_index.size(1) for graph in self.graphs),
            "sha256": graphs_digest(self.graphs, model_kwargs),
        }


def numbered(about: About, name: str, asked: Iterable[SupportsIndex], count: int) -> list[Query]:
    """Return queries that are told by one number below `count` each.

    Args:
        about: what they are.
        name: of the argument.
        asked: the numbers, or a mask.
        count: of all there are.
    """
    numbers = dict.fromkeys(whole_numbers(name, asked, count))
    return some_of(name, (about.query(number) for number in numbers))


def some_of(name: str, queries: Iterable[Query]) -> list[Query]:
    """Return queries if there are some, or raise `InputError`."""
    every = list(queries)
    if not every:
        raise InputError(f"{name}: expected at least one, got none")
    return every


def pairs_in(name: str, asked: Any) -> Iterable[Any]:
    """Return pairs of nodes one by one; of a tensor or an array its columns."""
    expected = f"{name}: expected pairs of nodes [(u, v), …], or a tensor (2, k) of them"
    shape = getattr(asked, "shape", None)
    if shape is None:
        if isinstance(asked, str | bytes) or not isinstance(asked, Iterable):
            raise InputError(f"{expected}, got {asked!r:.60}")
        return asked
    if len(shape) != 2 or shape[0] != 2:
        raise InputError(f"{expected}, got one of shape {tuple(shape)}")
    columns: list[Any] = asked.T.tolist()
    return columns


def against_a_class(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is asked of nodes or graphs: why it is not another class, if anything."""
    given = {name: value for name, value in asked.items() if value is not None}
    Comparison(**given).refuse_links()
    if "why_not" in given:
        given["why_not"] = whole_number("why_not", given["why_not"], what="a class")
    return given
