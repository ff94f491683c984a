"""Runs and checkpoints from someone else: what they name is not imported unless the user does."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zorro import Explanation
from zorro.cli.model_and_data import load
from zorro.cli.named_task import NamedTask
from zorro.cli.serve import _served
from zorro.errors import InputError
from zorro.runs import open_run

QUICK = ["--nodes", 5, "--samples", 20, "--fresh-samples", 60]
EVIL = """
from pathlib import Path
from zorro.models.architectures import GCN

Path("imported").touch()


def Net(features, classes):
    return GCN(features, classes)
"""


@pytest.fixture
def own(run, tmp_path):
    """A module of the current folder that leaves a mark when it is imported."""
    (tmp_path / "my_evil.py").write_text(EVIL)
    return tmp_path / "imported"


def name_model(path: Path, *keys: str, name: object = "my_evil:Net") -> None:
    """Change what a JSON file says the model is."""
    content = json.loads(path.read_text())
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = name
    path.write_text(json.dumps(content))


@pytest.fixture
def made(run, checkpoint, own, tmp_path):
    """A run whose manifest names a model that would have to be imported."""
    result = run("explain", "--checkpoint", checkpoint, "--out", "made", *QUICK)
    assert result.code == 0, result.err
    name_model(tmp_path / "made/manifest.json", "asked", "named", "model")
    return "made"


def refused(result, *parts):
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert all(part in result.err for part in parts), result.err


def test_a_report_imports_only_what_the_user_names(run, made, own):
    result = run("report", made)
    refused(result, "in made/manifest.json, got 'my_evil:Net'", "add --model my_evil:Net if you")
    assert not own.exists()
    assert "my_evil" not in sys.modules
    assert run("report", made, "--no-graph").code == 0
    assert not own.exists()
    result = run("report", made, "--model", "my_evil:Net")
    assert result.code == 0, result.err
    assert own.exists()


def test_a_record_beside_weights_names_only_our_own_models(run, checkpoint, own, tmp_path):
    name_model(tmp_path / "gcn.json", "architecture")
    words = ["explain", "--checkpoint", checkpoint, *QUICK]
    refused(run(*words), "gcn.json, got 'my_evil:Net'", "add --model my_evil:Net if you trust")
    assert not own.exists()
    assert run(*words, "--model", "my_evil:Net").code == 0
    assert own.exists()


def test_a_run_with_a_model_of_ones_own_is_resumed_and_reported(run, checkpoint, own):
    words = ["--checkpoint", checkpoint, "--model", "my_evil:Net"]
    for _ in range(2):
        result = run("explain", *words, "--out", "own", *QUICK)
        assert result.code == 0, result.err
    assert "1 of 1 nodes are there already" in result.err
    refused(run("report", "own"), "add --model my_evil:Net")
    assert run("report", "own", "--model", "my_evil:Net").code == 0


def test_the_explorer_imports_only_what_the_user_names(made, own):
    pytest.importorskip("fastapi", reason="fastapi is not installed: pip install 'zorro-gnn[web]'")
    served: Callable[..., Any] = _served
    assert not served(open_run(made), {}, trusted=[]).live
    assert not served(open_run(made), {}, trusted=["my_other:Net"]).live
    assert not own.exists()
    assert served(open_run(made), {}, trusted=["my_evil:Net"]).live
    assert own.exists()


@pytest.mark.parametrize("name", ["os:system", "GCN:Net", ":", "x" * 10_000, 3, ["gcn"]])
def test_odd_names_are_one_line(run, made, tmp_path, name):
    name_model(tmp_path / "made/manifest.json", "asked", "named", "model", name=name)
    result = run("report", made)
    refused(result, "made/manifest.json")
    assert len(result.err) < 1000


def test_a_pipe_beside_the_weights_is_not_waited_for(run, checkpoint, tmp_path):
    (tmp_path / "gcn.json").unlink()
    os.mkfifo(tmp_path / "gcn.json")
    refused(
        run("explain", "--checkpoint", checkpoint, *QUICK), "--dataset: expected a name, got none"
    )


def test_what_another_machine_finds_under_the_same_names_must_be_the_same(
    run, checkpoint, graph, tmp_path
):
    named: dict[str, Any] = dict.fromkeys(("dataset", "model", "data_seed"))
    named["checkpoint"] = str(checkpoint)
    task = NamedTask(named, {"samples": 20}, {}, load(**named).digests)
    found = task.open()(5)
    assert isinstance(found, Explanation)
    assert found.node == 5
    graph["x"] += 1
    np.savez(tmp_path / "graph.npz", **graph)
    with pytest.raises(InputError, match=r"expected the data set that is where .*, got another on"):
        task.open()


def test_a_link_in_a_run_is_one_line(run, checkpoint, tmp_path):
    words = ["explain", "--checkpoint", checkpoint, "--out", "made", *QUICK]
    assert run(*words).code == 0
    (tmp_path / "made/lock").unlink()
    (tmp_path / "made/lock").symlink_to(tmp_path / "elsewhere")
    result = run(*words)
    assert result.code == 1
    said = "zorro: error: a run cannot be made in made: made/lock: expected a file, got a link"
    assert result.err.splitlines()[-1] == said
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "made/lock").unlink()
    store = tmp_path / "made/outcomes.sqlite"
    store.rename(tmp_path / "moved")
    store.symlink_to(tmp_path / "moved")
    for command in (["report", "made", "--no-graph"], ["runs", "show", "made"]):
        refused(run(*command), "made/outcomes.sqlite: expected a file, got a link")
