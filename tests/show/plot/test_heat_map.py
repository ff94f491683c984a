"""The heat map of the selected values."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

from zorro.errors import InputError
from zorro.question import Query
from zorro.show import palette, plot


def values_of(figure):
    (mesh,) = figure.axes[0].collections
    return mesh, np.asarray(mesh.get_array())


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.fixture
def x():
    return torch.randn(21, 9, generator=torch.Generator().manual_seed(0))


def test_the_values_are_those_of_the_selected_nodes_and_features_with_the_query_first(found, x):
    asked = dataclasses.replace(found, query=Query("node", 5))
    figure = plot.features(asked, x)
    assert np.allclose(values_of(figure)[1], x[[5, 0, 1]][:, [2, 7]])
    assert ticks(figure.axes[0].yaxis) == ["5", "0", "1"]
    assert ticks(figure.axes[0].xaxis) == ["2", "7"]
    weights = [label.get_fontweight() for label in figure.axes[0].get_yticklabels()]
    assert weights == ["bold", "normal", "normal"]
    top, bottom = figure.axes[0].get_ylim()[::-1]
    assert (top, bottom) == (0, 3)


def test_signed_values_are_drawn_around_zero(found, x):
    mesh, values = values_of(plot.features(found, x))
    assert mesh.get_clim() == pytest.approx((-np.abs(values).max(), np.abs(values).max()))
    red, _, blue, _ = mesh.to_rgba(values.max() * np.ones(1))[0]
    assert (red > blue) == (values.max() > 0)
    assert to_hex(mesh.cmap(0.5)) > "#f0f0f0"  # zero is about white


def test_values_from_zero_go_from_light_to_dark(found, x):
    figure = plot.features(found, x.abs())
    mesh, values = values_of(figure)
    assert mesh.get_clim() == pytest.approx((0, values.max()))
    shades = [sum(mesh.cmap(share)[:3]) for share in (0.0, 0.5, 1.0)]
    assert shades == sorted(shades, reverse=True)
    written = [text.get_text() for text in figure.axes[0].texts]
    assert written == [f"{value:.2f}" for value in values.flatten()]


def test_zeros_and_ones_have_two_colours_and_a_key(found):
    x = torch.zeros(21, 9)
    x[1, 7] = 1
    figure = plot.features(found, x)
    mesh, values = values_of(figure)
    figure.canvas.draw()
    colours = [to_hex(colour) for colour in mesh.to_rgba(values).reshape(-1, 4)]
    assert colours.count(palette.PLAIN.lower()) == 1
    assert len(set(colours)) == 2
    key = figure.axes[0].get_legend()
    assert key is not None
    assert {
        text.get_text(): to_hex(patch.get_facecolor())
        for text, patch in zip(key.get_texts(), key.get_patches(), strict=True)
    } == {"1": palette.PLAIN.lower(), "0": colours[0]}
    assert len(figure.axes) == 1  # no colour bar


def test_zeros_alone_are_drawn_as_absent(found):
    mesh, values = values_of(plot.features(found, torch.zeros(21, 9)))
    assert to_hex(mesh.to_rgba(values)[0, 0]) != palette.PLAIN.lower()


def test_names_take_the_place_of_numbers_and_a_dollar_is_a_dollar(found, x):
    figure = plot.features(found, x, feature_names={2: "$x_2$"}, node_names={1: "the $ one"})
    axes = figure.axes[0]
    assert ticks(axes.xaxis) == ["$x_2$", "7"]
    assert ticks(axes.yaxis) == ["0", "the $ one", "5"]
    labels = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    assert not any(label.get_parse_math() for label in labels)
    assert [label.get_rotation() for label in axes.get_xticklabels()] == [0, 0]
    longer = plot.features(found, x, feature_names={2: "a name wider than its column"})
    assert [label.get_rotation() for label in longer.axes[0].get_xticklabels()] == [90, 90]


def test_long_names_stay_inside_the_figure(found, x, boxes_of):
    figure = plot.features(
        found,
        x,
        feature_names=["WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"[:28]] * 9,
        node_names=["a name of about 28 letters, !"[:28]] * 21,
    )
    axes = figure.axes[0]
    boxes = boxes_of(figure, axes.get_yticklabels())
    assert min(box.x0 for box in boxes) >= 0


def test_two_hundred_by_two_hundred_has_ticks_that_can_be_read(crowd, boxes_of):
    large, _ = crowd
    figure = plot.features(large, torch.zeros(261, 400))
    assert figure.get_size_inches().max() < 14
    axes = figure.axes[0]
    assert values_of(figure)[1].shape == (200, 200)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        boxes = boxes_of(figure, labels)
        assert 40 < len(boxes) < 200
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))
    shown = {
        int(tick - 0.5): name
        for tick, name in zip(axes.get_xticks(), ticks(axes.xaxis), strict=True)
    }
    assert all(name == str(large.features[place]) for place, name in shown.items())


def test_sparse_features_draw_the_same(found, x):
    dense, sparse = (values_of(plot.features(found, each))[1] for each in (x, x.to_sparse()))
    assert np.allclose(dense, sparse)


def test_an_empty_selection_says_so(found, x):
    for changes, text in (
        ({"features": ()}, "no feature is selected"),
        ({"nodes": ()}, "no node is selected"),
    ):
        figure = plot.features(
            dataclasses.replace(found, selected={**found.selected, **changes}), x
        )
        assert [each.get_text() for each in figure.texts] == [text]


def test_what_cannot_be_drawn_is_refused(found, x):
    with pytest.raises(InputError, match=r"x: expected .*\(21, 9\), got \(21, 8\)"):
        plot.features(found, x[:, :8])
    with pytest.raises(InputError, match=r"x: expected .*\(21, 9\), got list"):
        plot.features(found, x.tolist())
    with pytest.raises(InputError, match="x: expected finite values"):
        plot.features(found, x / 0)
    with pytest.raises(InputError, match="feature_names: expected 9 texts, got 2"):
        plot.features(found, x, feature_names=["a", "b"])
