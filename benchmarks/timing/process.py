"""Run a measurement in a process of its own: within a time limit, and with its peak memory."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

import torch

from timing.cells import Row
from timing.memory import held_mb

Measure = Callable[..., Iterator[Row]]
FINISHED = "finished"


def alone(measure: Measure, *arguments: Any, limit: float, **options: Any) -> Row:
    """Collect what `measure` yields: first what its preparation took, then row after row.

    Args:
        measure: called in the process with `arguments` and `options`.
        arguments: of `measure`.
        limit: seconds after which the process is ended; the rows it had sent stay.
        options: of `measure`.

    Returns:
        `setup` and `rows`; `ended` (how); `loaded_mb` and `peak_mb`, the process's memory when it
        was prepared and at its peak; `wall_seconds`.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, measure, arguments, options), daemon=True)
    started = time.monotonic()
    process.start()
    sender.close()
    messages: list[Row] = []
    ended = ""
    while not ended:
        if not receiver.poll(max(0.0, limit - (time.monotonic() - started))):
            ended = f"out of time ({limit:.0f} s)"
            process.kill()
            break
        try:
            message = receiver.recv()
        except EOFError:
            process.join()
            ended = f"the process died (exit code {process.exitcode})"
            break
        if isinstance(message, str):
            ended = message
        else:
            messages.append(message)
    process.join()
    setup, *rows = messages or [{}]
    return {
        "setup": {name: value for name, value in setup.items() if name != "peak_mb"},
        "rows": [{k: v for k, v in row.items() if k != "peak_mb"} for row in rows],
        "ended": ended,
        "loaded_mb": setup.get("peak_mb"),
        "peak_mb": messages[-1]["peak_mb"] if messages else None,
        "wall_seconds": time.monotonic() - started,
    }


def _run(
    sender: Connection, measure: Measure, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    torch.set_num_threads(1)
    try:
        for row in measure(*arguments, **options):
            sender.send({**row, "peak_mb": held_mb("VmHWM")})
    except Exception as error:
        sender.send(f"failed: {type(error).__name__}: {error}")
    else:
        sender.send(FINISHED)
