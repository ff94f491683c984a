"""Nodes placed on rings around several that stand in the middle together, as a link's ends do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zorro.show.rings import positions

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

INNER = 0.7  # how far from the middle the nodes in it stand, in hops
_ROOM = 2 * INNER  # that each of them needs
_MORE = 1.05  # times as much: what hangs on a place between them does not hang on them


def positions_around(count: int, hop: Numbers, links: Numbers, room: Reals) -> Reals:
    """Return where nodes lie, (n, 2): the first `count` around the middle, others on rings.

    The first one stands on the left. A node of hop h is about h + `INNER` from the middle, on the
    side of the one that it is linked to; what two have in common lies between them, above and
    below.

    >>> links = np.array([[0, 2], [1, 3]])
    >>> positions_around(2, np.array([0, 0, 1, 1]), links, np.full(4, 0.2)).tolist()
    [[-0.7, 0.0], [0.7, 0.0], [-1.7, 0.0], [1.7, 0.0]]

    Args:
        count: of the nodes in the middle, at least 2.
        hop: (n,), 0 for these and above 0 for all others.
        links: (e, 2), pairs of nodes.
        room: (n,), how far each is to stay from the others, in hops.
    """
    shared = _shared(count, hop, links)
    middle = np.array([0, -1, 1, -1]) if shared.size else np.arange(count)  # −1: between them
    start = 1 + middle.size - count  # of the nodes that are not in the middle, less `count`
    place = np.arange(hop.size) + start
    place[:count] = 1 + np.flatnonzero(middle >= 0)
    between = 1 + np.flatnonzero(middle < 0)
    spokes = np.stack([np.zeros_like(middle), 1 + np.arange(middle.size)], axis=1)
    held = np.stack([np.resize(between, shared.size), place[shared]], axis=1)
    inner = np.where(middle >= 0, _ROOM, _MORE * _ROOM)
    xy = positions(  # hung on a node 0 that is not drawn
        np.concatenate([[0], np.ones_like(middle), hop[count:] + 1]),
        np.concatenate([spokes, held, place[links[(hop[links] > 0).any(axis=1)]]]),
        np.concatenate([[0.0], inner, room[count:]]),
    )[place]
    return _turned(xy, count)


def _shared(count: int, hop: Numbers, links: Numbers) -> Numbers:
    """Return the nodes that are linked with both of two in the middle."""
    if count != 2:
        return np.zeros(0, np.int64)
    both = np.concatenate([links, links[:, ::-1]])
    inwards = both[(both[:, 1] < count) & (hop[both[:, 0]] == 1)]
    nodes, times = np.unique(np.unique(inwards, axis=0)[:, 0], return_counts=True)
    return np.asarray(nodes[times > 1])


def _turned(xy: Reals, count: int) -> Reals:
    """Return places drawn closer to the middle, and so turned that the first is on the left."""
    distance = np.linalg.norm(xy, axis=1, keepdims=True)
    right, up = -xy[0] / distance[0]
    turned = np.stack([xy @ [right, up], xy @ [-up, right]], axis=1)
    turned *= 1 - (1 - INNER) / distance
    if count == 2:
        turned[1] = [INNER, 0.0]  # opposite, however much there is above and below
    return np.asarray(turned.round(6) + 0.0)  # which makes -0.0 plain
