"""What is explained in the explorer is remembered, and kept in the run when it is asked for."""

import shutil

import pytest
from fastapi.testclient import TestClient
from served_runs import HERE, events_of

from zorro import open_run
from zorro.runs import folder as folders
from zorro.show.web.app import create_app
from zorro.show.web.served import Served


@pytest.fixture
def own(run, inputs, tmp_path):
    """A copy of the run, which may be changed."""
    folder = tmp_path / "own"
    shutil.copytree(run.path, folder)
    return folder


@pytest.fixture
def client(own, inputs):
    app = create_app([Served(open_run(own), inputs), Served(open_run(own))])
    with TestClient(app, base_url=HERE) as client:
        yield client


def explained(client, query, **asked):
    answer = client.post("/api/explain", json={"run": 0, "query": query, **asked})
    return events_of(client, answer.json()["job"])[-1][1]["detail"]


def keep(client, query, run=0):
    return client.post("/api/keep", json={"run": run, "query": query})


def test_what_was_found_is_kept_and_the_page_finds_it_there(client, own):
    detail = explained(client, 20)
    assert detail["isNew"] is True
    rows = client.get("/api/runs/0/rows").json()
    assert [row["query"] for row in rows["found"]] == [20]
    assert client.get("/api/runs/0/queries/20").json()["sentence"] == detail["sentence"]
    assert len(open_run(own)) == 3
    answer = keep(client, 20)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"query": 20, "explained": 4}
    assert open_run(own).explanation(20).status == detail["row"]["status"]
    rows = client.get("/api/runs/0/rows").json()
    assert ([row["query"] for row in rows["rows"]][-1], rows["found"]) == (20, [])
    summary = client.get("/api/runs").json()["runs"][0]["summary"]
    assert (summary["asked"], summary["added"]) == (4, 1)


@pytest.mark.parametrize("asked", [{"tau": 0.7}, {"method": "grad"}, {"why_not": "other"}])
def test_what_was_asked_in_another_way_is_not_kept(client, own, asked):
    if asked.get("why_not"):
        said = explained(client, 20)["row"]["class"]
        client.post("/api/keep", json={"run": 0, "query": 20})
        asked, count = {"why_not": 1 - said}, 4
    else:
        count = 3
    assert not explained(client, 20, **asked).get("isNew")
    assert keep(client, 20).status_code == 404
    assert len(open_run(own)) == count


@pytest.mark.parametrize(
    ("query", "number", "status", "named"),
    [
        (20, 0, 404, "query: nothing new was found of node 20: explain it first"),
        (9, 0, 404, "query: nothing new was found of node 9"),
        (20, 1, 409, "run: it is read-only"),
        (40, 0, 422, "query: "),
    ],
)
def test_what_cannot_be_kept_is_said(client, query, number, status, named):
    answer = keep(client, query, number)
    assert answer.status_code == status
    assert answer.json()["error"].startswith(named)


def test_a_run_that_is_being_written_is_left_alone(client, own):
    explained(client, 20)
    with folders.locked(own):
        answer = keep(client, 20)
    assert answer.status_code == 409
    assert "is being written by another process" in answer.json()["error"]
    assert keep(client, 20).status_code == 200
