"""Labels beside points."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from zorro.show.plot.labels import font_size, placed


def covers(label, x, y, radius=0.0):
    beyond = (
        max(0.0, abs(label.x - x) - label.width / 2),
        max(0.0, abs(label.y - y) - label.height / 2),
    )
    return math.hypot(*beyond) < radius


def overlap(one, other):
    return (
        abs(one.x - other.x) < (one.width + other.width) / 2 - 1e-9
        and abs(one.y - other.y) < (one.height + other.height) / 2 - 1e-9
    )


def place(points, texts, *, radius=5.0):
    return placed(points, texts, radii=[radius] * len(points), size=9.0, points_per_unit=72.0)


@pytest.mark.parametrize(
    ("point", "side"), [((1, 0), (1, 0)), ((-1, 0), (-1, 0)), ((0, 1), (0, 1)), ((0, 0), (0, 1))]
)
def test_a_label_stands_on_the_outer_side_of_its_point(point: tuple[Any, Any], side):
    (label,) = place([point], ["name"])
    assert (label.x - point[0]) * side[0] >= 0
    assert (label.y - point[1]) * side[1] >= 0
    assert not covers(label, *point, radius=5 / 72)


def test_a_larger_node_keeps_its_label_further_away():
    (small,), (large,) = (place([(0, 0)], ["name"], radius=radius) for radius in (5.0, 10.0))
    assert large.y - small.y == pytest.approx(5 / 72)


def test_labels_cover_neither_each_other_nor_points():
    points = [(1 + 0.25 * i, 0.25 * j) for i in range(6) for j in range(6)]
    labels = place(points, [f"name {i}" for i in range(36)])
    assert 5 < len(labels) < 36
    assert labels[0].text == "name 0"  # the first are the most important
    assert not any(overlap(one, other) for one, other in itertools.combinations(labels, 2))
    assert not any(covers(label, *point, radius=5 / 72) for label in labels for point in points)


def test_a_label_that_is_in_the_way_on_one_side_goes_to_another():
    alone = place([(1, 0)], ["name"])
    beside = place([(1, 0), (1.2, 0)], ["name", "b"])
    assert {label.text for label in beside} == {"name", "b"}
    assert (beside[0].x, beside[0].y) != (alone[0].x, alone[0].y)


def test_more_labels_are_smaller():
    sizes = [font_size(count) for count in (3, 12, 30, 90, 200)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] >= 6
