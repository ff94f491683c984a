"""What is asked of every query of a run, in a form that travels to workers."""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.arguments import check_device
from zorro.explainer import Zorro
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.model.memory import default_budget, give_back_surplus


@dataclass(frozen=True)
class Query:
    """A node or graph to explain, and its place in the order in which they were asked for."""

    position: int
    node: int  # or the graph's number, as the run's level says


@dataclass(frozen=True)
class Outcome:
    """What became of a query: an explanation as JSON, or an error's text."""

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
    """What is asked; a worker opens it once and then answers queries."""

    def open(self, *, workers: int = 1) -> Answer:
        """Return what explains a node; `workers` do so on this machine and share its memory."""
        ...


@dataclass(frozen=True)
class GivenTask:
    """Explanations of one model's predictions, model and graph being at hand.

    Args:
        model: called as `model(x, edge_index, **model_kwargs)`.
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
        options: further options of `Zorro`.
        question: further options of `Zorro.explain`.
        device: to which a worker takes model and graph; where they are when None.
    """

    model: nn.Module
    x: Tensor | Features
    edge_index: Tensor | Edges
    options: Mapping[str, Any] = field(default_factory=dict)
    question: Mapping[str, Any] = field(default_factory=dict)
    device: str | torch.device | None = None

    def open(self, *, workers: int = 1) -> Answer:
        """Return what explains a node."""
        return partial(self.zorro(workers=workers).explain, **self.question)

    def zorro(self, *, workers: int = 1) -> Zorro:
        """Return the explainer, with its share of the memory."""
        model, x, edge_index, options = self.model, self.x, self.edge_index, dict(self.options)
        if self.device is not None and isinstance(x, Tensor) and isinstance(edge_index, Tensor):
            check_device("device", self.device)
            model = copy.deepcopy(model).to(self.device)  # the caller's stays where it is
            x, edge_index = x.to(self.device), edge_index.to(self.device)
            options["model_kwargs"] = {
                name: value.to(self.device) if isinstance(value, Tensor) else value
                for name, value in (options.get("model_kwargs") or {}).items()
            }
        if options.get("memory") is None:
            options["memory"] = default_budget(x.device) // workers
        return Zorro(model, x, edge_index, **options)


@dataclass(frozen=True)
class GraphsTask:
    """Explanations of a model's answers for whole graphs, model and graphs being at hand.

    Args:
        model: called as `model(x, edge_index, batch=…, **model_kwargs)`.
        graphs: PyG's `Data`.
        options: further options of `Zorro.of_graphs`.
        question: further options of `Zorro.explain`.
        device: to which a worker takes model and graphs; where they are when None.
    """

    model: nn.Module
    graphs: Sequence[Data]
    options: Mapping[str, Any] = field(default_factory=dict)
    question: Mapping[str, Any] = field(default_factory=dict)
    device: str | torch.device | None = None

    def open(self, *, workers: int = 1) -> Answer:
        """Return what explains a graph."""
        return partial(self.zorro(workers=workers).explain, **self.question)

    def zorro(self, *, workers: int = 1) -> Zorro:
        """Return the explainer, with its share of the memory."""
        model, graphs, options = self.model, self.graphs, dict(self.options)
        if self.device is not None:
            check_device("device", self.device)
            model = copy.deepcopy(model).to(self.device)  # the caller's stays where it is
            graphs = [graph.clone().to(self.device) for graph in graphs]
        if options.get("memory") is None:
            options["memory"] = default_budget(graphs[0].x.device) // workers
        return Zorro.of_graphs(model, graphs, **options)


def answered(answer: Answer, query: Query) -> Outcome:
    """Explain a query; whatever it raises becomes its outcome."""
    started = time.perf_counter()
    try:
        result = answer(query.node)
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
