"""Runs about values over HTTP: where the output lands when a set is changed."""

import math
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient
from made_runs import ring
from made_values import TOLERANCE, AddsNeighbours, WeighsAtoms, summed_run, weighed_run
from made_values import weighed_molecules as molecules
from served_runs import HERE, events_of

from zorro import Zorro
from zorro.show.page.run_inputs import run_inputs
from zorro.show.web.app import create_app
from zorro.show.web.served import Served

ATOMS: dict[str, Any] = {"keep": ("nodes",), "feature_groups": [range(3)], "tolerance": TOLERANCE}
MODEL = WeighsAtoms().eval()


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    graphs = Served(weighed_run(folder / "graphs"), run_inputs(model=MODEL, graphs=molecules()))
    inputs = run_inputs(model=AddsNeighbours(), **ring())
    nodes = Served(summed_run(folder / "nodes", side="up"), inputs)
    with TestClient(create_app([graphs, nodes]), base_url=HERE) as client:
        yield client


def measured(client, run, query, **kept):
    answer = client.post("/api/fidelity", json={"run": run, "query": query, **kept})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("nodes", [[], [6], [6, 7, 8]])
def test_outputs_are_where_a_plain_loop_has_them(client, nodes):
    found = measured(client, 0, 0, nodes=nodes, samples=1000)
    outputs = torch.tensor(found["outputs"])
    graphs = molecules().graphs
    pool = torch.cat([graph.x for graph in graphs])
    x, edge_index = graphs[0].x, graphs[0].edge_index
    generator = torch.Generator().manual_seed(5)
    plain = []
    for _ in range(2000):
        drawn = pool[torch.randint(len(pool), (len(x),), generator=generator)]
        drawn[nodes] = x[nodes]
        plain.append(MODEL(drawn, edge_index).item())
    expected = torch.tensor(plain)
    error = 4 * float(expected.std()) * math.sqrt(1 / 1000 + 1 / 2000)
    assert abs(float(outputs.mean() - expected.mean())) < error
    assert float(outputs.std()) == pytest.approx(float(expected.std()), rel=0.15)


def test_hits_are_the_outputs_in_the_band(client):
    row = client.get("/api/runs/0/queries/4").json()["row"]
    found = measured(client, 0, 4, nodes=[6, 7])
    assert len(found["outputs"]) == found["samples"] == 200
    assert found["outputs"] == sorted(found["outputs"])
    inside = [row["low"] <= output <= row["high"] for output in found["outputs"]]
    assert sum(inside) == found["hits"]
    assert 0 < sum(inside) < 200, "else nothing would be tested"
    own = Zorro.of_graphs(MODEL, molecules().graphs, **ATOMS).fidelity(4, nodes=[6, 7], samples=200)
    assert own.hits == found["hits"]


def test_a_band_that_is_open_above_counts_what_is_high(client):
    row = client.get("/api/runs/1/queries/9").json()["row"]
    assert row["high"] is None
    found = measured(client, 1, 9, nodes=[8], features=[0, 1])
    assert sum(output >= row["low"] for output in found["outputs"]) == found["hits"]


def test_another_value_is_explained(client):
    job = client.post("/api/explain", json={"run": 0, "query": 6}).json()["job"]
    name, said = events_of(client, job)[-1]
    assert name == "done"
    own = Zorro.of_graphs(MODEL, molecules().graphs, **ATOMS).explain(6)
    assert said["detail"]["nodes"] == [node for (node,) in own.ordered("nodes")]
    assert own.value is not None
    assert said["detail"]["row"]["value"] == pytest.approx(own.value.value, rel=1e-4)


def test_no_class_can_be_asked_against(client):
    job = client.post("/api/explain", json={"run": 1, "query": 6, "why_not": 0}).json()["job"]
    ((name, said),) = events_of(client, job)
    assert (name, said["error"]) == (
        "failed",
        "why_not: expected None for a value, which has no other class, got 0",
    )


def test_other_methods_explain_classes_only(client):
    assert [run["methods"] for run in client.get("/api/runs").json()["runs"]] == [["zorro"]] * 2
