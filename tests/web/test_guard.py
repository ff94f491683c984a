"""Who is served, and who is not."""

import pytest
from fastapi import WebSocketDisconnect
from fastapi.testclient import TestClient

from zorro.web import limits
from zorro.web.app import create_app
from zorro.web.guard import Access, access_to, is_loopback

ADDRESSES = ["/", "/api/health", "/api/runs", "/api/openapi.json", "/static/page/style.css"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:8765", "[::1]:8765"])
def test_this_machines_own_names_are_served(client, host):
    assert client.get("/api/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", ADDRESSES)
@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "attacker.example:8765",
        "127.0.0.1.attacker.example",
        "localhost@attacker.example",
        "192.0.2.1",
        "127.0.0.1:x",
        "127.0.0.1/x",
        "",
    ],
)
def test_other_names_are_refused_whatever_is_asked(client, path, host):
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == 403
    assert answer.json()["error"].startswith("the Host header")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1", 200),
        ("http://attacker.example", 403),
        ("https://127.0.0.1", 403),
        ("http://127.0.0.1:9", 403),
        ("http://localhost", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_requests_of_other_sites_are_refused(client, origin, status):
    asked = {"run": 0, "node": 9, "nodes": [7], "features": [0], "samples": 5}
    answer = client.post("/api/fidelity", json=asked, headers={"origin": origin})
    assert answer.status_code == status


@pytest.mark.parametrize("path", ADDRESSES)
def test_without_the_token_nothing_is_served(with_token, path):
    answer = with_token.get(path)
    assert answer.status_code == 401
    assert with_token.get(path, headers={"cookie": "zorro-8765=wrong"}).status_code == 401
    assert with_token.get(path, headers={"cookie": "zorro-1=secret"}).status_code == 401
    assert with_token.get(path, headers={"cookie": "=;;,"}).status_code == 401
    assert with_token.get(path, params={"token": "wrong"}).status_code == 401


def test_the_token_becomes_a_cookie(with_token):
    answer = with_token.get("/", params={"token": "secret"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert with_token.get("/api/health").status_code == 200  # the client keeps it


def test_the_token_is_no_key_to_other_addresses(with_token):
    assert with_token.get("/api/health", params={"token": "secret"}).status_code == 401


def test_only_loopback_needs_no_token():
    assert [access_to(host, 1).token for host in ("127.0.0.1", "localhost", "::1")] == [None] * 3
    tokens = {access_to(host, 1).token for host in ("0.0.0.0", "192.0.2.7", "::", "example.org")}
    assert len(tokens) == 4
    assert all(len(token) >= 32 for token in tokens)
    assert is_loopback("127.8.8.8")


def test_listening_everywhere_serves_addresses_and_no_foreign_names():
    access = Access("0.0.0.0", 1, "secret")
    assert access.knows_host("192.0.2.7:8765")
    assert access.knows_host("[2001:db8::1]")
    assert not access.knows_host("attacker.example")


@pytest.mark.parametrize(
    "path",
    [
        "/static/page/../payload.py",
        "/static/page/%2e%2e/payload.py",
        "/static/page/..%2fpayload.py",
        "/static/page/..%5cpayload.py",
        "/static/page/%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/page//etc/passwd",
        "/static/page/%00",
        "/static/page/",
        "/static/page/vendor",
    ],
)
def test_nothing_outside_the_front_end_is_served(client, path):
    answer = client.get(path)
    assert answer.status_code in (404, 405)
    assert "import" not in answer.text
    assert "root:" not in answer.text


def test_files_of_the_page_are_served_and_not_sent_twice(client):
    answer = client.get("/static/page/style.css")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/css")
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get("/static/page/style.css", headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("path", [*ADDRESSES, "/nothing", "/api/runs/0/nodes/x"])
def test_every_answer_forbids_what_the_page_does_not_need(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "cache-control" in headers


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_there_is_no_page_that_loads_from_elsewhere(client, path):
    assert client.get(path).status_code == 404


def test_a_body_that_is_too_long_is_refused_however_it_comes(client):
    long = b"x" * (limits.BODY + 1)
    assert client.post("/api/explain", content=long).status_code == 413

    def pieces():
        for _ in range(limits.BODY // 1000 + 2):
            yield b"x" * 1000

    assert client.post("/api/explain", content=pieces()).status_code == 413


def test_two_hosts_are_refused(served):
    with TestClient(create_app([served]), base_url="http://127.0.0.1") as client:
        answer = client.get("/api/health", headers=[("host", "127.0.0.1"), ("host", "a.example")])
        assert answer.status_code == 403


def test_websockets_are_not_accepted(client):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/runs"):
        pass


def test_what_was_not_expected_has_the_same_headers_and_tells_nothing(client, monkeypatch):
    from zorro.web.served import Served

    def broken(self):
        raise ZeroDivisionError("a secret path")

    monkeypatch.setattr(Served, "rows", broken)
    answer = client.get("/api/runs/0/rows")
    assert answer.status_code == 500
    assert answer.json() == {"error": "unexpected ZeroDivisionError"}
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert answer.headers["x-content-type-options"] == "nosniff"
