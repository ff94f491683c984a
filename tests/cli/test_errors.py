"""Whatever is wrong is one line on stderr that names it, and an exit code."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import safetensors.torch

from zorro.models import build

QUICK = ["--nodes", "5", "--samples", "5", "--fresh-samples", "5"]


def assert_one_line(result, *parts, code=1):
    assert result.code == code
    assert result.out == ""
    (line,) = result.err.splitlines()
    assert line.startswith("zorro: error: ")
    for part in parts:
        assert part in line


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--dataset", "kora"], ["'kora'", "did you mean 'cora'?"]),
        (["--dataset", "missing.npz"], ["missing.npz"]),
        (["--model", "gcnn"], ["'gcnn'", "did you mean 'gcn'?"]),
        (["--model", "no_such_module:Net"], ["no_such_module"]),
        (["--model", "math:Net"], ["'Net'"]),
        (["--model", "math:floor"], ["math:floor"]),
        (["--model", "gat"], ["does not fit"]),
        (["--checkpoint", "missing.safetensors"], ["missing.safetensors"]),
        (["--noise", "pink"], ["noise", "column-marginals", "'pink'"]),
        (["--search", "deep"], ["search", "guided, paper", "'deep'"]),
        (["--nodes", "40"], ["nodes: expected numbers from 0 to 39, got 40"]),
        (["--nodes", "-1"], ["-1"]),
        (["--nodes", "first"], ["'first'", "random:20"]),
        (["--nodes", "random:0"], ["random:0"]),
        (["--nodes", "random:99"], ["at most 10, as there are so many test nodes"]),
        (["--nodes", "paper"], ["graph.npz"]),
        (["--tau", "0"], ["tau", "0.0"]),
        (["--tau", "1.01"], ["tau", "1.01"]),
        (["--tau", "nan"], ["tau", "nan"]),
        (["--samples", "0"], ["samples", "at least 1"]),
        (["--fresh-samples", "0"], ["fresh_samples", "at least 1"]),
        (["--k", "0"], ["k:", "at least 1"]),
        (["--hops", "-1"], ["hops", "at least 0"]),
        (["--seed", "-1"], ["seed", "-1"]),
        (["--out", "."], ["holds something else"]),
        (["--out", "graph.npz"], ["cannot be made in graph.npz"]),
        (["--out", "graph.npz/out"], ["cannot be made in graph.npz/out"]),
        (["--engine", "spark"], ["engine", "in-process, processes, ray", "'spark'"]),
        (["--workers", "0"], ["workers", "at least 1", "0"]),
        (["--address", "here:1"], ["address", "expected engine='ray'"]),
    ],
    ids=" ".join,
)
def test_an_unusable_option_is_named(run, checkpoint, words, parts):
    assert_one_line(run("explain", "--checkpoint", checkpoint, *QUICK, *words), *parts)


def without(name):
    return lambda graph: graph.pop(name)


def put(name, value):
    return lambda graph: graph.update({name: value})


def spoil(value):
    return lambda graph: graph["x"].__setitem__((3, 2), value)


EMPTY = {"x": np.zeros((0, 5), np.float32), "y": np.zeros(0, int)}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (spoil(np.nan), ["nan at node 3, feature 2"]),
        (spoil(-np.inf), ["-inf at node 3, feature 2"]),
        (without("x"), ["'x'"]),
        (without("edge_index"), ["'edge_index'"]),
        (put("x", np.ones(40)), ["x: expected ", "(40,)"]),
        (put("x", np.full((40, 5), "a")), ["x: expected ", "numbers"]),
        (put("x", np.ones((40, 7))), ["does not fit", "(16, 7)"]),
        (put("edge_index", np.zeros((2, 3))), ["edge_index: expected ", "integers"]),
        (put("edge_index", np.zeros((3, 4), int)), ["edge_index: expected ", "(3, 4)"]),
        (put("edge_index", np.full((2, 1), 40)), ["from 0 to 39", "40"]),
        (put("y", np.zeros(3, int)), ["y: expected ", "(3,)"]),
        (put("test_mask", np.zeros(40)), ["test_mask: expected "]),
        (lambda graph: graph.update(EMPTY, edge_index=np.zeros((2, 0), int)), ["(0, 5)"]),
    ],
)
def test_an_unusable_graph_is_described(run, checkpoint, graph, tmp_path, change, parts):
    change(graph)
    np.savez(tmp_path / "bad.npz", **graph)
    words = ["--checkpoint", checkpoint, "--dataset", tmp_path / "bad.npz", *QUICK]
    assert_one_line(run("explain", *words), "bad.npz" if "fit" not in parts[0] else "", *parts)


def test_a_graph_without_training_nodes_cannot_be_trained_on(run, graph, tmp_path):
    del graph["train_mask"]
    np.savez(tmp_path / "bad.npz", **graph)
    words = ["--dataset", "bad.npz", "--model", "gcn", "--out", "a.safetensors"]
    assert_one_line(run("train", *words), "train_mask")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--epochs", "0"], "epochs"),
        (["--learning-rate", "-1"], "learning_rate"),
        (["--learning-rate", "1e30", "--epochs", "50"], "learning_rate"),
        (["--weight-decay", "inf"], "weight_decay"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_an_unusable_training_setting_is_named(run, graph_file, words, part):
    words = ["--dataset", graph_file, "--model", "gcn", "--out", "a.safetensors", *words]
    result = run("train", *words)
    assert result.code == 1
    assert part in result.err.splitlines()[-1]
    assert "Traceback" not in result.err


def test_what_no_record_tells_must_be_given(run, graph_file, tmp_path):
    weights = tmp_path / "bare.safetensors"
    safetensors.torch.save_file(build("gcn", 5, 2).state_dict(), weights)
    bare = ["explain", "--checkpoint", weights, *QUICK]
    assert_one_line(run(*bare), "--dataset: expected a name, got none", "bare.safetensors")
    assert_one_line(
        run(*bare, "--dataset", graph_file),
        "--model: expected a name, got none",
        "bare.safetensors",
    )
    assert run(*bare, "--dataset", graph_file, "--model", "gcn").code == 0


def test_a_record_of_other_weights_is_refused(run, checkpoint):
    safetensors.torch.save_file(build("gcn", 5, 2, seed=1).state_dict(), checkpoint)
    assert_one_line(run("explain", "--checkpoint", checkpoint, *QUICK), "other weights")


def test_weights_that_are_none_are_refused(run, graph_file, tmp_path):
    (tmp_path / "text.safetensors").write_text("not weights")
    words = ["--checkpoint", "text.safetensors", "--model", "gcn", "--dataset", graph_file]
    assert_one_line(run("explain", *words, *QUICK), "text.safetensors", "safetensors file")


def test_an_architecture_without_weights_is_not_explained(run, graph_file):
    words = ["--dataset", graph_file, "--model", "gcn", *QUICK]
    assert_one_line(run("explain", *words), "--checkpoint", "zorro train")
    assert_one_line(
        run("explain", "--model", "gcn", *QUICK), "--dataset: expected a name, got none"
    )


def test_classes_are_unknown_without_labels_and_record(run, graph, tmp_path):
    safetensors.torch.save_file(build("gcn", 5, 2).state_dict(), tmp_path / "bare.safetensors")
    del graph["y"]
    np.savez(tmp_path / "unlabelled.npz", **graph)
    words = ["--dataset", "unlabelled.npz", "--model", "gcn", "--checkpoint", "bare.safetensors"]
    assert_one_line(run("explain", *words, *QUICK), "number of classes")


def test_the_papers_material_must_be_there(run, monkeypatch, tmp_path):
    words = ["--dataset", "ba-community", "--model", "gcn3", "--checkpoint", "paper", *QUICK]
    monkeypatch.delenv("ZORRO_PAPER", raising=False)
    assert_one_line(run("explain", *words), "ZORRO_PAPER is not set")
    monkeypatch.setenv("ZORRO_PAPER", str(tmp_path))
    assert_one_line(run("explain", *words), "ZORRO_PAPER", "no file")


@pytest.mark.parametrize(
    "words",
    [
        ["explain"],
        ["explain", "--nodes", "5", "--k", "few"],
        ["explain", "--nodes", "5", "--samples", "many"],
        ["explain", "--nodes", "5", "--threads", "0"],
        ["explain", "--nodes", "5", "--speed", "9"],
        ["train", "--dataset", "cora"],
        ["explode"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(run, words):
    result = run(*words)
    assert result.code == 2
    assert "Error: " in result.err
    assert "Traceback" not in result.err


# A module whose attributes cannot even be asked for.
HOSTILE = """
def __getattr__(name):
    raise RuntimeError("a surprise\\nin two lines")
"""


@pytest.fixture
def surprising(graph_file, tmp_path):
    (tmp_path / "my_hostile.py").write_text(HOSTILE)
    return ["explain", "--dataset", graph_file, "--model", "my_hostile:Net", *QUICK]


def test_the_unexpected_is_one_line_with_a_hint(run, surprising, monkeypatch):
    monkeypatch.delenv("ZORRO_DEBUG", raising=False)
    parts = ("unexpected RuntimeError: a surprise in two lines", "--debug")
    assert_one_line(run(*surprising), *parts, code=70)


@pytest.mark.parametrize("how", ["before", "after", "environment"])
def test_debug_shows_the_traceback(run, surprising, monkeypatch, how):
    if how == "environment":
        monkeypatch.setenv("ZORRO_DEBUG", "1")
    words = {"before": ["--debug", *surprising], "after": [*surprising, "--debug"]}
    result = run(*words.get(how, surprising))
    assert result.code == 70
    assert result.err.startswith("Traceback")
    assert "my_hostile.py" in result.err
    assert result.err.splitlines()[-1].startswith("zorro: error: ")


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_missing_packages_are_named_with_the_line_to_run(run, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert_one_line(run("--version"), "pip install 'zorro-gnn[cli]'")
