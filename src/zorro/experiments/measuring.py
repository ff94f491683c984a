"""Measure methods on query nodes; what is finished is kept in runs and not computed again."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from zorro.experiments.cells import Cell
from zorro.experiments.experiment import Settings
from zorro.explainers import build
from zorro.explainers.evaluation import evaluate
from zorro.explainers.subjects import Subjects
from zorro.noise import resolve
from zorro.runs.manifest import assembled, digest, model_digest
from zorro.runs.run import Run, record
from zorro.runs.task import Answer

FRESH = 1000  # samples on which sets are measured
FRESH_SEED = 1  # of noise that no method has seen


@dataclass(frozen=True)
class Variant:
    """A method with its options, in one of two settings.

    Args:
        name: in the tables.
        method: of `zorro.explainers`.
        options: of the method.
        reference: whether it looks at the truncated graph, as the published code does, instead of
            one that keeps the whole graph's prediction.
    """

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    reference: bool = False


@dataclass(frozen=True)
class Measurement:
    """What was measured of one explanation."""

    values: Mapping[str, float | None]
    status: str = "measured"
    certified: bool = False

    def to_json(self) -> str:
        """Return the values as one line."""
        return json.dumps(dict(self.values))


@dataclass(frozen=True)
class MeasuringTask:
    """Explains with one variant in one cell, and measures what it says."""

    cell: Cell
    variant: Variant
    seed: int

    def open(self, *, workers: int = 1) -> Answer:
        """Return what measures a node."""
        model, data = _loaded(self.cell)
        cut = {"halo": 0, "check": "none"} if self.variant.reference else {}
        subjects = Subjects(model, data.x, data.edge_index, seed=self.seed, **cut)
        whole = {"model": model, "x": data.x, "edge_index": data.edge_index}
        method = build(self.variant.method, **self.variant.options, **_wanted(self.variant, whole))
        noise = resolve("column-marginals", data.x)

        def measure(node: int) -> Measurement:
            subject = subjects.of(node)
            started = time.perf_counter()
            masks = method.explain(subject)
            seconds = time.perf_counter() - started
            values = asdict(
                evaluate(subject, masks, noise, samples=FRESH, seed=self.seed + FRESH_SEED)
            )
            return Measurement({**values, "seconds": seconds})

        return measure


@cache
def _loaded(cell: Cell) -> tuple[Any, Any]:
    return cell.load()


def _wanted(variant: Variant, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the graph for methods that are trained on it."""
    return whole if variant.method == "pgexplainer" else {}


def measured(
    experiment: str, cell: Cell, variant: Variant, nodes: Sequence[int], settings: Settings
) -> list[dict[str, float | None]]:
    """Return a variant's measurements in a cell, node by node, without those that failed."""
    model, data = _loaded(cell)
    manifest = assembled(
        nodes,
        asked={"experiment": experiment, "subject": f"{variant.name} on {cell}"},
        data={"name": cell.dataset, "sha256": digest(data.x, data.edge_index)},
        model={"class": cell.model, "sha256": model_digest(model)},
        parameters={**asdict(variant), "seed": settings.seed, "fresh_samples": FRESH, "tau": None},
    )
    where = "reference" if variant.reference else "ours"
    path = settings.runs / where / str(cell).replace(" ", "-") / variant.name.replace(" ", "-")
    task = MeasuringTask(cell, variant, settings.seed)
    for outcome in record(path, task, nodes, manifest=manifest, engine=settings.engine):
        settings.on_outcome(f"{cell}, {variant.name}", outcome)
    kept = (outcome.explanation for outcome in Run(path).outcomes(failed=False))
    return [json.loads(text) for text in kept if text is not None]


def mean(rows: Sequence[Mapping[str, float | None]], measure: str) -> float | None:
    """Return the mean of a measure; None if a method does not have it."""
    values = [row[measure] for row in rows if row.get(measure) is not None]
    return sum(values) / len(values) if values else None  # type: ignore[arg-type]
