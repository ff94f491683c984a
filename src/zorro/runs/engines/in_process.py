"""One query after the other, in the process that asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zorro.runs.task import Outcome, Query, Task, answered


class InProcess:
    """Explains where it is called: nothing to start, nothing to share."""

    name = "in-process"

    def map(self, task: Task, queries: Iterable[Query]) -> Iterator[Outcome]:
        """Yield the outcome of each query, in order."""
        answer = task.open()
        for query in queries:
            yield answered(answer, query)
