"""A run of graphs over HTTP: the same doors, and the library's own figures."""

import math
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient
from made_molecules import CountsNitrogen, molecule_run, molecules
from served_runs import HERE, events_of

from zorro import Zorro
from zorro.errors import InputError
from zorro.show.page.run_inputs import RunInputs, run_inputs
from zorro.show.web.app import create_app
from zorro.show.web.served import Served

ATOMS: dict[str, Any] = {"keep": ("nodes",), "feature_groups": [range(3)]}
GROUPED: dict[str, Any] = {"feature_groups": [[0, 1]]}


@pytest.fixture(scope="module")
def model():
    return CountsNitrogen().eval()


@pytest.fixture(scope="module")
def runs(tmp_path_factory, model):
    """Sets of atoms; sets of atoms and groups of their types; the first without its graphs."""
    folder = tmp_path_factory.mktemp("runs")
    atoms = molecule_run(folder / "atoms", model, **ATOMS)
    grouped = molecule_run(folder / "grouped", model, **GROUPED)
    inputs = run_inputs(model=model, graphs=molecules())
    return [Served(atoms, inputs), Served(grouped, inputs), Served(atoms)]


@pytest.fixture
def client(runs):
    with TestClient(create_app(runs), base_url=HERE) as client:
        yield client


