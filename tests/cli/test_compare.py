"""`zorro compare`: what changed between two runs, and an exit status for pipelines."""

import json

import pytest

from zorro.data import load
from zorro.models import TrainingSettings, train
from zorro.models import checkpoint as checkpoints


@pytest.fixture
def runs(run, checkpoint, graph_file, tmp_path):
    """Runs of the same nodes with two models that differ in their seed."""
    data = load(graph_file)
    settings = TrainingSettings(epochs=40, seed=5)
    model = train("gcn", data, settings)
    record = checkpoints.describe(model, "gcn", data, dataset="graph.npz", settings=settings)
    checkpoints.save(tmp_path / "other.safetensors", model, record)
    for name, weights in (("before", checkpoint), ("after", "other.safetensors")):
        nodes = "2,5,8,22,25,28" if name == "before" else "5,8,22,25,28,31"
        made = run("explain", "--checkpoint", weights, "--nodes", nodes, "--out", name)
        assert made.code == 0, made.err
    return "before", "after"


def test_what_both_runs_have_is_compared(run, runs):
    result = run("compare", *runs, "--samples", 50)
    assert result.code == 0, result.err
    assert "5 nodes are in both runs (1 only in the first, 1 only in the second)" in result.out
    assert "rest on other grounds" in result.out
    told = json.loads(run("compare", *runs, "--samples", 50, "--json", "-").out)
    assert told["shared"] == 5
    assert all((pair["there"] is not None) == pair["same"] for pair in told["pairs"]), (
        "what has the same answer is measured"
    )


def test_the_exit_status_tells_a_pipeline(run, runs):
    passed = run("compare", *runs, "--samples", 20, "--fail-on", "changed-predictions>=101%")
    assert passed.code == 0, passed.err
    failed = run("compare", *runs, "--samples", 20, "--fail-on", "set-distance>=0")
    assert failed.code == 3
    assert "set-distance>=0 holds: set-distance is" in failed.err


def test_without_models_sets_are_compared(run, runs):
    result = run("compare", *runs, "--no-graph")
    assert result.code == 0, result.err
    assert "rest on other grounds" not in result.out
    refused = run("compare", *runs, "--no-graph", "--fail-on", "changed-grounds>.2")
    assert refused.code == 1
    assert "expected a figure that was measured, got changed-grounds" in refused.err


def test_a_run_against_itself_is_told(run, runs):
    result = run("compare", "before", "before", "--samples", 20, "--fail-on", "set-distance>0")
    assert result.code == 0, result.err
    assert "both runs are of the same model" in result.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["before", "gone"], "there is no run at gone"),
        (["before", "after", "--fail-on", "grounds>1"], "--fail-on: expected FIGURE>LIMIT"),
    ],
)
def test_what_cannot_be_used_is_one_line(run, runs, words, message):
    result = run("compare", *words)
    assert result.code == 1
    assert message in result.err
    assert result.err.count("\n") == 1
