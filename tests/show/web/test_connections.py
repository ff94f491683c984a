"""Clients that send nothing, half of something, or read nothing are dropped and lock nobody out.

Against the real server on real sockets. Nothing here is timed: a short patience shows that it ends,
a long one that nobody needs to wait for it.
"""

import json
import socket
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from importlib.resources import files

import pytest
import uvicorn

from zorro.show.web.app import create_app
from zorro.show.web.guard import Access
from zorro.show.web.server import configured, listen

SHORT, LONG = 0.3, 3600.0
ASKED = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POSTED = (
    b"POST /api/fidelity HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
)
HALVES = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "half a header": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
    "no body": POSTED,
    "half a body": POSTED + b'{"run": 0, ',
    "a refused half": POSTED.replace(b"127.0.0.1", b"attacker.example") + b"{",
}


@contextmanager
def serving(served, **settings):
    """Yield the port at which a run is served, and the server."""
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        app = create_app([served], access=Access("127.0.0.1", port))
        server = uvicorn.Server(configured(app, **settings))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield port, server
        finally:
            server.should_exit = True
            thread.join()


def connected(port, sent=b"", *, buffer=None):
    client = socket.socket()
    client.settimeout(60)  # only to end a test that fails
    if buffer is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.connect(("127.0.0.1", port))
    client.sendall(sent)
    return client


def is_ended(client):
    """Whether the server ends a connection, whatever it says before."""
    try:
        while client.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    client.close()
    return True


def answer(client):
    """Read one answer with a length."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = client.recv(1)
        assert piece, head
        head += piece
    length = next(
        int(line.split(b":")[1])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length")
    )
    body = b""
    while len(body) < length:
        body += client.recv(length - len(body))
    return int(head.split()[1]), json.loads(body)


def health(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=60) as found:
        return json.load(found)["status"]


def test_half_open_connections_are_dropped(served):
    with serving(served, patience=SHORT) as (port, _):
        clients = [connected(port, sent) for sent in HALVES.values() for _ in range(3)]
        assert all(is_ended(client) for client in clients)
        assert health(port) == "ok"


@pytest.mark.parametrize("half", ["half a line", "half a body"])
def test_so_are_those_that_began_well(served, half):
    """By itself uvicorn forgets its timer as soon as the next request begins."""
    with serving(served, patience=SHORT) as (port, _):
        client = connected(port, ASKED)
        assert answer(client)[0] == 200
        client.sendall(HALVES[half])
        assert is_ended(client)


def test_single_bytes_win_no_time(served):
    with serving(served, patience=SHORT) as (port, _):
        client = connected(port, b"GET / HTTP/1.1\r\nX: ")
        with suppress(ConnectionError):
            while True:  # until it is dropped
                client.sendall(b"x")
                time.sleep(SHORT / 10)
        client.close()


def test_who_does_not_read_is_dropped(served):
    large = b"GET /static/page/vendor/d3.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with serving(served, patience=SHORT) as (port, server):
        client = connected(port, large * 40, buffer=4096)  # more than the system holds for it
        while server.server_state.total_requests == 0 or server.server_state.connections:
            time.sleep(0.01)
        read = 0
        with suppress(ConnectionResetError):
            while piece := client.recv(1 << 16):
                read += len(piece)
        client.close()
    script = (files("zorro.show.page") / "static/vendor/d3.min.js").read_bytes()
    assert read < 40 * len(script)


def test_idle_connections_lock_nobody_out(served):
    with serving(served, patience=LONG, connections=8) as (port, _):
        clients = [connected(port, sent) for sent in HALVES.values() for _ in range(10)]
        for _ in range(20):
            assert health(port) == "ok"
        for client in clients:
            client.close()


def test_who_is_being_answered_is_not_dropped_for_others(served, slow):
    with serving(served, patience=SHORT, connections=8) as (port, _):
        body = json.dumps({"run": 0, "query": 9, "max_seconds": 100}).encode()
        head = POSTED.replace(b"1000", str(len(body)).encode()).replace(b"fidelity", b"explain")
        client = connected(port, head + body)
        status, started = answer(client)
        assert status == 202
        path = f"/api/jobs/{started['job']}".encode()
        events = connected(port, ASKED.replace(b"/api/health", path + b"/events"))
        begun = events.recv(1 << 16)
        assert begun.startswith(b"HTTP/1.1 200")
        idle = [connected(port) for _ in range(40)]
        assert all(is_ended(one) for one in idle)
        ending = connected(port, ASKED.replace(b"/api/health", path).replace(b"GET", b"DELETE"))
        assert ending.recv(1 << 16).startswith(b"HTTP/1.1 204")
        said = begun
        while b"event: cancelled" not in said:
            piece = events.recv(1 << 16)
            assert piece, said
            said += piece
        for one in (client, events, ending):
            one.close()


def test_where_all_are_being_answered_one_more_is_told_so(served, slow):
    with serving(served, patience=LONG, connections=2) as (port, _):
        body = json.dumps({"run": 0, "query": 9, "max_seconds": 100}).encode()
        head = POSTED.replace(b"1000", str(len(body)).encode()).replace(b"fidelity", b"explain")
        client = connected(port, head + body)
        job = answer(client)[1]["job"]
        client.close()
        path = f"/api/jobs/{job}".encode()
        busy = [connected(port, ASKED.replace(b"/api/health", path + b"/events")) for _ in "ab"]
        for one in busy:
            assert one.recv(1 << 16).startswith(b"HTTP/1.1 200")
        status, said = answer(connected(port, ASKED))
        assert status == 503
        assert "ask again in a moment" in said["error"]
        for one in busy:
            one.close()
        while True:  # until the server has noticed that they have gone
            ending = connected(port, ASKED.replace(b"/api/health", path).replace(b"GET", b"DELETE"))
            with ending:
                if ending.recv(1 << 16).startswith(b"HTTP/1.1 204"):
                    break
