"""What PyG's `Explainer` asks about at each task level, as Zorro is asked it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.elements.edges import EdgeLabel
from zorro.errors import InputError
from zorro.explainer import Zorro
from zorro.graph.model_inputs import ModelInputs
from zorro.graph.validation import check_graph
from zorro.question.readout import RowOfBatch

LINKS = "edge_label_index"


@dataclass(frozen=True)
class Call:
    """How PyG called the algorithm.

    Args:
        model: called as `model(x, edge_index, **kwargs)`.
        x: (N, d).
        edge_index: (2, E).
        kwargs: further arguments, as PyG passes them at all levels.
        outputs: how many the model has, if the target tells.
        graphs: further graphs from whose nodes noise is drawn, at graph level.
    """

    model: nn.Module
    x: Tensor
    edge_index: Tensor
    kwargs: Mapping[str, Any]
    outputs: int | None = None
    graphs: Sequence[Data] = ()

    def of_edges(self, kwargs: Mapping[str, Any]) -> Mapping[str, Tensor]:
        """Return those of some further arguments that have a row per edge."""
        nodes, edges = self.x.size(0), self.edge_index.size(1)
        return ModelInputs.sort(kwargs, nodes=nodes, edges=edges).edge


class TaskLevel(Protocol):
    """The outputs of a call, each by its number."""

    @property
    def each(self) -> str:
        """What an output is of."""
        ...

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def inputs(self) -> Mapping[str, Any]:
        """What the model is called with besides features and edges."""
        ...

    def zorro(self, options: Mapping[str, Any]) -> Zorro:
        """Return what explains them."""
        ...

    def asked(self, number: int) -> Any:
        """Return an output as it is asked about."""
        ...


class LevelOfOneType(TaskLevel, Protocol):
    """The outputs of a call with one matrix of features."""

    @property
    def edge_attributes(self) -> Mapping[str, Tensor]:
        """What of the inputs has a row per edge."""
        ...

    def placed(self, mask: Tensor, number: int) -> Tensor:
        """Return a mask of an output's own rows on those of x."""
        ...

    def renamed(self, edges: Sequence[EdgeLabel], number: int) -> Sequence[EdgeLabel]:
        """Return edges between an output's own rows as edges between those of x."""
        ...


class Nodes:
    """A row of the output per node."""

    each = "node"

    def __init__(self, call: Call) -> None:
        self._call = call
        # PyG's caller may pass links at every level; they are of no use to a model of nodes.
        self.inputs = {name: it for name, it in call.kwargs.items() if name != LINKS}

    @property
    def edge_attributes(self) -> Mapping[str, Tensor]:
        """What the model gets for edges."""
        return self._call.of_edges(self.inputs)

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return int(self._call.x.size(0))

    def zorro(self, options: Mapping[str, Any]) -> Zorro:
        """Return what explains nodes."""
        call = self._call
        return Zorro(call.model, call.x, call.edge_index, model_kwargs=self.inputs, **options)

    def asked(self, number: int) -> int:
        """Return the node."""
        return number

    def placed(self, mask: Tensor, number: int) -> Tensor:
        """Return the mask, which is on all nodes."""
        return mask

    def renamed(self, edges: Sequence[EdgeLabel], number: int) -> Sequence[EdgeLabel]:
        """Return the edges, which have the numbers of all nodes."""
        return edges


class Links:
    """A row of the output per link of `edge_label_index`."""

    each = "link"

    def __init__(self, call: Call) -> None:
        self._call = call
        self.inputs = call.kwargs
        self._kwargs = dict(call.kwargs)
        self._links = links_of(self._kwargs.pop(LINKS, None))

    @property
    def edge_attributes(self) -> Mapping[str, Tensor]:
        """What the model gets for edges."""
        return self._call.of_edges(self._kwargs)

    @property
    def count(self) -> int:
        """How many links there are."""
        return len(self._links)

    def zorro(self, options: Mapping[str, Any]) -> Zorro:
        """Return what explains links, all edges carrying messages as in PyG's own call."""
        call = self._call
        return Zorro.of_links(
            call.model,
            call.x,
            call.edge_index,
            model_kwargs=self._kwargs,
            carries_messages=True,
            **options,
        )

    def asked(self, number: int) -> tuple[int, int]:
        """Return the link's ends."""
        source, target = self._links[number]
        return source, target

    def placed(self, mask: Tensor, number: int) -> Tensor:
        """Return the mask, which is on all nodes."""
        return mask

    def renamed(self, edges: Sequence[EdgeLabel], number: int) -> Sequence[EdgeLabel]:
        """Return the edges, which have the numbers of all nodes."""
        return edges


def links_of(given: Any) -> list[list[int]]:
    """Return links (2, k) as pairs, or refuse what is none."""
    if not isinstance(given, Tensor) or given.dim() != 2 or given.size(0) != 2:
        came = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
        raise InputError(f"{LINKS}: expected the links that are explained, (2, k), got {came}")
    pairs: list[list[int]] = given.t().tolist()
    return pairs


