"""A connection to Ray, for as long as it is needed."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from zorro.errors import MissingExtraError, RunError

_LOCAL = "local"  # Ray's word for a cluster that is started here
_PATIENCE = 10.0  # seconds for a cluster to answer; Ray itself would try for many minutes


@contextmanager
def connected(address: str | None, *, cpus: int | None) -> Iterator[Any]:
    """Yield the module `ray`, connected to a cluster.

    A connection that there is already is used, and left as it is.

    Args:
        address: of the cluster; that in RAY_ADDRESS when None, and without one a cluster is
            started on this machine.
        cpus: of a cluster that is started; as many as there are cores when None.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtraError("the engine ray", "ray") from None
    if ray.is_initialized():
        yield ray
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        _connect(ray, address or os.environ.get("RAY_ADDRESS") or _LOCAL, cpus)
        # Ray's own handler aborts the driver after three seconds, in the midst of ending.
        _on_sigterm(_exit if before is signal.SIG_DFL else before)
        with _hushed(ray):
            yield ray
    finally:
        ray.shutdown()
        _on_sigterm(before)


def _connect(ray: Any, address: str, cpus: int | None) -> None:
    quiet = {
        "include_dashboard": False if address == _LOCAL else None,
        "log_to_driver": False,
        "logging_level": logging.ERROR,
    }
    if address != _LOCAL:
        _refuse_silent(address)
    try:
        ray.init(address=address, num_cpus=cpus if address == _LOCAL else None, **quiet)
    except Exception as error:  # of many kinds: wrong versions, ports, tokens, permissions
        text = " ".join(str(error).split())
        if address == _LOCAL:
            raise RunError(
                f"Ray cannot be started on this machine ({text}): use the engine processes"
            ) from error
        raise RunError(
            f"address: {address!r} cannot be used as a Ray cluster ({text}): check it, and that "
            "Ray and Python have the same versions there and here"
        ) from error


def _refuse_silent(address: str) -> None:
    """Raise `RunError` if nothing listens at an address that names a host and a port."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port is None:
        return  # such as "auto": Ray knows
    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except OSError as error:
        raise RunError(
            f"address: no Ray cluster answers at {address!r} ({error}): check host and port, and "
            "that `ray start --head` has been run there"
        ) from error


@contextmanager
def _hushed(ray: Any) -> Iterator[None]:
    """Keep the nodes' reports of dead workers, tens of lines each, from standard output.

    `log_to_driver` is not about these, and no public option is.
    """
    module = ray._private.worker
    before = getattr(module, "_worker_logs_enabled", True)
    module._worker_logs_enabled = False
    try:
        yield
    finally:
        module._worker_logs_enabled = before


def _on_sigterm(handler: Any) -> None:
    """Set what SIGTERM does, which only the main thread can."""
    if threading.current_thread() is threading.main_thread() and handler is not None:
        signal.signal(signal.SIGTERM, handler)


def _exit(number: int, frame: object) -> None:
    """End in order: a cluster that was started here would leave processes behind."""
    sys.exit(128 + number)
