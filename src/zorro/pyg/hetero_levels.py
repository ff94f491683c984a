"""What PyG's `Explainer` asks about in graphs of several types, as Zorro is asked it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData

from zorro.elements.types import EDGE_TYPE, Relation
from zorro.errors import InputError
from zorro.explainer import Zorro
from zorro.explanation import Explanation
from zorro.explanation.explanation import MaskType
from zorro.explanation.typed_masks import by_relation, kept_columns, node_masks
from zorro.graph.graph import Graph
from zorro.graph.packed import pack
from zorro.model.packing import Packing
from zorro.pyg.levels import LINKS, TaskLevel, links_of

BATCH = "batch_dict"


@dataclass(frozen=True)
class HeteroCall:
    """How PyG called the algorithm with dictionaries.

    Args:
        model: called as `model(x_dict, edge_index_dict, **kwargs)`.
        x: features by type.
        edge_index: edges by relation.
        kwargs: further arguments, as PyG passes them at all levels.
        outputs: how many the model has, if the target tells.
        graphs: further graphs from whose nodes noise is drawn, at graph level.
        output_type: the type whose nodes they are of, or the relation whose links, if it is told.
        directed: whether an edge is another than its way back, if it is told.
    """

    model: nn.Module
    x: Mapping[str, Tensor]
    edge_index: Mapping[Relation, Tensor]
    kwargs: Mapping[str, Any]
    outputs: int | None = None
    graphs: Sequence[HeteroData] = ()
    output_type: str | Relation | None = None
    directed: bool | None = None

    @cached_property
    def data(self) -> HeteroData:
        """The graph as one value."""
        data = HeteroData()
        for name, x in self.x.items():
            data[name].x = x
        for relation, edges in self.edge_index.items():
            data[relation].edge_index = edges
            for name, ends in zip(relation[::2], edges, strict=True):
                if name not in self.x:
                    known = data[name].get("num_nodes") or 0
                    data[name].num_nodes = max(known, int(ends.max()) + 1 if ends.numel() else 0)
        return data

    @property
    def counts(self) -> dict[str, int]:
        """How many nodes there are of each type."""
        return {name: int(self.data[name].num_nodes) for name in self.data.node_types}


class HeteroLevel(TaskLevel, Protocol):
    """The outputs of a call with several types."""

    def node_masks(
        self, found: Explanation, number: int, node_mask_type: MaskType
    ) -> dict[str, Tensor]:
        """Return what an output's explanation keeps of each type's features."""
        ...

    def edge_masks(self, found: Explanation, number: int) -> dict[Relation, Tensor]:
        """Return which edges of each relation it keeps."""
        ...


class _OnAllNodes:
    """Outputs that are explained on one graph.

    Args:
        call: of PyG.
        kwargs: what the model is called with besides features and edges, as far as it follows
            into parts of the graph.
    """

    def __init__(self, call: HeteroCall, kwargs: Mapping[str, Any]) -> None:
        self.call = call
        self.kwargs = kwargs

    def node_masks(
        self, found: Explanation, number: int, node_mask_type: MaskType
    ) -> dict[str, Tensor]:
        """Return masks of all nodes."""
        return node_masks(found, self.call.x, node_mask_type)

    def edge_masks(self, found: Explanation, number: int) -> dict[Relation, Tensor]:
        """Return masks of all edges."""
        return _edge_masks(found, *self._packed)

    @cached_property
    def _packed(self) -> tuple[Graph, Packing]:
        return pack(self.call.data, self.kwargs, directed=self.call.directed)


class HeteroNodes(_OnAllNodes):
    """A row of the output per node of a type."""

    each = "node"

    def __init__(self, call: HeteroCall, name: str) -> None:
        self.inputs = _without(call.kwargs, LINKS)
        super().__init__(call, self.inputs)
        self._name = name
        self.count = call.counts[name]

    def zorro(self, options: Mapping[str, Any]) -> Zorro:
        """Return what explains nodes of the type."""
        call = self.call
        return Zorro.of_hetero(
            call.model, call.data, self._name, model_kwargs=self.inputs, **options
        )

    def asked(self, number: int) -> int:
        """Return the node."""
        return number


class HeteroLinks(_OnAllNodes):
    """A row of the output per link of `edge_label_index`."""

    each = "link"

    def __init__(self, call: HeteroCall, links: Any) -> None:
        super().__init__(call, _without(call.kwargs, LINKS))
        self.inputs = call.kwargs
        self._links = links_of(links)
        self.count = len(self._links)
        if not isinstance(call.output_type, tuple):
            raise InputError(
                "output_type: expected (source type, relation, target type) of the links of "
                f"{LINKS}, got {call.output_type!r}"
            )
        self._relation = call.output_type

    def zorro(self, options: Mapping[str, Any]) -> Zorro:
        """Return what explains links, all edges carrying messages as in PyG's own call."""
        call = self.call
        return Zorro.of_hetero(
            call.model,
            call.data,
            self._relation,
            model_kwargs=self.kwargs,
            carries_messages=True,
            **options,
        )

    def asked(self, number: int) -> tuple[int, int]:
        """Return the link's ends."""
        source, target = self._links[number]
        return source, target


