"""Explain many nodes or graphs, and read what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from torch import Tensor
from torch_geometric.data import Data

from zorro.arguments import whole_number, whole_numbers
from zorro.data.graph_validation import listed_graphs
from zorro.elements import KINDS
from zorro.errors import InputError, MissingExtraError, RunError
from zorro.explanation import Explanation, GraphSummary
from zorro.graph.edge_index import Edges
from zorro.graph.features import Features
from zorro.model.function_model import as_module
from zorro.model.predictor import Model
from zorro.question import Level
from zorro.runs import folder as folders
from zorro.runs.engines import Engine, EngineName, engine_of
from zorro.runs.flat import flat_rows
from zorro.runs.given import Device, GivenData, ManyGraphs, OneGraph
from zorro.runs.manifest import Manifest, describe
from zorro.runs.store import Counts, DamagedRow, Store
from zorro.runs.task import GivenTask, Outcome, Outcomes, Query, Task

if TYPE_CHECKING:
    import pandas

_QUESTION = ("why_not", "contrast")
_ENGINE = ("workers", "threads", "address", "gpus_per_worker")


@dataclass(frozen=True)
class Failure:
    """A node or graph that could not be explained, and why."""

    node: int  # or the graph's number, as the run's level says
    error: str
    trace: str | None


Row = Explanation | Failure | DamagedRow


def described(row: DamagedRow, level: Level) -> str:
    """Say which row of a run of that level is damaged, and why."""
    where = "a row" if row.position is None else f"row {row.position}"
    whose = "" if row.node is None else f" ({level} {row.node})"
    return f"{where}{whose} is damaged: {row.reason}"


class Run:
    """What is kept of a run, read while it goes on or after it.

    >>> run = open_run("runs/cora")                                # doctest: +SKIP
    >>> [len(explanation.nodes) for explanation in run]            # doctest: +SKIP
    [2, 3, 1]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest: Manifest = folders.read_manifest(self.path)

    def __iter__(self) -> Iterator[Explanation]:
        """Yield the explanations, in the order in which they were asked for.

        A damaged row raises `RunError`; with `rows` the others can be read.
        """
        for row in self.rows(failed=False):
            if isinstance(row, DamagedRow):
                raise RunError(
                    f"{self.path}: {described(row, self.level)}: the other rows can be read"
                )
            if isinstance(row, Explanation):
                yield row

    def __len__(self) -> int:
        return self.counts().explained

    def __repr__(self) -> str:
        counts = self.counts()
        return (
            f"Run({str(self.path)!r}: {counts.explained} of {self.asked} {self.level}s "
            f"explained, "
            f"{counts.certified} certified, {counts.failed} failed)"
        )

    @property
    def asked(self) -> int:
        """How many nodes or graphs were asked for."""
        return int(self.manifest["queries"]["count"])

    def counts(self) -> Counts:
        """Return how many queries have ended, and how."""
        if not (self.path / folders.OUTCOMES).exists():
            return Counts(0, 0, 0)
        with self._store() as store:
            return store.counts()

    def median_sizes(self) -> dict[str, float]:
        """Return the median number of elements that explanations hold of each selectable kind."""
        kinds = self.manifest["parameters"].get("keep", KINDS)
        with self._store() as store:
            return {kind: store.median_length(kind) for kind in kinds if kind in KINDS}

    def explanation(self, node: SupportsIndex) -> Explanation:
        """Return the explanation of a node, or of a graph in a run of graphs."""
        node = whole_number(self.level, node)
        for row in self.rows(node=node):
            if isinstance(row, Failure):
                raise InputError(f"{self.level}: {node} could not be explained: {row.error}")
            if isinstance(row, DamagedRow):
                raise RunError(f"{self.path}: {described(row, self.level)}")
            return row
        raise InputError(f"{self.level}: {node} has not been explained in {self.path}")

    def explanations(self) -> Iterator[Explanation]:
        """Yield the explanations that can be read; of damaged rows only `rows` tells."""
        for row in self.rows(failed=False):
            if isinstance(row, Explanation):
                yield row

    def failures(self) -> list[Failure]:
        """Return the nodes or graphs that could not be explained."""
        return [row for row in self.rows(failed=True) if isinstance(row, Failure)]

    def damaged(self) -> list[DamagedRow]:
        """Return the rows that cannot be read."""
        return [row for row in self.rows() if isinstance(row, DamagedRow)]

    def rows(self, **which: Any) -> Iterator[Row]:
        """Yield every row in the order in which it was asked for, whatever became of it.

        An explanation, a failure, or a damaged row with the reason why it cannot be used: columns
        of other types, a text that is no explanation, one of another query, or one that disagrees
        with the row about what was shown. If the file itself ends in the middle, the last one is
        damaged and says so.

        Args:
            which: see `Store.rows`.
        """
        for _, row in self.stored_rows(**which):
            yield row

    def stored_rows(self, **which: Any) -> Iterator[tuple[Outcome | None, Row]]:
        """Yield every row as it is stored and as `rows` does; the former is None if it is damaged.

        Args:
            which: see `Store.rows`.
        """
        if not (self.path / folders.OUTCOMES).exists():
            return
        with self._store() as store:
            try:
                for stored in store.rows(**which):
                    if isinstance(stored, DamagedRow):
                        yield None, stored
                        continue
                    row = self._row(stored)
                    yield None if isinstance(row, DamagedRow) else stored, row
            except RunError as error:
                yield None, DamagedRow(None, None, str(error))

    def outcomes(self, **which: Any) -> Iterator[Outcome]:
        """Yield what the store holds, see `Store.outcomes`."""
        if not (self.path / folders.OUTCOMES).exists():
            return
        with self._store() as store:
            yield from store.outcomes(**which)

    def frame(self) -> pandas.DataFrame:
        """Return one row per query, see `flat.columns`."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("a data frame", "runs") from None
        return pandas.DataFrame(list(flat_rows(self.stored_rows(), self.level)))

    def _row(self, outcome: Outcome) -> Row:
        """Return what an outcome stands for, if it is consistent."""
        query = outcome.query
        if outcome.explanation is None:
            return Failure(query.node, outcome.error or "", outcome.trace)
        if not 0 <= query.position < self.asked:
            return DamagedRow(
                query.position, query.node, f"position: {self.asked} {self.level}s were asked for"
            )
        try:
            found = Explanation.from_json(outcome.explanation)
        except InputError as error:
            return DamagedRow(query.position, query.node, str(error))
        told = (query.node, outcome.status, outcome.certified)
        if found.status == "conditional":  # which earlier versions called something else
            told = (query.node, "conditional", False)
        if (found.query.index, found.status, found.certified) != told:
            reason = f"{self.level}, status or certified: not those of the explanation"
            return DamagedRow(query.position, query.node, reason)
        if found.query.level != self.level:
            reason = f"level: {found.query.level}, in a run of level {self.level}"
            return DamagedRow(query.position, query.node, reason)
        if not self._is_about_its_data(found.graph):
            return DamagedRow(query.position, query.node, "graph: another size than the run's")
        return found

    @property
    def level(self) -> Level:
        """Whether nodes of one graph were asked about, or graphs of several."""
        return "graph" if "graphs" in self.manifest["data"] else "node"

    def _is_about_its_data(self, graph: GraphSummary) -> bool:
        """Whether a graph has the size that the run's has, or that one of its graphs can have."""
        nodes: int = self.manifest["data"]["nodes"]
        features: int = self.manifest["data"]["features"]
        fits = graph.num_nodes == nodes if self.level == "node" else graph.num_nodes <= nodes
        return fits and graph.num_features == features

    def _store(self) -> Store:
        return Store(self.path / folders.OUTCOMES)


def open_run(path: str | Path) -> Run:
    """Return a run that `explain_many`, `explain_graphs` or `zorro explain --out` made."""
    return Run(path)


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
