"""Graphs of several types packed into one id space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from zorro.elements.types import EDGE_TYPE, NODE_TYPE, NodeType, Relation, Types
from zorro.errors import InputError
from zorro.graph.graph import Graph
from zorro.model.packing import Columns, Dictionary, Packing, packed_name

_DENSE = 1 << 24  # numbers up to which the block of all types' features is kept dense
_EXACT = 1 << 24  # whole numbers up to which are floats of single precision


def pack(
    data: HeteroData, model_kwargs: Mapping[str, Any], *, directed: bool | None
) -> tuple[Graph, Packing]:
    """Return a graph of several types as one graph, and how it is unpacked.

    Args:
        data: PyG's.
        model_kwargs: further arguments; dictionaries by type or by relation follow into parts.
        directed: whether an edge is another than its way back; found out when None.
    """
    counts = {name: _count(data, name) for name in data.node_types}
    given = {name: data[name].get("x") for name in data.node_types}
    features, x = _packed_features(given, counts)
    firsts = dict(zip(counts, _running(list(counts.values())), strict=True))
    relations: list[Relation] = [*data.edge_types]
    edge_indices = [_edge_index(data, each, counts) for each in relations]
    edge_index = torch.cat(
        [
            edges + torch.tensor([[firsts[source]], [firsts[target]]], device=edges.device)
            for (source, _, target), edges in zip(relations, edge_indices, strict=True)
        ]
        or [torch.empty(2, 0, dtype=torch.long, device=x.device)],
        dim=1,
    )
    back, one_way = _ways_back(relations, edge_indices, directed)
    types = Types(
        tuple(
            NodeType(name, count, 0 if each is None or each.are_ids else each.count)
            for (name, count), each in zip(counts.items(), features, strict=True)
        ),
        tuple(relations),
        back,
        one_way,
    )
    kwargs: dict[str, Any] = {
        NODE_TYPE: _numbers(list(counts.values()), x.device),
        EDGE_TYPE: _numbers([each.size(1) for each in edge_indices], x.device),
    }
    dictionaries: dict[str, dict[str, Dictionary]] = {"node": {}, "edge": {}}
    for name, value in model_kwargs.items():
        if not isinstance(value, Mapping):
            kwargs[name] = value
            continue
        sizes = {relation: e.size(1) for relation, e in zip(relations, edge_indices, strict=True)}
        level, keys = _level(name, value, counts, sizes)
        dictionary, packed = _packed(name, value, keys)
        dictionaries[level][name] = dictionary
        kwargs[packed_name(level, name)] = packed.to(x.device)
    graph = Graph(x, edge_index, kwargs, directed=False, types=types)
    return graph, Packing(types, features, dictionaries["node"], dictionaries["edge"])


def _count(data: HeteroData, name: str) -> int:
    count = data[name].num_nodes
    if count is None or count < 1:
        raise InputError(
            f"data[{name!r}]: expected nodes, by x or num_nodes, got {count or 'none'}"
        )
    return int(count)


def _edge_index(data: HeteroData, relation: Relation, counts: Mapping[str, int]) -> Tensor:
    edges = data[relation].get("edge_index")
    return checked_edges(f"data[{relation!r}].edge_index", edges, relation, counts)


def checked_edges(
    argument: str, edges: Any, relation: Relation, counts: Mapping[str, int]
) -> Tensor:
    """Return the edges of a relation (2, E), or refuse what is none.

    Args:
        argument: its name.
        edges: what was given.
        relation: of the edges.
        counts: how many nodes there are of each type.
    """
    expected = f"{argument}: expected a dense int64 tensor (2, edges)"
    if not isinstance(edges, Tensor) or edges.layout != torch.strided:
        raise InputError(f"{expected}, got {type(edges).__name__}")
    if edges.dim() != 2 or edges.size(0) != 2 or edges.dtype != torch.long:
        raise InputError(f"{expected}, got {tuple(edges.shape)} of {edges.dtype}")
    for row, name in ((0, relation[0]), (1, relation[2])):
        if name not in counts:
            raise InputError(f"{argument}: expected types that have nodes, got {name!r}")
        ends = edges[row]
        if ends.numel() and not 0 <= int(ends.min()) <= int(ends.max()) < counts[name]:
            raise InputError(
                f"{argument}: expected nodes of {name!r} from 0 to {counts[name] - 1} in row "
                f"{row}, got {int(ends.min())} to {int(ends.max())}"
            )
    return edges


def _packed_features(
    given: Mapping[str, Tensor | None], counts: Mapping[str, int]
) -> tuple[tuple[Columns | None, ...], Tensor]:
    """Return where each type's features stand, and all of them as one matrix (N, d)."""
    values = {name: _checked(name, value, counts[name]) for name, value in given.items()}
    are_ids = {name: x is not None and _tell_apart(x) for name, x in values.items()}
    order = sorted(
        (name for name, x in values.items() if x is not None), key=lambda name: are_ids[name]
    )  # stable: those that only tell nodes apart come last
    columns: dict[str, Columns] = {}
    first = 0
    for name in order:
        x = values[name]
        assert x is not None
        width = 1 if x.dim() == 1 else x.size(1)
        columns[name] = Columns(first, width, x.dtype, x.dim() == 1, are_ids[name])
        first += width
    if first == 0:
        raise InputError(
            "data: expected features, or numbers of nodes, of at least one type, got none"
        )
    every = [x for x in values.values() if x is not None]
    dtype = _common_type(every)
    device = every[0].device
    size = (sum(counts.values()), first)
    if len(counts) == 1 and every[0].dim() == 2:
        return (columns[order[0]],), every[0]
    if size[0] * size[1] <= _DENSE:
        block = torch.zeros(size, dtype=dtype, device=device)
        for name, start in zip(counts, _running(list(counts.values())), strict=True):
            x = values[name]
            if x is not None:
                at = columns[name]
                rows = slice(start, start + counts[name])
                dense = x if x.layout == torch.strided else x.to_dense()
                block[rows, at.first : at.first + at.count] = dense.view(counts[name], -1).to(dtype)
        return tuple(columns.get(name) for name in counts), block
    indices, entries = [], []
    for name, start in zip(counts, _running(list(counts.values())), strict=True):
        x = values[name]
        if x is not None:
            wide = x.unsqueeze(1) if x.dim() == 1 else x
            sparse = (wide.to_sparse() if wide.layout != torch.sparse_coo else wide).coalesce()
            offset = torch.tensor([[start], [columns[name].first]], device=device)
            indices.append(sparse.indices() + offset)
            entries.append(sparse.values().to(dtype))
    whole = torch.sparse_coo_tensor(
        torch.cat(indices, dim=1), torch.cat(entries), size, check_invariants=False
    )
    return tuple(columns.get(name) for name in counts), whole.coalesce()


