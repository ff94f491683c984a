"""Where nodes stand on rings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zorro.show.rings import positions


def laid_out(hop, links, room=0.2):
    return positions(
        np.array(hop), np.array(links, np.int64).reshape(-1, 2), np.full(len(hop), room)
    )


def closest(xy):
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    return (apart + np.diag(np.full(len(xy), np.inf))).min()


def test_a_ring_with_room_is_a_circle_divided_evenly():
    xy = laid_out([0, 1, 1, 1, 1], [(0, i) for i in range(1, 5)])
    assert np.allclose(xy, [(0, 0), (0, 1), (-1, 0), (0, -1), (1, 0)])


def test_the_centre_alone():
    assert laid_out([0], []).tolist() == [[0, 0]]


def test_a_node_that_needs_more_room_gets_a_wider_wedge():
    hop, links = np.array([0, 1, 1, 1]), np.array([(0, 1), (0, 2), (0, 3)])
    x, y = positions(hop, links, np.array([0.2, 0.4, 0.2, 0.2])).T
    angle = np.arctan2(y, x)[1:]
    gaps = np.diff([*angle, angle[0] + 2 * math.pi]) % (2 * math.pi)
    assert sorted(gaps / math.pi) == pytest.approx([0.5, 0.75, 0.75])


def test_linked_siblings_stand_side_by_side():
    spokes = [(0, node) for node in range(1, 7)]
    xy = laid_out([0, *[1] * 6], [*spokes, (1, 4), (2, 5), (3, 6)])
    for one, other in ((1, 4), (2, 5), (3, 6)):
        assert math.dist(xy[one], xy[other]) == pytest.approx(1.0)  # the sides of a hexagon


def test_a_node_without_a_link_inwards_stands_by_its_neighbour_on_the_ring():
    #  5 hangs on 1; 6, which hangs on no node of the first ring, is linked to 5
    hop = [0, 1, 1, 1, 1, 2, 2]
    xy = laid_out(hop, [*((0, node) for node in range(1, 5)), (1, 5), (5, 6)])
    assert math.dist(xy[5], xy[6]) < 1
    assert np.hypot(*xy[6]) == pytest.approx(2)


def test_children_of_a_lone_node_stay_on_its_side():
    hop = [0, 1, *[2] * 16]
    xy = laid_out(hop, [(0, 1), *((1, node) for node in range(2, 18))])
    assert (xy[2:, 1] > 0).all()  # node 1 stands above the centre


def test_nodes_of_a_crowded_ring_leave_it_by_turns():
    count = 120
    xy = laid_out([0, *[1] * count], [(0, node) for node in range(1, count + 1)])
    radius = np.hypot(*xy[1:].T)
    assert closest(xy) > 1.5 * (2 * math.pi / count)
    assert len(set(radius.round(3))) > 3
    assert abs(radius - 1).max() < 0.5
