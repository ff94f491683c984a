"""Many graphs of several types packed into one id space, each a part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from zorro.elements.types import Relation, Types
from zorro.errors import InputError
from zorro.graph.graph import Graph
from zorro.graph.packed import checked_edges, pack
from zorro.model.packing import Packing

Key = str | Relation
_NOT_FURTHER = ("x", "edge_index", "y", "batch", "ptr", "num_nodes")


@dataclass(frozen=True, eq=False)
class PackedGraphs:
    """Graphs of several types, each packed into one as the others are.

    Args:
        given: as the user has them.
        graphs: the same, packed: features and edges of all types, and each one's type.
        types: of each graph, with how many nodes it has of them.
        packing: of all of them.
        x: (N, d) the features of all graphs.
        model_kwargs: what of `graphs` the model is given, by the names that it has there, and
            constants.
        asked: further arguments of the model as the user names them.
        directed: whether an edge is another than its way back, as the user says it.
    """

    given: Sequence[HeteroData]
    graphs: Sequence[Data]
    types: Sequence[Types]
    packing: Packing
    x: Tensor
    model_kwargs: Mapping[str, Any]
    asked: Mapping[str, Any]
    directed: bool | None

    def packed(self, graph: HeteroData) -> tuple[Data, Types]:
        """Return a graph that is none of these, packed as these are, and its types."""
        if not isinstance(graph, HeteroData):
            raise InputError(f"graph: expected PyG's HeteroData, got {type(graph).__name__}")
        more = pack_graphs([*self.given, graph], self.asked, directed=self.directed)
        if _layout(more.packing) != _layout(self.packing):
            raise InputError(
                "graph: expected types, relations, features and ways back along relations as in "
                "graphs, got others"
            )
        return more.graphs[-1], more.types[-1]


def pack_graphs(
    graphs: Sequence[HeteroData], model_kwargs: Mapping[str, Any], *, directed: bool | None
) -> PackedGraphs:
    """Return graphs of several types, packed together.

    Args:
        graphs: PyG's; one may lack types and relations that others have.
        model_kwargs: further arguments; a text names an attribute of the graphs' types or
            relations.
        directed: whether an edge is another than its way back; found out when None.
    """
    whole, counts = _united(graphs)
    kwargs = {name: _by_type(name, value, graphs) for name, value in model_kwargs.items()}
    graph, packing = pack(whole, kwargs, directed=directed)
    assert isinstance(graph.x, Tensor)
    of_nodes = torch.cat(
        [
            torch.arange(len(graphs)).repeat_interleave(torch.tensor(counts[name]))
            for name in packing.types.names
        ]
    ).to(graph.x.device)  # (N,) each node's graph
    types = [
        replace(
            packing.types,
            nodes=tuple(
                replace(each, count=counts[each.name][number]) for each in packing.types.nodes
            ),
        )
        for number in range(len(graphs))
    ]
    parts = _parts(graph, of_nodes, len(graphs))
    return PackedGraphs(
        graphs, parts, types, packing, graph.x, _named(graph), model_kwargs, directed
    )


def pack_once(
    graph: HeteroData, model_kwargs: Mapping[str, Any], *, times: int, directed: bool | None
) -> PackedGraphs:
    """Return one graph of several types, packed, so many times.

    Args:
        graph: PyG's.
        model_kwargs: further arguments; dictionaries by type or by relation.
        times: how many queries are about it.
        directed: whether an edge is another than its way back; found out when None.
    """
    packed, packing = pack(graph, model_kwargs, directed=directed)
    assert isinstance(packed.x, Tensor)
    alone = torch.zeros(packed.num_nodes, dtype=torch.long, device=packed.x.device)
    (part,) = _parts(packed, alone, 1)
    return PackedGraphs(
        [graph] * times,
        [part] * times,
        [packing.types] * times,
        packing,
        packed.x,
        _named(packed),
        {},
        directed,
    )


def _named(graph: Graph) -> dict[str, Any]:
    """Return further arguments: names of those that follow into parts, and constants."""
    inputs = graph.model_inputs
    return {**{name: name for name in (*inputs.node, *inputs.edge)}, **inputs.other}


def attributes_of(graphs: Sequence[HeteroData]) -> dict[str, str]:
    """Return all that graphs have besides features and edges, as a model of one graph reads it."""
    names = {
        name
        for graph in graphs
        for store in (*graph.node_stores, *graph.edge_stores)
        for name, value in store.items()
        if name not in _NOT_FURTHER and isinstance(value, Tensor)
    }
    return {name: name for name in sorted(names)}


def _layout(packing: Packing) -> tuple[Any, ...]:
    types = packing.types
    named = [(each.name, each.features) for each in types.nodes]
    ways = (types.relations, types.back, types.one_way)
    return named, ways, packing.features, packing.nodes, packing.edges


def _united(graphs: Sequence[HeteroData]) -> tuple[HeteroData, dict[str, list[int]]]:
    """Return all graphs as one, and how many nodes of each type each of them has."""
    for number, graph in enumerate(graphs):
        if not isinstance(graph, HeteroData):
            raise InputError(
                f"graphs[{number}]: expected PyG's HeteroData as the others, got "
                f"{type(graph).__name__}"
            )
    names = list(dict.fromkeys(name for graph in graphs for name in graph.node_types))
    relations = list(dict.fromkeys(each for graph in graphs for each in graph.edge_types))
    counts = {name: [_count(graph, name, i) for i, graph in enumerate(graphs)] for name in names}
    whole = HeteroData()
    for name in names:
        whole[name].num_nodes = sum(counts[name])
        x = _together(graphs, name, "x", counts[name])
        if x is not None:
            whole[name].x = x
    for relation in relations:
        whole[relation].edge_index = _edges(graphs, relation, counts)
    return whole, counts


def _count(graph: HeteroData, name: str, number: int) -> int:
    if name not in graph.node_types:
        return 0
    count = graph[name].num_nodes
    if count is None:
        raise InputError(f"graphs[{number}][{name!r}]: expected nodes, by x or num_nodes, got none")
    return int(count)


def _edges(
    graphs: Sequence[HeteroData], relation: Relation, counts: Mapping[str, Sequence[int]]
) -> Tensor:
    """Return the edges of a relation (2, E) in all graphs, by numbers among all nodes of a type."""
    found = []
    source = target = 0
    for number, graph in enumerate(graphs):
        sizes = {name: each[number] for name, each in counts.items()}
        if relation in graph.edge_types:
            argument = f"graphs[{number}][{relation!r}].edge_index"
            edges = checked_edges(argument, graph[relation].get("edge_index"), relation, sizes)
            found.append(edges + torch.tensor([[source], [target]], device=edges.device))
        source += sizes.get(relation[0], 0)
        target += sizes.get(relation[2], 0)
    return torch.cat(found, dim=1) if found else torch.empty(2, 0, dtype=torch.long)


def _together(
    graphs: Sequence[HeteroData], key: Key, name: str, counts: Sequence[int] | None = None
) -> Tensor | None:
    """Return an attribute of a type, or of a relation, of all graphs that have any; None of none.

    Args:
        graphs: whose.
        key: the type or relation.
        name: of the attribute.
        counts: how many rows each graph is to have.
    """
    found: list[Tensor] = []
    lacking = None
    for number, graph in enumerate(graphs):
        value = graph[key].get(name) if key in (*graph.node_types, *graph.edge_types) else None
        rows = _rows(graph, key) if counts is None else counts[number]
        if value is None:
            lacking = number if rows else lacking
            continue
        where = f"graphs[{number}][{key!r}].{name}"
        if not isinstance(value, Tensor) or value.dim() < 1 or value.size(0) != rows:
            came = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise InputError(f"{where}: expected {rows} rows, got {came}")
        if found and (value.shape[1:], value.dtype) != (found[0].shape[1:], found[0].dtype):
            raise InputError(
                f"{where}: expected rows of shape {tuple(found[0].shape[1:])} of "
                f"{found[0].dtype} as in other graphs, got {tuple(value.shape[1:])} of "
                f"{value.dtype}"
            )
        found.append(value if value.layout == torch.strided else value.to_dense())
    if found and lacking is not None:
        raise InputError(
            f"graphs[{lacking}][{key!r}].{name}: expected as in other graphs, got none"
        )
    return torch.cat(found) if found else None


def _rows(graph: HeteroData, key: Key) -> int:
    if key not in (*graph.node_types, *graph.edge_types):
        return 0
    if isinstance(key, str):
        return int(graph[key].num_nodes or 0)
    return int(graph[key].edge_index.size(1))


def _by_type(name: str, value: Any, graphs: Sequence[HeteroData]) -> Any:
    """Return a further argument of a model: of an attribute that is named, all graphs' values."""
    if isinstance(value, Mapping) or (isinstance(value, Tensor) and value.dim() > 0):
        raise InputError(
            f"model_kwargs[{name!r}]: expected the name of what the graphs have, or a constant, "
            f"got {type(value).__name__}"
        )
    if not isinstance(value, str):
        return value
    keys: dict[str, list[Any]] = {
        "edge": list(dict.fromkeys(each for graph in graphs for each in graph.edge_types)),
        "node": list(dict.fromkeys(each for graph in graphs for each in graph.node_types)),
    }
    levels = ("edge", "node") if name.startswith("edge") else ("node", "edge")
    for level in levels:
        found = {key: _together(graphs, key, value) for key in keys[level]}
        if any(each is not None for each in found.values()):
            return {key: each for key, each in found.items() if each is not None}
    raise InputError(
        f"model_kwargs[{name!r}]: expected the name of what types or relations of the graphs have "
        f"({', '.join(attributes_of(graphs)) or 'nothing'}), got {value!r}"
    )


