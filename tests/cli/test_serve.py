import importlib.util
import json
import os
import re
import select
import shutil
import signal
import socket
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest
from forked import zorro_command

from zorro.show.web.served import Served

pytest.importorskip("fastapi", reason="fastapi is not installed: pip install 'zorro-gnn[web]'")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install 'zorro-gnn[web]'")

from zorro import open_run
from zorro.cli.serve import _served

SECONDS_TO_START = 240
SECONDS_TO_END = 60  # on a busy machine


@pytest.fixture
def made(run, checkpoint):
    """A run of two nodes, in the current folder."""
    result = run("explain", "--checkpoint", checkpoint, "--nodes", "5,25", "--out", "made")
    assert result.code == 0, result.err
    return "made"


class Server:
    """`zorro serve` in a process of its own."""

    def __init__(self, *words):
        self.process = zorro_command("serve", *words, "--port", "0")
        self.said = ""
        deadline = time.perf_counter() + SECONDS_TO_START
        while "Serving at" not in self.said or not self.said.endswith("\n"):
            assert time.perf_counter() < deadline, self.said
            assert self.process.stderr is not None
            if select.select([self.process.stderr], [], [], 0.2)[0]:
                piece = os.read(self.process.stderr.fileno(), 4096).decode()
                assert piece, self.said
                self.said += piece
        served = re.search(r"http://\S+", self.said)
        assert served is not None
        self.address, _, self.token = served[0].partition("?token=")
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def open(self, path, body=None, *, token=None):
        """Ask as somebody who has the token, or another one."""
        cookie = f"zorro-{self.port}={self.token if token is None else token}"
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            None if body is None else json.dumps(body).encode(),
            {"content-type": "application/json", "cookie": cookie},
        )
        return urllib.request.urlopen(request, timeout=60)

    def get(self, path, **how):
        with self.open(path, **how) as answer:
            return json.load(answer)

    def post(self, path, body):
        with self.open(path, body) as answer:
            return json.load(answer)


@pytest.fixture
def serve(made):
    with ExitStack() as ending:

        def start(*words):
            server = Server(*words)
            ending.enter_context(server.process)
            return server

        yield start


def test_a_run_is_served_until_it_is_interrupted(serve, made):
    server = serve(made)
    assert server.address.startswith("http://127.0.0.1:")
    assert len(server.token) >= 32
    assert server.get("/api/runs")["live"] is True
    assert [row["query"] for row in server.get("/api/runs/0/rows")["rows"]] == [5, 25]
    asked = {"run": 0, "query": 5, "nodes": [5], "features": [0]}
    assert 0 <= server.post("/api/fidelity", asked)["fidelity"] <= 1
    # With a job under way and somebody who waits for its events.
    job = server.post("/api/explain", {"run": 0, "query": 6, "method": "soft-zorro"})["job"]
    stream = server.open(f"/api/jobs/{job}/events")
    server.process.send_signal(signal.SIGINT)
    with stream:
        assert b"event: cancelled" in stream.read()
    assert server.process.wait(SECONDS_TO_END) == 0
    assert "Traceback" not in server.process.stderr.read()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_others_need_the_token(serve, made, host):
    """Other users of this machine too."""
    server = serve(made, "--host", host)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        server.get("/api/runs", token="")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        server.get("/api/runs", token="x" * 32)
    assert server.get("/api/health")["status"] == "ok"


def test_who_wants_no_token_says_so(serve, made):
    server = serve(made, "--no-token")
    assert server.token == ""
    assert server.get("/api/health")["status"] == "ok"


def test_other_machines_are_not_served_without_a_token(run, made):
    result = run("serve", made, "--host", "0.0.0.0", "--no-token", "--port", "0")
    assert result.code == 1
    assert "--no-token: expected a --host that only this machine can reach" in result.err
    assert result.err.count("\n") == 1


def test_the_browsers_command_line_holds_no_token(serve, made, tmp_path, monkeypatch):
    """All users can read command lines; the file that is named there only its owner can."""
    said = tmp_path / "said"
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\necho "$*" > {said}.part\nstat -c %a "${{1#file://}}" >> {said}.part\n'
        f'cat "${{1#file://}}" >> {said}.part\nmv {said}.part {said}\n'
    )
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    server = serve(made, "--open")
    deadline = time.perf_counter() + SECONDS_TO_START
    while not said.exists():
        assert time.perf_counter() < deadline
        time.sleep(0.05)
    words, mode, page = said.read_text().split("\n", 2)
    assert server.token not in words
    assert mode == "600"
    assert f"{server.address}?token={server.token}" in page
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(SECONDS_TO_START) == 0
    assert not Path(words.removeprefix("file://")).exists()


def test_a_run_whose_graph_is_gone_is_read_only(serve, made, tmp_path):
    (tmp_path / "graph.npz").unlink()
    server = serve(made)
    assert "made is shown without its graph: there is no file" in server.said
    assert server.get("/api/runs")["live"] is False
    assert len(server.get("/api/runs/0/rows")["rows"]) == 2


def test_a_damaged_run_is_shown_as_such_beside_the_others(serve, made, tmp_path):
    for name, damage in {"unreadable": "{", "keyless": None}.items():
        shutil.copytree(tmp_path / made, tmp_path / name)
        path = tmp_path / name / "manifest.json"
        kept = json.loads(path.read_text())
        del kept["asked"], kept["parameters"]
        path.write_text(damage or json.dumps(kept))
    server = serve("unreadable", made, "keyless", "nothing-here")
    assert "unreadable cannot be shown: " in server.said
    assert "nothing-here cannot be shown: there is no run at nothing-here" in server.said
    runs = server.get("/api/runs")["runs"]
    assert [run["broken"] is None for run in runs] == [False, True, False, False]
    assert [row["query"] for row in server.get("/api/runs/1/rows")["rows"]] == [5, 25]


def test_a_port_that_is_taken_is_one_line(run, made):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = run("serve", made, "--port", port)
    assert result.code == 1
    assert f"--port: expected a port that is free on 127.0.0.1, got {port}" in result.err
    assert result.err.count("\n") == 1


def test_an_address_of_another_machine_is_one_line(run, made):
    result = run("serve", made, "--host", "192.0.2.7", "--port", "0")
    assert result.code == 1
    assert "expected a port that is free on 192.0.2.7" in result.err


def test_what_is_no_run_is_one_line(run):
    result = run("serve", "nothing-here")
    assert result.code == 1
    assert "there is no run at nothing-here" in result.err


def test_without_the_extra_the_line_to_run_is_said(run, made, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "zorro.cli.serve.find_spec", lambda name: None if name == "fastapi" else found(name)
    )
    result = run("serve", made)
    assert result.code == 1
    assert "pip install 'zorro-gnn[web]'" in result.err


def test_a_run_that_names_no_model_is_served_with_the_one_that_is_named(made, checkpoint, tmp_path):
    """As runs that were made in Python are, where the weights have no record either."""
    manifest = tmp_path / made / "manifest.json"
    told = json.loads(manifest.read_text())
    told["asked"].pop("named")
    manifest.write_text(json.dumps(told))
    checkpoint.with_suffix(".json").unlink()
    given = {"dataset": "graph.npz", "checkpoint": str(checkpoint)}
    for models, is_live in (([], False), (["gcn"], True)):
        served = _served(open_run(tmp_path / made), {}, trusted=models, given=given)
        assert isinstance(served, Served)
        assert served.live is is_live
