"""`zorro runs verify`: every claim measured again, and what was forged is found."""

import json
import sqlite3

import pytest

from zorro.explanation import Explanation


@pytest.fixture
def made(run, checkpoint):
    words = ["--checkpoint", checkpoint, "--nodes", "test", "--engine", "in-process"]
    result = run("explain", *words, "--out", "made")
    assert result.code == 0, result.err
    return "made"


def test_true_claims_are_not_refuted(run, made, tmp_path):
    result = run("runs", "verify", made, "--json", "claims.json")
    assert result.code == 0, result.err
    assert "10 claims measured again" in result.out
    assert "0 refuted" in result.out
    told = json.loads((tmp_path / "claims.json").read_text())
    for claim in told["claims"]:
        e = Explanation.from_json(_stored(tmp_path, claim["key"]))
        assert claim["measured"]["value"] == pytest.approx(e.fidelity.value, abs=0.1)
        assert claim["measured"]["samples"] == 1000


def _stored(folder, node):
    with sqlite3.connect(folder / "made" / "outcomes.sqlite") as connection:
        query = "SELECT explanation FROM outcomes WHERE node = ?"
        return connection.execute(query, (node,)).fetchone()[0]


def test_forged_claims_are_refuted(run, made, tmp_path):
    """Sets of which all but one element was taken out keep their certificates."""
    forged = []
    with sqlite3.connect(tmp_path / "made" / "outcomes.sqlite") as connection:
        for node, text in connection.execute("SELECT node, explanation FROM outcomes").fetchall():
            values = json.loads(text)
            if values["status"] == "certified":
                values["selected"] = {"nodes": [39], "features": [4]}
                values["losses"] = None
                forged.append(node)
                connection.execute(
                    "UPDATE outcomes SET explanation = ? WHERE node = ?",
                    (json.dumps(values), node),
                )
    assert forged
    result = run("runs", "verify", made)
    assert result.code == 3
    for node in forged:
        assert f"refuted  node {node}: at least 0.85 was claimed" in result.out


def test_without_claims_nothing_is_measured(run, made):
    result = run("runs", "verify", made, "--no-claims")
    assert result.code == 0
    assert "measured again" not in result.out


def test_the_runs_own_noise_proves_nothing_new(run, made):
    result = run("runs", "verify", made, "--seed", 0)
    assert result.code == 1
    assert "--seed: expected another than the run's own, got 0" in result.err
