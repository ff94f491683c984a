"""A damaged run, or a damaged row of one, is shown as such and takes nothing else along."""

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from made_runs import made_explanation, made_run
from served_runs import HERE

from zorro.runs import open_run
from zorro.runs.folder import MANIFEST, OUTCOMES
from zorro.show.page import payload
from zorro.show.page.node_view import NodeView
from zorro.show.web.app import create_app
from zorro.show.web.served import Broken, Served

DEEP = "[" * 100_000


@pytest.fixture
def folder(tmp_path, graph, model):
    """A run of three nodes and one that failed, to be damaged."""
    explanations = [made_explanation(node) for node in (7, 8, 20)]
    made_run(tmp_path / "bad", explanations, graph=graph, model=model, failures={3: "it broke"})
    return tmp_path / "bad"


def asked(*runs):
    """What a client sees of runs: the list, and the rows of each."""
    with TestClient(create_app(runs), base_url=HERE) as client:
        listed = client.get("/api/runs")
        assert listed.status_code == 200, listed.text
        rows = [client.get(f"/api/runs/{number}/rows") for number in range(len(runs))]
        details = [client.get(f"/api/runs/{number}/queries/8") for number in range(len(runs))]
    return listed.json(), rows, details


def rewrite(folder, column, value):
    """Put something else into the row of node 8."""
    with sqlite3.connect(folder / OUTCOMES) as connection:
        connection.execute(f"UPDATE outcomes SET {column} = ? WHERE node = 8", (value,))


def changed(**values):
    return json.dumps({**made_explanation(8).to_dict(), **values})


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "not JSON",
        "[]",
        "{}",
        DEEP,
        7,
        b"\xff\xfe",
        changed(node=7),
        changed(node="8"),
        changed(nodes=[8, 4000]),
        changed(features=[-1]),
        changed(features="ab"),
        changed(predicted_class=17),
        changed(status=None),
        changed(probabilities=[0.07, float("nan")]),
        changed(probabilities=[0.07, "much"]),
        changed(fidelity={"hits": 1, "samples": 0}),
        changed(fidelity={"hits": 8, "samples": 0, "confidence": 0.95}),
        changed(fidelity={"hits": "many", "samples": 10, "confidence": 0.95}),
        changed(fidelity={"hits": 9, "samples": 10, "confidence": float("inf")}),
        changed(search_fidelity={"hits": 0, "samples": 0, "confidence": 0.95}),
        changed(seconds="long"),
        changed(seconds=float("inf")),
        changed(steps=[{"node": None, "feature": None, "fidelity": float("nan")}]),
        changed(certificate={"tau": 0.85}),
        changed(parameters=None),
    ],
    ids=lambda text: str(text)[:20],
)
def test_a_damaged_row_is_listed_with_its_reason_and_the_others_stay(folder, served, text):
    rewrite(folder, "explanation", text)
    listed, (_, rows), (_, detail) = asked(served, Served(open_run(folder)))
    entry = listed["runs"][1]
    assert entry["broken"] is None
    assert (entry["summary"]["explained"], entry["summary"]["certified"]) == (2, 2)
    assert [row["query"] for row in rows.json()["rows"]] == [7, 20]
    assert rows.json()["failures"] == [{"query": 3, "error": "it broke"}]
    (damaged,) = rows.json()["unreadable"]
    assert damaged["query"] == 8
    assert damaged["reason"]
    assert detail.status_code == 409
    assert "node 8" in detail.json()["error"]


@pytest.mark.parametrize("node", [-1, 4000, "eight", 8.5])
def test_a_row_of_no_node_is_listed_too(folder, node):
    rewrite(folder, "node", node)
    _, (rows,), (detail,) = asked(Served(open_run(folder)))
    assert [row["query"] for row in rows.json()["rows"]] == [7, 20]
    assert rows.json()["unreadable"][0]["position"] == 1
    assert rows.json()["unreadable"][0]["reason"].startswith("node")
    assert detail.status_code == 404


