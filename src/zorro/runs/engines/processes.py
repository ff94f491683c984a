"""Worker processes on this machine."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

import torch

from zorro.errors import RunError
from zorro.runs.engines.engine import AHEAD, MOST_DEATHS, Backlog
from zorro.runs.engines.shared_files import pack, unpack
from zorro.runs.engines.shared_folder import shared_folder
from zorro.runs.task import Outcome, Outcomes, Query, Task, answered

# Threads of a parent that has used torch do not survive a fork; a fresh interpreter has none.
_SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class _Ready:
    """A worker can answer now."""


@dataclass(frozen=True)
class _Broken:
    """A worker cannot open its task."""

    error: str


class Processes:
    """Explains in worker processes; one that dies is replaced, and its queries are asked again.

    Graph and model are shared: each worker maps the files that the driver has put them in.

    Args:
        workers: how many; as many as there are cores when None.
        threads: of torch in each worker; on small graphs more are slower.
    """

    name = "processes"

    def __init__(self, workers: int | None = None, *, threads: int = 1) -> None:
        self.workers = max(1, usable_cores() // threads) if workers is None else workers
        self._threads = threads

    def map(self, task: Task, queries: Iterable[Query]) -> Outcomes:
        """Yield outcomes as they are finished."""
        with shared_folder() as folder:
            pool = _Pool(self.workers, self._threads, _packed(task, folder))
            try:
                yield from pool.outcomes(Backlog(queries))
            finally:
                pool.stop()


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection
    is_ready: bool = False
    held: list[Query] = field(default_factory=list)


class _Pool:
    def __init__(self, count: int, threads: int, packed: Path) -> None:
        self._count = count
        self._threads = threads
        self._packed = packed
        self._workers: list[_Worker] = []
        self._died_early = 0

    def outcomes(self, backlog: Backlog) -> Iterator[Outcome]:
        """Hand out queries and yield what comes back, until nothing is left."""
        first = backlog.next()
        while first is not None or any(worker.held for worker in self._workers):
            if first is not None and len(self._workers) < self._count:
                self._start()  # one at a time: few queries need few workers
            first = self._hand_out(first, backlog)
            waiting = first is not None and len(self._workers) < self._count
            for worker in self._heard(timeout=0 if waiting else None):
                yield from self._listen(worker, backlog)
            if first is None:
                first = backlog.next()

    def stop(self) -> None:
        """End all workers, whatever they do."""
        for worker in self._workers:
            worker.process.kill()
            worker.connection.close()
        for worker in self._workers:
            worker.process.join()
            worker.process.close()
        self._workers.clear()

    def _start(self) -> None:
        # A process gets its arguments through a pipe. What does not fit into that at once would
        # keep us waiting until it has imported all it needs, so it is told where the task lies.
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(
            target=_work,
            args=(theirs, self._packed, self._threads, self._count),
            daemon=True,
            name=f"zorro-worker-{len(self._workers)}",
        )
        process.start()
        theirs.close()  # so that its end is seen when the worker dies
        self._workers.append(_Worker(process, ours))

    def _hand_out(self, query: Query | None, backlog: Backlog) -> Query | None:
        """Fill up workers evenly; return the query that none has room for, if any."""
        for room in range(AHEAD):
            for worker in self._workers:
                if query is None:
                    return None
                if len(worker.held) <= room and self._sent(worker, query):
                    worker.held.append(query)
                    query = backlog.next()
        return query

    def _sent(self, worker: _Worker, query: Query) -> bool:
        try:
            worker.connection.send(query)
        except OSError:
            return False  # it has died, which is noticed in a moment
        return True

    def _heard(self, timeout: float | None) -> list[_Worker]:
        """Return the workers that have sent something or ended."""
        by_source: dict[object, _Worker] = {}
        for worker in self._workers:
            by_source[worker.connection] = worker
            by_source[worker.process.sentinel] = worker
        heard = wait(list(by_source), timeout)  # type: ignore[arg-type]
        return list({id(by_source[source]): by_source[source] for source in heard}.values())

    def _listen(self, worker: _Worker, backlog: Backlog) -> Iterator[Outcome]:
        """Read what a worker has sent; if that was its last word, replace it."""
        try:
            while worker.connection.poll():
                message = worker.connection.recv()
                if isinstance(message, _Broken):
                    raise RunError(message.error)
                if isinstance(message, logging.LogRecord):
                    logging.getLogger(message.name).handle(message)
                elif isinstance(message, _Ready):
                    worker.is_ready = True
                    self._died_early = 0
                else:
                    worker.held.remove(message.query)
                    yield message
        except (EOFError, OSError, pickle.UnpicklingError):
            pass  # it died, perhaps in the middle of a message
        else:
            if worker.process.exitcode is None or worker.connection.poll():
                return
        worker.process.join()
        self._workers.remove(worker)
        cause = _cause(worker.process.exitcode)
        if not worker.is_ready:
            self._refuse_to_go_on(cause)
            backlog.take_back(worker.held)
            return
        outcome = backlog.after_death(worker.held, cause)
        if outcome is not None:
            yield outcome

    def _refuse_to_go_on(self, cause: str) -> None:
        self._died_early += 1
        if self._died_early >= MOST_DEATHS:
            raise RunError(
                f"worker processes end before they can start to work ({cause}): if this is a "
                'script, put what it does under `if __name__ == "__main__":`; or use the engine '
                "in-process"
            )


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _packed(task: Task, folder: Path) -> Path:
    try:
        return pack(task, folder)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise RunError(
            f"the model cannot be sent to worker processes ({error}): define it in a module, "
            "without lambdas and open files, or use the engine in-process"
        ) from error


def _cause(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        return f"killed by {signal.Signals(-exitcode).name}"
    return f"exit code {exitcode}"


def _work(connection: Connection, packed: Path, threads: int, workers: int) -> None:
    """Answer queries until the driver ends or says that there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to act on
    threading.Thread(target=_end_with_driver, daemon=True).start()
    torch.set_num_threads(threads)
    _log_to(connection)
    try:
        answer = unpack(packed).open(workers=workers)
    except Exception as error:
        connection.send(_Broken(_hint(error)))
        return
    connection.send(_Ready())
    while True:
        try:
            query = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(answered(answer, query))


def _log_to(connection: Connection) -> None:
    """Let the driver log what the library has to say here."""
    logger = logging.getLogger("zorro")
    logger.addHandler(_Sender(connection))
    logger.propagate = False


class _Sender(logging.Handler):
    def __init__(self, connection: Connection) -> None:
        super().__init__(logging.WARNING)
        self._connection = connection

    def emit(self, record: logging.LogRecord) -> None:
        record.exc_info = None  # a traceback does not travel
        self._connection.send(record)


def _end_with_driver() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _hint(error: Exception) -> str:
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, AttributeError) and "__main__" in str(error):
        return (
            f"worker processes cannot import the model's class ({text}): put it into a module, "
            "or use the engine in-process"
        )
    return f"a worker could not start: {text}"
