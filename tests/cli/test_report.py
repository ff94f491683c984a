import json
import re

import numpy as np
import pytest


@pytest.fixture
def made(run, checkpoint):
    """A run of two nodes, in the current folder."""
    result = run("explain", "--checkpoint", checkpoint, "--nodes", "5,25", "--out", "made")
    assert result.code == 0, result.err
    return "made"


def data_of(path):
    inside = re.search(r'id="data">(.*?)</script>', path.read_text(), re.S)
    assert inside is not None
    return json.loads(inside[1])


def test_a_run_names_what_it_was_made_with(run, made, tmp_path):
    result = run("report", made, "-o", "report.html")
    assert result.code == 0, result.err
    assert "report.html: 2 explanations" in result.err
    data = data_of(tmp_path / "report.html")
    assert [row["query"] for row in data["rows"]] == [5, 25]
    assert data["summary"]["hasGraph"]
    scene = data["details"]["5"]["scene"]
    assert all(node[5] is not None for node in scene["nodes"])
    assert all(row["truth"] is not None for row in data["rows"])


def test_the_run_may_be_reported_from_another_folder(run, made, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run("report", tmp_path / made).code == 0
    assert (tmp_path / "elsewhere" / "report.html").exists()


def test_without_the_graph_the_report_says_so(run, made, tmp_path):
    assert run("report", made, "--no-graph").code == 0
    data = data_of(tmp_path / "report.html")
    assert not data["summary"]["hasGraph"]
    assert all(detail["scene"] is None for detail in data["details"].values())


def test_alternatives_are_other_sets(run, checkpoint, tmp_path):
    made = "with others"
    run("explain", "--checkpoint", checkpoint, "--nodes", "20,33", "--out", made)
    result = run("report", made, "--alternatives", "2")
    assert result.code == 0, result.err
    details = data_of(tmp_path / "report.html")["details"].values()
    assert any(detail["alternatives"] for detail in details)
    for detail in details:
        kept = (detail["nodes"], detail["features"])
        assert len(detail["alternatives"]) <= 2
        assert all((one["nodes"], one["features"]) != kept for one in detail["alternatives"])
    refused = run("report", made, "--alternatives", "1", "--no-graph")
    assert refused.code == 1
    assert "--alternatives: expected a run with its data set" in refused.err


def test_changed_data_are_refused(run, made, graph, tmp_path):
    graph["x"] += 1
    np.savez(tmp_path / "graph.npz", **graph)
    result = run("report", made)
    assert result.code == 1
    assert "expected those that made was made with" in result.err
    assert not (tmp_path / "report.html").exists()


def test_a_run_that_names_nothing_is_reported_without_drawings(run, made, tmp_path):
    path = tmp_path / made / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["asked"]["named"]
    path.write_text(json.dumps(manifest))
    result = run("report", made)
    assert result.code == 0
    assert "does not name its data set" in result.err
    assert not data_of(tmp_path / "report.html")["summary"]["hasGraph"]
    assert run("report", made, "--checkpoint", "gcn.safetensors").code == 0
    assert data_of(tmp_path / "report.html")["summary"]["hasGraph"]


def test_data_that_are_gone_are_named(run, made, tmp_path):
    (tmp_path / "graph.npz").unlink()
    result = run("report", made)
    assert result.code == 1
    assert (
        "made: expected what it was made with, got nothing that can be loaded: there is no file"
        in result.err
    )
    assert "--no-graph" in result.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing-here"], "there is no run at nothing-here"),
        (["made", "-o", "."], "--out: expected a file, got ., which is a folder"),
        (
            ["made", "-o", "/proc/report.html"],
            "--out: expected a file that can be written, got /proc/report.html",
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(run, made, words, message):
    result = run("report", *words)
    assert result.code == 1
    assert message in result.err
    assert result.err.count("\n") == 1
