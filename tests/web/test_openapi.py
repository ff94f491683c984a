"""The server holds to its own description, whatever it is sent."""

import pytest

schemathesis = pytest.importorskip(
    "schemathesis", reason="schemathesis is not installed: pip install schemathesis"
)
from served_runs import NAMES  # noqa: E402
from fastapi.testclient import TestClient  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from zorro.web.app import create_app  # noqa: E402
from zorro.web.desk import Ground  # noqa: E402
from zorro.web.served import Served  # noqa: E402

EXAMPLES = 25  # of each address; all together they take less than half a minute
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]


@pytest.fixture(scope="module")
def fuzzed(run, graph, model):
    served = Served(
        run, Ground(model, graph["x"], graph["edge_index"]), y=graph["y"], names=NAMES
    )
    app = create_app([served, Served(run)])
    with TestClient(app, base_url="http://127.0.0.1"):  # threads end with it
        yield schemathesis.openapi.from_asgi(
            "/api/openapi.json", app, headers={"host": "127.0.0.1"}
        )


schema = schemathesis.pytest.from_fixture("fuzzed")


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_described(case):
    case.call_and_validate(headers={"host": "127.0.0.1"}, checks=CHECKS)
