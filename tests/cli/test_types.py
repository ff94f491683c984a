"""Graphs of several types at the command line."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from made_hetero import with_classes, written

from zorro import Zorro
from zorro.data import load_hetero
from zorro.models import build_hetero, checkpoint, hetero_accuracy
from zorro.runs import open_run

QUICK = ["--samples", "50", "--engine", "in-process"]


@pytest.fixture
def library(run, tmp_path, monkeypatch):
    """Return a folder with a graph and a model of its authors, in which commands run."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "library.npz", with_classes())
    words = ["--epochs", 40, "--learning-rate", 0.02, "--out", "sage.safetensors"]
    told = run("train", "--dataset", "library.npz", "--model", "hetero-sage", *words)
    assert told.code == 0, told.err
    return told


def test_training_tells_and_keeps_what_the_model_does(library):
    data = load_hetero("library.npz")
    record = checkpoint.read_record("sage.safetensors")
    assert (record["target"], record["out_channels"]) == ("author", 2)
    model = build_hetero("hetero-sage", data, "author", 2)
    checkpoint.load(model, "sage.safetensors")
    found = hetero_accuracy(model.eval(), data, "author")
    assert found == record["accuracy"]
    assert f"test {found['test']:.3f}" in library.out


def test_explanations_are_those_of_the_library(run, library):
    words = ["--checkpoint", "sage.safetensors", "--target", "author", "--nodes", "1,3"]
    told = run("explain", *words, *QUICK, "--out", "run")
    assert told.code == 0, told.err
    data = load_hetero("library.npz")
    model = build_hetero("hetero-sage", data, "author", 2)
    checkpoint.load(model, "sage.safetensors")
    alone = Zorro.of_hetero(model.eval(), data, "author", samples=50)
    kept = open_run("run")
    for number in (1, 3):
        assert kept.explanation(number).selected == alone.explain(number).selected
    assert "2 of 2 authors explained" in told.err
    shown = run("runs", "show", "run", "--node", 3)
    assert shown.out.splitlines()[0].split() == ["author", "3"]
    assert "verified  run: 2 of 2 rows" in run("runs", "verify", "run", "--seed", 1).out
    assert run("runs", "export", "run", "--csv", "run.csv").code == 0
    rows = list(csv.DictReader(Path("run.csv").read_text().splitlines()))
    assert [(row["type"], row["node"]) for row in rows] == [("author", "1"), ("author", "3")]
    assert run("report", "run", "--out", "run.html").code == 0
    assert '"areTypes":true' in Path("run.html").read_text().replace(" ", "")


@pytest.mark.parametrize("keep", ["types", "relations", "edges", "nodes"])
def test_kinds_are_shown_by_their_names(run, library, keep):
    words = ["--checkpoint", "sage.safetensors", "--nodes", "3", "--keep", keep]
    told = run("explain", *words, *QUICK, "--out", "run")
    assert told.code == 0, told.err
    (found,) = open_run("run")
    text = " ".join(told.out.split())
    for name in found.called(keep) if keep in ("types", "relations") else ():
        assert name in text
    assert list(found.selected) == [keep]


