"""Explain many nodes, links or graphs, and keep what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, SupportsIndex

from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from zorro.data.graph_validation import hetero_graphs, listed_graphs
from zorro.errors import InputError
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.model.as_module import as_module, uncalled
from zorro.model.data_model import kwargs_of_graphs
from zorro.model.predictor import Model
from zorro.runs import folder as folders
from zorro.runs.again import QUESTION
from zorro.runs.engines import Engine, EngineName, engine_of
from zorro.runs.given import Device, GivenData, LinksOf, ManyGraphs, OneGraph
from zorro.runs.known import Known
from zorro.runs.manifest import Manifest, describe
from zorro.runs.run import Run, open_run
from zorro.runs.store import Store
from zorro.runs.task import LoadedTask, Outcome, Outcomes, Query, Task
from zorro.runs.typed_graph import ManyTypedGraphs, TypedGraph

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
    known: Known | None = None,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
    **options: Any,
) -> Run:
    """Explain many nodes and keep the explanations in a folder.

    Called again with the same arguments it computes only what is missing, whatever ended it. A
    node that cannot be explained does not end it: see `Run.failures`.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_many
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> run = explain_many(SimpleConv(), club.x, club.edge_index, [9, 11, 17], out="runs/votes")
    >>> run
    Run('runs/votes': 3 of 3 nodes explained, 3 certified, 0 failed)
    >>> [found.nodes for found in run]
    [(33,), (0,), (0, 1)]

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
        known: what things are called and what is true, for whoever reads the run.
        on_outcome: called with each outcome once it is kept.
        options: of `Zorro` and of `Zorro.explain`.
    """
    return _explain_all(
        as_module(model),
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
        known=known,
        on_outcome=on_outcome,
        **options,
    )


def explain_graphs(
    model: Model,
    graphs: Sequence[Data] | Sequence[HeteroData],
    numbers: Iterable[SupportsIndex] | None = None,
    *,
    out: str | Path,
    **options: Any,
) -> Run:
    """Explain a model's answers for many graphs and keep the explanations in a folder.

    Called again with the same arguments it computes only what is missing, as `explain_many`.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from torch_geometric.nn import global_add_pool
    >>> from zorro import explain_graphs
    >>> def most_frequent(x, edge_index, batch):
    ...     return global_add_pool(x, batch)
    >>> bond = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> atoms = torch.eye(2)
    >>> molecules = [Data(x=atoms[kinds], edge_index=bond) for kinds in ([0, 0, 1], [1, 0, 1])]
    >>> run = explain_graphs(most_frequent, molecules, out="runs/molecules", keep=("nodes",))
    >>> [found.nodes for found in run]
    [(0,), (0, 2)]

    Args:
        model: called as `model(x, edge_index, batch=…, **model_kwargs)`.
        graphs: PyG's `Data`: a list, a data set; or a list of its `HeteroData`.
        numbers: which to explain, each once; a mask will do too; all when None.
        out: the run's folder.
        options: how to compute, as `explain_many` takes it from `engine` to `on_outcome`; those of
            `Zorro.of_graphs` and of `Zorro.explain`.
    """
    if (several := hetero_graphs(graphs)) is not None:
        typed = ManyTypedGraphs(several)
        wanted = range(typed.count) if numbers is None else numbers
        return _explain_all(uncalled(model), typed, wanted, out=out, **options)
    data, module = ManyGraphs(listed_graphs(graphs)), as_module(model)
    further = kwargs_of_graphs(module, data.graphs, options.pop("model_kwargs", None))
    options["model_kwargs"] = further
    every = range(data.count) if numbers is None else numbers
    return _explain_all(module, data, every, out=out, **options)


def explain_links(
    model: Model,
    x: Tensor | Features,
    edge_index: Tensor | Edges,
    pairs: Iterable[Sequence[SupportsIndex]] | Tensor,
    *,
    out: str | Path,
    **options: Any,
) -> Run:
    """Explain a model's answers for many links and keep the explanations in a folder.

    Called again with the same arguments it computes only what is missing, as `explain_many`.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_links
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> def friends_alike(x, edge_index, edge_label_index):
    ...     u, v = SimpleConv("mean")(x, edge_index)[edge_label_index]
    ...     return (u * v).sum(1)
    >>> pairs = [(14, 15), (14, 11)]
    >>> run = explain_links(
    ...     friends_alike, club.x, club.edge_index, pairs, out="runs/links", threshold=0.5
    ... )
    >>> [found.predicted_class for found in run]
    [1, 0]
    >>> run.explanation((14, 15)).nodes  # friends of both
    (32, 33)

    Args:
        model: called as `model(x, edge_index, edge_label_index=links, **model_kwargs)`, or with
            `encode` and `decode`, see `Zorro.of_links`.
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), the edges that carry messages.
        pairs: which to explain, each once: pairs of nodes [(u, v), …], or a tensor (2, k) such as
            PyG's `data.edge_label_index`.
        out: the run's folder.
        options: how to compute, as `explain_many` takes it from `engine` to `on_outcome`; those of
            `Zorro.of_links` and of `Zorro.explain`. With `why_not=(u, w)` all pairs begin at u.
    """
    # As it is: what has `encode` and `decode` need not be called as other models are.
    return _explain_all(
        uncalled(model), LinksOf(OneGraph(x, edge_index)), pairs, out=out, **options
    )


def explain_hetero(
    model: Model,
    data: HeteroData,
    target: str | tuple[str, str, str],
    asked: Any,
    *,
    out: str | Path,
    **options: Any,
) -> Run:
    """Explain many nodes of one type, or links between two, and keep the explanations in a folder.

    Called again with the same arguments it computes only what is missing, as `explain_many`.

    >>> import torch
    >>> from torch_geometric.data import HeteroData
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import explain_hetero
    >>> data = HeteroData()
    >>> data["paper"].x = torch.eye(2).repeat(6, 1)  # twelve papers of two fields
    >>> data["author"].x = torch.ones(2, 1)
    >>> by = torch.tensor([[0, 2, 1, 3, 5], [0, 0, 1, 1, 1]])
    >>> data["paper", "by", "author"].edge_index = by
    >>> def fields_of_papers(x_dict, edge_index_dict):
    ...     both = x_dict["paper"], x_dict["author"]
    ...     return SimpleConv()(both, edge_index_dict["paper", "by", "author"])
    >>> run = explain_hetero(fields_of_papers, data, "author", [0, 1], out="runs/authors")
    >>> [found.nodes["paper"] for found in run]
    [(0,), (1, 3)]

    Args:
        model: called as `Zorro.of_hetero` calls it.
        data: PyG's `HeteroData`.
        target: the type whose nodes are asked about, or (source type, relation, target type).
        asked: which to explain, each once: numbers in the type or a mask such as PyG's
            `data["author"].test_mask`; of links pairs [(u, v), …], or a tensor (2, k).
        out: the run's folder.
        options: how to compute, as `explain_many` takes it from `engine` to `on_outcome`; those of
            `Zorro.of_hetero` and of `Zorro.explain`.
    """
    if not isinstance(data, HeteroData):
        raise InputError(f"data: expected PyG's HeteroData, got {type(data).__name__}")
    return _explain_all(uncalled(model), TypedGraph(data, target), asked, out=out, **options)


def _explain_all(
    model: nn.Module,
    data: GivenData,
    asked: Any,
    *,
    out: str | Path,
    engine: EngineName | Engine = "auto",
    device: Device | None = None,
    retry_failed: bool = False,
    known: Known | None = None,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
    **options: Any,
) -> Run:
    """Explain what a run lacks, telling of each outcome; return the run.

    Args:
        model: that answers.
        data: what is explained.
        asked: which of it, as `GivenData.queries` takes it.
        out: the run's folder.
        engine: see `explain_many`; so for the rest.
        device: to which each worker takes model and data.
        retry_failed: explain again what could not be explained.
        known: what things are called and what is true, to be kept beside.
        on_outcome: called with each outcome once it is kept.
        options: of the engine, of `Zorro` and of `Zorro.explain`.
    """
    question, computing = _taken(options, QUESTION), _taken(options, _ENGINE)
    if callable(options.get("output")):
        options["output"] = uncalled(options["output"])  # which knows how to travel
    queries = data.queries(asked)
    task = LoadedTask(model, data, options, data.question(question, queries), device)
    every = [query.key for query in queries]
    recorded = record(
        Path(out),
        task,
        every,
        manifest=describe(task, every),
        engine=engine_of(engine, queries=len(every), **computing),
        retry_failed=retry_failed,
        known=known,
    )
    for outcome in recorded:
        on_outcome(outcome)
    return open_run(out)


def _taken(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Take some of the options out of all."""
    return {name: options.pop(name) for name in names if name in options}


