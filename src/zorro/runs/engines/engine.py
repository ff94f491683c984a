"""What maps queries to outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from zorro.runs.task import Outcome, Outcomes, Query, Task, failed

MOST_DEATHS = 3  # of workers over one query; then it is taken to be the cause
AHEAD = 2  # queries that a worker holds: one at work, one so that it need not wait


class Engine(Protocol):
    """Maps queries to outcomes, which come as they are finished.

    Queries are taken from the iterable as workers get free, so that any number may be asked for.
    What is found does not depend on the engine.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> from zorro.runs import Outcome
    >>> class OneByOne:
    ...     name = "one by one"
    ...
    ...     def map(self, task, queries):
    ...         answer = task.open()
    ...         for query in queries:
    ...             e = answer(query.key)
    ...             yield Outcome(query, e.status, e.certified, e.to_json(), None, None, e.seconds)
    >>> club = karate_club()
    >>> explain_many(
    ...     SimpleConv(), club.x, club.edge_index, [9, 11], out="runs/votes", engine=OneByOne()
    ... )
    Run('runs/votes': 2 of 2 nodes explained, 2 certified, 0 failed)
    """

    name: str

    def map(self, task: Task, queries: Iterable[Query]) -> Outcomes:
        """Yield the outcome of each query; closing the iterator stops the work.

        Args:
            task: opened once in each worker.
            queries: taken one by one, as workers get free.
        """
        ...


class Backlog:
    """Queries that are still to be handed out; those of workers that died come first.

    Args:
        queries: what is asked.
    """

    def __init__(self, queries: Iterable[Query]) -> None:
        self._queries = iter(queries)
        self._returned: list[Query] = []
        self._deaths: Counter[int] = Counter()

    def next(self) -> Query | None:
        """Return a query, None if there is none left at the moment."""
        if self._returned:
            return self._returned.pop()
        return next(self._queries, None)

    def take_back(self, held: list[Query]) -> None:
        """Take back what was handed out and not begun."""
        self._returned.extend(reversed(held))

    def after_death(self, held: list[Query], cause: str) -> Outcome | None:
        """Take back what a worker held when it died, the query at work first.

        Returns:
            The outcome of that query, if too many workers have died over it.
        """
        if not held:
            return None
        suspect, *others = held
        self._returned.extend(others)
        self._deaths[suspect.position] += 1
        if self._deaths[suspect.position] < MOST_DEATHS:
            self._returned.append(suspect)
            return None
        return failed(suspect, f"the worker died {MOST_DEATHS} times on this query: {cause}")
