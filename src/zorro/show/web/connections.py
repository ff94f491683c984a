"""Connections that are dropped when nothing comes of them, and that lock nobody out."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class Punctual(H11Protocol):
    """HTTP for clients that send their requests, and take the answers, in time.

    By itself uvicorn only ends a connection that is quiet after an answer. Here a request must
    have arrived whole, and an answer must be read on, within `patience`; and when there are as many
    connections as there may be, a new one takes the place of the one that has kept us waiting for
    longest. What is being answered and read is never dropped.
    """

    patience = 10.0  # seconds
    most = 128  # uvicorn's own limit counts those that keep us waiting, too
    _dropping: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._look()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        self._stop_waiting()

    def handle_events(self) -> None:
        """Take what has arrived."""
        super().handle_events()
        self._look()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Go on with an answer."""
        super().resume_writing()
        self._stop_waiting()
        self._look()

    def _look(self) -> None:
        """Wait for the client, unless it is the client that waits."""
        cycle = self.cycle
        is_whole = cycle is not None and not cycle.response_complete and not cycle.more_body
        if not is_whole:
            self._wait()
        elif not self.flow.write_paused:
            self._stop_waiting()

    def _wait(self) -> None:
        # From the first moment on: single bytes now and then win no time. Also when it is being
        # closed, which takes as long as there is something left to be read.
        if self._dropping is None:
            self._dropping = self.loop.call_later(self.patience, self._drop)

    def _stop_waiting(self) -> None:
        if self._dropping is not None:
            self._dropping.cancel()
            self._dropping = None

    def _drop(self) -> None:
        self._stop_waiting()
        self.connections.discard(self)  # now, and not when the loop comes to it
        self.transport.abort()

    def _make_room(self) -> None:
        """Drop the connection that has waited for longest if there is one too many."""
        if len(self.connections) <= self.most:
            return
        waiting = [
            (other._dropping.when(), id(other), other)
            for other in self.connections
            if isinstance(other, Punctual) and other is not self and other._dropping is not None
        ]
        if waiting:
            min(waiting)[2]._drop()
        else:
            self.app = _refused


def punctual(*, patience: float, most: int) -> type[Punctual]:
    """Return the protocol with other settings.

    Args:
        patience: seconds for a request to arrive, and for an answer to be read on.
        most: connections that there may be.
    """
    members: dict[str, Any] = {"patience": patience, "most": most}
    return type("Punctual", (Punctual,), members)


async def _refused(scope: Any, receive: Any, send: Any) -> None:
    """Answer that there is no room."""
    body = b'{"error": "As many requests are being answered as can be: ask again in a moment."}'
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", b"1"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})
