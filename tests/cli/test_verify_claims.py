"""`zorro runs verify`: every claim counted again, and what was forged is found."""

import dataclasses
import json
import sqlite3

import pytest

from zorro.explanation import Explanation
from zorro.search.certificate import certificate_of


@pytest.fixture
def made(run, checkpoint):
    words = ["--checkpoint", checkpoint, "--nodes", "test", "--engine", "in-process"]
    result = run("explain", *words, "--out", "made")
    assert result.code == 0, result.err
    return "made"


def _rows(folder):
    with sqlite3.connect(folder / "made" / "outcomes.sqlite") as connection:
        found = connection.execute("SELECT node, explanation FROM outcomes").fetchall()
    return {node: Explanation.from_json(text) for node, text in found}


def _rewritten(folder, change, *, count):
    """Put others in the place of the first certified explanations; return their nodes."""
    nodes = [node for node, e in _rows(folder).items() if e.certified][:count]
    assert len(nodes) == count
    with sqlite3.connect(folder / "made" / "outcomes.sqlite") as connection:
        for node in nodes:
            text = json.dumps(change(_rows(folder)[node]).to_dict())
            connection.execute("UPDATE outcomes SET explanation = ? WHERE node = ?", (text, node))
    return nodes


def _of_another_set(e):
    """The certificate of one set for a set that nobody has tested."""
    return dataclasses.replace(e, selected={"nodes": (39,), "features": (4,)}, losses=None)


def _asked(e, **settings):
    """The explanation as if it had been asked for otherwise, with a certificate that fits."""
    parameters = dataclasses.replace(e.parameters, **settings)
    c = e.certificate
    certificate = certificate_of(
        parameters.tau, parameters.delta, hits=c.hits, samples=c.samples, attempts=c.attempts
    )
    return dataclasses.replace(e, parameters=parameters, certificate=certificate)


def test_true_claims_are_not_refuted(run, made, tmp_path):
    result = run("runs", "verify", made, "--json", "claims.json", "--seed", 5)
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0] == (
        "claims    10, each of a fidelity of at least 0.85, wrong with probability 0.05 at most"
    )
    assert lines[1].startswith("counted   on 1,000 samples each, of seed 5: ")
    assert lines[1].endswith(" 0 refuted")
    assert lines[2].startswith("power     with probability 0.95 a false one is noticed if its fide")
    assert lines[3].startswith("verified  made: 10 of 10 rows, ")
    assert lines[3].endswith(", 10 claims")
    told = json.loads((tmp_path / "claims.json").read_text())
    assert (told["seed"], told["samples"], told["tau"], told["delta"]) == (5, 1000, 0.85, 0.05)
    assert 0.5 < told["noticed"] < 0.95
    explained = _rows(tmp_path)
    for claim in told["claims"]:
        counted, e = claim["counted"]["fidelity"], explained[claim["key"]]
        assert counted["value"] == pytest.approx(e.fidelity.value, abs=0.1)
        assert counted["samples"] == 1000


@pytest.mark.parametrize("count", [1, 2, 10])
def test_a_set_that_nobody_tested_is_refuted_be_it_one(run, made, tmp_path, count):
    """Of ten claims one or two may well be wrong by δ, but not by as much."""
    forged = _rewritten(tmp_path, _of_another_set, count=count)
    result = run("runs", "verify", made, "--seed", 1)
    assert result.code == 3
    refuted = [line for line in result.out.splitlines() if line.startswith("refuted")]
    assert len(refuted) == count
    for node, line in zip(forged, refuted, strict=True):
        assert line.startswith(f"refuted   node {node}: at least 0.85 claimed, ")
        assert line.endswith("counted; p < 1e-12")
    last = result.out.splitlines()[-1]
    assert last == "broken    made: an honest run looks so bad with probability < 1e-12"
    assert "verified" not in result.out


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"tau": 0.01}, "tau: expected 0.85"), ({"delta": 0.9999}, "delta: expected 0.05")],
)
def test_a_row_that_sets_its_own_terms_is_broken(run, made, tmp_path, settings, expected):
    (name,) = settings
    forged = _rewritten(tmp_path, lambda e: _asked(_of_another_set(e), **settings), count=5)
    result = run("runs", "verify", made, "--seed", 1)
    assert result.code == 1
    for node in forged:
        assert f"(node {node}) is damaged: parameters.{expected}, as its run was" in result.err
    assert "5 of 10 rows are damaged" in result.err
    assert f"got {settings[name]}" in result.err
    assert "verified" not in result.out


def test_terms_that_the_manifest_shares_hide_no_false_record(run, made, tmp_path):
    """A τ that any set has: the hits that were recorded are none of these sets'."""
    _rewritten(tmp_path, lambda e: _asked(e, tau=0.01), count=10)
    forged = _rewritten(tmp_path, _of_another_set, count=2)
    manifest = json.loads((tmp_path / "made/manifest.json").read_text())
    manifest["parameters"]["tau"] = 0.01
    (tmp_path / "made/manifest.json").write_text(json.dumps(manifest))
    result = run("runs", "verify", made, "--seed", 1)
    assert result.code == 3
    assert "claims    10, each of a fidelity of at least 0.01, wrong with" in result.out
    for node in forged:
        assert f"doubtful  node {node}: at least 0.01 claimed, " in result.out


@pytest.mark.parametrize("name", ["tau", "delta", "noise", "seed"])
def test_a_manifest_that_does_not_say_what_was_asked_is_refused(run, made, tmp_path, name):
    manifest = json.loads((tmp_path / "made/manifest.json").read_text())
    del manifest["parameters"][name]
    (tmp_path / "made/manifest.json").write_text(json.dumps(manifest))
    result = run("runs", "verify", made)
    assert result.code == 1
    assert f"made: manifest: parameters: expected {name}, got none" in result.err


def test_an_answer_that_the_model_does_not_give_is_told(run, made, tmp_path):
    def otherwise(e):
        other = 1 - e.predicted_class
        swapped = (e.probabilities[1], e.probabilities[0])
        return dataclasses.replace(e, predicted_class=other, probabilities=swapped)

    (node,) = _rewritten(tmp_path, otherwise, count=1)
    result = run("runs", "verify", made, "--seed", 1)
    assert result.code == 3
    assert f"other     node {node}: predicted_class: expected " in result.out
    assert result.out.endswith("broken    made: it holds claims about other answers\n")


def test_without_claims_nothing_is_counted(run, made):
    result = run("runs", "verify", made, "--no-claims")
    assert result.code == 0
    assert "counted" not in result.out
    assert result.out.startswith("verified  made: 10 of 10 rows, ")


def test_a_run_without_claims_is_compared_alone(run, checkpoint):
    words = ["--checkpoint", checkpoint, "--nodes", "0,4", "--engine", "in-process"]
    assert run("explain", *words, "--search", "paper", "--out", "made").code == 0
    result = run("runs", "verify", "made")
    assert result.code == 0
    assert result.out.startswith("claims    none\nverified  made: 2 of 2 rows, ")


def test_the_runs_own_noise_proves_nothing_new(run, made):
    result = run("runs", "verify", made, "--seed", 0)
    assert result.code == 1
    assert "--seed: expected another than the run's own, got 0" in result.err


def test_whoever_made_the_run_cannot_know_the_noise(run, made):
    seeds = []
    for _ in range(2):
        out = run("runs", "verify", made, "--samples", 50).out
        seeds.append(out.splitlines()[1].partition(" of seed ")[2].partition(":")[0])
    assert len({*map(int, seeds), 0, 1}) == 4
