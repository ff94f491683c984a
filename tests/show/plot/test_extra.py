"""matplotlib is needed only to draw, and its global state is left alone."""

from __future__ import annotations

import doctest
import subprocess
import sys

import pytest
import torch

import zorro.show.plot.names
import zorro.show.rings
import zorro.show.scene
from zorro.errors import MissingExtraError
from zorro.show import palette, plot


def test_without_matplotlib_drawing_says_what_to_install(found, edge_index, monkeypatch):
    for module in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (
        lambda: plot.explanation(found, edge_index),
        lambda: plot.curve(found),
        lambda: plot.features(found, torch.zeros(21, 9)),
        lambda: plot.compare({"zorro": found}, 0, edge_index),
    ):
        with pytest.raises(MissingExtraError, match=r"pip install 'zorro-gnn\[plot\]'"):
            draw()


def test_importing_the_figures_loads_no_matplotlib():
    code = "import sys, zorro.plot; print('matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_drawing_does_not_touch_pyplot(found, edge_index):
    already = "matplotlib.pyplot" in sys.modules
    plot.explanation(found, edge_index).canvas.draw()
    assert ("matplotlib.pyplot" in sys.modules) == already


@pytest.mark.parametrize(
    "module", [zorro.show.plot.names, zorro.show.rings, zorro.show.scene, palette]
)
def test_the_examples_in_docstrings_hold(module):
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0
