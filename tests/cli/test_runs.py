"""`zorro runs` lists, shows and exports what `zorro explain --out` has kept."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pandas
import pytest

QUICK = ["--samples", 20, "--fresh-samples", 60]


@pytest.fixture
def kept(run, checkpoint):
    """A run of three nodes, in the current folder."""
    result = run(
        "explain", "--checkpoint", checkpoint, "--nodes", "5,6,21", "--out", "some/run", *QUICK
    )
    assert result.code == 0, result.err
    return "some/run"


def test_runs_are_listed(run, kept):
    out = run("runs", "list").out
    (row,) = [line.split() for line in out.splitlines() if "some/run" in line]
    assert row[0] == "some/run"
    assert row[-5:-2] == ["3/3", "3", "0"]
    assert "gcn on graph.npz" in out


def test_a_folder_without_runs(run, tmp_path):
    (tmp_path / "empty").mkdir()
    result = run("runs", "list", "empty")
    assert (result.code, result.out) == (0, "")
    assert "There are no runs in empty." in result.err
    assert run("runs", "list", "missing").code == 1


def test_a_run_is_shown_whole_or_one_node_of_it(run, kept):
    out = run("runs", "show", kept).out
    assert "rests on nodes" in out
    assert "3 of 3 nodes explained, 3 of them certified, 0 failed." in out
    out = run("runs", "show", kept, "--node", 21).out
    assert out.startswith("node         21\n")
    missing = run("runs", "show", kept, "--node", 22)
    assert missing.code == 1
    assert "expected one that has been explained in" in missing.err


def test_exports(run, kept, tmp_path):
    words = ["--parquet", "e.parquet", "--csv", "e.csv", "--jsonl", "e.jsonl"]
    result = run("runs", "export", kept, *words)
    assert result.code == 0, result.err
    assert result.err == "e.parquet: 3 rows\ne.csv: 3 rows\ne.jsonl: 3 rows\n"
    assert pandas.read_parquet(tmp_path / "e.parquet")["node"].tolist() == [5, 6, 21]
    assert (
        "expected at least one of --parquet, --csv and --jsonl" in run("runs", "export", kept).err
    )
    assert run("runs", "export", "nothing", "--csv", "e.csv").code == 1


@pytest.fixture
def damaged(run, kept, tmp_path):
    """Beside a run, one without versions, one whose store is a pipe, and one with a bad row."""
    for name in ("some/no-versions", "some/pipe", "some/row"):
        shutil.copytree(tmp_path / kept, tmp_path / name)
    manifest = json.loads((tmp_path / kept / "manifest.json").read_text())
    del manifest["versions"]
    (tmp_path / "some/no-versions/manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "some/pipe/outcomes.sqlite").unlink()
    os.mkfifo(tmp_path / "some/pipe/outcomes.sqlite")
    with closing(sqlite3.connect(tmp_path / "some/row/outcomes.sqlite")) as store, store:
        store.execute("UPDATE outcomes SET explanation = '[' WHERE node = 6")
    return "some/row"


def test_broken_runs_do_not_hide_others(run, damaged):
    result = run("runs", "list")
    assert result.code == 0, result.err
    rows = {words[0]: words for words in map(str.split, result.out.splitlines()) if words}
    assert rows["some/run"][-5:-2] == ["3/3", "3", "0"]
    assert rows["some/pipe"][1] == rows["some/no-versions"][1] == "broken,"
    assert "some/no-versions is broken: " in result.err
    assert "versions is missing" in result.err
    assert "pipe/outcomes.sqlite: expected a file" in " ".join(result.err.split())
    for words in (["show"], ["export", "--csv", "e.csv"], ["verify"]):
        assert run("runs", *words, "some/pipe").code == 1
        assert run("runs", *words, "some/no-versions").code == 1


def test_a_damaged_row_does_not_hide_others(run, damaged, tmp_path):
    said = "row 1 (node 6) is damaged: text: expected JSON"
    result = run("runs", "show", damaged)
    assert result.code == 0, result.err
    assert said in result.err
    first = {line.split()[0] for line in result.out.splitlines() if line.strip()}
    assert first & {"5", "6", "21"} == {"5", "21"}
    result = run("runs", "export", damaged, "--csv", "e.csv", "--jsonl", "e.jsonl")
    assert result.code == 0, result.err
    assert result.err.startswith("e.csv: 3 rows\ne.jsonl: 2 rows\n")
    assert said in result.err
    assert pandas.read_csv(tmp_path / "e.csv")["status"].tolist()[1] == "damaged"
    result = run("report", damaged)
    assert result.code == 0, result.err


def test_a_run_is_verified(run, kept, damaged, graph, tmp_path):
    result = run("runs", "verify", kept, "--seed", 1)
    assert result.code == 0, result.err
    assert result.out.splitlines()[-1].startswith("verified  some/run: 3 of 3 rows, gcn on ")
    result = run("runs", "verify", damaged)
    assert result.code == 1
    assert "row 1 (node 6) is damaged" in result.err
    assert "some/row: 1 of 3 rows are damaged" in result.err
    graph["x"] += 1
    np.savez(tmp_path / "graph.npz", **graph)
    assert "node data: expected those that" in run("runs", "verify", kept).err
    assert run("runs", "verify", kept, "--no-graph").code == 0
