"""`zorro report` and `zorro serve` load the graphs and the model of a run by name."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

import pytest
import small_molecules
from restored_models import restored

from zorro import Zorro, open_run
from zorro.cli.serve import _served
from zorro.data import load_graphs
from zorro.models import GraphTrainingSettings, checkpoint, train_graphs
from zorro.show.web.served import Broken, Served


@pytest.fixture
def made(run, tmp_path, monkeypatch):
    """A run of two molecules, in the current folder."""
    small_molecules.write(tmp_path / "data")
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path / "data"))
    graphs, settings = load_graphs("mutag"), GraphTrainingSettings(epochs=3)
    model = train_graphs("gin", graphs, settings)
    record = checkpoint.describe_graphs(model, "gin", graphs, settings=settings)
    checkpoint.save(tmp_path / "gin.safetensors", model, record)
    words = ["--graphs", "3,7", "--keep", "nodes", "--feature-groups", "one-hot"]
    result = run("explain", "--checkpoint", "gin.safetensors", *words, "--out", "made")
    assert result.code == 0, result.err
    return "made"


def test_a_report_draws_the_molecules(run, made, tmp_path):
    result = run("report", made, "--alternatives", "1")
    assert result.code == 0, result.err
    inside = re.search(r'id="data">(.*?)</script>', (tmp_path / "report.html").read_text(), re.S)
    assert inside is not None
    data = json.loads(inside[1])
    assert [row["query"] for row in data["rows"]] == [3, 7]
    assert data["labels"]["graph"] == "molecule"
    assert all(row["truth"] is not None for row in data["rows"])
    for number in (3, 7):
        scene = data["details"][str(number)]["scene"]
        assert len(scene["nodes"]) == load_graphs("mutag").graphs[number].x.size(0)
        assert scene["bonds"]


def test_a_run_is_served_with_its_graphs(made, tmp_path):
    served = _served(open_run(made), {}, trusted=[])
    assert isinstance(served, Served)
    assert served.live
    options: dict[str, Any] = {"keep": ("nodes",), "feature_groups": [range(7)]}
    graphs = load_graphs("mutag").graphs
    own = Zorro.of_graphs(restored(tmp_path / "gin.safetensors"), graphs, **options)
    assert served.desks is not None
    ours = served.desks.measuring.zorro
    assert ours.fidelity(3, nodes=[0], samples=50) == own.fidelity(3, nodes=[0], samples=50)
    assert ours.explain(5).selected == own.explain(5).selected


def test_a_data_set_that_is_not_there_is_said(run, made, tmp_path):
    shutil.rmtree(tmp_path / "data" / "MUTAG")
    (tmp_path / "data" / "MUTAG").write_text("no folder")
    served = _served(open_run(made), {}, trusted=[])
    assert isinstance(served, Served)
    assert not served.live
    assert served.missing is not None
    assert "MUTAG" in served.missing
    result = run("report", made)
    assert result.code == 1
    assert "got nothing that can be loaded" in result.err.splitlines()[-1]
    assert run("report", made, "--no-graph").code == 0


def test_a_run_whose_question_is_damaged_is_named(made, tmp_path):
    path = tmp_path / made / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["parameters"]["feature_groups"] = 7
    path.write_text(json.dumps(manifest))
    broken = _served(open_run(made), {}, trusted=[])
    assert isinstance(broken, Broken)
    assert broken.reason.startswith("feature_groups: expected lists of columns")
