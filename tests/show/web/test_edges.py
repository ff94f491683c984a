"""Sets of edges over HTTP: figures are the library's own, and bad edges are named."""

import pytest
from fastapi.testclient import TestClient
from made_edges import MODEL, OPTIONS, edge_run
from made_runs import ring
from served_runs import HERE, events_of

from zorro import Zorro
from zorro.show.page.run_inputs import run_inputs
from zorro.show.web.app import create_app
from zorro.show.web.served import Served


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Run 0 is of edges; run 1 of features and edges, whose edges are connected."""
    folder = tmp_path_factory.mktemp("runs")
    runs = [
        edge_run(folder / "edges"),
        edge_run(folder / "both", keep=("features", "edges"), connected=True),
    ]
    inputs = run_inputs(model=MODEL, **ring())
    with TestClient(create_app([Served(run, inputs) for run in runs]), base_url=HERE) as client:
        yield client


def explainer(**options):
    graph = ring()
    return Zorro(MODEL, graph["x"], graph["edge_index"], **{**OPTIONS, **options})


def measured(client, **asked):
    answer = client.post("/api/fidelity", json={"run": 0, "query": 7, **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("edges", [[], [(7, 8)], [(7, 8), (2, 7)], [(30, 31)]])
def test_a_fidelity_is_the_librarys(client, edges):
    own = explainer().fidelity(7, edges=edges, samples=200)
    assert measured(client, edges=edges)["hits"] == own.hits
    assert measured(client, edges=[f"{v}-{u}" for u, v in edges])["hits"] == own.hits


def test_edges_are_measured_beside_features(client):
    own = explainer(keep=("features", "edges"), connected=True)
    kept = {"features": [0, 3], "edges": [(7, 8)]}
    assert measured(client, run=1, **kept)["hits"] == own.fidelity(7, **kept, samples=200).hits


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ({"edges": [[7, 9]]}, "edges[0]: expected an edge that carries messages, got (7, 9)"),
        ({"edges": ["7-8", "7-40"]}, "edges[1]: expected "),
        ({"edges": [[7, 8, 1]]}, "edges[0]: expected an edge"),
        ({"edges": [[7]]}, "edges.0: expected an edge as a text u-v or a list [u, v]"),
        ({"edges": [[7, -8]]}, "edges.0: expected an edge"),
        ({"edges": [[7, True]]}, "edges.0: expected an edge"),
        ({"edges": ["7–8"]}, "edges.0: expected an edge"),
        ({"edges": "7-8"}, "edges: "),
        ({}, "edges: expected those that are kept, got none"),
        ({"edges": [], "nodes": [7]}, "nodes: expected nothing"),
        ({"edges": [], "edge_attributes": []}, "edge_attributes: expected nothing"),
    ],
)
def test_bad_edges_are_named(client, kept, said):
    answer = client.post("/api/fidelity", json={"run": 0, "query": 7, **kept})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(said)
    assert "\n" not in answer.json()["error"]


def test_others_are_explained_as_the_run_was(client):
    for run, options in ((0, {}), (1, {"keep": ("features", "edges"), "connected": True})):
        started = client.post("/api/explain", json={"run": run, "query": 1}).json()
        *steps, (name, answer) = events_of(client, started["job"])
        own = explainer(**options).explain(1)
        assert name == "done"
        said = answer["detail"]
        assert said["edges"] == [f"{u}-{v}" for u, v in own.edges]
        assert said["fidelity"]["value"] == pytest.approx(own.fidelity.value, abs=1e-4)
        assert said["otherEdges"]["presence"] == 0.3
        assert all("edges" in step for _, step in steps)


def test_why_not_is_asked_of_edges(client):
    predicted = explainer().explain(7).predicted_class
    started = client.post("/api/explain", json={"run": 0, "query": 7, "why_not": 1 - predicted})
    name, answer = events_of(client, started.json()["job"])[-1]
    own = explainer().explain(7, why_not=1 - predicted)
    assert (name, answer["detail"]["edges"]) == (
        "done",
        [f"{u}-{v}" for ((u, v),) in own.ordered("edges")],
    )


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("7-1", ["7-12"]),
        ("8 – 7", ["7-8"]),
        ("37", ["2-37", "32-37", "36-37", "37-38"]),
        ("x", []),
    ],
)
def test_edges_are_found_by_their_ends(client, search, expected):
    asked = {"kind": "edges", "search": search}
    found = client.get("/api/runs/0/candidates/7", params=asked).json()
    assert [entry["id"] for entry in found["candidates"]] == expected


def test_candidates_are_the_edges_that_a_prediction_can_see(client):
    found = client.get("/api/runs/0/candidates/7", params={"kind": "edges"}).json()
    assert found["total"] == 36
    assert {entry["id"] for entry in found["candidates"][:4]} == {"2-7", "6-7", "7-8", "7-12"}


def test_larger_drawings_tell_edges_too(client):
    scene = client.get("/api/runs/0/drawings/7", params={"most": 30}).json()["scene"]
    assert len(scene["elements"]) == len(scene["edges"]) // 2
    assert all(len(ids) == 1 for ids in scene["elements"])


def test_methods_that_rank_no_edges_are_not_offered(client):
    assert [run["methods"] for run in client.get("/api/runs").json()["runs"]] == [["zorro"]] * 2
