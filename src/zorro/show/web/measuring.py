"""Fidelities on request: one thread measures, and keeps the last queries at hand."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from zorro.explanation.meter import Meter
from zorro.question import Query
from zorro.question.decision import Comparison
from zorro.show.web import limits
from zorro.show.web.jobs import BusyError
from zorro.show.web.served import Served
from zorro.show.web.stopping import Stoppable, Stopped

T = TypeVar("T")
_Key = tuple[int, Query, Comparison, int]
_ALONE = Comparison()  # with nothing


class SlowError(BusyError):
    """A measurement took longer than one may."""


class Measuring:
    """Does measurements one after the other, so that no two use a model at once.

    Args:
        threads: of torch.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(
            1, "zorro-measuring", initializer=torch.set_num_threads, initargs=(threads,)
        )
        self._meters: OrderedDict[_Key, Meter] = OrderedDict()
        self._lock = threading.Lock()
        self._waiting = 0
        self._closed = False

    async def do(self, work: Callable[[], T]) -> T:
        """Run something in the thread that measures; raise `BusyError` if too much waits."""
        with self._lock:
            if self._waiting >= limits.WAITING_MEASUREMENTS:
                raise BusyError(f"{self._waiting} measurements wait: ask again in a moment")
            self._waiting += 1
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._done, work)

    def meter(
        self,
        served: Served,
        number: int,
        query: Query,
        *,
        samples: int,
        comparison: Comparison = _ALONE,
    ) -> Meter:
        """Return what measures a query; to be asked from within `do`.

        Args:
            served: the run.
            number: the run's.
            query: that is asked.
            samples: how many.
            comparison: with what its answer is compared.
        """
        assert served.desks is not None
        key = (number, query, comparison, samples)
        meter = self._meters.pop(key, None)
        if meter is None:
            meter = served.desks.measuring.zorro.meter(
                query.asked,
                samples=samples,
                why_not=comparison.why_not,
                contrast=comparison.contrast,
                among=comparison.among,
                top=comparison.top,
            )
        self._meters[key] = meter
        while len(self._meters) > limits.METERS:
            self._meters.popitem(last=False)
        return meter

    def close(self) -> None:
        """End what is being measured, and the thread."""
        self._closed = True
        self._pool.shutdown(cancel_futures=True)

    def _done(self, work: Callable[[], T]) -> T:
        started = time.perf_counter()

        def check() -> None:
            if self._closed or time.perf_counter() - started > limits.MEASURING_SECONDS:
                raise Stopped

        try:
            with torch.enable_grad(), Stoppable(check):
                return work()
        except Stopped:
            raise SlowError(
                f"it took longer than {limits.MEASURING_SECONDS:g} seconds: ask for fewer samples"
            ) from None
        finally:
            with self._lock:
                self._waiting -= 1