def _checked(name: str, x: Any, count: int) -> Tensor | None:
    if x is None:
        return None
    if not isinstance(x, Tensor) or x.dim() not in (1, 2) or x.size(0) != count:
        came = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
        raise InputError(f"data[{name!r}].x: expected a row for each of {count} nodes, got {came}")
    if x.dim() == 2 and x.size(1) == 0:
        return None
    if x.is_complex():
        raise InputError(f"data[{name!r}].x: expected real numbers, got {x.dtype}")
    if x.is_floating_point() and not bool(_values(x).isfinite().all()):
        raise InputError(f"data[{name!r}].x: expected finite numbers, got NaN or infinity")
    return x.detach()


def _values(x: Tensor) -> Tensor:
    if x.layout == torch.strided:
        return x
    return x.coalesce().values() if x.layout == torch.sparse_coo else x.values()


def _tell_apart(x: Tensor) -> bool:
    """Whether features only tell nodes apart: they are their numbers, or one column each."""
    if x.dim() == 1 or x.size(1) == 1:
        if x.is_floating_point() or x.dtype == torch.bool or x.layout != torch.strided:
            return False
        distinct = len(set(x.view(-1).tolist()))
        return distinct == x.size(0) > 1
    if x.size(0) != x.size(1) or x.size(0) < 2:
        return False
    sparse = (x if x.layout == torch.sparse_coo else x.to_sparse()).coalesce()
    row, column = sparse.indices()
    each = torch.arange(x.size(0), device=x.device)
    return (
        torch.equal(row, each) and torch.equal(column, each) and bool((sparse.values() == 1).all())
    )


