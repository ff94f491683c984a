"""The fidelity of sets of edges by its definition: take edges out, put the set back, run, count.

The model runs on the whole graph, one input at a time. Nothing of zorro is used here.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

Name = tuple[int, ...]  # of an edge: (u, v), or (u, v, k) for one of several
# What a model says of features, edges, and what goes with the edges.
Answer = Callable[[Tensor, Tensor, Mapping[str, Tensor]], Any]


def edges_by_name(
    edge_index: Tensor, *, directed: bool = False, tags: Sequence[Any] | None = None
) -> dict[Name, list[int]]:
    """Return the columns of each edge by its name.

    Args:
        edge_index: (2, E).
        directed: whether the reverse of an edge is another one.
        tags: what tells several edges between two nodes apart, a value for each column.
    """
    found: dict[tuple[int, int], dict[tuple[int, int], list[int]]] = {}
    for column, (u, v) in enumerate(edge_index.t().tolist()):
        pair = (u, v) if directed or u <= v else (v, u)
        found.setdefault(pair, {}).setdefault((u, v), []).append(column)
    edges: dict[Name, list[int]] = {}
    for pair, directions in found.items():
        several = max(map(len, directions.values())) > 1
        for columns in directions.values():
            ordered = columns if tags is None else sorted(columns, key=tags.__getitem__)
            for number, column in enumerate(ordered):
                name = (*pair, number) if several else pair
                edges.setdefault(name, []).append(column)
    return edges


def has_directions(edge_index: Tensor) -> bool:
    """Whether some edge has no reverse, or fewer."""
    forth = Counter((u, v) for u, v in edge_index.t().tolist())
    return any(forth[v, u] != count for (u, v), count in forth.items())


@dataclass(frozen=True)
class Truth:
    """A graph as it is, and the values that others may be drawn from.

    Args:
        x: (N, d).
        edge_index: (2, E).
        of_edges: a row per edge each, that the model gets.
        rows: (M, d) of whose columns features are drawn.
        attributes: a row each, of an edge from which attributes are drawn together.
    """

    x: Tensor
    edge_index: Tensor
    of_edges: Mapping[str, Tensor]
    rows: Tensor
    attributes: Mapping[str, Tensor]

    @property
    def tags(self) -> list[Hashable] | None:
        """What tells several edges between the same nodes apart, column by column."""
        if not self.of_edges:
            return None
        each = [
            self.of_edges[name].flatten(1)
            if self.of_edges[name].dim() > 1
            else self.of_edges[name].unsqueeze(1)
            for name in sorted(self.of_edges)
        ]
        return [tuple(row) for row in torch.cat([part.double() for part in each], dim=1).tolist()]


@dataclass(frozen=True)
class Kept:
    """What is put back.

    Args:
        edges: by their names.
        attributes: edges whose attributes are; all where these are never drawn.
        entries: (N, d) features that are; all where these are never drawn.
    """

    edges: Collection[Name]
    attributes: Collection[Name] | None = None
    entries: Tensor | None = field(default=None)


def count_answers_kept(
    answer: Answer,
    truth: Truth,
    kept: Kept,
    *,
    presence: float,
    directed: bool,
    samples: int,
    seed: int,
    same: Callable[[Any, Any], bool] = operator.eq,
) -> int:
    """Count how often an answer stays while all that is not kept is there by chance, or redrawn.

    Args:
        answer: of the model, called as its owner calls it.
        truth: the graph.
        kept: the set.
        presence: the probability with which an edge that is not kept is there.
        directed: whether the reverse of an edge is another one.
        samples: how many times.
        seed: of the draws.
        same: whether another answer is the same as the true one.
    """
    draw = np.random.default_rng(seed)
    edges = edges_by_name(truth.edge_index, directed=directed, tags=truth.tags)
    unknown = set(kept.edges) - set(edges)
    if unknown:
        raise ValueError(f"edges: expected some of the graph's, got {sorted(unknown)}")
    expected = answer(truth.x, truth.edge_index, truth.of_edges)
    stayed = 0
    for _ in range(samples):
        of_edges = {name: values.clone() for name, values in truth.of_edges.items()}
        there: list[int] = []
        for name, columns in edges.items():
            if name in kept.edges or draw.random() < presence:
                there += columns
            if kept.attributes is not None and name not in kept.attributes:
                donor = int(draw.integers(len(next(iter(truth.attributes.values())))))
                for which, values in of_edges.items():
                    values[columns] = truth.attributes[which][donor]
        x = truth.x
        if kept.entries is not None:
            source = draw.integers(len(truth.rows), size=tuple(x.shape))
            x = torch.where(kept.entries, x, truth.rows.gather(0, torch.from_numpy(source)))
        left = torch.tensor(sorted(there), dtype=torch.long)
        given = {name: values[left] for name, values in of_edges.items()}
        stayed += bool(same(expected, answer(x, truth.edge_index[:, left], given)))
    return stayed
