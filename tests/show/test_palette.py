"""Colours that can be told apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from zorro.show import palette

# How colours look without one kind of cone, on linear RGB (Machado, Oliveira and Fernandes, 2009).
VISION = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen(colour, vision):
    """Return a colour's CIELAB coordinates as someone sees it."""
    rgb = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(VISION[vision] @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
def test_classes_differ_for_everyone(vision):
    for one, other in itertools.combinations(palette.CLASSES, 2):
        assert np.linalg.norm(seen(one, vision) - seen(other, vision)) > 10, (one, other)


def test_colours_begin_again_and_are_counted():
    count = len(palette.CLASSES)
    assert palette.class_colour(count + 2) == palette.CLASSES[2]
    assert [palette.repetition(number) for number in (0, count - 1, count, 2 * count)] == [
        0,
        0,
        1,
        2,
    ]


def luminance(colour):
    rgb = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return float(TO_XYZ[1] @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4))


@pytest.mark.parametrize("atom", ["C", "H", "N", "O", "S", "P", "F", "Cl", "Br", "I", "Na"])
def test_letters_can_be_read_on_atoms(atom):
    colour = palette.atom_colour(atom)
    dark, light = sorted([luminance(colour), luminance(palette.on(colour))])
    assert (light + 0.05) / (dark + 0.05) >= 4.5