class Graphs:
    """A row of the output per graph of `batch`."""

    each = "graph"

    def __init__(self, call: Call) -> None:
        self._call = call
        kwargs = {name: it for name, it in call.kwargs.items() if name != LINKS}
        self.inputs = dict(kwargs)
        given = kwargs.pop("batch", None)
        nodes = call.x.size(0)
        self._batch: Tensor = (
            torch.zeros(nodes, dtype=torch.long, device=call.x.device) if given is None else given
        )
        if self._batch.shape != (nodes,):
            raise InputError(
                f"batch: expected a graph's number per node, ({nodes},), got "
                f"{tuple(self._batch.shape)}"
            )
        self._kwargs = kwargs

    @property
    def edge_attributes(self) -> Mapping[str, Tensor]:
        """What the model gets for edges."""
        return self._call.of_edges(self._kwargs)

    @property
    def count(self) -> int:
        """How many graphs there are."""
        return int(self._batch.max()) + 1

    def zorro(self, options: Mapping[str, Any]) -> Zorro:
        """Return what explains graphs: each by itself, or all of them where edges join them."""
        if self._are_joined:
            return self._joined(options)
        parts = self._parts()
        return Zorro.of_graphs(
            self._call.model,
            [*parts, *self._call.graphs],
            model_kwargs=_named(self._kwargs, parts[0]),
            **options,
        )

    def asked(self, number: int) -> int:
        """Return the graph's number."""
        return number

    def placed(self, mask: Tensor, number: int) -> Tensor:
        """Return the mask of a graph's nodes on those of all graphs."""
        nodes = self._batch.numel()
        if (mask.size(0) == 1 and nodes > 1) or mask.size(0) == nodes:
            return mask  # of all columns, or of all nodes
        placed = mask.new_zeros(nodes, mask.size(1))
        placed[(self._batch == number).cpu()] = mask
        return placed

    def renamed(self, edges: Sequence[EdgeLabel], number: int) -> Sequence[EdgeLabel]:
        """Return a graph's edges by the numbers that its nodes have among those of all graphs."""
        if self._are_joined:
            return edges
        ids = (self._batch == number).nonzero().flatten().tolist()
        return [(ids[u], ids[v], *which) for u, v, *which in edges]

    @cached_property
    def _are_joined(self) -> bool:
        """Whether edges lead from one graph to another."""
        sender, receiver = self._batch[self._call.edge_index]
        return not torch.equal(sender, receiver)

    def _parts(self) -> list[Data]:
        """Return the graphs, with their part of the model's further arguments."""
        x, edge_index, batch = self._call.x, self._call.edge_index, self._batch
        model_inputs = ModelInputs.sort(self._kwargs, nodes=x.size(0), edges=edge_index.size(1))
        graphs = []
        for number in range(self.count):
            nodes = (batch == number).nonzero().flatten()
            edges = (batch[edge_index[0]] == number).nonzero().flatten()
            place = torch.full_like(batch, -1)
            place[nodes] = torch.arange(nodes.numel(), device=place.device)
            part = model_inputs.subgraph(nodes, edges)
            graphs.append(
                Data(x=x[nodes], edge_index=place[edge_index[:, edges]], **part.node, **part.edge)
            )
        return graphs

    def _joined(self, options: Mapping[str, Any]) -> Zorro:
        """Return what explains graphs between which messages pass: all nodes are candidates."""
        call = self._call
        check_graph(call.x, call.edge_index)
        whole = Data(x=call.x, edge_index=call.edge_index, **_tensors(self._kwargs))
        return Zorro.from_graphs(
            call.model,
            [whole] * self.count,
            [whole, *call.graphs],
            model_kwargs=_named(self._kwargs, whole),
            options=options,
            readouts=[RowOfBatch(number, self._batch) for number in range(self.count)],
        )


def _nodes_or_graphs(call: Call) -> LevelOfOneType:
    """Return a model's outputs for nodes, or for graphs where there is one per graph of `batch`.

    PyG takes outputs as they come: to it a model of graphs may be one of nodes.
    """
    if call.kwargs.get("batch") is not None and call.outputs != call.x.size(0):
        graphs = Graphs(call)
        if graphs.count == call.outputs:
            return graphs
    return Nodes(call)


LEVELS: Mapping[str, Callable[[Call], LevelOfOneType]] = {
    "node": _nodes_or_graphs,
    "edge": Links,
    "graph": Graphs,
}


def _tensors(kwargs: Mapping[str, Any]) -> dict[str, Tensor]:
    return {name: value for name, value in kwargs.items() if isinstance(value, Tensor)}


def _named(kwargs: Mapping[str, Any], graph: Data) -> dict[str, Any]:
    """Return further arguments by name: those that a graph has its own part of, and constants."""
    return {name: name if graph.get(name) is not None else value for name, value in kwargs.items()}