class HeteroOutputs(_OnAllNodes):
    """A row of the output each, of a model that is told nothing of graphs or links."""

    each = "graph"

    def __init__(self, call: HeteroCall, count: int) -> None:
        self.inputs = _without(call.kwargs, LINKS)
        super().__init__(call, self.inputs)
        self.count = count

    def zorro(self, options: Mapping[str, Any]) -> Zorro:
        """Return what explains them, all nodes being candidates."""
        call = self.call
        return Zorro.from_outputs(
            call.model, call.data, self.count, model_kwargs=self.inputs, options=options
        )

    def asked(self, number: int) -> int:
        """Return the row."""
        return number


class HeteroGraphs:
    """A row of the output per graph of `batch_dict`."""

    each = "graph"

    def __init__(self, call: HeteroCall, batch: Any) -> None:
        self._call = call
        self.inputs = _without(call.kwargs, LINKS)
        self._kwargs = _without(self.inputs, BATCH)
        counts = call.counts
        given = batch if isinstance(batch, Mapping) else {}
        for name, count in counts.items():
            numbers = given.get(name)
            if not isinstance(numbers, Tensor) or numbers.shape != (count,):
                came = tuple(numbers.shape) if isinstance(numbers, Tensor) else numbers
                raise InputError(
                    f"{BATCH}[{name!r}]: expected a graph's number per node, ({count},), got {came}"
                )
        self._batch: Mapping[str, Tensor] = {name: given[name] for name in counts}
        self.count = 1 + max(int(each.max()) for each in self._batch.values() if each.numel())
        for relation, edges in call.edge_index.items():
            ends = [self._batch[name][row] for name, row in zip(relation[::2], edges, strict=True)]
            if not torch.equal(*ends):
                raise InputError(
                    f"{BATCH}: expected edges within graphs, got {relation} between several"
                )

    def zorro(self, options: Mapping[str, Any]) -> Zorro:
        """Return what explains graphs, each by itself."""
        named = {
            name: name if isinstance(value, Mapping) else value
            for name, value in self._kwargs.items()
        }
        graphs = [*self._parts, *self._call.graphs]
        return Zorro.of_graphs(self._call.model, graphs, model_kwargs=named, **options)

    def asked(self, number: int) -> int:
        """Return the graph's number."""
        return number

    def node_masks(
        self, found: Explanation, number: int, node_mask_type: MaskType
    ) -> dict[str, Tensor]:
        """Return masks of a graph's nodes, on those of all graphs."""
        part = self._parts[number]
        masks = node_masks(found, part.x_dict, node_mask_type)
        if node_mask_type == "common_attributes":
            return masks
        placed = {}
        for name, mask in masks.items():
            placed[name] = mask.new_zeros(self._batch[name].numel(), mask.size(1))
            placed[name][self._batch[name] == number] = mask
        return placed

    def edge_masks(self, found: Explanation, number: int) -> dict[Relation, Tensor]:
        """Return masks of a graph's edges, on those of all graphs."""
        part = self._parts[number]
        further = {
            name: part.collect(name, allow_empty=True)
            for name, value in self._kwargs.items()
            if isinstance(value, Mapping)
        }
        own = _edge_masks(found, *pack(part, further, directed=self._call.directed))
        placed = {}
        for relation, edges in self._call.edge_index.items():
            mine = self._batch[relation[0]][edges[0]] == number
            placed[relation] = torch.zeros_like(mine)
            placed[relation][mine] = own[relation]
        return placed

    @cached_property
    def _parts(self) -> list[HeteroData]:
        """The graphs, each with its part of the model's further arguments."""
        return [self._part(number) for number in range(self.count)]

    def _part(self, number: int) -> HeteroData:
        call, part = self._call, HeteroData()
        mine: dict[Any, Tensor] = {name: each == number for name, each in self._batch.items()}
        places = {name: each.cumsum(0) - 1 for name, each in mine.items()}
        for name in call.counts:
            part[name].num_nodes = int(mine[name].sum())
            if name in call.x:
                part[name].x = call.x[name][mine[name]]
        for relation, edges in call.edge_index.items():
            mine[relation] = mine[relation[0]][edges[0]]
            some = edges[:, mine[relation]]
            part[relation].edge_index = torch.stack(
                [places[relation[0]][some[0]], places[relation[2]][some[1]]]
            )
        for name, value in self._kwargs.items():
            if isinstance(value, Mapping):
                for key, values in value.items():
                    part[key][name] = values[mine[key]]
        return part


