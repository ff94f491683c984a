"""`zorro train` on links, and on graphs whose target is a value."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from restored_models import restored

from zorro.data import load_graphs, npz
from zorro.models import checkpoint, graph_errors, link_auc, split_links

FAST = ["--epochs", 3]


def test_saved_model_of_links_has_the_auc_that_was_printed(run, graph_file, tmp_path):
    out = tmp_path / "links.safetensors"
    words = ["--model", "gcn", "--links", "--out", out, *FAST, "--seed", 2, "--data-seed", 4]
    result = run("train", "--dataset", graph_file, *words)
    assert result.code == 0, result.err
    split = split_links(npz.read(graph_file), seed=4)
    model = restored(out)
    measured = f"val {link_auc(model, split.val):.3f}, test {link_auc(model, split.test):.3f}"
    assert f"auc       {measured}" in result.out
    record = checkpoint.read_record(out)
    assert (record["level"], record["data_seed"], record["out_channels"]) == ("link", 4, 64)
    assert (record["settings"]["epochs"], record["settings"]["seed"]) == (3, 2)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--dataset", "mutag", "--model", "gin"], "--links: expected a graph with nodes to link"),
        (["--dataset", "graph.npz", "--model", "gat"], "model: expected one of gcn or"),
        (["--dataset", "graph.npz", "--model", "gcn", "--pooling", "add"], "--pooling: expected a"),
    ],
)
def test_what_links_cannot_use_is_named(run, graph_file, data_dir, tmp_path, words, problem):
    result = run("train", *words, "--links", "--out", tmp_path / "x.safetensors")
    assert result.code == 1
    assert problem in result.err
    assert len(result.err.splitlines()) == 1


def test_a_model_of_values_tells_its_errors(run, tmp_path, monkeypatch):
    draw = np.random.default_rng(0)
    nodes = draw.integers(3, 7, 40)
    first = np.cumsum(nodes) - nodes
    pairs = np.concatenate([[[a, a + 1], [a + 1, a]] for a in first]).T
    np.savez(
        tmp_path / "crippen.npz",
        atom=draw.integers(0, 14, nodes.sum()),
        edge_index=pairs - np.repeat(first, 2),
        edge_attr=np.eye(5)[draw.integers(0, 5, pairs.shape[1])],
        num_nodes=nodes,
        num_edges=np.full(40, 2),
        y=nodes.astype(np.float32),
        attribution=np.ones((nodes.sum(), 1), np.float32),
        train=np.arange(30),
        test=np.arange(30, 40),
        smiles=np.array(["C"] * 40),
    )
    monkeypatch.setenv("ZORRO_MOLECULES", str(tmp_path))
    out = tmp_path / "gine.safetensors"
    result = run("train", "--dataset", "crippen", "--model", "gine", "--out", out, *FAST)
    assert result.code == 0, result.err
    errors = graph_errors(restored(out), load_graphs("crippen"))
    for title, name in (("RMSE     ", "rmse"), ("R²       ", "r2")):
        parts = ", ".join(f"{part} {found[name]:.3f}" for part, found in errors.items())
        assert f"{title} {parts}" in result.out
    assert checkpoint.read_record(out)["options"]["regression"] is True
    assert torch.tensor(errors["train"]["rmse"]).isfinite()
