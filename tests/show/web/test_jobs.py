"""Explanations that are asked for: what comes, how it is watched, and how it ends."""

import threading
import time

import pytest
import torch
from served_runs import events_of

from zorro import Zorro
from zorro.show.web import jobs as job_module
from zorro.show.web import limits
from zorro.show.web.jobs import BusyError, Jobs
from zorro.show.web.method_names import method_names


def wait_for(condition, seconds=60.0):
    deadline = time.perf_counter() + seconds
    while not condition():
        assert time.perf_counter() < deadline, "it did not happen"
        time.sleep(0.005)


def test_a_new_explanation_is_the_librarys_own(explained, served, graph, model):
    events = explained(query=11)
    own = Zorro(model, graph["x"], graph["edge_index"], fresh_samples=300).explain(11)
    name, last = events[-1]
    assert name == "done"
    detail = last["detail"]
    assert detail["nodes"] == [node for (node,) in own.ordered("nodes")]
    assert detail["features"] == [feature for (feature,) in own.ordered("features")]
    assert [loss[0] for loss in detail["losses"]["nodes"]] == [
        round(loss.value, 9) for loss in own.loss("nodes")
    ]
    assert detail["fidelity"]["value"] == round(own.fidelity.value, 9)
    assert detail["row"]["status"] == own.status
    assert [name for name, _ in events[:-1]] == ["progress"] * (len(events) - 1)
    first = events[0][1]
    assert set(first) == {"step", "nodes", "features", "fidelity", "seconds"}
    assert first["step"] == 0


def test_what_is_asked_is_used(explained, run):
    other = 1 - run.explanation(9).predicted_class
    detail = explained(tau=0.6, why_not=other, max_seconds=20)[-1][1]["detail"]
    assert detail["tau"] == 0.6
    assert detail["versus"] == {"other": other, "contrast": "beats"}


def test_a_search_that_fails_says_why(explained, run):
    name, said = explained(why_not=run.explanation(9).predicted_class)[-1]
    assert name == "failed"
    assert said["error"].startswith("why_not: expected another class")


@pytest.mark.parametrize("method", [name for name in method_names() if name != "zorro"])
def test_other_methods_answer_in_the_same_form(explained, client, method):
    name, said = explained(method=method)[-1]
    assert name == "done", said
    detail = said["detail"]
    kept = client.get("/api/runs/0/queries/9").json()
    assert set(kept) <= set(detail)
    again = client.post(
        "/api/fidelity",
        json={"run": 0, "query": 9, "nodes": detail["nodes"], "features": detail["features"]},
    ).json()
    # What is shown and then changed is measured on the same samples.
    assert detail["fidelity"]["value"] == pytest.approx(again["fidelity"])
    for kind in ("nodes", "features"):
        if detail["masks"][kind] is not None:
            values = [value for _, value in detail["masks"][kind]]
            assert values == sorted(values, reverse=True)
            assert [one for one, _ in detail["masks"][kind]] == detail[kind]


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"query": 40}, "query"),
        ({"method": "pgexplainer"}, "method"),
        ({"method": "grad", "why_not": 0}, "why_not"),
        ({"tau": 1}, "tau"),
        ({"tau": "high"}, "tau"),
        ({"max_seconds": 121}, "max_seconds"),
        ({"max_seconds": 0}, "max_seconds"),
    ],
)
def test_what_cannot_be_explained_is_named(client, asked, named):
    answer = client.post("/api/explain", json={"run": 0, "query": 9, **asked})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(f"{named}: ")


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '{"run": 0, "query": NaN}'])
def test_a_body_that_is_no_request_is_refused(client, body):
    headers = {"content-type": "application/json"}
    answer = client.post("/api/explain", content=body, headers=headers)
    assert answer.status_code == 422
    assert "error" in answer.json()


def test_without_the_graph_nothing_is_explained(client):
    assert client.post("/api/explain", json={"run": 1, "query": 9}).status_code == 409


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("method", ["zorro", "gnnexplainer"])
def test_cancelling_stops_a_search_in_the_middle_of_a_forward_pass(client, app, method):
    asked = {"run": 0, "query": 9, "method": method}
    job = client.post("/api/explain", json=asked).json()["job"]
    working = app.state.jobs.get(job)
    wait_for(lambda: any(t.name.startswith("zorro-job") for t in threading.enumerate()))
    time.sleep(0.3)
    assert not working.ended
    assert client.delete(f"/api/jobs/{job}").status_code == 204
    wait_for(lambda: working.ended)
    assert events_of(client, job)[-1] == ("cancelled", {})