def test_sets_are_measured_by_type(run, library):
    one = ["fidelity", "--checkpoint", "sage.safetensors", "--node", "3", "--samples", "200"]
    data = load_hetero("library.npz")
    model = build_hetero("hetero-sage", data, "author", 2)
    checkpoint.load(model, "sage.safetensors")
    all_types = list(data.node_types)
    cases: list[tuple[list[str], dict[str, Any]]] = [
        (
            ["--keep-nodes", "venue:0,1,2,3;paper:5", "--keep-features", "none"],
            {"nodes": {"venue": [0, 1, 2, 3], "paper": [5]}, "features": {}},
        ),
        (["--keep-types", "venue"], {"types": ["venue"]}),
        (
            ["--keep-types", "author,paper,venue", "--keep-relations", "author/writes/paper"],
            {"types": all_types, "relations": [("author", "writes", "paper")]},
        ),
    ]
    for words, members in cases:
        told = run(*one, *words)
        assert told.code == 0, told.err
        zorro = Zorro.of_hetero(model.eval(), data, "author", keep=tuple(members), seed=1)
        expected = zorro.fidelity(3, samples=200, **members)
        assert f"{expected.hits} of 200 samples" in told.out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["explain", "--nodes", "1", "--target", "paper"], "--target: expected author, for which"),
        (["explain", "--nodes", "99"], "authors: expected numbers from 0 to 59, got 99"),
        (["explain", "--links", "1-2"], "--links: expected"),
        (["explain", "--nodes", "1", "--carries-messages"], "--carries-messages: expected links"),
        (["explain", "--nodes", "1", "--feature-groups", "0-3"], "--feature-groups: expected"),
        (["explain", "--nodes", "1", "--feature-groups", "venue:0"], "expected a type with"),
        (["explain", "--nodes", "1", "--keep", "types,nodes"], "keep: expected 'types' or 'nodes'"),
        (["fidelity", "--node", "1", "--keep-nodes", "1,2"], "nodes: expected numbers by type"),
        (["fidelity", "--node", "1", "--keep-nodes", "editor:1"], "nodes: expected some of the"),
        (
            ["fidelity", "--node", "1", "--keep-features", "venue:1"],
            "expected a type with features",
        ),
        (["fidelity", "--node", "1", "--keep-types", "editor"], "types: expected some of"),
        (["fidelity", "--node", "1", "--keep-relations", "a/b/c"], "relations: expected some of"),
        (["fidelity", "--node", "1", "--keep-edges", "author/edits/paper:1-2"], "edges: expected"),
    ],
)
def test_bad_input_is_refused_in_one_line(run, library, words, problem):
    told = run(*words, "--checkpoint", "sage.safetensors")
    assert told.code == 1
    assert problem in told.err
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--model", "hgt", "--target", "editor"], "--target: expected one of the types"),
        (["--model", "hgt", "--target", "paper"], "target: expected a type with classes y"),
        (["--model", "gcn"], "model: expected one of hetero-sage, hgt"),
        (["--model", "hgt", "--links"], "--links: expected a graph of one type"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(run, tmp_path, words, problem):
    written(tmp_path / "library.npz", with_classes())
    out = ["--dataset", tmp_path / "library.npz", "--out", tmp_path / "x.safetensors"]
    told = run("train", *out, *words)
    assert told.code == 1
    assert problem in told.err
    assert len(told.err.splitlines()) == 1


def test_a_target_needs_several_types(run, graph_file, tmp_path):
    words = ["--dataset", graph_file, "--model", "gcn", "--target", "author"]
    told = run("train", *words, "--out", tmp_path / "x.safetensors")
    assert (told.code, len(told.err.splitlines())) == (1, 1)
    assert "--target: expected a graph of several types" in told.err


def test_authors_of_dblp(run, hetero_dir, tmp_path):
    out = tmp_path / "sage.safetensors"
    told = run("train", "--dataset", "dblp", "--model", "hetero-sage", "--out", out, "--epochs", 8)
    assert told.code == 0, told.err
    assert json.loads(out.with_suffix(".json").read_text())["accuracy"]["test"] > 0.85
    told = run("explain", "--checkpoint", out, "--nodes", "12", "--keep", "types", *QUICK)
    assert told.code == 0, told.err
    assert "1 of 1 are certified" in told.out


def test_a_run_of_one_type_is_audited_compared_and_measured_again(run, library, tmp_path):
    words = ["--checkpoint", "sage.safetensors", "--nodes", "1,2,3,4"]
    made = run("explain", *words, *QUICK, "--out", "run")
    assert made.code == 0, made.err
    audited = run("audit", "run", "-o", "audit.html", "--json", "audit.json")
    assert audited.code == 0, audited.err
    told = json.loads((tmp_path / "audit.json").read_text())
    assert (told["explanations"], told["right"]["total"]) == (4, 4)
    assert (tmp_path / "audit.html").stat().st_size > 10_000
    compared = run("compare", "run", "run", "--samples", 20)
    assert compared.code == 0, compared.err
    assert "4 authors are in both runs" in compared.out
    verified = run("runs", "verify", "run", "--samples", 50, "--seed", 1)
    assert verified.code == 0, verified.err
