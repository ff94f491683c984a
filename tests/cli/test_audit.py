"""`zorro audit`: what stands out in a terminal, as JSON, and as a page."""

import json
import re

import pytest


@pytest.fixture
def made(run, checkpoint):
    """A run of ten nodes, in the current folder."""
    # Ten small nodes take less time than it takes to start processes.
    words = ["--checkpoint", checkpoint, "--nodes", "test", "--engine", "in-process"]
    result = run("explain", *words, "--out", "made")
    assert result.code == 0, result.err
    return "made"


def test_the_terminal_the_page_and_the_json_tell_the_same(run, made, tmp_path):
    result = run("audit", made, "-o", "audit.html", "--json", "audit.json")
    assert result.code == 0, result.err
    assert "10 explanations, 10 certified" in result.out
    told = json.loads((tmp_path / "audit.json").read_text())
    page = (tmp_path / "audit.html").read_text()
    inside = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert inside is not None
    data = json.loads(inside[1])
    assert told["explanations"] == len(data["rows"]["own"]) == 10
    assert told["has_graph"]
    texts = [finding["text"] for finding in told["findings"]]
    assert [finding["text"] for finding in data["audit"]["findings"]] == texts
    for text in texts:
        assert text in result.out
    shares = [use["share"] for profile in told["classes"] for use in profile["features"]]
    assert all(0 <= share["lower"] <= share["value"] <= share["upper"] <= 1 for share in shares)


def test_json_goes_to_stdout_alone(run, made):
    result = run("audit", made, "--json", "-")
    assert result.code == 0, result.err
    assert json.loads(result.out)["explanations"] == 10


def test_without_the_graph_truth_is_still_known_and_chance_is_not(run, made, tmp_path):
    result = run("audit", made, "--no-graph", "--json", "-")
    told = json.loads(result.out)
    assert not told["has_graph"]
    assert told["right"]["total"] == 10  # as it was kept when the run was made
    assert all(use["expected"] is None for use in told["classes"][0]["features"])


def test_changed_data_are_refused(run, made, graph, tmp_path):
    import numpy as np

    graph["x"] += 1
    np.savez(tmp_path / "graph.npz", **graph)
    result = run("audit", made)
    assert result.code == 1
    assert "expected those that made was made with" in result.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing-here"], "there is no run at nothing-here"),
        (["made", "-o", "."], "--out: expected a file, got ., which is a folder"),
        (["made", "--confidence", "2"], "confidence: expected a number between 0 and 1, got 2.0"),
    ],
)
def test_what_cannot_be_used_is_one_line(run, made, words, message):
    result = run("audit", *words)
    assert result.code == 1
    assert message in result.err
    assert result.err.count("\n") == 1
