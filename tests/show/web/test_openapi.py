"""The server holds to its own description, whatever it is sent."""

import re
import shutil

import pytest

schemathesis = pytest.importorskip(
    "schemathesis", reason="schemathesis is not installed: pip install schemathesis"
)
from fastapi.testclient import TestClient  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis.errors import Unsatisfiable  # noqa: E402
from made_links import Multiplies, linked_run  # noqa: E402
from made_links import graph as linked_graph  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from served_runs import NAMES  # noqa: E402

from zorro.runs import open_run  # noqa: E402
from zorro.runs.given import OneGraph  # noqa: E402
from zorro.show.page.run_inputs import RunInputs, run_inputs  # noqa: E402
from zorro.show.web.app import create_app  # noqa: E402
from zorro.show.web.served import Served  # noqa: E402

EXAMPLES = 40  # of each address; all together they take ten seconds
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]


@pytest.fixture(scope="module")
def fuzzed(run, graph, model, tmp_path_factory):
    own = tmp_path_factory.mktemp("runs") / "own"  # what is explained can be kept in it
    run = open_run(shutil.copytree(run.path, own))
    served = Served(
        run, RunInputs(OneGraph(graph["x"], graph["edge_index"]), model, y=graph["y"], names=NAMES)
    )
    links = linked_run(tmp_path_factory.mktemp("runs") / "links", [(6, 11)])
    known = run_inputs(model=Multiplies().eval(), **linked_graph())
    app = create_app([served, Served(run), Served(links, known)])
    with TestClient(app, base_url="http://127.0.0.1"):  # threads end with it
        yield schemathesis.openapi.from_asgi(
            "/api/openapi.json", app, headers={"host": "127.0.0.1"}
        )


def near(address, size):
    """The address of a query with numbers below a size."""
    if isinstance(address, str):
        numbers = re.findall("[0-9]+", address)
        return "-".join(str(int(number) % size) for number in numbers) or address
    return address % size if isinstance(address, int) else address


def aim(case):
    """Bring most numbers into the range of what there is, or few requests would get far."""
    for values in (case.path_parameters, case.body):
        if isinstance(values, dict):
            if isinstance(values.get("run"), int):
                values["run"] %= 3
            for name, size in (("query", 42), ("why_not", 41)):
                if name in values:
                    values[name] = near(values[name], size)
            for name, size in (("nodes", 41), ("features", 6), ("among", 41)):
                if isinstance(values.get(name), list):
                    values[name] = [number % size for number in values[name]]
            if "method" in values and len(values["method"]) % 2:
                values["method"] = "grad"


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_answers_are_as_described(fuzzed, mode):
    """Requests that fit the description, and requests that do not in one place."""
    seen = set()
    for found in fuzzed.get_all_operations():
        operation = found.ok()
        seen.add(operation.label)

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def answers(case):
            if mode is GenerationMode.POSITIVE:
                aim(case)
            case.call_and_validate(headers={"host": "127.0.0.1"}, checks=CHECKS)

        try:
            answers()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE  # nothing can be wrong without arguments
    assert len(seen) == 12
