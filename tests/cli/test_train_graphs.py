"""`zorro train` on a set of graphs."""

from __future__ import annotations

import pytest
from restored_models import restored

from zorro.data import load_graphs
from zorro.models import checkpoint, graph_accuracy

FAST = ["--epochs", 3]


@pytest.mark.parametrize("pooling", [None, "max"])
def test_saved_model_has_the_accuracy_that_was_printed(run, data_dir, tmp_path, pooling):
    out = tmp_path / "gin.safetensors"
    words = ["--model", "gin", "--out", out, *FAST, "--seed", 2, "--data-seed", 1]
    words += ["--pooling", pooling] if pooling else []
    result = run("train", "--dataset", "MUTAG", *words)
    assert result.code == 0, result.err
    assert "edge_attr is ignored" in result.err
    measured = graph_accuracy(restored(out), load_graphs("mutag", seed=1))
    assert ", ".join(f"{part} {share:.3f}" for part, share in measured.items()) in result.out
    record = checkpoint.read_record(out)
    assert (record["level"], record["dataset"], record["data_seed"]) == ("graph", "mutag", 1)
    assert record["options"] == {"pooling": pooling or "add"}
    assert (record["settings"]["epochs"], record["settings"]["seed"]) == (3, 2)


def test_bonds_go_into_a_model_that_sees_them(run, data_dir, tmp_path):
    out = tmp_path / "gine.safetensors"
    result = run("train", "--dataset", "mutag", "--model", "gine", "--out", out, *FAST)
    assert result.code == 0, result.err
    assert "edge_attr is passed to the model" in result.err
    assert checkpoint.read_record(out)["options"] == {"pooling": "add", "edge_dim": 4}
    measured = graph_accuracy(restored(out), load_graphs("mutag"))
    assert ", ".join(f"{part} {share:.3f}" for part, share in measured.items()) in result.out


def test_pooling_is_for_sets_of_graphs(run, graph_file, tmp_path):
    words = ["--model", "gcn", "--out", tmp_path / "gcn.safetensors", "--pooling", "add"]
    result = run("train", "--dataset", graph_file, *words)
    assert result.code == 1
    assert "--pooling: expected a set of graphs" in result.err


def test_a_class_of_your_own_is_built_without_options(run, data_dir, tmp_path):
    source = "from zorro.models.graph_architectures import GraphAPPNP\n\n"
    source += "def net(features, classes):\n    return GraphAPPNP(features, classes)\n"
    (tmp_path / "my_graph_net.py").write_text(source)
    out = tmp_path / "own.safetensors"
    words = ["--model", "my_graph_net:net", "--out", out, *FAST]
    assert run("train", "--dataset", "mutag", *words).code == 0
    assert checkpoint.read_record(out)["options"] == {}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--dataset", "mutga", "--model", "gin"], "did you mean 'mutag'?"),
        (["--dataset", "mutag", "--model", "gcn4"], "one of appnp, gat, gcn, gcn3, gin"),
        (["--dataset", "proteins", "--model", "gine"], "edge_attr: expected a row per edge"),
        (["--dataset", "mutag", "--model", "gin", "--pooling", "sum"], "expected one of add, max"),
    ],
)
def test_what_cannot_be_used_is_named(run, data_dir, tmp_path, words, problem):
    result = run("train", *words, "--out", tmp_path / "x.safetensors")
    assert result.code == 1
    assert problem in result.err
    assert len(result.err.splitlines()) == 1
