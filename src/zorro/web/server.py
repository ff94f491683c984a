"""Listen, say where, and end cleanly."""

from __future__ import annotations

import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType

import uvicorn

from zorro.errors import InputError
from zorro.web import limits
from zorro.web.app import create_app
from zorro.web.guard import access_to
from zorro.web.served import Served

_GRACE = 2  # seconds for answers under way when the server ends


def serve(
    runs: Sequence[Served],
    listening: socket.socket,
    *,
    host: str,
    threads: int = 1,
    open_page: bool = False,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve runs until the process is told to end.

    Args:
        runs: with their graphs and models, as far as they are at hand.
        listening: what `listen` returned.
        host: that it listens on; other machines need the token that is part of the address.
        threads: of torch, per computation.
        open_page: whether to open the address in a browser.
        announce: told the address.
    """
    access = access_to(host, listening.getsockname()[1])
    app = create_app(runs, access=access, threads=threads)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        limit_concurrency=limits.CONNECTIONS,
    )
    server = _Server(config, app.state.jobs.cancel_all)
    address = _address(host, access.port, access.token)
    announce(address)
    if open_page:
        threading.Thread(target=_open, args=(server, address), daemon=True).start()
    with suppress(KeyboardInterrupt):  # how one ends it
        server.run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise `InputError` if it cannot.

    Args:
        host: the address.
        port: 0 takes a free one.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
    except socket.gaierror as error:
        raise InputError(f"--host: {host!r} is no address of this machine ({error})") from None
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen()
    except OSError as error:
        found.close()
        raise InputError(
            f"--port: cannot listen on {host} port {port} ({error.strerror}): take another port, "
            "or 0 for a free one"
        ) from None
    return found


class _Server(uvicorn.Server):
    """Cancels jobs first, so that nobody waits for their events."""

    def __init__(self, config: uvicorn.Config, cancel_jobs: Callable[[], None]) -> None:
        super().__init__(config)
        self._cancel_jobs = cancel_jobs

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal to end."""
        self._cancel_jobs()
        super().handle_exit(sig, frame)


def _address(host: str, port: int, token: str | None) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + ("" if token is None else f"?token={token}")


def _open(server: uvicorn.Server, address: str) -> None:
    while not server.started:
        if server.should_exit:
            return
        time.sleep(0.05)
    webbrowser.open(address)
