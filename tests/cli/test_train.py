"""`zorro train` keeps what it trained, and says beforehand when it cannot."""

from __future__ import annotations

import json

import pytest
from restored_models import restored

from zorro.data import load
from zorro.models import accuracy, checkpoint, paper_settings

INTERRUPTING = """
from zorro.models.architectures import GCN

class Net(GCN):
    calls = 0

    def forward(self, x, edge_index):
        Net.calls += 1
        if Net.calls > 3:
            raise KeyboardInterrupt
        return super().forward(x, edge_index)
"""


def test_saved_model_has_the_accuracy_that_was_printed(run, graph_file, tmp_path):
    out = tmp_path / "new" / "gcn.safetensors"
    result = run("train", "--dataset", graph_file, "--model", "gcn", "--out", out, "--epochs", 30)
    assert result.code == 0
    data = load(graph_file)
    measured = accuracy(restored(out), data, data.test_mask)
    assert f"test {measured:.3f}" in result.out
    record = json.loads(out.with_suffix(".json").read_text())
    assert record["architecture"] == "gcn"
    assert record["settings"]["epochs"] == 30
    assert record["dataset"] == str(graph_file)


def test_options_reach_the_training(run, graph_file, tmp_path):
    out = tmp_path / "gin.safetensors"
    words = ["--epochs", 2, "--seed", 5, "--learning-rate", 0.5, "--weight-decay", 0.25]
    result = run("train", "--dataset", graph_file, "--model", "gin", "--out", out, *words)
    assert result.code == 0
    assert checkpoint.read_record(out)["settings"] == {
        "epochs": 2,
        "learning_rate": 0.5,
        "weight_decay": 0.25,
        "seed": 5,
    }


def test_a_named_data_set_gets_the_papers_settings(run, tmp_path):
    out = tmp_path / "gcn3.safetensors"
    words = ["--model", "gcn3", "--out", out, "--epochs", 1, "--data-seed", 7]
    assert run("train", "--dataset", "BA Community", *words).code == 0
    record = checkpoint.read_record(out)
    assert record["settings"]["learning_rate"] == paper_settings("ba-community").learning_rate
    assert record["data_seed"] == 7


def test_progress_without_a_terminal_is_a_few_plain_lines(run, graph_file, tmp_path):
    out = tmp_path / "gcn.safetensors"
    result = run("train", "--dataset", graph_file, "--model", "gcn", "--out", out, "--epochs", 205)
    lines = [line for line in result.err.splitlines() if line.startswith("epoch ")]
    assert len(lines) == 10
    assert lines[0].startswith("epoch 21/205  loss ")
    assert lines[-1].startswith("epoch 205/205  loss ")
    assert "\x1b" not in result.out + result.err


def test_a_class_of_the_current_folder_can_be_trained(run, graph_file, tmp_path):
    source = "from zorro.models.architectures import APPNP as Net\n"
    (tmp_path / "my_architecture.py").write_text(source)
    out = tmp_path / "own.safetensors"
    words = ["--model", "my_architecture:Net", "--out", out, "--epochs", 1]
    assert run("train", "--dataset", graph_file, *words).code == 0
    assert checkpoint.read_record(out)["architecture"] == "my_architecture:Net"


@pytest.mark.parametrize("taken", ["gcn.safetensors", "gcn.json"])
def test_what_is_there_is_replaced_only_by_force(run, graph_file, tmp_path, taken):
    (tmp_path / taken).write_text("precious")
    words = ["train", "--dataset", graph_file, "--model", "gcn", "--epochs", 1]
    words += ["--out", tmp_path / "gcn.safetensors"]
    refused = run(*words)
    assert refused.code == 1
    assert "--force" in refused.err
    assert (tmp_path / taken).read_text() == "precious"
    assert run(*words, "--force").code == 0
    assert checkpoint.read_record(tmp_path / "gcn.safetensors")["settings"]["epochs"] == 1


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gcn.pt", ".safetensors"),
        ("graph.npz/gcn.safetensors", "expected a file that can be written"),
        ("folder.safetensors", "is a folder"),
    ],
)
def test_an_unusable_output_is_refused_before_training(run, graph_file, tmp_path, name, problem):
    (tmp_path / "folder.safetensors").mkdir()
    words = ["train", "--dataset", graph_file, "--model", "gcn", "--out", tmp_path / name]
    result = run(*words)
    assert result.code == 1
    assert problem in result.err
    assert len(result.err.splitlines()) == 1  # and so no progress


def test_interrupted_training_says_that_nothing_was_saved(run, graph_file, tmp_path):
    (tmp_path / "my_interrupting.py").write_text(INTERRUPTING)
    out = tmp_path / "net.safetensors"
    result = run("train", "--dataset", graph_file, "--model", "my_interrupting:Net", "--out", out)
    assert result.code == 130
    assert "interrupted after 3 of 200 epochs: nothing was saved" in result.err
    assert not out.exists()
