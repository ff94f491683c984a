"""`zorro convert` stores a graph that the other commands take in the place of the data set."""

from __future__ import annotations

import numpy as np

from zorro import Explanation
from zorro.data import load, open_stored

QUICK = ["--samples", "20", "--fresh-samples", "20"]


def test_a_converted_graph_is_explained_as_it_was(run, checkpoint, graph_file):
    result = run("convert", "--dataset", graph_file, "--out", "graph")
    assert result.code == 0, result.err
    assert result.out.startswith("stored  graph: 40 nodes, 76 edges, 5 features; 0.0 MB\n")
    found = []
    for dataset in (graph_file, "graph"):
        words = ["--dataset", dataset, "--checkpoint", checkpoint, "--nodes", "random:3"]
        result = run("explain", *words, "--out", "-", *QUICK)
        assert result.code == 0, result.err
        assert "of 3 predictions are right" in result.err
        found.append([Explanation.from_json(line) for line in result.out.splitlines()])
    for before, after in zip(*found, strict=True):
        assert (after.node, after.nodes, after.features) == (
            before.node,
            before.nodes,
            before.features,
        )
        assert (before.graph.checked, after.graph.checked) == ("whole", "local")


def test_fidelity_takes_it_too(run, checkpoint, graph_file):
    assert run("convert", "--dataset", graph_file, "--out", "graph").code == 0
    words = ["--checkpoint", checkpoint, "--node", 5, "--keep-features", 0, "--samples", 50]
    ours, theirs = (
        run("fidelity", "--dataset", dataset, *words) for dataset in ("graph", graph_file)
    )
    assert ours.code == 0, ours.err
    assert ours.out.splitlines()[2] == theirs.out.splitlines()[2]


def test_the_seed_reaches_the_data_set(run):
    words = ["--dataset", "ba-community", "--data-seed", 7]
    assert run("convert", *words, "--out", "graph").code == 0
    rows = open_stored("graph").x.rows(load("ba-community", seed=7).edge_index[0])
    data = load("ba-community", seed=7)
    assert (rows == data.x[data.edge_index[0]]).all()


def test_what_exists_is_kept(run, graph_file, tmp_path):
    (tmp_path / "graph").mkdir()
    result = run("convert", "--dataset", graph_file, "--out", "graph")
    assert result.code == 1
    assert (
        result.err
        == "zorro: error: --out: expected a new folder, got graph, which exists already\n"
    )
    assert list((tmp_path / "graph").iterdir()) == []


def test_a_place_that_cannot_be_written_is_one_line(run, graph_file):
    result = run("convert", "--dataset", graph_file, "--out", graph_file / "graph")
    assert result.code == 1
    (line,) = result.err.splitlines()
    assert "graph.npz/graph could not be written: " in line


def test_it_is_not_trained_on(run, graph_file):
    assert run("convert", "--dataset", graph_file, "--out", "graph").code == 0
    result = run("train", "--dataset", "graph", "--model", "gcn", "--out", "gcn.safetensors")
    assert result.code == 1
    assert "expected a graph in memory, got a stored one" in result.err


def test_another_folder_is_refused(run, checkpoint, tmp_path):
    (tmp_path / "empty").mkdir()
    result = run("explain", "--dataset", "empty", "--checkpoint", checkpoint, "--nodes", 5)
    assert result.code == 1
    assert "empty holds no stored graph: there is no graph.json in it" in result.err


def test_a_graph_is_verified(run, checkpoint, graph_file, tmp_path):
    assert run("convert", "--dataset", graph_file, "--out", "graph").code == 0
    result = run("verify", "graph")
    assert result.code == 0, result.err
    assert result.out.startswith("verified  graph: 40 nodes, 76 edges, 5 features; digest ")
    x = np.load("graph/x.npy")
    x[0, 0] += 1
    np.save("graph/x.npy", x)
    explain = ["explain", "--dataset", "graph", "--checkpoint", checkpoint, "--nodes", 5]
    for words in (["verify", "graph"], [*explain, "--out", "run"]):
        result = run(*words)
        assert result.code == 1
        assert "graph/x.npy: expected the values of its digest" in result.err
    assert not (tmp_path / "run").exists()


def test_a_large_graph_says_how_far_it_is(run, graph_file, monkeypatch):
    monkeypatch.setattr("zorro.cli.verifying._WORTH_SAYING", 0)
    assert run("convert", "--dataset", graph_file, "--out", "graph").code == 0
    result = run("verify", "graph")
    assert result.err.splitlines()[-1].startswith("verified % 100/100")
