"""`zorro explain` says what the library says, keeps what is finished, and never overwrites."""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
import torch
from restored_models import restored

from zorro import Explanation, Zorro, open_run
from zorro.cli import model_and_data
from zorro.cli.named_task import NamedTask
from zorro.data import load

QUICK = ["--samples", 20, "--fresh-samples", 60]
LONE_NODE = 39

# The lone node's computational graph is the only one with a single node.
BREAKING_ON_THE_LONE_NODE = """
from zorro.models.architectures import GCN

class Net(GCN):
    def forward(self, x, edge_index):
        if x.size(0) == 1:
            raise {error}
        return super().forward(x, edge_index)
"""


@pytest.fixture
def breaking(tmp_path):
    """Write a module with a model that raises on the lone node, and return the model's name."""

    def write(error: str) -> str:
        name = f"my_{re.sub('[^a-z]', '', error.lower())}"
        source = BREAKING_ON_THE_LONE_NODE.format(error=error)
        (tmp_path / f"{name}.py").write_text(source)
        return f"{name}:Net"

    return write


def read(path) -> list[Explanation]:
    return list(open_run(path))


def test_a_run_holds_what_the_library_finds(run, checkpoint, graph_file, tmp_path):
    out = tmp_path / "new" / "out"
    words = ["--tau", 0.8, "--k", "all", "--noise", "rows", "--seed", 3, "--hops", 2]
    result = run(
        "explain", "--checkpoint", checkpoint, "--nodes", "5, 21", "--out", out, *QUICK, *words
    )
    assert result.code == 0, result.err
    data = load(graph_file)
    zorro = Zorro(
        restored(checkpoint),
        data.x,
        data.edge_index,
        tau=0.8,
        k=None,
        samples=20,
        fresh_samples=60,
        noise="rows",
        seed=3,
        hops=2,
    )
    for found, node in zip(read(out), (5, 21), strict=True):
        expected = zorro.explain(node)
        assert found.to_dict() | {"seconds": 0} == expected.to_dict() | {"seconds": 0}


def test_table_shows_prediction_truth_size_and_selection(run, graph, tmp_path, checkpoint):
    graph["y"][21] = 0  # so that one label is not what the model says
    np.savez(tmp_path / "relabelled.npz", **graph)
    out = tmp_path / "out"
    words = ["--checkpoint", checkpoint, "--dataset", tmp_path / "relabelled.npz"]
    result = run("explain", *words, "--nodes", "5,30,21", "--out", out, *QUICK)
    assert result.code == 0, result.err
    found = {explanation.node: explanation for explanation in read(out)}
    assert [found[node].predicted_class for node in (5, 30, 21)] == [0, 1, 1]
    rows = [line.split() for line in result.out.splitlines()]
    for node, label, mark in ((5, "0", "✓"), (30, "1", "✓"), (21, "0", "✗")):
        e = found[node]
        row = next(row for row in rows if row[:1] == [str(node)])
        assert row[1:4] == [str(e.predicted_class), label, mark]
        assert row[4:7] == [str(len(e.nodes)), "×", str(len(e.features))]
        assert e.bound is not None
        assert (row[7], float(row[8])) == ("≥", pytest.approx(e.bound, abs=0.01))
        assert float(row[8]) <= e.bound
        assert float(row[9]) == pytest.approx(e.fidelity.value, abs=0.005)
        selected = next(row for row in rows[::-1] if row[:1] == [str(node)])
        listed = [int(word.strip(",")) for word in selected[1:]]
        assert listed == [id for kind in e.selected for (id,) in e.ordered(kind)]
        assert sorted(listed[: len(e.nodes)]) == list(e.nodes)
    assert "2 of 3 predictions are right." in result.out


