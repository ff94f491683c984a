"""Edges at the command line and in runs."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest

from zorro import Explanation, Zorro, explain_many, open_run
from zorro.data import load
from zorro.models import build
from zorro.models import checkpoint as checkpoints


@pytest.fixture
def given(checkpoint):
    """The model and the graph that the command line is asked about."""
    data = load(checkpoint.parent / "graph.npz")
    model = build("gcn", 5, 2)
    checkpoints.load(model, checkpoint)
    return model.eval(), data


def words(text):
    return " ".join(text.split())


def test_sets_of_edges_are_the_librarys(run, checkpoint, given):
    options = ("--keep", "edges", "--edge-presence", "0.4", "--tau", "0.9")
    asked = ("explain", "--checkpoint", checkpoint, "--nodes", "18,19,20", "--out", "-")
    done = run(*asked, *options)
    assert done.code == 0, done.err
    found = [Explanation.from_json(line) for line in done.out.splitlines()]
    model, data = given
    zorro = Zorro(model, data.x, data.edge_index, keep=("edges",), edge_presence=0.4, tau=0.9)
    for explanation in found:
        assert explanation.selected == zorro.explain(explanation.node).selected
        assert explanation.parameters.edge_presence == 0.4
    assert len(found) == 3
    assert "other edges present with probability 0.4" in words(done.err)


def test_runs_keep_resume_and_export_sets_of_edges(run, given, tmp_path):
    model, data = given
    options: dict[str, Any] = {
        "keep": ("edges",),
        "connected": True,
        "directed": False,
        "tau": 0.95,
        "workers": 1,
    }

    def explained(engine, folder):
        x, edge_index = data.x, data.edge_index
        return explain_many(
            model, x, edge_index, range(15, 24), out=folder, engine=engine, **options
        )

    one, other = (explained(engine, tmp_path / engine) for engine in ("in-process", "processes"))
    assert [e.selected for e in one.explanations()] == [e.selected for e in other.explanations()]
    assert any(e.edges for e in one.explanations())
    assert one.manifest["parameters"]["directed"] is False
    assert explained("in-process", tmp_path / "in-process").counts() == one.counts()
    done = run("runs", "export", tmp_path / "in-process", "--csv", tmp_path / "run.csv")
    assert done.code == 0, done.err
    rows = list(csv.DictReader((tmp_path / "run.csv").open()))
    for row, explanation in zip(
        rows, open_run(tmp_path / "in-process").explanations(), strict=True
    ):
        texts = json.loads(row["edges"])
        assert [tuple(map(int, text.split("-"))) for text in texts] == list(explanation.edges)
        assert row["edge_presence"] == "0.5"
        assert row["nodes"] == "[]"
    assert "rests on edges" in run("runs", "show", tmp_path / "in-process").out
    assert one.median_sizes().keys() == {"edges"}


def test_fidelity_of_edges(run, checkpoint, given):
    model, data = given
    zorro = Zorro(model, data.x, data.edge_index, keep=("nodes", "features", "edges"), seed=1)
    seen = zorro.meter(19).graph.edges.labels[:2]
    text = ",".join(f"{v}-{u}" for u, v in seen)  # in either direction
    done = run("fidelity", "--checkpoint", checkpoint, "--node", 19, "--keep-edges", text)
    assert done.code == 0, done.err
    expected = zorro.fidelity(19, edges=seen, samples=1000)
    assert f"{expected.hits} of 1000 samples" in words(done.out)
    assert "other edges present with probability 0.5" in words(done.out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--edge-presence", "0.3"), "edge_presence: expected 'edges' in keep"),
        (("--keep", "edges", "--edge-presence", "1"), "edge_presence: expected a number of at"),
        (("--connected",), "connected: expected 'edges' in keep"),
        (("--directed",), "directed: expected 'edges' in keep"),
        (("--keep", "edge_attributes"), "keep: expected 'edges' with 'edge_attributes'"),
        (("--keep", "edges,edge_attributes"), "keep: expected edges that have attributes"),
        (("--keep", "edges", "--edge-noise", "swap"), "edge_noise: expected"),
    ],
)
def test_what_cannot_be_asked(run, checkpoint, options, said):
    done = run("explain", "--checkpoint", checkpoint, "--nodes", "3", *options)
    assert done.code != 0
    assert said in words(done.err)


@pytest.mark.parametrize("text", ["3", "3-", "a-b", "3-4-5-6"])
def test_edges_are_pairs(run, checkpoint, text):
    done = run("fidelity", "--checkpoint", checkpoint, "--node", 3, "--keep-edges", text)
    assert done.code != 0
    assert "expected pairs of nodes" in words(done.err)
