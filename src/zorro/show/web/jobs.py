"""Explanations under way: a few at once, some waiting, the last ones remembered."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from zorro.elements import KEPT
from zorro.errors import ZorroError
from zorro.search import Progress
from zorro.show.page.answers import precise
from zorro.show.web import limits
from zorro.show.web.stopping import Stoppable, Stopped

logger = logging.getLogger(__name__)

Event = tuple[str, dict[str, Any]]
_LEAST_APART = 0.04  # seconds between two reports; more are not seen
_GRACE = 5.0  # seconds a search may take to round off what it has found in time


class BusyError(ZorroError):
    """As much work is waiting as may wait."""


class Job:
    """One explanation that was asked for, and what has happened to it so far.

    Args:
        max_seconds: after which it is ended.
    """

    def __init__(self, *, max_seconds: float) -> None:
        self.id = secrets.token_urlsafe(12)
        self.events: list[Event] = []
        self._max_seconds = max_seconds
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._started: float | None = None
        self._reported = float("-inf")
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the last event is there."""
        return self._ended

    def cancel(self) -> None:
        """End it: at once if it has not begun, and otherwise before its next operation."""
        self._cancelled.set()
        with self._lock:
            if self._started is None:
                self._end("cancelled", {})

    def report(self, progress: Progress) -> None:
        """Take down how far the search has come."""
        self.check()
        now = time.perf_counter()
        if now - self._reported < _LEAST_APART:
            return
        self._reported = now
        said: dict[str, Any] = {
            "step": progress.step,
            **{kind: progress.held.get(kind, 0) for kind in (*KEPT, *progress.held)},
            "fidelity": precise(progress.fidelity),
            "seconds": round(self._seconds, 3),
        }
        self.events.append(("progress", said))

    def check(self) -> None:
        """Raise `Stopped` if it was cancelled or takes too long."""
        if self._cancelled.is_set() or self._seconds > self._max_seconds + _GRACE:
            raise Stopped

    def run(self, work: Callable[[Job], dict[str, Any]]) -> None:
        """Do the work and take down how it ended."""
        with self._lock:
            if self._ended:
                return
            self._started = time.perf_counter()
        try:
            with torch.enable_grad(), Stoppable(self.check):
                detail = work(self)
            last: Event = ("done", {"detail": detail})
        except Stopped:
            late = f"it took longer than {self._max_seconds:g} seconds"
            last = ("cancelled", {}) if self._cancelled.is_set() else ("failed", {"error": late})
        except ZorroError as error:
            last = ("failed", {"error": str(error)})
        except Exception as error:
            logger.exception("an explanation failed")
            last = ("failed", {"error": f"unexpected {type(error).__name__}: {error}"})
        with self._lock:
            self._end(*last)

    @property
    def _seconds(self) -> float:
        return 0.0 if self._started is None else time.perf_counter() - self._started

    def _end(self, name: str, said: dict[str, Any]) -> None:
        if not self._ended:
            self.events.append((name, said))
            self._ended = True


class Jobs:
    """Runs jobs in a few threads.

    Args:
        threads: of torch, for each job.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(
            limits.JOBS, "zorro-job", initializer=torch.set_num_threads, initargs=(threads,)
        )
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}

    def start(self, work: Callable[[Job], dict[str, Any]], *, max_seconds: float) -> Job:
        """Begin a job, or let it wait; raise `BusyError` if too many wait."""
        job = Job(max_seconds=max_seconds)
        with self._lock:
            open_ones = [other for other in self._jobs.values() if not other.ended]
            if len(open_ones) >= limits.JOBS + limits.WAITING_JOBS:
                raise BusyError(f"{len(open_ones)} explanations are under way: wait or cancel some")
            self._jobs[job.id] = job
            self._forget()
            self._pool.submit(job.run, work)
        return job

    def get(self, number: str) -> Job | None:
        """Return a job that is under way or has ended not long ago."""
        return self._jobs.get(number)

    def count(self) -> int:
        """Return how many have not ended."""
        with self._lock:
            return sum(not job.ended for job in self._jobs.values())

    def cancel_all(self) -> None:
        """Cancel what has not ended."""
        for job in list(self._jobs.values()):
            job.cancel()

    def close(self) -> None:
        """Cancel everything and wait for the threads to end."""
        self.cancel_all()
        self._pool.shutdown(cancel_futures=True)

    def _forget(self) -> None:
        ended = [number for number, job in self._jobs.items() if job.ended]
        for number in ended[: max(0, len(ended) - limits.ENDED_JOBS)]:
            del self._jobs[number]