def measured(client, run, **asked):
    answer = client.post("/api/fidelity", json={"run": run, "query": 0, **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()


def plain_share(model, graph, kept, *, draw, samples=2000):
    """How often the class stays with all entries that are not kept redrawn, one input at a time."""
    generator = torch.Generator().manual_seed(5)
    true = int(model(graph.x, graph.edge_index).argmax())
    stayed = 0
    for _ in range(samples):
        x = torch.where(kept, graph.x, draw(graph.x, generator))
        stayed += int(model(x, graph.edge_index).argmax()) == true
    return stayed / samples


def test_the_list_says_that_it_is_of_graphs(client):
    first, second, without = client.get("/api/runs").json()["runs"]
    assert (first["queries"], first["methods"], first["live"]) == (8, ["zorro"], True)
    assert first["labels"]["graph"] == "molecule"
    assert first["summary"]["kept"] == ["nodes"]
    assert second["labels"]["features"] == {"0": "C, N", "1": "N", "2": "O"}
    assert (without["live"], without["methods"]) == (False, [])


def test_a_kept_explanation_is_shown(client, runs):
    detail = client.get("/api/runs/0/queries/4").json()
    assert detail["nodes"] == [n for (n,) in runs[0].run.explanation(4).ordered("nodes")]
    assert detail["features"] is None
    assert len(detail["kinds"]) == len(detail["scene"]["nodes"]) == 10
    assert client.get("/api/runs/2/queries/4").json()["scene"] is None


@pytest.mark.parametrize("nodes", [[], [6], [6, 7], [0, 6, 7], list(range(9))])
def test_what_if_is_the_librarys_figure(client, model, nodes):
    ours = measured(client, 0, nodes=nodes)
    zorro = Zorro.of_graphs(model, molecules().graphs, samples=60, **ATOMS)
    own = zorro.fidelity(0, nodes=nodes, samples=200)
    assert (ours["hits"], ours["samples"]) == (own.hits, own.samples)


@pytest.mark.parametrize("nodes", [[6], [6, 7], [0, 6, 7]])
def test_what_if_is_what_a_plain_loop_counts(client, model, nodes):
    ours = measured(client, 0, nodes=nodes, samples=1000)["fidelity"]
    graphs = molecules().graphs
    pool = torch.cat([graph.x for graph in graphs])
    kept = torch.zeros(9, 3, dtype=torch.bool)
    kept[nodes] = True

    def whole_rows(x, generator):
        return pool[torch.randint(len(pool), (len(x),), generator=generator)]

    plain = plain_share(model, graphs[0], kept, draw=whole_rows)
    assert abs(ours - plain) < 4 * math.sqrt(0.25 / 1000 + 0.25 / 2000)
    assert ours < 0.99 or len(nodes) > 1, "else nothing would be tested"


def test_a_feature_stands_for_its_group(client, model):
    zorro = Zorro.of_graphs(model, molecules().graphs, samples=60, **GROUPED)
    for column in (0, 1):
        ours = measured(client, 1, nodes=[6], features=[column])
        own = zorro.fidelity(0, nodes=[6], features=[0, 1], samples=200)
        assert ours["hits"] == own.hits
    alone = zorro.fidelity(0, nodes=[6], features=[1], samples=200)
    assert alone.hits != own.hits, "else nothing would be tested"


def test_another_graph_is_explained_as_the_library_does(client, model):
    job = client.post("/api/explain", json={"run": 0, "query": 6}).json()["job"]
    *steps, (name, said) = events_of(client, job)
    assert name == "done"
    assert all(kind == "progress" for kind, _ in steps)
    own = Zorro.of_graphs(model, molecules().graphs, samples=60, **ATOMS).explain(6)
    detail = said["detail"]
    assert detail["nodes"] == [node for (node,) in own.ordered("nodes")]
    assert detail["row"]["status"] == own.status
    assert "for molecule 6" in "".join(text for text, _ in detail["sentence"])


def test_why_not_another_class(client, model):
    asked = {"run": 0, "query": 0, "why_not": 0}
    detail = events_of(client, client.post("/api/explain", json=asked).json()["job"])[-1][1][
        "detail"
    ]
    assert detail["versus"] == {"other": 0, "contrast": "beats"}
    own = Zorro.of_graphs(model, molecules().graphs, samples=60, **ATOMS).explain(0, why_not=0)
    assert detail["nodes"] == [node for (node,) in own.ordered("nodes")]


def test_candidates_are_atoms_and_types(client):
    nodes = client.get("/api/runs/0/candidates/0?kind=nodes&search=n").json()
    assert [(one["id"], one["name"], one["kind"]) for one in nodes["candidates"]] == [
        (6, "N6", 1),
        (7, "N7", 1),
    ]
    features = client.get("/api/runs/1/candidates/0?kind=features").json()
    assert [(one["id"], one["name"], one["holders"]) for one in features["candidates"]] == [
        (0, "C, N", 8),
        (2, "O", 1),
    ]
    assert all(one["value"] is None for one in features["candidates"])


def test_a_drawing_has_the_whole_graph(client):
    scene = client.get("/api/runs/0/drawings/6?most=0").json()["scene"]
    assert len(scene["nodes"]) == 10
    assert scene["hidden"] == 0


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/api/runs/0/queries/8", 404, "query: the run holds no explanation of graph 8"),
        ("/api/runs/0/queries/2", 404, "query: the run holds no explanation of graph 2"),
        ("/api/runs/0/drawings/8", 422, "query: expected a graph from 0 to 7, got 8"),
        ("/api/runs/2/drawings/0", 409, "run: it is read-only"),
    ],
)
def test_what_is_not_there_is_said(client, path, status, said):
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.json()["error"].startswith(said)


@pytest.mark.parametrize(
    ("run", "changed", "said"),
    [
        (0, {"query": 8}, "query: expected a graph from 0 to 7, got 8"),
        (0, {"nodes": [9]}, "nodes: expected"),
        (0, {"features": [0]}, "features: expected None, since this run keeps all"),
        (1, {"features": None}, "features: expected those that are kept"),
        (1, {"features": [3]}, "features: expected"),
    ],
)
def test_what_cannot_be_measured_is_named(client, run, changed, said):
    asked = {"run": run, "query": 0, "nodes": [6], **({"features": [0]} if run else {}), **changed}
    answer = client.post("/api/fidelity", json=asked)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(said)


def test_other_methods_explain_no_graphs(client):
    answer = client.post("/api/explain", json={"run": 0, "query": 0, "method": "grad"})
    assert answer.status_code == 422
    assert answer.json()["error"] == "method: expected one of zorro, got 'grad'"


def test_other_graphs_are_refused(runs, model):
    other = run_inputs(model=model, graphs=molecules().graphs[1:])
    with pytest.raises(InputError, match=r"data: expected those that .*, got others"):
        Served(runs[0].run, other)
    assert not Served(runs[0].run, RunInputs()).live