def test_the_report_shows_a_damaged_row_too(folder, graph):
    rewrite(folder, "explanation", DEEP)
    view = NodeView(x=graph["x"], edge_index=graph["edge_index"])
    data = payload.of_run(open_run(folder), view)
    assert sorted(data["details"]) == ["20", "7"]
    assert [row["query"] for row in data["unreadable"]] == [8]
    assert data["summary"]["certified"] == 2


def without(*path):
    def damage(folder):
        manifest = json.loads((folder / MANIFEST).read_text())
        part = manifest
        for key in path[:-1]:
            part = part[key]
        del part[path[-1]]
        (folder / MANIFEST).write_text(json.dumps(manifest))

    return damage


def with_value(value, *path):
    def damage(folder):
        manifest = json.loads((folder / MANIFEST).read_text())
        part = manifest
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value
        (folder / MANIFEST).write_text(json.dumps(manifest))

    return damage


def pipe(name):
    def damage(folder):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return damage


def written(name, content):
    return lambda folder: (folder / name).write_bytes(content)


DAMAGE = {
    "no tau": without("parameters", "tau"),
    "no parameters": without("parameters"),
    "no data": without("data"),
    "no model": without("model"),
    "no asked": without("asked"),
    "no versions": without("versions"),
    "no nodes": without("data", "nodes"),
    "parameters are a list": with_value([], "parameters"),
    "nodes are a text": with_value("forty", "data", "nodes"),
    "tau is infinite": with_value(float("inf"), "parameters", "tau"),
    "not a manifest": written(MANIFEST, b"{"),
    "a deep manifest": written(MANIFEST, DEEP.encode()),
    "bytes as manifest": written(MANIFEST, b"\xff\xfe"),
    "a manifest that is a pipe": pipe(MANIFEST),
    "outcomes that are a pipe": pipe(OUTCOMES),
    "a journal that is a pipe": pipe(f"{OUTCOMES}-journal"),
    "no database": written(OUTCOMES, b"something else that is not SQLite at all" * 100),
    "no table": written(OUTCOMES, b""),
}


def offered(folder, inputs=None):
    """The run as the command would offer it."""
    try:
        run = open_run(folder)
    except Exception as error:
        return Broken(Path(folder), str(error))
    try:
        return Served(run, inputs)
    except Exception:
        return Served(run)


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_run_is_listed_with_its_reason_and_the_others_stay(
    folder, served, inputs, damage
):
    damage(folder)
    listed, (broken, good), details = asked(offered(folder, inputs), served)
    first, second = listed["runs"]
    assert first["broken"]
    assert first["path"].endswith("/bad")
    assert first["live"] is False
    assert broken.status_code == 409
    assert broken.json()["error"]
    assert all(detail.status_code < 500 for detail in details)
    assert second["broken"] is None
    assert len(good.json()["rows"]) == 3
    assert listed["live"] is True
    assert second["queries"] == 40


def test_a_run_that_is_damaged_while_it_is_served_is_listed_with_its_reason(folder, served):
    bad = Served(open_run(folder))
    with TestClient(create_app([bad, served]), base_url=HERE) as client:
        assert [run["broken"] for run in client.get("/api/runs").json()["runs"]] == [None, None]
        pipe(OUTCOMES)(folder)
        first, second = client.get("/api/runs").json()["runs"]
        assert "expected a file" in first["broken"]
        assert second["broken"] is None
        shutil.rmtree(folder)
        client.get("/api/runs").raise_for_status()


def test_around_a_damaged_row_there_is_still_its_neighbourhood(folder, inputs):
    rewrite(folder, "explanation", "{}")
    served = Served(open_run(folder), inputs)
    with TestClient(create_app([served]), base_url=HERE) as client:
        assert client.get("/api/runs/0/drawings/8").json()["query"] == 8
