"""What a run holds, as it is asked for piece by piece."""

from dataclasses import replace

import pytest

from zorro import Zorro
from zorro.show.page import contents, payload


def test_the_list_says_what_can_be_done(client, served, run):
    answer = client.get("/api/runs").json()
    assert [entry["id"] for entry in answer["runs"]] == [0, 1]
    assert [entry["live"] for entry in answer["runs"]] == [True, False]
    first = answer["runs"][0]
    assert first["path"] == "/".join(run.path.parts[-2:])
    assert first["summary"] == payload.summary(run, contents.read(run), served.view)
    assert first["labels"]["features"] == dict(
        zip("01234", ("ant", "bee", "cat", "dog", "emu"), strict=True)
    )
    assert answer["live"] is True
    assert answer["runs"][0]["queries"] == 40
    assert answer["limits"]["samples"] == 1000
    assert answer["runs"][0]["methods"][0] == "zorro"
    assert {"grad", "gnnexplainer"} <= set(answer["runs"][0]["methods"])
    # These need training, or to be told how much to choose.
    assert not {"pgexplainer", "random"} & set(answer["runs"][0]["methods"])


def test_rows_and_details_are_those_of_the_report(client, served, run):
    rows = client.get("/api/runs/0/rows").json()["rows"]
    assert rows == [payload.row(e, served.view) for e in run]
    detail = client.get("/api/runs/0/queries/9").json()
    expected = payload.detail(run.explanation(9), served.view)
    assert {name: detail[name] for name in expected} == expected
    assert detail["row"] == rows[1]
    assert detail["names"]["features"]["0"] == "ant"


def test_rows_follow_a_run_that_grows(client, served, run, monkeypatch):
    first = served.rows()
    assert served.rows() is first
    monkeypatch.setattr(served, "_read", replace(served._read, counts="other counts"))
    assert served.rows() is not first


def test_a_run_without_its_graph_shows_no_neighbourhoods(client):
    detail = client.get("/api/runs/1/queries/9").json()
    assert detail["scene"] is None
    assert detail["values"] is None


@pytest.mark.parametrize(
    ("path", "status", "named"),
    [
        ("/api/runs/0/queries/7", 404, "query"),
        ("/api/runs/9/queries/9", 404, "run"),
        ("/api/runs/0/queries/-1", 422, "query"),
        ("/api/runs/0/queries/x", 422, "query"),
        ("/api/runs/0/queries/99999999999999999999", 422, "query"),
        ("/api/runs/0/drawings/40", 422, "query"),
        ("/api/runs/0/drawings/9?most=100000", 422, "most"),
        ("/api/runs/0/candidates/9?kind=edges", 422, "kind"),
        ("/api/runs/0/candidates/9?limit=0", 422, "limit"),
        ("/api/runs/1/drawings/9", 409, "run"),
        ("/api/jobs/none/events", 404, "job"),
        ("/api/nothing", 404, ""),
    ],
)
def test_what_is_not_there_is_said(client, path, status, named):
    answer = client.get(path)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"].startswith(named)


def test_the_neighbourhood_has_all_candidates_if_there_is_room(client, graph, model):
    candidates = Zorro(model, graph["x"], graph["edge_index"]).meter(9).graph.candidates
    answer = client.get("/api/runs/0/drawings/9?most=400").json()
    assert sorted(node[0] for node in answer["scene"]["nodes"]) == sorted(candidates.tolist())
    assert answer["scene"]["hidden"] == 0
    few = client.get("/api/runs/0/drawings/20?most=3").json()["scene"]
    assert len(few["nodes"]) == 4
    assert few["hidden"] == candidates.numel() - 4


def test_candidates_can_be_searched_for(client, graph):
    features = client.get("/api/runs/0/candidates/9?search=EE").json()
    assert [(one["id"], one["name"]) for one in features["candidates"]] == [(1, "bee")]
    assert features["candidates"][0]["value"] == pytest.approx(float(graph["x"][9, 1]), rel=0.01)
    nodes = client.get("/api/runs/0/candidates/9?kind=nodes&limit=2").json()
    assert nodes["candidates"][0]["id"] == 9
    assert len(nodes["candidates"]) == 2
    assert nodes["total"] > 2
    begun = client.get("/api/runs/0/candidates/9?kind=nodes&search=1").json()
    assert all(str(one["id"]).startswith("1") for one in begun["candidates"])


def test_the_server_says_that_it_is_there(client):
    assert client.get("/api/health").json()["status"] == "ok"
