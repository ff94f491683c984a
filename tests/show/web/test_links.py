"""A run of links over HTTP: the same doors, told by both ends, and the library's own figures."""

import math

import pytest
import torch
from fastapi.testclient import TestClient
from made_links import Multiplies, graph, linked_run
from made_runs import ring
from served_runs import HERE, events_of

from zorro import Zorro
from zorro.show.page.run_inputs import run_inputs
from zorro.show.web.app import create_app
from zorro.show.web.served import Served

MODEL = Multiplies().eval()


@pytest.fixture(scope="module")
def zorro():
    return Zorro.of_links(MODEL, **graph(), threshold=0.0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Links alone; links compared with others; the first without its graph."""
    folder = tmp_path_factory.mktemp("runs")
    alone = linked_run(folder / "alone")
    compared = linked_run(folder / "compared", [(6, 11)], among=[20, 30])
    inputs = run_inputs(model=MODEL, **ring())
    return [Served(alone, inputs), Served(compared, inputs), Served(alone)]


@pytest.fixture(scope="module")
def client(runs):
    with TestClient(create_app(runs), base_url=HERE) as client:
        yield client


def measured(client, run=0, query="6-11", **asked):
    answer = client.post("/api/fidelity", json={"run": run, "query": query, **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()


def explained(client, **asked):
    job = client.post("/api/explain", json={"run": 0, **asked}).json()["job"]
    return events_of(client, job)[-1]


def test_the_list_says_that_it_is_of_links(client):
    first, second, without = client.get("/api/runs").json()["runs"]
    assert (first["queries"], first["methods"], first["live"]) == (40, ["zorro"], True)
    assert (first["labels"]["level"], second["labels"]["answer"]) == ("link", "ahead")
    assert not without["live"]
    rows = client.get("/api/runs/0/rows").json()["rows"]
    assert [row["query"] for row in rows] == ["6-11", "9-30", "3-20"]


def test_a_kept_explanation_is_found_by_its_ends(client, runs):
    detail = client.get("/api/runs/0/queries/9-30").json()
    assert detail["nodes"] == [
        node for (node,) in runs[0].run.explanation((9, 30)).ordered("nodes")
    ]
    assert [node[0] for node in detail["scene"]["nodes"][:2]] == [9, 30]
    assert client.get("/api/runs/2/queries/9-30").json()["scene"] is None


@pytest.mark.parametrize("nodes", [[], [6], [6, 11], [1, 5, 6, 11, 12]])
def test_what_if_is_the_librarys_figure(client, zorro, nodes):
    features = [0, 1, 3]
    ours = measured(client, nodes=nodes, features=features)
    own = zorro.fidelity((6, 11), nodes=nodes, features=features, samples=200)
    assert (ours["hits"], ours["samples"]) == (own.hits, own.samples)
    assert ours["outputs"] is None


def test_what_if_is_what_a_plain_loop_counts(client):
    kept = torch.zeros(40, 5, dtype=torch.bool)
    kept[[6, 11, 5]] = True
    ours = measured(client, nodes=[6, 11, 5], features=[0, 1, 2, 3, 4], samples=1000)["fidelity"]
    x, edge_index = graph()["x"], graph()["edge_index"]
    is_asked = (edge_index.sort(0).values == torch.tensor([[6], [11]])).all(0)
    edge_index = edge_index[:, ~is_asked]  # it carries no messages
    assert int(is_asked.sum()) == 2, "else nothing would be tested"
    link = torch.tensor([[6], [11]])
    true = MODEL(x, edge_index, link) > 0
    generator = torch.Generator().manual_seed(5)
    stayed = 0
    for _ in range(2000):
        rows = torch.randint(40, x.shape, generator=generator)
        drawn = torch.where(kept, x, x.gather(0, rows))
        stayed += int((MODEL(drawn, edge_index, link) > 0) == true)
    assert abs(ours - stayed / 2000) < 4 * math.sqrt(0.25 / 1000 + 0.25 / 2000)
    assert 0.1 < ours < 0.9, "else nothing would be tested"


@pytest.mark.parametrize("asked", [{"why_not": "6-30"}, {"among": [30]}])
def test_what_if_a_link_is_to_stay_ahead(client, zorro, asked):
    ours = measured(client, nodes=[6, 11], features=[0, 1], **asked)
    own = zorro.fidelity((6, 11), nodes=[6, 11], features=[0, 1], samples=200, why_not=(6, 30))
    assert ours["hits"] == own.hits
    assert ours["hits"] != measured(client, nodes=[6, 11], features=[0, 1])["hits"]


def test_another_link_is_explained_as_the_library_does(client, zorro):
    name, said = explained(client, query="12-30")
    assert name == "done"
    own = zorro.explain((12, 30))
    assert said["detail"]["nodes"] == [node for (node,) in own.ordered("nodes")]
    assert said["detail"]["row"]["query"] == "12-30"
    assert "for nodes 12 and 30. " in "".join(text for text, _ in said["detail"]["sentence"])


def test_why_not_another_link(client, zorro):
    name, said = explained(client, query="6-11", why_not="6-30")
    assert name == "done"
    own = zorro.explain((6, 11), why_not=(6, 30))
    assert said["detail"]["nodes"] == [node for (node,) in own.ordered("nodes")]
    row = said["detail"]["row"]
    assert (row["answer"], row["rivals"], row["top"]) == ("ahead", [30], 1)
    assert said["detail"]["scene"]["asked"] == [0, 1, 0, 2]


def test_candidates_are_what_either_end_sees_the_ends_first(client):
    nodes = client.get("/api/runs/0/candidates/6-11?kind=nodes").json()
    ids = [one["id"] for one in nodes["candidates"]]
    edges = {tuple(pair) for pair in graph()["edge_index"].t().tolist()} - {(6, 11), (11, 6)}
    seen = {sender for sender, receiver in edges if receiver in (6, 11)} | {6, 11}
    assert ids[:2] == [6, 11]
    assert set(ids) == seen
    further = client.get("/api/runs/0/candidates/6-11?kind=nodes&among=30").json()
    more = seen | {sender for sender, receiver in edges if receiver == 30} | {30}
    assert {one["id"] for one in further["candidates"]} == more
    feature = client.get("/api/runs/0/candidates/6-11?kind=features").json()["candidates"][0]
    x = graph()["x"][[6, 11], feature["id"]]
    assert feature["value"] == " and ".join(f"{float(value):.3g}" for value in x)


def test_a_drawing_has_both_ends_and_those_that_it_is_compared_with(client):
    scene = client.get("/api/runs/0/drawings/9-30?most=0").json()["scene"]
    assert [node[0] for node in scene["nodes"][:2]] == [9, 30]
    assert scene["asked"] == [0, 1]
    scene = client.get("/api/runs/1/drawings/6-11?among=20&among=30").json()["scene"]
    assert [node[0] for node in scene["nodes"][:4]] == [6, 11, 20, 30]
    assert scene["asked"] == [0, 1, 0, 2, 0, 3]


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("queries/6-12", 404, "query: the run holds no explanation of link 6-12"),
        ("queries/6", 422, "query: expected a link u-v of nodes, got 6"),
        ("queries/6-", 422, "query: string should match pattern"),
        ("queries/6-11-3", 422, "query: string should match pattern"),
        ("queries/a-b", 422, "query: string should match pattern"),
        ("drawings/6-40", 422, "query: expected a link u-v of nodes from 0 to 39, got 6-40"),
        ("candidates/40-6", 422, "query: expected a link u-v of nodes from 0 to 39, got 40-6"),
        ("candidates/6-11?among=40", 422, "among: expected"),
        ("candidates/6-11?top=2", 422, "among: expected other ends to compare the link with"),
        ("drawings/6-11?among=30&top=2", 422, "top: expected a number from 1 to 1, got 2"),
    ],
)
def test_an_address_that_is_none_is_said(client, path, status, said):
    answer = client.get(f"/api/runs/0/{path}")
    assert answer.status_code == status
    assert answer.json()["error"].startswith(said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"query": 6}, "query: expected a link u-v of nodes from 0 to 39, got 6"),
        ({"query": "6"}, "query: expected a number from 0, or a link as a text u-v"),
        ({"query": "6-40"}, "query: expected a link u-v of nodes from 0 to 39, got 6-40"),
        ({"query": [6, 11]}, "query: expected a number from 0, or a link as a text u-v"),
        ({"why_not": 1}, "why_not: expected a link u-v of nodes from 0 to 39, got 1"),
        ({"why_not": "7-30"}, "why_not: expected another link (6, w) from the same node"),
        ({"why_not": "6-11"}, "why_not: expected another link (6, w) from the same node"),
        ({"why_not": "6-3"}, "why_not: expected links that link 6–11 is ahead of"),
        ({"why_not": "6-30", "among": [20]}, "among: expected None where why_not is given"),
        ({"among": [40]}, "among: expected"),
        ({"top": 2}, "among: expected other ends"),
    ],
)
def test_what_cannot_be_measured_is_named(client, changed, said):
    asked = {"run": 0, "query": "6-11", "nodes": [6], "features": [0], **changed}
    answer = client.post("/api/fidelity", json=asked)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(said)


def test_other_methods_explain_no_links(client):
    answer = client.post("/api/explain", json={"run": 0, "query": "6-11", "method": "grad"})
    assert answer.json()["error"] == "method: expected one of zorro"
