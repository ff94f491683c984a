"""What is asked of every query of a run, in a form that travels to workers."""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor, nn

from zorro.arguments import check_device
from zorro.explainer import Zorro
from zorro.model.memory import default_budget, give_back_surplus
from zorro.runs.given import Device, GivenData


@dataclass(frozen=True)
class Query:
    """What is to be explained, and its place in the order in which it was asked for.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [11, 9], out="runs/votes")
    >>> [outcome.query for outcome in run.outcomes()]
    [Query(position=0, key=11), Query(position=1, key=9)]

    Args:
        position: its place.
        key: of a `zorro.question.Query`: of a node or a graph its number.
    """

    position: int
    key: int


@dataclass(frozen=True)
class Outcome:
    """What became of a query: an explanation as JSON, or an error's text.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> run = explain_many(
    ...     SimpleConv(), club.x, club.edge_index, [11, 9], out="runs/votes",
    ...     on_outcome=lambda outcome: print(outcome.query.key, outcome.status, outcome.error),
    ... )
    11 certified None
    9 certified None

    Args:
        query: what was asked.
        status: of the explanation, or `"failed"`.
        certified: whether something was proved.
        explanation: as JSON; None if it failed.
        error: its type and message; None if it did not fail.
        trace: where the error was raised; None where that is not known.
        seconds: that it took.
    """

    query: Query
    status: str
    certified: bool
    explanation: str | None
    error: str | None
    trace: str | None
    seconds: float


class Result(Protocol):
    """What an answer must be for a run to keep it; an `Explanation` is one."""

    @property
    def status(self) -> str:
        """How it ended."""
        ...

    @property
    def certified(self) -> bool:
        """Whether something was proved."""
        ...

    def to_json(self) -> str:
        """Return all of it as one line."""
        ...


Answer = Callable[[int], Result]
Outcomes = Generator[Outcome, None, None]


class Task(Protocol):
    """What is asked; a worker opens it once and then answers queries.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.data import karate_club
    >>> from zorro.runs import Query
    >>> class Votes:
    ...     def open(self, *, workers=1):
    ...         club = karate_club()
    ...         return Zorro(SimpleConv(), club.x, club.edge_index).explain
    >>> answer = Votes().open()
    >>> [answer(query.key).status for query in (Query(0, 11), Query(1, 9))]
    ['certified', 'certified']
    """

    def open(self, *, workers: int = 1) -> Answer:
        """Return what explains the query of a key.

        Args:
            workers: how many explain on this machine and share its memory.
        """
        ...


@dataclass(frozen=True)
class LoadedTask:
    """Explanations of one model's answers, model and data being in memory.

    Args:
        model: called as the data's explainer calls it.
        data: what is explained.
        options: further options of `Zorro`, `Zorro.of_links` or `Zorro.of_graphs`.
        question: further options of `Zorro.explain`.
        device: to which a worker takes model and data; where they are when None.
    """

    model: nn.Module
    data: GivenData
    options: Mapping[str, Any] = field(default_factory=dict)
    question: Mapping[str, Any] = field(default_factory=dict)
    device: Device | None = None

    def open(self, *, workers: int = 1) -> Answer:
        """Return what explains the query of a key."""
        zorro = self.zorro(workers=workers)

        def answer(key: int) -> Result:
            return zorro.explain(self.data.about.of_key(key).asked, **self.question)

        return answer

    def zorro(self, *, workers: int = 1) -> Zorro:
        """Return the explainer, with its share of the memory."""
        model, data, options = self.model, self.data, dict(self.options)
        if self.device is not None:
            check_device("device", self.device)
            model = copy.deepcopy(model).to(self.device)  # the caller's stays where it is
            data = data.to(self.device)
            options["model_kwargs"] = {
                name: value.to(self.device) if isinstance(value, Tensor) else value
                for name, value in (options.get("model_kwargs") or {}).items()
            }
        if options.get("memory") is None:
            options["memory"] = default_budget(data.device) // workers
        return data.explainer(model, options)


def answered(answer: Answer, query: Query) -> Outcome:
    """Explain a query; whatever it raises becomes its outcome."""
    started = time.perf_counter()
    try:
        result = answer(query.key)
    except Exception as error:
        text = " ".join(str(error).split())
        return failed(
            query,
            f"{type(error).__name__}: {text}",
            trace=traceback.format_exc(),
            seconds=time.perf_counter() - started,
        )
    finally:
        give_back_surplus()
    return Outcome(
        query=query,
        status=result.status,
        certified=result.certified,
        explanation=result.to_json(),
        error=None,
        trace=None,
        seconds=time.perf_counter() - started,
    )


FAILED = "failed"


def failed(query: Query, error: str, *, trace: str | None = None, seconds: float = 0.0) -> Outcome:
    """Return the outcome of a query that could not be explained."""
    return Outcome(query, FAILED, False, None, error, trace, seconds)