def _edge_masks(found: Explanation, graph: Graph, packing: Packing) -> dict[Relation, Tensor]:
    """Return which edges of each relation of a packed graph an explanation keeps."""
    assert isinstance(graph.edge_index, Tensor)
    of_edges = graph.model_inputs.edge
    columns = kept_columns(found, graph.edge_index, of_edges)
    return by_relation(columns, of_edges[EDGE_TYPE], packing.types)


def hetero_level(call: HeteroCall, task_level: str) -> HeteroLevel:
    """Return what the rows of a model's output are of, as far as the call tells.

    PyG takes outputs as they come, at whatever level: where no links and no graphs are told, they
    are of the nodes of a type, or of the graph as a whole.
    """
    links, batch = call.kwargs.get(LINKS), call.kwargs.get(BATCH)
    if task_level == "edge" and links is not None:
        return HeteroLinks(call, links)
    if batch is not None and task_level != "edge":
        graphs = HeteroGraphs(call, batch)
        if task_level == "graph" or (call.outputs == graphs.count and call.output_type is None):
            return graphs
    if task_level == "graph" and call.outputs == 1:
        return HeteroOutputs(call, 1)
    return HeteroNodes(call, _type_of_rows(call))


def _type_of_rows(call: HeteroCall) -> str:
    """Return the type whose nodes the rows of the output are of."""
    counts = call.counts
    told = call.output_type
    if told is not None:
        if told not in counts:
            raise InputError(f"output_type: expected one of {', '.join(counts)}, got {told!r}")
        assert isinstance(told, str)
        return told
    fitting = [name for name, count in counts.items() if count == call.outputs]
    if len(fitting) == 1:
        return fitting[0]
    sizes = ", ".join(f"{name} ({count})" for name, count in counts.items())
    raise InputError(
        f"output_type: expected the type whose nodes the model answers for, one of {sizes}, since "
        f"its {call.outputs} outputs do not tell, got None"
    )


def _without(kwargs: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in kwargs.items() if each != name}
