"""The fidelity of sets in graphs of several types by its definition, with nothing of zorro.

Each type's entries are redrawn from its own columns, edges are taken out by a die, and the model
runs on the whole graph as its owner calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

Relation = tuple[str, str, str]


@dataclass(frozen=True)
class KeptOfTypes:
    """A set: what has no entry is not selectable, and stays as it is.

    Args:
        nodes: numbers by type.
        features: columns by type.
        edges: pairs (u, v), or (u, v, k) for one of several, by relation.
        types: names.
        relations: these.
    """

    nodes: Mapping[str, Sequence[int]] | None = None
    features: Mapping[str, Sequence[int]] | None = None
    edges: Mapping[Relation, Sequence[tuple[int, ...]]] | None = None
    types: Sequence[str] | None = None
    relations: Sequence[Relation] | None = None

    @property
    def redraws(self) -> bool:
        """Whether any entries are redrawn."""
        return not (self.nodes is None and self.features is None and self.types is None)

    @property
    def drops(self) -> bool:
        """Whether any edges are taken out."""
        return not (self.edges is None and self.relations is None)


def count_answers_kept_of_types(
    answer: Callable[[HeteroData], Any],
    data: HeteroData,
    kept: KeptOfTypes,
    *,
    pool: Sequence[HeteroData],
    ways: Sequence[tuple[Relation, Relation | None]],
    numbered: frozenset[str],
    groups: Mapping[str, Sequence[Sequence[int]]] | None = None,
    presence: float,
    samples: int,
    seed: int,
    same: Callable[[Any, Any], bool],
) -> int:
    """Count how often the answer stays with all but a set redrawn.

    Args:
        answer: what the model says of a graph.
        data: the graph that is asked about.
        kept: the set.
        pool: graphs from whose columns, type by type, entries are drawn.
        ways: relations, each with the one back along its edges: itself, or none.
        numbered: types whose features only tell nodes apart, and are drawn together.
        groups: of columns that are drawn together, by type.
        presence: with what probability another edge is there.
        samples: how many times.
        seed: of the draws.
        same: whether two answers are.
    """
    draw = np.random.default_rng(seed)
    columns = {
        name: torch.cat([graph[name].x for graph in pool])
        for name in data.node_types
        if "x" in data[name]
    }
    true = answer(data)
    hits = 0
    for _ in range(samples):
        other = data.clone()
        if kept.redraws:
            for name, values in columns.items():
                together = (groups or {}).get(name, ())
                other[name].x = _redrawn(data[name].x, values, name, kept, numbered, together, draw)
        if kept.drops:
            for relation, back in ways:
                _thin_out(other, relation, back, kept, presence, draw)
        hits += same(true, answer(other))
    return hits


def _redrawn(
    x: Tensor,
    pool: Tensor,
    name: str,
    kept: KeptOfTypes,
    numbered: frozenset[str],
    groups: Sequence[Sequence[int]],
    draw: np.random.Generator,
) -> Tensor:
    flat = x.dim() == 1
    true, wide = (x.view(-1, 1), pool.view(-1, 1)) if flat else (x, pool)
    rows, width = true.shape
    if name in numbered:
        source = draw.integers(len(wide), size=(rows, 1)).repeat(width, axis=1)
    else:
        source = draw.integers(len(wide), size=(rows, width))
        for group in groups:
            source[:, list(group)] = source[:, [group[0]]]
    redrawn = wide.gather(0, torch.from_numpy(source))
    nodes: Sequence[int] = range(rows)
    if kept.types is not None:
        nodes = range(rows) if name in kept.types else ()
    elif kept.nodes is not None:
        nodes = kept.nodes.get(name, ())
    columns: Sequence[int] = range(width)
    if kept.features is not None and name not in numbered:
        columns = kept.features.get(name, ())
    for row in nodes:
        for column in columns:
            redrawn[row, column] = true[row, column]
    return redrawn.view(-1) if flat else redrawn


def _thin_out(
    data: HeteroData,
    relation: Relation,
    back: Relation | None,
    kept: KeptOfTypes,
    presence: float,
    draw: np.random.Generator,
) -> None:
    """Take edges of a relation out, and with them those back along them."""
    forth = _names(data, relation, turned=False, both=back == relation)
    there: dict[tuple[int, ...], bool] = {}
    for name in forth:
        if name not in there:
            is_kept = _is_kept(relation, name, kept, both=back == relation)
            there[name] = is_kept or bool(draw.random() < presence)
    _keep(data, relation, [there[name] for name in forth])
    if back is not None and back != relation:
        names = _names(data, back, turned=True, both=False)
        _keep(data, back, [there[name] for name in names])


def _is_kept(relation: Relation, name: tuple[int, ...], kept: KeptOfTypes, *, both: bool) -> bool:
    if kept.relations is not None:
        return relation in kept.relations
    assert kept.edges is not None
    named = {tuple(edge) for edge in kept.edges.get(relation, ())}
    u, v, number = name
    spelled = {(u, v, number)} | ({(u, v)} if number == 0 else set())
    if both:
        spelled |= {(v, u, number)} | ({(v, u)} if number == 0 else set())
    return bool(spelled & named)


def _names(
    data: HeteroData, relation: Relation, *, turned: bool, both: bool
) -> list[tuple[int, ...]]:
    """Return each edge's name: its nodes, and which of several between them it is, by attribute.

    Args:
        data: the graph.
        relation: whose edges.
        turned: whether they lead back along those that have the names.
        both: whether the two directions of an edge are one.
    """
    edges = data[relation].edge_index.t().tolist()
    attribute = data[relation].get("edge_attr")
    values = [0.0] * len(edges) if attribute is None else attribute[:, 0].tolist()
    names: list[tuple[int, ...]] = [()] * len(edges)
    seen: dict[tuple[int, int], int] = {}
    for place in sorted(range(len(edges)), key=lambda each: (values[each], each)):
        u, v = edges[place]
        number = seen.get((u, v), 0)
        seen[u, v] = number + 1
        u, v = (v, u) if turned or (both and u > v) else (u, v)
        names[place] = (u, v, number)
    return names


def _keep(data: HeteroData, relation: Relation, stays: Sequence[bool]) -> None:
    mask = torch.tensor(stays, dtype=torch.bool)
    store = data[relation]
    store.edge_index = store.edge_index[:, mask]
    if "edge_attr" in store:
        store.edge_attr = store.edge_attr[mask]
