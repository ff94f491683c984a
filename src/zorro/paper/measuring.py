"""Measure; what is finished is kept in runs and not computed again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from zorro.files.plain_json import parse
from zorro.paper.cells import NodeCell
from zorro.paper.experiment import Settings
from zorro.paper.graph_cells import GraphCell, loaded_graphs
from zorro.paper.jobs import Job, Measured, Place, loaded
from zorro.runs import folder as folders
from zorro.runs.digests import digest, model_digest
from zorro.runs.manifest import Manifest, assembled
from zorro.runs.run import Run
from zorro.runs.store import Store
from zorro.runs.task import Answer, Query

Row = dict[str, Any]


@dataclass(frozen=True)
class Measurement:
    """What was measured at one node."""

    values: Row
    status: str = "measured"
    certified: bool = False

    def to_json(self) -> str:
        """Return the values as one line."""
        return json.dumps(self.values)


@dataclass(frozen=True)
class JobsTask:
    """Several jobs for the same workers; a query is a place in `items`.

    Args:
        jobs: opened when they are first met.
        items: (job, node).
        place: where.
    """

    jobs: Sequence[Job]
    items: Sequence[tuple[int, int]]
    place: Place

    def open(self, *, workers: int = 1) -> Answer:
        """Return what measures an item."""
        place = replace(self.place, workers=workers)
        opened: dict[int, Measured] = {}

        def answer(item: int) -> Measurement:
            job, node = self.items[item]
            if job not in opened:
                opened[job] = self.jobs[job].open(place)
            return Measurement(opened[job](node))

        return answer


@dataclass(frozen=True)
class Part:
    """The nodes at which jobs are measured.

    Args:
        first: how many of every job's; all when None.
        counts: further limits, by a job's name.
        only: these, instead of the first ones.
    """

    first: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    only: Collection[int] | None = None

    def of(self, job: Job) -> list[int]:
        """Return those of a job."""
        if self.only is not None:
            return [node for node in job.nodes if node in self.only]
        limits = (len(job.nodes), self.first, self.counts.get(job.name))
        return list(job.nodes[: min(limit for limit in limits if limit is not None)])


class Measurements:
    """Rows by job, of a part of its nodes, and what they were made with."""

    def __init__(self, runs: Path, part: Part) -> None:
        self._runs = runs
        self._part = part
        self._made: dict[str, None] = {}

    def of(self, job: Job, *, device: str | None = None) -> list[Row]:
        """Return what is kept of a job, in the order of its nodes.

        Args:
            job: which.
            device: on which it was measured; any when None, and then each node once.
        """
        by_node: dict[int, Row] = {}
        for each in [device] if device else _devices(self._runs):
            path = _path(self._runs, each, job)
            if not folders.is_run(path):
                continue
            run = Run(path)
            found = [
                parse(outcome.explanation)
                for outcome in run.outcomes(failed=False)
                if outcome.explanation is not None
            ]
            by_node = {row["node"]: row for row in found} | by_node
            for hardware in dict.fromkeys(row["on"] for row in found):
                self._made[_made_with(run.manifest, hardware)] = None
        return [by_node[node] for node in self._part.of(job) if node in by_node]

    @property
    def made_with(self) -> tuple[str, ...]:
        """Versions and hardware behind the rows that were asked for."""
        return tuple(self._made)


def measure(
    jobs: Sequence[Job],
    settings: Settings,
    *,
    counts: Mapping[str, int] | None = None,
    only: Collection[int] | None = None,
) -> Measurements:
    """Measure what is missing of several jobs, the first node of all before the second of any.

    What failed is tried again.

    Args:
        jobs: what.
        settings: how; `settings.nodes` limits the nodes of every job.
        counts: further limits, by a job's name.
        only: these nodes, instead of the first ones.
    """
    part = Part(settings.nodes, counts or {}, only)
    if settings.measures:
        _record(jobs, settings, part)
    return Measurements(settings.runs, part)


def is_kept(job: Job, settings: Settings) -> bool:
    """Whether measuring a job was begun, on any device."""
    paths = (_path(settings.runs, device, job) for device in _devices(settings.runs))
    return any(folders.is_run(path) for path in paths)


def _record(jobs: Sequence[Job], settings: Settings, part: Part) -> None:
    with ExitStack() as stack:
        stores = []
        missing: list[tuple[int, int, int]] = []  # position, job, node
        for place, job in enumerate(jobs):
            path = _path(settings.runs, settings.device, job)
            stack.enter_context(folders.locked(path))
            folders.prepare(path, _manifest(job, settings))
            stores.append(stack.enter_context(Store(path / folders.OUTCOMES, write=True)))
            ended = set(stores[-1].ended(failed_too=False))  # positions and nodes
            asked = set(part.of(job))
            missing += [
                (at, place, node)
                for at, node in enumerate(job.nodes)
                if (at, node) not in ended and node in asked
            ]
        missing.sort()
        task = JobsTask(
            jobs,
            [(job, node) for _, job, node in missing],
            Place(settings.device, settings.seed),
        )
        queries = (Query(item, item) for item in range(len(missing)))
        for outcome in settings.engine.map(task, queries):
            at, place, node = missing[outcome.query.position]
            outcome = replace(outcome, query=Query(at, node))
            stores[place].add(outcome)
            settings.on_outcome(f"{jobs[place].cell}, {jobs[place].name}", outcome)


def _path(runs: Path, device: str, job: Job) -> Path:
    return runs / device / _slug(str(job.cell)) / _slug(job.name)


def _slug(text: str) -> str:
    return text.replace(" ", "-").replace("/", "-")


def _devices(runs: Path) -> list[str]:
    return sorted(path.name for path in runs.iterdir()) if runs.is_dir() else []


def _manifest(job: Job, settings: Settings) -> Manifest:
    model, tensors = _sources(job.cell)
    return assembled(
        job.nodes,
        asked={"subject": f"{job.name} on {job.cell}"},
        data={"name": job.cell.dataset, "sha256": digest(*tensors)},
        model={"class": job.cell.model, "sha256": model_digest(model)},
        # As they will be read back: a tuple comes back as a list.
        parameters=json.loads(json.dumps({**job.parameters, "seed": settings.seed})),
    )


def _sources(cell: NodeCell | GraphCell) -> tuple[nn.Module, list[Tensor]]:
    """Return a cell's model and data, by which a run is recognised."""
    if isinstance(cell, GraphCell):
        model, dataset = loaded_graphs(cell)
        return model, [part for graph in dataset.graphs for part in (graph.x, graph.edge_index)]
    model, graph = loaded(cell)
    return model, [graph.x, graph.edge_index]


def _made_with(manifest: Manifest, hardware: str) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    return f"{hardware}: Python {manifest['made']['python']}, {versions}"


def mean(rows: Sequence[Row], measure: str) -> float | None:
    """Return the mean of a measure; None if a method does not have it."""
    values = list(values_of(rows, measure))
    return sum(values) / len(values) if values else None


def values_of(rows: Sequence[Row], measure: str) -> Iterator[float]:
    """Yield a measure's values, without rows that lack it.

    A mask that selects nothing has no distribution, hence no entropy; the published means of
    entropies leave such explanations out as well.
    """
    for row in rows:
        is_missing = measure.endswith("_entropy") and is_empty(row)
        if row.get(measure) is not None and not is_missing:
            yield float(row[measure])


def is_empty(row: Row) -> bool:
    """Whether an explanation selects nothing."""
    return row.get("chosen") == []
