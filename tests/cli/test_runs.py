"""`zorro runs` lists, shows and exports what `zorro explain --out` has kept."""

from __future__ import annotations

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
    assert "22 has not been explained" in missing.err


def test_exports(run, kept, tmp_path):
    words = ["--parquet", "e.parquet", "--csv", "e.csv", "--jsonl", "e.jsonl"]
    result = run("runs", "export", kept, *words)
    assert result.code == 0, result.err
    assert result.err == "e.parquet: 3 rows\ne.csv: 3 rows\ne.jsonl: 3 rows\n"
    assert pandas.read_parquet(tmp_path / "e.parquet")["node"].tolist() == [5, 6, 21]
    assert "name at least one file" in run("runs", "export", kept).err
    assert run("runs", "export", "nothing", "--csv", "e.csv").code == 1