def test_sets_that_fail_on_held_out_samples_are_named(run, checkpoint, tmp_path):
    out = tmp_path / "out"
    words = ["--checkpoint", checkpoint, "--nodes", "all", "--tau", 0.9, "--samples", 3]
    words += ["--engine", "in-process", "--no-certify"]
    result = run("explain", *words, "--fresh-samples", 60, "--out", out)
    assert result.code == 0, result.err
    below = [e.node for e in read(out) if e.fidelity.value <= 0.9]
    assert 0 < len(below) < 40
    assert f"{40 - len(below)} of 40 sets exceed τ on held-out samples; not for: {below[0]}, " in (
        result.out
    )


def test_dash_sends_json_alone_to_stdout(run, checkpoint):
    words = ["--checkpoint", checkpoint, "--nodes", "5,6", *QUICK]
    result = run("explain", *words, "--out", "-")
    assert [Explanation.from_json(line).node for line in result.out.splitlines()] == [5, 6]
    assert "rests on nodes" in result.err


def test_truth_is_unknown_without_labels(run, graph, tmp_path, checkpoint):
    del graph["y"]
    np.savez(tmp_path / "unlabelled.npz", **graph)
    words = ["--checkpoint", checkpoint, "--dataset", tmp_path / "unlabelled.npz"]
    result = run("explain", *words, "--nodes", 5, *QUICK)
    assert result.code == 0, result.err
    assert "unknown" in result.out
    assert "predictions are right" not in result.out


def test_a_lone_node_rests_on_itself_at_most(run, checkpoint, tmp_path):
    out = tmp_path / "out"
    words = ["--checkpoint", checkpoint, "--nodes", LONE_NODE, "--out", out, *QUICK]
    assert run("explain", *words).code == 0
    (explanation,) = read(out)
    assert explanation.graph.candidates == 1
    assert set(explanation.nodes) <= {LONE_NODE}


def test_the_record_tells_which_generated_graph_was_meant(run, tmp_path):
    model = tmp_path / "gcn3.safetensors"
    words = ["--dataset", "ba-community", "--model", "gcn3", "--epochs", 1, "--data-seed", 7]
    assert run("train", *words, "--out", model).code == 0
    out = tmp_path / "out"
    words = ["--checkpoint", model, "--nodes", 617, "--noise", "zeros", "--out", out, *QUICK]
    assert run("explain", *words).code == 0
    data = load("ba-community", seed=7)
    zorro = Zorro(restored(model), data.x, data.edge_index, noise="zeros")
    (found,) = read(out)
    assert found.probabilities == zorro.explain(617).probabilities


def test_the_same_command_goes_on_and_another_is_refused(run, checkpoint, tmp_path):
    out = tmp_path / "out"
    words = ["explain", "--checkpoint", checkpoint, "--out", out, *QUICK]
    assert run(*words, "--nodes", "5,6").code == 0
    before = [explanation.to_json() for explanation in read(out)]
    again = run(*words, "--nodes", "5,6")
    assert again.code == 0
    assert "2 of 2 nodes are there already" in again.err
    assert "2 of 2 nodes explained, 0 of them now" in again.err
    assert "rests on nodes" in again.out
    refused = run(*words, "--nodes", "5,6", "--tau", 0.7)
    assert refused.code == 1
    assert "it differs in parameters.tau: 0.85 there, 0.7 now" in refused.err
    assert refused.out == ""  # not that run's explanations, as if they were answers
    assert [explanation.to_json() for explanation in read(out)] == before


def test_files_are_not_runs(run, checkpoint, tmp_path):
    words = ["explain", "--checkpoint", checkpoint, "--nodes", 5, *QUICK]
    refused = run(*words, "--out", tmp_path / "out.jsonl")
    assert refused.code == 1
    assert "expected a folder" in refused.err
    assert "zorro runs export" in refused.err
    refused = run(*words, "--retry-failed")
    assert "--retry-failed: expected --out with the run's folder" in refused.err


def test_interruption_keeps_what_is_finished(run, checkpoint, breaking, tmp_path):
    out = tmp_path / "out"
    words = ["--checkpoint", checkpoint, "--model", breaking("KeyboardInterrupt")]
    result = run("explain", *words, "--nodes", f"5,{LONE_NODE},6", "--out", out, *QUICK)
    assert result.code == 130
    assert [explanation.node for explanation in read(out)] == [5]
    assert f"1 of 3 nodes are explained and kept in {out}; the same command goes on" in result.err
    assert "rests on nodes" in result.out


