"""The fidelity while the search went on."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

from zorro.errors import InputError
from zorro.show import plot


def key_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def marks_of(axes, label):
    (drawn,) = (each for each in axes.collections if each.get_label() == label)
    return drawn


def test_the_curve_is_the_searchs_fidelity(found, named):
    (line,) = named(plot.curve(found).axes[0], "search")
    assert line.get_xdata().tolist() == list(range(8))
    assert line.get_ydata().tolist() == [step.fidelity for step in found.steps]


def test_each_kind_of_step_has_its_mark_and_what_was_taken_out_is_hollow(found):
    axes = plot.curve(found).axes[0]
    assert marks_of(axes, "start").get_offsets()[:, 0].tolist() == [0]
    assert marks_of(axes, "node added").get_offsets()[:, 0].tolist() == [1, 3, 4, 5]
    assert marks_of(axes, "feature added").get_offsets()[:, 0].tolist() == [2, 6]
    out = marks_of(axes, "node taken out")
    assert out.get_offsets().tolist() == [[7, 0.88]]
    assert out.get_facecolors()[0].tolist() == [1, 1, 1, 1]


def test_the_threshold_is_a_line(found):
    (line,) = (each for each in plot.curve(found).axes[0].lines if each.get_label() == "τ = 0.85")
    assert np.asarray(line.get_ydata()).tolist() == [0.85, 0.85]
    assert np.asarray(line.get_xdata()).tolist() == [0, 1]  # from side to side


def test_the_fidelity_on_held_out_samples_stands_on_the_right_with_its_interval(found):
    axes = plot.curve(found).axes[0]
    (bar,) = (each for each in axes.containers if isinstance(each, ErrorbarContainer))
    point, _, (interval,) = bar.lines
    assert np.asarray(point.get_xdata())[0] > 7
    assert np.asarray(point.get_ydata())[0] == 0.87
    (ends,) = interval.get_segments()
    assert np.allclose(ends[:, 1], [found.fidelity.lower, found.fidelity.upper])
    assert "0.87 on 1000 held-out samples\n[0.85, 0.89] at 95%" in key_of(axes)


def test_the_certificates_bound_is_marked_and_hollow_where_nothing_was_shown(found):
    shown = marks_of(plot.curve(found).axes[0], "certified: ≥ 0.852")
    assert shown.get_offsets()[0, 1] == pytest.approx(0.852)
    failed = dataclasses.replace(
        found, certificate=dataclasses.replace(found.certificate, certified=False, bound=0.8)
    )
    hollow = marks_of(plot.curve(failed).axes[0], "not certified: ≥ 0.800")
    assert hollow.get_facecolors()[0].tolist() == [1, 1, 1, 1]
    without = plot.curve(dataclasses.replace(found, certificate=None)).axes[0]
    assert not any("certified" in text for text in key_of(without))


def test_few_steps_are_named(found, boxes_of):
    figure = plot.curve(found, node_names={1: "$one"}, feature_names={7: "seven"})
    labels = figure.axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == [
        "start",
        "+ node 0",
        "+ feature 2",
        "+ $one",
        "+ node 3",
        "+ node 5",
        "+ seven",
        "− node 3",
        "fresh noise",
    ]
    assert not any(label.get_parse_math() for label in labels)
    assert min(box.y0 for box in boxes_of(figure, labels)) >= 0


def test_many_steps_are_numbered(crowd):
    figure = plot.curve(crowd[0])
    axes = figure.axes[0]
    assert axes.get_xlabel() == "step"
    figure.canvas.draw()
    assert len(axes.get_xticklabels()) < 20
    assert figure.get_size_inches()[0] < 14


def test_an_explanation_without_steps_shows_what_was_measured(found):
    axes = plot.curve(dataclasses.replace(found, steps=())).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["fresh noise"]


def test_what_cannot_be_drawn_is_refused(found):
    with pytest.raises(InputError, match="explanation: expected an Explanation, got NoneType"):
        plot.curve(None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="node_names: expected 21 texts, got 1"):
        plot.curve(found, node_names=["a"])