def _common_type(values: Sequence[Tensor]) -> torch.dtype:
    """Return the type of numbers that holds all values exactly."""
    whole = [x for x in values if not x.is_floating_point()]
    if len(whole) == len(values) == 1:
        return whole[0].dtype
    large = any(int(_values(x).abs().max()) > _EXACT for x in whole if _values(x).numel())
    dtype = torch.float64 if large else torch.float32
    for x in values:
        if x.is_floating_point():
            dtype = torch.promote_types(dtype, x.dtype)
    return dtype


def _running(counts: Sequence[int]) -> list[int]:
    return [sum(counts[:place]) for place in range(len(counts))]


def _numbers(counts: Sequence[int], device: torch.device) -> Tensor:
    """Return 0, 1, …, each so many times."""
    each = torch.arange(len(counts), device=device)
    return each.repeat_interleave(torch.tensor(counts, dtype=torch.long, device=device))


def _ways_back(
    relations: Sequence[Relation], edges: Sequence[Tensor], directed: bool | None
) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Return which relation leads back along which, and which have no way back."""
    back, one_way = list(range(len(relations))), [True] * len(relations)
    if directed:
        return tuple(back), tuple(one_way)
    for number, (source, _, target) in enumerate(relations):
        if back[number] != number or not one_way[number]:
            continue
        for other in range(number, len(relations)):
            is_way_back = relations[other][0] == target and relations[other][2] == source
            if is_way_back and one_way[other] and _are_reversed(edges[number], edges[other]):
                back[other] = number
                one_way[number] = one_way[other] = False
                break
    return tuple(back), tuple(one_way)


def _are_reversed(one: Tensor, other: Tensor) -> bool:
    if one.size(1) != other.size(1):
        return False
    most = 1 + max(int(one.max()), int(other.max())) if one.numel() else 1
    forth = (one[0] * most + one[1]).sort().values
    return torch.equal(forth, (other[1] * most + other[0]).sort().values)


def _level(
    name: str,
    value: Mapping[Any, Any],
    counts: Mapping[str, int],
    sizes: Mapping[Relation, int],
) -> tuple[str, list[tuple[Any, int, int]]]:
    """Return what a dictionary is by, and each key with its number and how many rows it has."""
    every: dict[str, Mapping[Any, int]] = {"node": counts, "edge": sizes}
    for level, known in every.items():
        if value and all(key in known for key in value):
            return level, [(key, number, known[key]) for number, key in enumerate(known)]
    raise InputError(
        f"model_kwargs[{name!r}]: expected a dictionary by types ({', '.join(counts)}) or by "
        f"relations, got keys {', '.join(map(repr, list(value)[:3])) or 'none'}"
    )


def _packed(
    name: str, value: Mapping[Any, Any], keys: Sequence[tuple[Any, int, int]]
) -> tuple[Dictionary, Tensor]:
    """Return a dictionary's layout, and its values as one tensor with a row per node or edge."""
    columns: dict[int, Columns] = {}
    tensors: dict[int, Tensor] = {}
    for key, number, count in keys:
        given = value.get(key)
        if given is None:
            continue
        if not isinstance(given, Tensor) or given.dim() not in (1, 2) or given.size(0) != count:
            came = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
            raise InputError(f"model_kwargs[{name!r}][{key!r}]: expected {count} rows, got {came}")
        width = 1 if given.dim() == 1 else given.size(1)
        columns[number] = Columns(0, width, given.dtype, given.dim() == 1)
        tensors[number] = given.detach().view(count, width)
    dictionary = Dictionary(columns)
    dtype = _common_type(list(tensors.values()))
    if all(not tensor.is_floating_point() for tensor in tensors.values()):
        dtype = torch.long
    blocks = []
    for _, number, count in keys:
        block = torch.zeros(count, dictionary.width, dtype=dtype)
        if number in tensors:
            block[:, : columns[number].count] = tensors[number].cpu().to(dtype)
        blocks.append(block)
    return dictionary, torch.cat(blocks)