def test_a_model_that_raises_costs_its_node_alone(run, checkpoint, breaking, tmp_path):
    out = tmp_path / "out"
    words = ["--checkpoint", checkpoint, "--model", breaking(r'RuntimeError("two\nlines")')]
    words += ["--nodes", f"5,{LONE_NODE},6", *QUICK]
    for where in ([], ["--out", out]):
        result = run("explain", *words, *where)
        assert result.code == 1
        assert (
            "1 of 3 nodes could not be explained: node 39: ModelError: the model raised"
            in (result.err.splitlines()[-1])
        )
        assert "docs/troubleshooting.md#refused" in result.err.splitlines()[-1]
    assert [explanation.node for explanation in read(out)] == [5, 6]
    assert result.err.splitlines()[-1].endswith("--retry-failed to try them again")
    assert "1 failed" in run("explain", *words, "--out", out, "--retry-failed").err


def test_progress_for_programs(run, checkpoint, tmp_path):
    words = ["--checkpoint", checkpoint, "--nodes", "5,6", *QUICK, "--out", tmp_path / "out"]
    result = run("explain", *words, "--json-progress")
    lines = [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]
    assert [(line["node"], line["done"], line["total"]) for line in lines] == [(5, 1, 2), (6, 2, 2)]
    assert all(line["per_second"] > 0 for line in lines)
    assert lines[1]["seconds_left"] == 0


def test_processes_show_the_same(run, checkpoint, tmp_path):
    words = ["--checkpoint", checkpoint, "--nodes", "5,6,21", "--hops", 1, *QUICK]
    alone = run("explain", *words, "--out", tmp_path / "alone")
    several = run(
        "explain", *words, "--out", tmp_path / "several", "--engine", "processes", "--workers", 1
    )
    assert several.code == 0, several.err
    found = [
        [(e.nodes, e.fidelity) for e in read(tmp_path / name)] for name in ("alone", "several")
    ]
    assert found[0] == found[1]
    notes = [line for line in several.err.splitlines() if line.startswith("zorro: note: ")]
    assert notes == [line for line in alone.err.splitlines() if line.startswith("zorro: note: ")]
    assert notes


def test_a_task_of_names_answers_as_the_one_at_hand(run, checkpoint, graph_file):
    # What workers on other machines get: they load data set and model themselves.
    named: dict[str, Any] = {
        "dataset": None,
        "model": None,
        "checkpoint": str(checkpoint),
        "data_seed": None,
    }
    options: dict[str, Any] = {"samples": 20, "fresh_samples": 60}
    question: dict[str, Any] = {"why_not": 1}
    digests = model_and_data.load(**named).digests
    sent = pickle.loads(pickle.dumps(NamedTask(named, options, question, digests)))
    data = load(graph_file)
    zorro = Zorro(restored(checkpoint), data.x, data.edge_index, **options)
    expected = zorro.explain(5, **question).to_dict() | {"seconds": 0}
    assert json.loads(sent.open(workers=2)(5).to_json()) | {"seconds": 0} == json.loads(
        json.dumps(expected)
    )


def test_a_device_that_is_not_there(run, checkpoint):
    words = ["--checkpoint", checkpoint, "--nodes", 5, *QUICK]
    result = run("explain", *words, "--device", "tape")
    assert result.code == 1
    assert "--device: expected a device that can be used here, got 'tape'" in result.err


def test_threads_are_torchs(run, checkpoint):
    words = ["--checkpoint", checkpoint, "--nodes", LONE_NODE, "--threads", 2, *QUICK]
    assert run("explain", *words).code == 0
    assert torch.get_num_threads() == 2


