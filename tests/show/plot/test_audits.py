"""Figures of audits: every bar is as long as its share, labels are apart."""

import dataclasses
import itertools

import pytest

from zorro.audit import Audit, compare_runs
from zorro.audit import audit as audited_of
from zorro.errors import InputError
from zorro.graph.names import Names
from zorro.show import plot


def several(found, count=8):
    return [
        dataclasses.replace(
            found,
            query=dataclasses.replace(found.query, index=at),
            predicted_class=at % 2,
            selected={"nodes": (at,), "features": (0, 1 + at % 3)},
        )
        for at in range(count)
    ]


def widths(axes):
    return [patch.get_width() for patch in axes.patches]


def test_bars_are_shares(found, boxes_of):
    audited = audited_of(several(found))
    assert isinstance(audited, Audit)
    figure = plot.audit(
        audited, names=Names(classes=["none", "a class with a very long name, it is"])
    )
    assert len(figure.axes) == 2
    for axes, profile in zip(figure.axes, audited.classes, strict=True):
        assert widths(axes) == [use.share.value for use in profile.features]
        boxes = boxes_of(figure, axes.get_yticklabels())
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert "a class with …" in figure.axes[1].get_title(loc="left")


def test_a_comparison_draws_a_class_each(found):
    result = compare_runs(several(found), several(found))
    grounds, crossed = plot.compare_runs(result).axes
    assert [label.get_text() for label in grounds.get_yticklabels()] == ["class 0", "class 1"]
    assert widths(grounds) == []  # nothing was measured
    assert crossed.lines == [] or not len(crossed.lines)


def test_something_else_is_refused(found):
    with pytest.raises(InputError, match="audited: expected what Run"):
        plot.audit(found)
    with pytest.raises(InputError, match="result: expected what zorro"):
        plot.compare_runs(found)
