"""Listen, say where, and end cleanly."""

from __future__ import annotations

import socket
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from zorro.errors import InputError
from zorro.show.web import limits
from zorro.show.web.app import create_app
from zorro.show.web.connections import punctual
from zorro.show.web.guard import Access
from zorro.show.web.served import Broken, Served

_GRACE = 2  # seconds for answers under way when the server ends


def serve(
    runs: Sequence[Served | Broken],
    listening: socket.socket,
    *,
    access: Access,
    threads: int = 1,
    open_page: bool = False,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve runs until the process is told to end.

    Args:
        runs: with their graphs and models, as far as they are at hand.
        listening: what `listen` returned.
        access: who may ask.
        threads: of torch, per computation.
        open_page: whether to open the address in a browser.
        announce: told the address, which holds the token.
    """
    app = create_app(runs, access=access, threads=threads)
    server = _Server(configured(app), app.state.jobs.cancel_all)
    address = address_of(access)
    announce(address)
    with ExitStack() as stack:
        if open_page:
            door = stack.enter_context(_door(address))
            threading.Thread(target=_open, args=(server, door), daemon=True).start()
        stack.enter_context(suppress(KeyboardInterrupt))  # how one ends it
        server.run(sockets=[listening])


def configured(
    app: FastAPI, *, connections: int = limits.CONNECTIONS, patience: float = limits.PATIENCE
) -> uvicorn.Config:
    """Return how an application is served.

    Args:
        app: the application.
        connections: how many there may be.
        patience: seconds after which a client that keeps us waiting is dropped.
    """
    return uvicorn.Config(
        app,
        http=punctual(patience=patience, most=connections),
        log_level="warning",
        access_log=False,  # it would hold the token
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )


def address_of(access: Access) -> str:
    """Return the address to open, with the token; one that listens everywhere by its own name."""
    host = socket.gethostname() if access.is_everywhere else access.host
    shown = f"[{host}]" if ":" in host else host
    start = f"http://{shown}:{access.port}/"
    return start if access.token is None else f"{start}?token={access.token}"


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
        raise InputError(
            f"--host: expected an address of this machine, got {host!r} ({error})"
        ) from None
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen()
    except OSError as error:
        found.close()
        raise InputError(
            f"--port: expected a port that is free on {host}, got {port} ({error.strerror}): take "
            "another, or 0 for a free one"
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


@contextmanager
def _door(address: str) -> Iterator[str]:
    """Yield the address of a file that leads to a page.

    A browser is told what to open on its command line, which all users of the machine can read.
    The file only its owner can.
    """
    with tempfile.NamedTemporaryFile("w", prefix="zorro-", suffix=".html") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">\n')
        file.flush()
        yield Path(file.name).as_uri()


def _open(server: uvicorn.Server, address: str) -> None:
    while not server.started:
        if server.should_exit:
            return
        time.sleep(0.05)
    webbrowser.open(address)