def test_a_function_may_bring_its_own_weights(run, checkpoint, graph_file, tmp_path):
    (tmp_path / "my_trained.py").write_text(
        "from zorro.models import build, checkpoint\n"
        "def load(features, classes):\n"
        "    model = build('gcn', features, classes)\n"
        f"    checkpoint.load(model, {str(checkpoint)!r})\n"
        "    return model\n"
    )
    both = []
    for words in (["--model", "my_trained:load"], ["--checkpoint", checkpoint]):
        result = run("explain", "--dataset", graph_file, *words, "--nodes", 5, "--out", "-", *QUICK)
        assert result.code == 0, result.err
        both.append(Explanation.from_json(result.out).probabilities)
    assert both[0] == both[1]


def test_warnings_are_one_line_notes_and_few_of_a_kind(run, checkpoint):
    words = ["--checkpoint", checkpoint, "--nodes", "5,6,7,8,9", "--hops", 1, *QUICK]
    result = run("explain", *words)
    assert result.code == 0
    notes = [line for line in result.err.splitlines() if line.startswith("zorro: note: ")]
    assert [note.split(":")[2] for note in notes] == [" node 5", " node 6", " node 7"]
    assert notes[-1].endswith("(further notes like this are left out)")


def test_pythons_warnings_are_notes_too(run, checkpoint, graph_file, tmp_path):
    (tmp_path / "my_warning.py").write_text(
        "import warnings\n"
        "from zorro.models.architectures import GCN as Net\n"
        "warnings.warn('100 %\\ndeprecated')\n"
    )
    words = ["--checkpoint", checkpoint, "--model", "my_warning:Net", "--nodes", 5, *QUICK]
    result = run("explain", *words)
    assert result.code == 0
    assert result.err.splitlines()[0] == "zorro: note: UserWarning: 100 % deprecated"


def test_the_papers_model_explains_the_papers_node(run, paper_dir, data_dir):
    words = ["--dataset", "cora", "--model", "gcn", "--checkpoint", "paper", "--nodes", 2521]
    result = run("explain", *words, "--noise", "zeros", "--out", "-", *QUICK)
    assert result.code == 0, result.err
    explanation = Explanation.from_json(result.out)
    assert explanation.predicted_class == 3
    assert explanation.graph.num_nodes == 2708


def test_a_claim_about_too_few_hops_is_not_counted_as_certified(run, checkpoint):
    words = ["--checkpoint", checkpoint, "--nodes", "5,6", "--hops", 0]
    result = run("explain", *words)
    assert result.code == 0, result.err
    assert "conditional" in result.out
    assert "0 of 2 are certified." in result.out
    said = " ".join(result.out.split())
    assert "nodes more than 0 hops away matter too, and kept their true features." in said
    assert "Conditional for 5, 6: see docs/troubleshooting.md#conditional." in said


def test_kinds_and_groups_of_nodes(run, checkpoint, graph_file):
    words = ["--checkpoint", checkpoint, "--nodes", 21, "--out", "-", *QUICK]
    result = run("explain", *words, "--keep", "features", "--feature-groups", "0-1;2,4")
    assert result.code == 0, result.err
    data = load(graph_file)
    zorro = Zorro(
        restored(checkpoint),
        data.x,
        data.edge_index,
        samples=20,
        fresh_samples=60,
        keep=("features",),
        feature_groups=[[0, 1], [2, 4]],
    )
    expected = json.loads(zorro.explain(21).to_json()) | {"seconds": 0}
    assert json.loads(result.out) | {"seconds": 0} == expected


@pytest.mark.parametrize(
    ("stored", "said"),
    [(False, "since no columns are one-hot"), (True, "features that are not dense and in memory")],
)
def test_groups_are_proposed_only_where_there_are_some(run, checkpoint, stored, said):
    words = ["--checkpoint", checkpoint, "--nodes", 21, "--feature-groups", "one-hot"]
    if stored:
        assert run("convert", "--dataset", "graph.npz", "--out", "stored").code == 0
        words += ["--dataset", "stored"]
    result = run("explain", *words)
    assert result.code == 1
    assert said in result.err
    assert len(result.err.splitlines()) == 1
