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
    angle = _angles(hop, parent, beside, room)
    radius = _radii(hop, angle, room)
    xy = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return xy.round(6) + 0.0  # which makes -0.0 plain


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


def _angles(hop: Numbers, parent: Numbers, beside: Numbers, room: Reals) -> Reals:
    need = room / np.maximum(hop, 1)  # (n,), angles
    outside_in = np.argsort(-hop, kind="stable")[: hop.size - 1]
    inside = np.zeros_like(need)  # what the nodes that hang on each need together
    for node in outside_in.tolist():
        need[node] = max(need[node], inside[node])
        inside[parent[node]] += need[node]
    angle = np.zeros(hop.size)
    wedge = np.full(hop.size, 2 * math.pi)
    given = np.zeros_like(need)  # how much of each wedge is given away
    inside_out = np.lexsort((np.arange(hop.size), beside, hop))[1:]
    for node in inside_out.tolist():
        above = parent[node]
        shared = wedge[above] if above == 0 else min(wedge[above], _LOOSEST * inside[above])
        wedge[node] = shared * need[node] / inside[above]
        angle[node] = angle[above] - shared / 2 + given[above] + wedge[node] / 2
        given[above] += wedge[node]
    turned = _START - float(angle[inside_out[:1]].sum())
    return np.asarray(angle + turned)


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
