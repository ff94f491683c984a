"""Nodes of a graph placed in the plane: distances look like hops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from zorro.errors import MissingExtraError

if TYPE_CHECKING:
    import networkx as nx

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

_MOST_EXACT = 150  # nodes whose distances are all fitted to their hops
_MOST_APART = 700  # nodes that are kept from lying upon each other
_SPRINGS = 50  # rounds at most
_PUSHES = 300  # rounds at most
_WORK = 40_000_000  # distances that are computed in either's rounds, which takes some seconds
_LANDMARKS = 50
_JITTER = 1e-3  # of a drawing's half
_CLOSEST = 0.55  # that two nodes may come, in edges
_BETWEEN = 1.2  # between two parts that no edge joins, in edges


def places(size: int, links: Numbers) -> Reals:
    """Return where the nodes of a graph lie, (n, 2), an edge being about 1 long.

    Parts that are not joined stand beside each other. The middle of the whole is (0, 0), and each
    part is widest from left to right. With its nodes in another order, a graph may be drawn in
    another way.

    >>> square = places(4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))
    >>> [round(float(np.linalg.norm(square[i] - square[0])), 1) for i in (1, 2, 3)]
    [1.0, 1.4, 1.0]

    Args:
        size: n.
        links: (e, 2), pairs of nodes.
    """
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError("placing the nodes of a graph", "plot") from None
    graph = nx.empty_graph(size)
    graph.add_edges_from(links.tolist())
    placed = []
    for members in nx.connected_components(graph):
        part = nx.convert_node_labels_to_integers(graph.subgraph(members), ordering="sorted")
        placed.append((np.array(sorted(members)), _level(_of_one(part))))
    return np.asarray(_beside(size, placed).round(6) + 0.0)  # which makes -0.0 plain


def _of_one(graph: nx.Graph) -> Reals:
    """Return where the nodes of a graph in one piece lie, (n, 2)."""
    import networkx as nx

    size = len(graph)
    if size <= 2:
        return np.stack([np.arange(size, dtype=np.float64), np.zeros(size)], axis=1)
    if size <= _MOST_EXACT:
        # What is folded or twisted in the plane comes apart in space.
        loose = nx.spring_layout(graph, dim=3, seed=0)
        space = nx.kamada_kawai_layout(graph, dim=3, pos=loose)
        plane = nx.kamada_kawai_layout(graph, pos={node: space[node][:2] for node in graph})
        return _apart(_scaled(graph, plane))
    found = _from_landmarks(graph)
    if rounds := min(_SPRINGS, _WORK // size**2):
        found = nx.spring_layout(graph, pos=found, iterations=rounds, seed=0)
    xy = _scaled(graph, found)
    return _apart(xy) if size <= _MOST_APART else xy


def _from_landmarks(graph: nx.Graph) -> dict[int, Reals]:
    """Return places by the hops to some nodes that are far from one another, within ±1."""
    import networkx as nx

    adjacency = nx.to_scipy_sparse_array(graph)

    def hops_from(node: int) -> Reals:
        return np.asarray(shortest_path(adjacency, unweighted=True, indices=node))

    columns = [hops_from(int(hops_from(0).argmax()))]
    nearest = columns[0]
    for _ in range(_LANDMARKS - 1):
        columns.append(hops_from(int(nearest.argmax())))
        nearest = np.minimum(nearest, columns[-1])
    squared = np.stack(columns, axis=1) ** 2  # (n, k)
    centred = squared - squared.mean(0) - squared.mean(1)[:, None] + squared.mean()
    _, _, right = np.linalg.svd(centred, full_matrices=False)
    xy = centred @ right[:2].T
    # Nodes that are alike must not start at the same place.
    xy = xy / np.abs(xy).max() + np.random.default_rng(0).normal(scale=_JITTER, size=xy.shape)
    return dict(enumerate(xy))


def _scaled(graph: nx.Graph, places: dict[int, Reals]) -> Reals:
    """Return places (n, 2) at which edges are 1 long in the mean."""
    xy = np.stack([places[node] for node in range(len(graph))])
    links = np.array(graph.edges)
    return xy / float(np.linalg.norm(xy[links[:, 0]] - xy[links[:, 1]], axis=1).mean())


def _apart(xy: Reals) -> Reals:
    """Return places of which none are nearer to one another than nodes may come.

    What is too near is moved half of what is missing each; that may take some rounds.
    """
    turn = 2.4 * np.arange(len(xy))  # where two coincide, each goes its own way
    own = 1e-6 * np.c_[np.cos(turn), np.sin(turn)]
    for _ in range(min(_PUSHES, _WORK // len(xy) ** 2)):
        gap = (xy + own)[:, None] - (xy + own)  # (n, n, 2)
        distance = np.linalg.norm(gap, axis=2)
        np.fill_diagonal(distance, np.inf)
        missing = np.maximum(0.0, _CLOSEST * 1.02 - distance)
        if float(distance.min(initial=np.inf)) >= _CLOSEST:
            break
        xy = xy + (gap / distance[..., None] * (missing / 2)[..., None]).sum(1)
    return xy


def _level(xy: Reals) -> Reals:
    """Return places turned so that they are widest from left to right, around (0, 0)."""
    xy = xy - xy.mean(0)
    if len(xy) > 1:
        _, _, axes = np.linalg.svd(xy, full_matrices=False)
        axes = axes * np.where(axes.sum(1) < 0, -1.0, 1.0)[:, None]
        xy = xy @ axes.T
    return np.asarray(xy - (xy.max(0) + xy.min(0)) / 2)


def _beside(size: int, placed: list[tuple[Numbers, Reals]]) -> Reals:
    """Return the places (n, 2) of parts put in rows, the largest first."""
    placed = sorted(placed, key=lambda one: (-one[0].size, int(one[0][0])))
    spans = [np.ptp(xy, axis=0) + _BETWEEN for _, xy in placed]
    widest = max(max(span[0] for span in spans), 1.4 * math.sqrt(sum(map(np.prod, spans))))
    every = np.zeros((size, 2))
    left = top = height = 0.0
    for (nodes, xy), span in zip(placed, spans, strict=True):
        if left > 0 and left + span[0] > widest:
            left, top, height = 0.0, top - height, 0.0
        every[nodes] = xy + np.array([left + span[0] / 2, top - span[1] / 2])
        left, height = left + span[0], max(height, span[1])
    return np.asarray(every - (every.max(0) + every.min(0)) / 2)
