"""Who is served, and who is not."""

import pytest
from fastapi import WebSocketDisconnect
from fastapi.testclient import TestClient

from zorro.errors import InputError
from zorro.show.web import limits
from zorro.show.web.app import create_app
from zorro.show.web.guard import Access, access_to

OF_RUNS = ["/api/health", "/api/runs", "/api/runs/0/rows", "/api/openapi.json", "/api/nothing"]
ADDRESSES = ["/", "/api/health", "/api/runs", "/api/openapi.json", "/static/page/style.css"]
COOKIE = {"cookie": "zorro-8765=secret"}


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
    asked = {"run": 0, "query": 9, "nodes": [7], "features": [0], "samples": 5}
    answer = client.post("/api/fidelity", json=asked, headers={"origin": origin})
    assert answer.status_code == status


@pytest.mark.parametrize("path", OF_RUNS)
def test_without_the_token_nothing_of_the_runs_is_served(with_token, path):
    cookies = ["", "zorro-8765=wrong", "zorro-8765=", "zorro-1=secret", "=;;,", "zorro-8765"]
    for cookie in cookies:
        answer = with_token.get(path, headers={"cookie": cookie})
        assert answer.status_code == 401
        assert "open the address that `zorro serve` printed" in answer.json()["error"]
    assert with_token.get(path, params={"token": "secret"}).status_code == 401


def test_without_the_token_no_work_is_begun(with_token):
    assert with_token.post("/api/explain", json={"run": 0, "query": 9}).status_code == 401
    assert with_token.get("/api/health", headers=COOKIE).json()["jobs"] == 0
    assert with_token.delete("/api/jobs/any").status_code == 401


def test_the_page_is_the_same_for_everybody(with_token):
    alone = with_token.get("/")
    assert alone.status_code == 200
    assert alone.content == with_token.get("/", headers=COOKIE).content
    assert with_token.get("/static/page/style.css").status_code == 200


def test_the_token_becomes_a_cookie(with_token):
    answer = with_token.get("/", params={"token": "secret"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert with_token.get("/api/health").status_code == 200  # the client keeps it


def test_a_wrong_token_becomes_nothing(with_token):
    answer = with_token.get("/", params={"token": "wrong"})
    assert answer.status_code == 303  # to the page, which says what is missing
    assert "set-cookie" not in answer.headers


def test_cookies_of_other_programs_are_in_nobodys_way(with_token):
    """All ports of a host share their cookies."""
    others = 'a={"b": [1]}; c=@; zorro-8765=set by another; ' + COOKIE["cookie"] + "; d=é"
    assert with_token.get("/api/health", headers={"cookie": others.encode()}).status_code == 200


def test_no_answer_but_the_cookie_holds_the_token(with_token):
    for path in [*ADDRESSES, "/?token=secret", "/api/nothing"]:
        answer = with_token.get(path, headers=COOKIE)
        headers = [text for name, text in answer.headers.items() if name != "set-cookie"]
        assert "secret" not in "".join([answer.text, *headers])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "0.0.0.0", "192.0.2.7"])
def test_a_token_is_made_for_every_address(host):
    tokens = {access_to(host, 1).token for _ in range(3)}
    assert len(tokens) == 3
    assert all(token is not None and len(token) >= 32 for token in tokens)


def test_only_loopback_can_do_without_a_token():
    hosts = ("127.0.0.1", "localhost", "::1", "127.8.8.8")
    assert [access_to(host, 1, token=False).token for host in hosts] == [None] * 4
    for host in ("0.0.0.0", "192.0.2.7", "::", "example.org", ""):
        with pytest.raises(InputError, match="--no-token: expected a --host that only this"):
            access_to(host, 1, token=False)


CLICKED = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
FETCHED = {"sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}


@pytest.mark.parametrize("site", ["same-origin", "none"])
@pytest.mark.parametrize("path", ADDRESSES)
def test_the_page_itself_and_people_may_ask(with_token, path, site):
    headers = {**COOKIE, "sec-fetch-site": site, **FETCHED}
    assert with_token.get(path, headers=headers).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
def test_other_sites_may_only_link_to_the_page(with_token, site):
    elsewhere = {**COOKIE, "sec-fetch-site": site}
    assert with_token.get("/", headers={**elsewhere, **CLICKED}).status_code == 200
    assert with_token.get("/", headers={**elsewhere, **FETCHED}).status_code == 403
    framed = {**CLICKED, "sec-fetch-dest": "iframe"}
    assert with_token.get("/", headers={**elsewhere, **framed}).status_code == 403
    assert with_token.post("/", headers={**elsewhere, **CLICKED}).status_code == 403
    for path in ADDRESSES[1:]:
        for how in (CLICKED, FETCHED, {}):
            assert with_token.get(path, headers={**elsewhere, **how}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_may_not_ask_where_there_is_no_token_either(client, site):
    headers = {"sec-fetch-site": site, **CLICKED}
    assert client.get("/api/runs", headers=headers).status_code == 403


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


@pytest.mark.parametrize("path", [*ADDRESSES, "/nothing", "/api/runs/0/queries/x"])
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
    from zorro.show.web.served import Served

    def broken(self):
        raise ZeroDivisionError("a secret path")

    monkeypatch.setattr(Served, "rows", broken)
    answer = client.get("/api/runs/0/rows")
    assert answer.status_code == 500
    assert answer.json() == {"error": "unexpected ZeroDivisionError"}
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert answer.headers["x-content-type-options"] == "nosniff"