def record(
    path: Path,
    task: Task,
    keys: Sequence[int],
    *,
    manifest: Manifest,
    engine: Engine,
    retry_failed: bool = False,
    known: Known | None = None,
) -> Outcomes:
    """Explain what a run lacks, and yield each outcome once it is kept.

    Args:
        path: of the run's folder.
        task: what is asked of every query.
        keys: of the queries, in order.
        manifest: what is asked, for the record.
        engine: what computes.
        retry_failed: explain again what could not be explained.
        known: what things are called and what is true, to be kept beside.
    """
    with folders.locked(path):
        folders.prepare(path, manifest)
        if known is not None:
            known.write(path)
        with Store(path / folders.OUTCOMES, write=True) as store:
            ended = bytearray(len(keys))  # small whatever the run's size
            for position, key in store.ended(failed_too=not retry_failed):
                # A row about another query than was asked for is replaced, one too many left alone.
                if position in range(len(keys)) and key == keys[position]:
                    ended[position] = 1
            if retry_failed:
                for row in open_run(path).damaged():
                    if row.position is not None and 0 <= row.position < len(keys):
                        ended[row.position] = 0
            missing = (
                Query(position, key) for position, key in enumerate(keys) if not ended[position]
            )
            for outcome in engine.map(task, missing):
                store.add(outcome)
                yield outcome
