"""Who may ask: nobody from other sites, and only those with the token."""

from __future__ import annotations

import ipaddress
import json
import logging
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from zorro.errors import InputError
from zorro.show.web import limits

logger = logging.getLogger(__name__)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_EVERYWHERE = {"0.0.0.0", "::", ""}
_PAGE = "/"
# The page and what draws it are the same for everybody and hold nothing of the runs. They need no
# token, so that the page can say that it is missing, and so that links from other sites lead to it:
# with a request that another site has caused, browsers do not send the cookie.
_FOR_ALL = "/static/"


@dataclass(frozen=True)
class Access:
    """Under which names the server may be called, and with what token.

    Args:
        host: the address it listens on.
        port: the port it listens on.
        token: that a client must show; None asks for none.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    own_names: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        names = {self.host.lower(), *_LOOPBACK}
        if self.host in _EVERYWHERE:
            names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        object.__setattr__(self, "own_names", frozenset(names))

    @property
    def is_everywhere(self) -> bool:
        """Whether it listens on all addresses of the machine, none of which is its name."""
        return self.host in _EVERYWHERE

    @property
    def cookie(self) -> str:
        """The cookie's name; cookies do not tell ports apart."""
        return f"zorro-{self.port}"

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server.

        A page whose name was made to lead here (DNS rebinding) still sends that name. A bare
        address cannot be such a name.
        """
        name = _name_of(header)
        if name is None:
            return False
        return name in self.own_names or (self.host in _EVERYWHERE and _is_address(name))

    def accepts(self, tokens: Iterable[str]) -> bool:
        """Whether the right token is among some, or none is asked for."""
        right = self.token
        return right is None or any(
            secrets.compare_digest(token.encode(), right.encode()) for token in tokens
        )


def access_to(host: str, port: int, *, token: bool = True) -> Access:
    """Return the access to a server.

    Args:
        host: the address it listens on.
        port: the port it listens on.
        token: whether to make a token; only loopback can do without.
    """
    if token:
        return Access(host, port, secrets.token_urlsafe(24))
    if not is_loopback(host):
        raise InputError(
            f"--no-token: expected a --host that only this machine can reach, got {host}: leave "
            "--no-token out, or listen on 127.0.0.1"
        )
    return Access(host, port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


class Guard:
    """Refuses what may not ask before the application sees it, and adds headers to all answers.

    Args:
        app: the application.
        access: who may ask.
    """

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})  # there are none
            return
        guarded = _with_headers(scope, send)
        headers = {
            name.decode("latin-1"): text.decode("latin-1") for name, text in scope["headers"]
        }
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(guarded, *refusal)
            return
        try:
            body = await _body(receive, headers)
        except _GoneError:
            return
        if body is None:
            await _answer(guarded, 413, f"the body may have {limits.BODY:,} bytes at most")
            return
        await self._handed_on(scope, _replayed(body, receive), guarded)

    async def _handed_on(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let the application answer; what it did not expect is an answer with headers too."""
        begun = False

        async def noticed(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noticed)
        except Exception as error:
            logger.exception("%s %s", scope["method"], scope["path"])
            if begun:
                raise  # half an answer cannot be taken back
            await _answer(send, 500, f"unexpected {type(error).__name__}")

    def _refusal(
        self, scope: Message, headers: dict[str, str]
    ) -> tuple[int, str] | tuple[int, str, dict[str, str]] | None:
        """Return status, text and headers of the answer to who may not ask; None if they may."""
        access = self._access
        hosts = [text.decode("latin-1") for name, text in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not access.knows_host(hosts[0]):
            return 403, "the Host header does not name this server"
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"{scope['scheme']}://{hosts[0].lower()}":
            return 403, "the Origin header names another site"
        if not _is_asked_from_here(scope, headers):
            return 403, "another site has caused this request"
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if scope["path"] == _PAGE and given:
            # From now on the cookie will do, and the address bar shows no token.
            cookie = f"{access.cookie}={access.token}; HttpOnly; SameSite=Strict; Path=/"
            right = access.token is not None and access.accepts(given)
            return 303, "", {"location": _PAGE, **({"set-cookie": cookie} if right else {})}
        if scope["path"] == _PAGE or scope["path"].startswith(_FOR_ALL):
            return None
        if not access.accepts(_cookies(headers.get("cookie", ""), access.cookie)):
            return 401, (
                "The token is missing, or that of an earlier server: open the address that "
                "`zorro serve` printed."
            )
        return None


def _is_asked_from_here(scope: Message, headers: dict[str, str]) -> bool:
    """Whether the page itself or a person asks, as far as the browser tells.

    Other ports of this machine are another origin but the same site, whose requests have the
    cookie. From elsewhere only a link may lead here, and only to the page.
    """
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return True
    return (
        scope["path"] == _PAGE
        and scope["method"] == "GET"
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _with_headers(scope: Message, send: Send) -> Send:
    kept = "no-cache" if scope["path"].startswith("/static/") else "no-store"

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            added = {**_HEADERS, "cache-control": kept}
            message["headers"] = [
                *message["headers"],
                *(
                    (name.encode(), text.encode())
                    for name, text in added.items()
                    if name.encode() not in own
                ),
            ]
        await send(message)

    return sending


async def _answer(
    send: Send, status: int, error: str, headers: dict[str, str] | None = None
) -> None:
    body = json.dumps({"error": error}).encode() if error else b""
    every = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **(headers or {}),
    }
    pairs = [(name.encode(), text.encode("latin-1")) for name, text in every.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


class _GoneError(Exception):
    """The client has gone before all of its request was there."""


async def _body(receive: Receive, headers: dict[str, str]) -> bytes | None:
    """Return the whole body, None if it is too long; raise `_GoneError` if it does not come."""
    length = headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and int(length[:12]) > limits.BODY:
        return None
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        body += bytes(message.get("body", b""))
        if len(body) > limits.BODY:
            return None
        if not message.get("more_body", False):
            return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()  # that the client has gone
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _name_of(header: str) -> str | None:
    """Return the host of a Host header, without the port."""
    try:
        parts = urlsplit(f"//{header}")
        parts.port  # noqa: B018 - raises for what is no port
    except ValueError:
        return None
    plain = parts.path == parts.query == parts.fragment == "" and "@" not in header
    return parts.hostname if plain else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _cookies(header: str, name: str) -> list[str]:
    """Return the values of a cookie; other programs of this host may have set ones that break."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return [value for key, _, value in pairs if key == name]