def _parts(graph: Graph, of_nodes: Tensor, count: int) -> list[Data]:
    """Return each graph of a packed union, as a graph of its own.

    Args:
        graph: all of them.
        of_nodes: (N,) each node's graph.
        count: how many there are.
    """
    x, edge_index, model_inputs = graph.x, graph.edge_index, graph.model_inputs
    assert isinstance(x, Tensor)
    assert isinstance(edge_index, Tensor)
    nodes_of = _gathered(of_nodes, count)
    edges_of = _gathered(of_nodes[edge_index[0]], count)
    place = torch.empty_like(of_nodes)
    parts = []
    for nodes, edges in zip(nodes_of, edges_of, strict=True):
        place[nodes] = torch.arange(nodes.numel(), device=place.device)
        own = model_inputs.subgraph(nodes, edges)
        features = x.index_select(0, nodes)
        parts.append(
            Data(
                x=features if features.layout == torch.strided else features.to_dense(),
                edge_index=place[edge_index[:, edges]],
                **own.node,
                **own.edge,
            )
        )
    return parts


def _gathered(numbers: Tensor, count: int) -> tuple[Tensor, ...]:
    """Return where each number stands, ascending."""
    order = numbers.argsort(stable=True)
    counts: list[int] = torch.bincount(numbers, minlength=count).tolist()
    return torch.split(order, counts)
