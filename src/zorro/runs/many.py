"""Explain many nodes or graphs, and keep what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, SupportsIndex

from torch import Tensor
from torch_geometric.data import Data

from zorro.arguments import whole_number, whole_numbers
from zorro.data.graph_validation import listed_graphs
from zorro.errors import InputError
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.model.as_module import as_module, uncalled
from zorro.model.data_model import kwargs_of_graphs
from zorro.model.predictor import Model
from zorro.runs import folder as folders
from zorro.runs.engines import Engine, EngineName, engine_of
from zorro.runs.given import Device, GivenData, ManyGraphs, OneGraph
from zorro.runs.manifest import Manifest, describe
from zorro.runs.run import Run, open_run
from zorro.runs.store import Store
from zorro.runs.task import GivenTask, Outcome, Outcomes, Query, Task

_QUESTION = ("why_not", "contrast")
_ENGINE = ("workers", "threads", "address", "gpus_per_worker")


def explain_many(
    model: Model,
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    nodes: Iterable[SupportsIndex],
    *,
    out: str | Path,
    engine: EngineName | Engine = "auto",
    workers: int | None = None,
    threads: int = 1,
    address: str | None = None,
    gpus_per_worker: float = 0.0,
    device: Device | None = None,
    retry_failed: bool = False,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
    **options: Any,
) -> Run:
    """Explain many nodes and keep the explanations in a folder.

    Called again with the same arguments it computes only what is missing, whatever ended it. A
    node that cannot be explained does not end it: see `Run.failures`.

    Args:
        model: called as `model(x, edge_index, **model_kwargs)`, returns class scores (N, C).
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
        nodes: which to explain, each once: ids, or a mask (N,) such as PyG's `data.test_mask`.
        out: the run's folder.
        engine: `"in-process"`, `"processes"` (of this machine), `"ray"`, or `"auto"`: processes
            for more than a few nodes. What is found does not depend on it.
        workers: how many; one per core when None.
        threads: of torch in each worker; on small graphs more are slower.
        address: of a Ray cluster; one is started on this machine when None.
        gpus_per_worker: that each worker on Ray is to have.
        device: to which each worker takes model and graph, such as `"cuda"`; where they are when
            None. A run begun on one may go on on another.
        retry_failed: explain nodes again that could not be explained.
        on_outcome: called with each outcome once it is kept.
        options: of `Zorro` and of `Zorro.explain`.
    """
    return _explain_all(
        model,
        OneGraph(x, edge_index),
        nodes,
        out=out,
        engine=engine,
        workers=workers,
        threads=threads,
        address=address,
        gpus_per_worker=gpus_per_worker,
        device=device,
        retry_failed=retry_failed,
        on_outcome=on_outcome,
        **options,
    )


def explain_graphs(
    model: Model,
    graphs: Sequence[Data],
    numbers: Iterable[SupportsIndex] | None = None,
    *,
    out: str | Path,
    **options: Any,
) -> Run:
    """Explain a model's answers for many graphs and keep the explanations in a folder.

    Called again with the same arguments it computes only what is missing, as `explain_many`.

    Args:
        model: called as `model(x, edge_index, batch=…, **model_kwargs)`.
        graphs: PyG's `Data`: a list, a data set.
        numbers: which to explain, each once; a mask will do too; all when None.
        out: the run's folder.
        options: how to compute, as `explain_many` takes it from `engine` to `on_outcome`; those of
            `Zorro.of_graphs` and of `Zorro.explain`.
    """
    data = ManyGraphs(listed_graphs(graphs))
    further = kwargs_of_graphs(as_module(model), data.graphs, options.pop("model_kwargs", None))
    options["model_kwargs"] = further
    every = range(data.count) if numbers is None else numbers
    return _explain_all(model, data, every, name="numbers", out=out, **options)


def _explain_all(
    model: Model,
    data: GivenData,
    asked: Iterable[SupportsIndex],
    *,
    name: str = "nodes",
    out: str | Path,
    engine: EngineName | Engine = "auto",
    device: Device | None = None,
    retry_failed: bool = False,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
    **options: Any,
) -> Run:
    """Explain what a run lacks, telling of each outcome; return the run.

    Args:
        model: that answers.
        data: what is explained.
        asked: which of it.
        name: of that argument.
        out: the run's folder.
        engine: see `explain_many`; so for the rest.
        device: to which each worker takes model and data.
        retry_failed: explain again what could not be explained.
        on_outcome: called with each outcome once it is kept.
        options: of the engine, of `Zorro` and of `Zorro.explain`.
    """
    question, computing = _taken(options, _QUESTION), _taken(options, _ENGINE)
    if question.get("why_not") is not None:
        question["why_not"] = whole_number("why_not", question["why_not"], what="a class")
    if callable(options.get("output")):
        options["output"] = uncalled(options["output"])  # which knows how to travel
    task = GivenTask(as_module(model), data, options, question, device)
    every = distinct(asked, data.count, name)
    recorded = record(
        Path(out),
        task,
        every,
        manifest=describe(task, every),
        engine=engine_of(engine, queries=len(every), **computing),
        retry_failed=retry_failed,
    )
    for outcome in recorded:
        on_outcome(outcome)
    return open_run(out)


def _taken(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Take some of the options out of all."""
    return {name: options.pop(name) for name in names if name in options}


def distinct(nodes: Iterable[SupportsIndex], count: int, name: str = "nodes") -> list[int]:
    """Return each query once, in order, if all are numbers below `count`."""
    every = list(dict.fromkeys(whole_numbers(name, nodes, count)))
    if not every:
        raise InputError(f"{name}: expected at least one, got none")
    return every


def record(
    path: Path,
    task: Task,
    nodes: Sequence[int],
    *,
    manifest: Manifest,
    engine: Engine,
    retry_failed: bool = False,
) -> Outcomes:
    """Explain what a run lacks, and yield each outcome once it is kept."""
    with folders.locked(path):
        folders.prepare(path, manifest)
        with Store(path / folders.OUTCOMES, write=True) as store:
            ended = bytearray(len(nodes))  # small whatever the run's size
            for position, node in store.ended(failed_too=not retry_failed):
                # A row about another node than was asked for is replaced, one too many left alone.
                if position in range(len(nodes)) and node == nodes[position]:
                    ended[position] = 1
            if retry_failed:
                for row in open_run(path).damaged():
                    if row.position is not None and 0 <= row.position < len(nodes):
                        ended[row.position] = 0
            missing = (
                Query(position, node) for position, node in enumerate(nodes) if not ended[position]
            )
            for outcome in engine.map(task, missing):
                store.add(outcome)
                yield outcome
