"""Fidelities over HTTP are the library's own."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from scipy.stats import binomtest

from zorro import Zorro
from zorro.question import Query
from zorro.show.web import limits
from zorro.show.web.measuring import Measuring

SET: dict[str, Any] = {"nodes": [7, 8], "features": [0, 2]}


@pytest.fixture
def zorro(graph, model):
    return Zorro(model, graph["x"], graph["edge_index"], fresh_samples=300)


def measured(client, **asked):
    answer = client.post("/api/fidelity", json={"run": 0, "query": 9, **SET, **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("samples", [1, 200, 300])
def test_it_is_the_librarys_figure_on_the_same_samples(client, zorro, samples):
    ours = measured(client, samples=samples)
    own = zorro.fidelity(9, **SET, samples=samples)
    assert (ours["hits"], ours["samples"]) == (own.hits, own.samples)
    exact = binomtest(own.hits, own.samples).proportion_ci(0.95, method="exact")
    assert (ours["low"], ours["high"]) == pytest.approx((exact.low, exact.high))


def test_sets_are_compared_on_the_same_samples(client, zorro):
    sets: list[dict[str, Any]] = [
        SET,
        {"nodes": [7], "features": [0]},
        {"nodes": [], "features": []},
        SET,
    ]
    hits = [measured(client, **each)["hits"] for each in sets]
    assert hits == [zorro.fidelity(9, **each, samples=200).hits for each in sets]
    assert hits[0] == hits[3]


def test_it_can_be_measured_against_a_class(client, zorro, run):
    predicted = run.explanation(9).predicted_class
    own = zorro.fidelity(9, **SET, samples=200, why_not=1 - predicted)
    assert measured(client, why_not=1 - predicted)["hits"] == own.hits
    refused = client.post("/api/fidelity", json={"run": 0, "query": 9, **SET, "why_not": predicted})
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("why_not: expected another class")


def test_samples_that_a_search_may_have_seen_are_not_used(client):
    assert measured(client, samples=1000)["samples"] == 300


def test_requests_at_once_get_what_they_get_alone(client, zorro):
    nodes = [0, 6, 9, 11, 20, 30] * 4
    with ThreadPoolExecutor(8) as pool:
        hits = list(pool.map(lambda node: measured(client, query=node)["hits"], nodes))
    assert hits == [zorro.fidelity(node, **SET, samples=200).hits for node in nodes]


def test_few_queries_stay_ready(served):
    measuring = Measuring()
    queries = [Query("node", node) for node in range(limits.METERS + 1)]
    meters = [measuring.meter(served, 0, query, samples=10) for query in queries]
    assert measuring.meter(served, 0, queries[-1], samples=10) is meters[-1]
    assert measuring.meter(served, 0, queries[0], samples=10) is not meters[0]
    measuring.close()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"nodes": [40]}, "nodes"),
        ({"features": [5]}, "features"),
        ({"query": 40}, "query"),
        ({"query": -1}, "query"),
        ({"query": True}, "query"),
        ({"query": "7"}, "query"),
        ({"nodes": [1.5]}, "nodes.0"),
        ({"nodes": None}, "nodes"),
        ({"nodes": list(range(limits.SELECTED + 1))}, "nodes"),
        ({"samples": 0}, "samples"),
        ({"samples": 1001}, "samples"),
        ({"why_not": 17}, "why_not"),
        ({"more": 1}, "more"),
    ],
)
def test_what_cannot_be_measured_is_named(client, changed, named):
    answer = client.post("/api/fidelity", json={"run": 0, "query": 9, **SET, **changed})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(f"{named}: ")


def test_without_the_graph_nothing_is_measured(client):
    answer = client.post("/api/fidelity", json={"run": 1, "query": 9, **SET})
    assert answer.status_code == 409
    assert "read-only" in answer.json()["error"]
