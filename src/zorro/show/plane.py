"""Nodes of a small graph placed in the plane: distances look like hops, small cycles are round."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

_LARGEST_CYCLE = 8  # nodes of a cycle that is drawn as a regular polygon
_MOST_RELAXED = 700  # nodes of a graph whose places are relaxed, at the cost of their square
_MOST_CYCLES = 400  # edges of a graph in which cycles are looked for
_ROUNDS = (40, 300)  # at least and at most
_WORK = 20_000_000  # distances that are computed in all rounds
_STILL = 1e-5  # of the stress: less is no progress
_ZIGZAG = 0.87  # how much shorter than its bonds a chain with angles of 120° is
_STIFF = 8.0  # how much more a cycle's shape counts than the distance of any two nodes
_CLOSEST = 0.55  # that two nodes may come, in edges
_BETWEEN = 1.2  # between two parts that no edge joins, in edges


def places(size: int, links: Numbers) -> Reals:
    """Return where the nodes of a graph lie, (n, 2), an edge being about 1 long.

    Parts that are not joined stand beside each other. The middle of the whole is (0, 0), and it is
    wider than it is high. The same graph gives the same places, and with its nodes in another order
    the same drawing, perhaps turned or mirrored.

    >>> square = places(4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))
    >>> [round(float(np.linalg.norm(square[i] - square[0])), 2) for i in (1, 2, 3)]
    [1.0, 1.41, 1.0]

    Args:
        size: n.
        links: (e, 2), pairs of nodes.
    """
    ends = np.concatenate([links, links[:, ::-1]]).T  # (2, 2e)
    graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(size, size)).tocsr()
    count, part = connected_components(graph, directed=False)
    placed = []
    for number in range(count):
        nodes = np.flatnonzero(part == number)
        row = np.full(size, -1)
        row[nodes] = np.arange(nodes.size)
        inner = row[links[part[links[:, 0]] == number]]
        placed.append((nodes, _level(_apart(_of_one(nodes.size, inner)))))
    return np.asarray(_beside(size, placed).round(6) + 0.0)  # which makes -0.0 plain


def _of_one(size: int, links: Numbers) -> Reals:
    """Return where the nodes of a graph in one piece lie, (n, 2)."""
    if size <= 2:
        return np.stack([np.arange(size, dtype=np.float64), np.zeros(size)], axis=1)
    if size > _MOST_RELAXED:
        return _scaled(_from_landmarks(size, links), links)
    hops = _hops(size, links)
    wanted = np.where(hops > 2, hops * _ZIGZAG, np.where(hops == 2, math.sqrt(3), hops))
    weight = 1.0 / np.maximum(hops, 1) ** 2
    np.fill_diagonal(weight, 0.0)
    start = _relaxed(_scaled(_flattened(hops), links), hops, weight)
    if len(links) <= _MOST_CYCLES:
        for cycle in _cycles(size, links):
            steps = np.abs(np.subtract.outer(np.arange(cycle.size), np.arange(cycle.size)))
            chord = np.sin(math.pi * steps / cycle.size) / math.sin(math.pi / cycle.size)
            wanted[np.ix_(cycle, cycle)] = chord
            weight[np.ix_(cycle, cycle)] = np.where(steps > 0, _STIFF / np.maximum(chord, 1), 0.0)
    return _relaxed(start, wanted, weight)


def _hops(size: int, links: Numbers) -> Reals:
    graph = coo_array((np.ones(len(links)), tuple(links.T)), shape=(size, size))
    return np.asarray(shortest_path(graph.tocsr(), directed=False, unweighted=True))


def _flattened(hops: Reals) -> Reals:
    """Return places (n, 2) whose distances are nearest to the hops: classical scaling.

    Nodes of a very regular graph get a little of a third direction, or they would coincide.
    """
    centred = hops**2 - (hops**2).mean(0) - (hops**2).mean(1)[:, None] + (hops**2).mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    leading = vectors[:, :-4:-1] * np.sqrt(np.maximum(values[:-4:-1], 1e-9))  # (n, 3)
    largest = np.take_along_axis(leading, np.abs(leading).argmax(0)[None], axis=0)
    leading = leading * np.where(largest < 0, -1.0, 1.0)  # a vector's sign is arbitrary
    return np.asarray(leading[:, :2] + 0.03 * leading[:, 2:] * np.array([0.6, 0.8]))


def _from_landmarks(size: int, links: Numbers, landmarks: int = 50) -> Reals:
    """Return places (n, 2) by the hops to some nodes that are far from one another."""
    graph = coo_array((np.ones(len(links)), tuple(links.T)), shape=(size, size)).tocsr()
    columns = [_hops_from(graph, 0)]
    columns = [_hops_from(graph, int(columns[0].argmax()))]
    nearest = columns[0]
    for _ in range(min(landmarks, size) - 1):
        columns.append(_hops_from(graph, int(nearest.argmax())))
        nearest = np.minimum(nearest, columns[-1])
    squared = np.stack(columns, axis=1) ** 2  # (n, k)
    centred = squared - squared.mean(0) - squared.mean(1)[:, None] + squared.mean()
    _, _, right = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(-centred @ right[:2].T)


def _hops_from(graph: csr_array, node: int) -> Reals:
    return np.asarray(shortest_path(graph, directed=False, unweighted=True, indices=node))


def _scaled(xy: Reals, links: Numbers) -> Reals:
    """Return places at which edges are 1 long in the mean."""
    length = float(np.linalg.norm(xy[links[:, 0]] - xy[links[:, 1]], axis=1).mean())
    return xy / (length or 1.0)


def _relaxed(xy: Reals, wanted: Reals, weight: Reals) -> Reals:
    """Return places with less stress, Σ w (‖x − y‖ − d)², by majorisation."""
    laplacian = np.diag(weight.sum(1)) - weight
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    pull = weight * wanted
    before = math.inf
    for _ in range(_rounds(len(xy))):
        distance = np.linalg.norm(xy[:, None] - xy, axis=2)
        stress = float((weight * (distance - wanted) ** 2).sum())
        if before - stress < _STILL * stress:
            break
        before = stress
        ratio = -pull / np.maximum(distance, 1e-9)
        np.fill_diagonal(ratio, 0.0)
        np.fill_diagonal(ratio, -ratio.sum(1))
        xy = inverse @ (ratio @ xy)
    return xy


def _rounds(size: int) -> int:
    fewest, most = _ROUNDS
    return max(fewest, min(most, _WORK // size**2))


def _cycles(size: int, links: Numbers) -> list[Numbers]:
    """Return small cycles, each once and in the order of its nodes: the shortest at each edge."""
    beside: list[list[int]] = [[] for _ in range(size)]
    for one, other in links.tolist():
        beside[one].append(other)
        beside[other].append(one)
    found: dict[frozenset[int], Numbers] = {}
    for one, other in links.tolist():
        path = _way_round(beside, one, other)
        if path:
            found.setdefault(frozenset(path), np.array(path))
    return list(found.values())


def _way_round(beside: list[list[int]], start: int, end: int) -> list[int]:
    """Return a shortest way between neighbours that is not their edge; none if it is long."""
    came_from = {start: start}
    ring = deque([(start, 1)])
    while ring:
        node, length = ring.popleft()
        for other in sorted(beside[node]):
            if other in came_from or (node, other) == (start, end):
                continue
            came_from[other] = node
            if other == end:
                path = [end]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path
            if length + 1 < _LARGEST_CYCLE:
                ring.append((other, length + 1))
    return []


def _apart(xy: Reals) -> Reals:
    """Return places of which none are nearer to one another than nodes may come.

    What is too near is moved half of what is missing each; that may take some rounds.
    """
    if len(xy) > _MOST_RELAXED:
        return xy
    turn = 2.4 * np.arange(len(xy))  # where two coincide, each goes its own way
    own = 1e-6 * np.c_[np.cos(turn), np.sin(turn)]
    for _ in range(_ROUNDS[1]):
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
