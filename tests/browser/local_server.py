"""The real server in a thread, for as long as tests need it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from zorro.show.web.app import create_app
from zorro.show.web.guard import access_to
from zorro.show.web.served import Broken, Served
from zorro.show.web.server import address_of, configured, listen

SERVED: list[Served] = []  # for as long as they are


def served_at(
    runs: list[Served | Broken], around: Callable[[Any], Any] = lambda app: app
) -> Iterator[str]:
    """Serve runs and yield their address; `around` may wrap the application."""
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        access = access_to("127.0.0.1", port)
        server = uvicorn.Server(configured(around(create_app(runs, access=access))))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        own = [one for one in runs if isinstance(one, Served)]
        SERVED.extend(own)
        yield address_of(access)
        SERVED[:] = [one for one in SERVED if one not in own]
        server.should_exit = True
        thread.join(10)
