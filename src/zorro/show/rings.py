"""Nodes placed on rings around a centre, each near the node that links it to the centre."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

# Where a ring is crowded, its nodes leave it by a few of these steps, at most 0.36, so that
# neighbouring rings stay apart.
_LANES = tuple(sign * 0.12 * step for step in (0, 1, 2, 3) for sign in (1, -1))[1:]
_LOOK_BACK = 8  # nodes placed before on a ring that a node keeps away from
_LOOSEST = 3.0  # how far apart children may lie, in what they need
_WIDEST = math.pi  # over which children lie that need less
_SWEEPS = 6  # orders of siblings that are tried
_START = math.pi / 2  # the first node stands above the centre


def positions(hop: Numbers, links: Numbers, room: Reals) -> Reals:
    """Return where nodes lie, (n, 2): at about their hop's distance from node 0, the centre.

    A node's wedge of the circle is as wide as it and what hangs on it need. Where more nodes
    share a ring than it has room for, they move off it by turns, by less than half a hop.

    >>> hop, links = np.array([0, 1, 1]), np.array([[0, 1], [0, 2]])
    >>> positions(hop, links, np.full(3, 0.2)).tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, -1.0]]

    Args:
        hop: (n,), 0 for the centre and above 0 for all others.
        links: (e, 2), pairs of nodes.
        room: (n,), how far each is to stay from the others, in hops.
    """
    parent, beside = _parents(hop, links, room)
    angle = _shortest(hop, links, parent, beside, room)
    radius = _radii(hop, angle, room)
    return (_on_circle(angle) * radius[:, None]).round(6) + 0.0  # which makes -0.0 plain


def _parents(hop: Numbers, links: Numbers, room: Reals) -> tuple[Numbers, Numbers]:
    """Return the node that each hangs on (n,), and the one that it is to lie beside (n,).

    It hangs on a neighbour one ring further in, that with the most room and the lowest number.
    Without one it joins a neighbour on its own ring, or else hangs on the centre.
    """
    both = np.concatenate([links, links[:, ::-1]])  # (2e, 2)
    one, other = both[:, 0], both[:, 1]
    parent = np.zeros(hop.size, np.int64)
    beside = np.arange(hop.size)
    inwards = both[hop[one] == hop[other] + 1]
    child, chosen = _best(inwards, room)
    parent[child] = chosen
    has_parent = hop <= 1
    has_parent[child] = True
    along = both[(hop[one] == hop[other]) & ~has_parent[one] & has_parent[other]]
    orphan, neighbour = _best(along, room)
    parent[orphan] = parent[neighbour]
    beside[orphan] = neighbour
    return parent, beside


def _best(pairs: Numbers, room: Reals) -> tuple[Numbers, Numbers]:
    """Return each first node of the pairs once, and the best of those that it is paired with."""
    order = np.lexsort((pairs[:, 1], -room[pairs[:, 1]], pairs[:, 0]))
    one, first = np.unique(pairs[order, 0], return_index=True)
    return one, pairs[order[first], 1]


def _shortest(hop: Numbers, links: Numbers, parent: Numbers, beside: Numbers, room: Reals) -> Reals:
    """Return the angles (n,) at which the links are shortest, of some orders of siblings.

    First each stands beside the one it is linked to; then nodes move towards those that they and
    what hangs on them are linked to, a few times.
    """
    order = beside.astype(np.float64)
    best, shortest = np.zeros(hop.size), math.inf
    for _ in range(_SWEEPS):
        angle = _angles(hop, parent, order, room)
        xy = _on_circle(angle) * hop[:, None]
        length = float(np.linalg.norm(xy[links[:, 0]] - xy[links[:, 1]], axis=1).sum())
        if length < shortest:
            best, shortest = angle, length
        order = _pulled(hop, links, parent, angle)
    return best


def _pulled(hop: Numbers, links: Numbers, parent: Numbers, angle: Reals) -> Reals:
    """Return an order of siblings (n,): the angle from the parent's to where each is drawn."""
    one, other = np.concatenate([links, links[:, ::-1]]).T
    free = (parent[one] != other) & (parent[other] != one)
    one, other = one[free], other[free]
    towards = _on_circle(angle)
    pull = np.zeros((hop.size, 3))  # the sum of directions, and how many
    np.add.at(pull, one, np.c_[towards[other], np.ones(other.size)])
    for ring in range(int(hop.max()), 1, -1):
        on_ring = np.flatnonzero(hop == ring)
        np.add.at(pull, parent[on_ring], pull[on_ring])
    drawn = towards + pull[:, :2] / np.maximum(pull[:, 2:], 1)
    turn = np.arctan2(drawn[:, 1], drawn[:, 0]) - np.where(parent > 0, angle[parent], 0.0)
    return np.asarray((turn + math.pi) % (2 * math.pi))


def _angles(hop: Numbers, parent: Numbers, order: Reals, room: Reals) -> Reals:
    """Return the angles (n,) of nodes whose siblings stand in an order."""
    above = parent.tolist()
    need = (room / np.maximum(hop, 1)).tolist()
    inside = [0.0] * hop.size  # what the nodes that hang on each need together
    for node in np.argsort(-hop, kind="stable")[: hop.size - 1].tolist():
        need[node] = max(need[node], inside[node])
        inside[above[node]] += need[node]
    angle = [0.0] * hop.size
    wedge = [2 * math.pi] * hop.size
    given = [0.0] * hop.size  # how much of each wedge is given away
    inside_out = np.lexsort((np.arange(hop.size), order, hop))[1:].tolist()
    for node in inside_out:
        on = above[node]
        shared = wedge[on] if on == 0 else min(wedge[on], _spread(inside[on]))
        wedge[node] = shared * need[node] / inside[on]
        angle[node] = angle[on] - shared / 2 + given[on] + wedge[node] / 2
        given[on] += wedge[node]
    turn = _START - sum(angle[node] for node in inside_out[:1])
    return np.asarray(np.array(angle) + turn)


def _spread(need: float) -> float:
    """Return the angle over which the children of a node may lie, if they need so much."""
    return max(need, min(_LOOSEST * need, _WIDEST))


def _on_circle(angle: Reals) -> Reals:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _radii(hop: Numbers, angle: Reals, room: Reals) -> Reals:
    radius = hop.astype(np.float64)
    for ring in range(1, int(hop.max()) + 1):
        on_ring = np.flatnonzero(hop == ring)
        on_ring = on_ring[np.argsort(angle[on_ring], kind="stable")]
        placed: list[tuple[float, float]] = []
        for node in on_ring.tolist():
            along = (math.cos(angle[node]), math.sin(angle[node]))
            # The first of the ring are the last's neighbours too.
            others = placed[:_LOOK_BACK] + placed[_LOOK_BACK:][-_LOOK_BACK:]
            best, widest = ring + _LANES[0], -1.0
            for lane in _LANES:
                x, y = (ring + lane) * along[0], (ring + lane) * along[1]
                gap = min((math.hypot(x - u, y - v) for u, v in others), default=math.inf)
                if gap > widest:
                    best, widest = ring + lane, gap
                if gap >= room[node]:
                    break
            radius[node] = best
            placed.append((best * along[0], best * along[1]))
    return radius
