"""A small run that is served with its graph and model, and clients for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))
from fastapi.testclient import TestClient
from made_runs import ring
from served_runs import EXPLAINED, HERE, NAMES, Sluggish, events_of

from zorro.runs import explain_many
from zorro.runs.given import OneGraph
from zorro.show.page.run_inputs import RunInputs
from zorro.show.web.app import create_app
from zorro.show.web.guard import Access
from zorro.show.web.served import Served


@pytest.fixture(scope="session")
def graph():
    return ring()


@pytest.fixture(scope="session")
def model():
    return Sluggish()


@pytest.fixture(scope="session")
def run(tmp_path_factory, graph, model):
    return explain_many(
        model,
        graph["x"],
        graph["edge_index"],
        EXPLAINED,
        out=tmp_path_factory.mktemp("runs") / "made",
        engine="in-process",
        fresh_samples=300,
    )


@pytest.fixture
def inputs(graph, model):
    return RunInputs(OneGraph(graph["x"], graph["edge_index"]), model, y=graph["y"], names=NAMES)


@pytest.fixture
def served(run, inputs):
    return Served(run, inputs)


@pytest.fixture
def app(served, run):
    """Run 0 is live; run 1 is the same one without its graph."""
    return create_app([served, Served(run)])


@pytest.fixture
def client(app):
    with TestClient(app, base_url=HERE) as client:
        yield client


@pytest.fixture
def with_token(served):
    app = create_app([served], access=Access("192.0.2.7", 8765, "secret"))
    with TestClient(app, base_url="http://192.0.2.7:8765", follow_redirects=False) as client:
        yield client


@pytest.fixture
def slow(model, client):
    """The model is slow from here on, for those who copy it."""
    model.slow = True
    yield
    model.slow = False


@pytest.fixture
def explained(client):
    """Ask for an explanation and return its events."""

    def explain(**asked):
        answer = client.post("/api/explain", json={"run": 0, "query": 9, **asked})
        assert answer.status_code == 202, answer.text
        return events_of(client, answer.json()["job"])

    return explain