def test_after_a_method_was_cancelled_all_is_as_before(client, app, explained, model):
    before = explained(method="gnnexplainer")[-1][1]["detail"]["masks"]
    model.slow = True  # for the next desk
    try:
        app_desks = [client.post("/api/explain", json={"run": 0, "query": 9}) for _ in range(2)]
        time.sleep(0.2)
        for answer in app_desks:
            client.delete(f"/api/jobs/{answer.json()['job']}")
            events_of(client, answer.json()["job"])
    finally:
        model.slow = False
    assert explained(method="gnnexplainer")[-1][1]["detail"]["masks"] == before


@pytest.mark.usefixtures("slow")
def test_a_job_that_waits_is_cancelled_at_once_and_too_many_are_refused(client):
    most = limits.JOBS + limits.WAITING_JOBS
    every = [client.post("/api/explain", json={"run": 0, "query": 9}) for _ in range(most + 1)]
    assert [answer.status_code for answer in every] == [202] * most + [429]
    assert "wait or cancel" in every[-1].json()["error"]
    waiting = every[-2].json()["job"]
    client.delete(f"/api/jobs/{waiting}")
    assert events_of(client, waiting) == [("cancelled", {})]
    for answer in every[:-1]:
        client.delete(f"/api/jobs/{answer.json()['job']}")


def test_cancelling_what_has_ended_changes_nothing(client):
    job = client.post("/api/explain", json={"run": 0, "query": 9}).json()["job"]
    events = events_of(client, job)
    assert client.delete(f"/api/jobs/{job}").status_code == 204
    assert events_of(client, job) == events


def test_what_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(job_module, "_GRACE", 0.0)
    jobs = Jobs()

    def endless(job):
        while True:
            torch.zeros(1) + 1

    job = jobs.start(endless, max_seconds=0.1)
    wait_for(lambda: job.ended)
    assert job.events == [("failed", {"error": "it took longer than 0.1 seconds"})]
    jobs.close()


def test_the_unexpected_ends_a_job_and_no_thread():
    jobs = Jobs()
    for _ in range(limits.JOBS + 1):
        job = jobs.start(lambda job: {"share": 1 / 0}, max_seconds=1)
        wait_for(lambda job=job: job.ended)
        assert job.events[-1][1]["error"].startswith("unexpected ZeroDivisionError")
    jobs.close()


def test_old_jobs_are_forgotten():
    jobs = Jobs()
    made = []
    for _ in range(limits.ENDED_JOBS + 5):
        made.append(jobs.start(lambda job: {}, max_seconds=1))
        wait_for(lambda: made[-1].ended)
    assert jobs.get(made[0].id) is None
    assert jobs.get(made[-1].id) is made[-1]
    jobs.close()


def test_no_more_than_two_run_at_once():
    jobs = Jobs()
    gate, inside, seen = threading.Event(), [], []

    def work(job):
        inside.append(job)
        seen.append(len(inside))
        gate.wait(60)
        inside.remove(job)
        return {}

    every = [jobs.start(work, max_seconds=60) for _ in range(5)]
    wait_for(lambda: len(inside) == limits.JOBS)
    every += [jobs.start(work, max_seconds=60) for _ in range(limits.WAITING_JOBS - 3)]
    with pytest.raises(BusyError):
        jobs.start(work, max_seconds=60)
    gate.set()
    wait_for(lambda: all(job.ended for job in every))
    assert max(seen) == limits.JOBS
    jobs.close()


def test_values_of_any_nodes_and_features_are_told(client, graph):
    asked = {"run": 0, "query": 9, "nodes": [9, 11], "features": [0, 3]}
    values = client.post("/api/values", json=asked).json()["values"]
    assert (values["nodes"], values["features"]) == ([9, 11], [0, 3])
    expected = graph["x"][[9, 11]][:, [0, 3]]
    assert torch.tensor(values["rows"]) == pytest.approx(expected, rel=1e-2)
    refused = client.post("/api/values", json={**asked, "nodes": [4000]})
    assert refused.status_code == 422
    assert "nodes: expected" in refused.json()["error"]
