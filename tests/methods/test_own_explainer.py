"""A user's own method: the example, and one that an installed package brings."""

import doctest
import importlib
import pkgutil
import runpy
import sys
from pathlib import Path

import pytest
import torch

import zorro.methods
from zorro.methods import build, methods

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_explainer.py"
MODULES = [module.name for module in pkgutil.iter_modules(zorro.methods.__path__)]


def test_the_example_is_short_and_its_method_works(capsys, linear, monkeypatch):
    monkeypatch.setattr(zorro.methods.registry, "_METHODS", {**zorro.methods.registry._METHODS})
    assert len(EXAMPLE.read_text().splitlines()) < 60
    with torch.random.fork_rng():
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["occlusion", "grad-input", "empty"]
    assert all("fidelity=" in line for line in lines)

    # Without a candidate the score 1 falls to that of the others: 0, −.5 and, for the last, 2.5.
    masks = build("occlusion").explain(linear.of(0))
    scores = torch.tensor([1.0 - 1.0, 1.0 - 1.5, 1.0 + 1.5])
    lost = torch.sigmoid(torch.tensor(1.0)).log() - torch.sigmoid(scores).log()
    assert masks.nodes is not None
    assert torch.allclose(masks.nodes, lost.clamp(min=0), atol=1e-6)


def test_an_installed_package_brings_a_method(tmp_path, monkeypatch, linear):
    (tmp_path / "their_method.py").write_text(
        "import torch\n"
        "from zorro.explainers import Masks\n"
        "class Theirs:\n"
        "    def __init__(self, value=1.0): self.value = value\n"
        "    def explain(self, subject):\n"
        "        return Masks(nodes=torch.full((subject.candidates,), self.value))\n"
    )
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[zorro.explainers]\ntheirs = their_method:Theirs\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "theirs" in methods()
    nodes = build("theirs", value=0.5).explain(linear.of(0)).nodes
    assert nodes is not None
    assert nodes.tolist() == [0.5] * 3
    sys.modules.pop("their_method")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_are_true(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # one writes a file
    module = importlib.import_module(f"zorro.methods.{name}")
    monkeypatch.setattr(zorro.methods.registry, "_METHODS", {**zorro.methods.registry._METHODS})
    assert doctest.testmod(module).failed == 0
