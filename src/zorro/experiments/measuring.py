"""Measure methods on query nodes; what is finished is kept in runs and not computed again."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from torch import Tensor

from zorro.experiments.cells import Cell
from zorro.experiments.experiment import Settings
from zorro.explainers.evaluation import evaluate
from zorro.explainers.masks import Masks
from zorro.explainers.registry import build_with
from zorro.explainers.subject import Subject
from zorro.explainers.subjects import Subjects
from zorro.metrics import nodes_of_top_edges, top_k
from zorro.noise import resolve
from zorro.runs.manifest import assembled, digest, model_digest
from zorro.runs.run import Run, record
from zorro.runs.task import Answer

FRESH = 1000  # samples on which sets are measured
TRAINING_NODES = 140  # that PGExplainer is trained on, at most
TOP = 5  # nodes that a soft mask is cut down to, the size of a house
FRESH_SEED = 1  # of noise that no method has seen


@dataclass(frozen=True)
class Variant:
    """A method with its options, in one of two settings.

    Args:
        name: in the tables.
        method: of `zorro.explainers`.
        options: of the method.
        noise: that it searches with; all are measured on column marginals.
        reference: whether it looks at the truncated graph, as the published code does, instead of
            one that keeps the whole graph's prediction.
    """

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    noise: str = "column-marginals"
    reference: bool = False


@dataclass(frozen=True)
class Measurement:
    """What was measured of one explanation."""

    values: Mapping[str, Any]
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
        cut: dict[str, Any] = {"halo": 0, "check": "none"} if self.variant.reference else {}
        subjects = Subjects(
            model, data.x, data.edge_index, noise=self.variant.noise, seed=self.seed, **cut
        )
        context = {
            "subjects": subjects,
            "noise": subjects.noise,
            "training_nodes": data.train_mask.nonzero().flatten().tolist()[:TRAINING_NODES],
        }
        method = build_with(self.variant.method, context, **self.variant.options)
        noise = resolve("column-marginals", data.x)

        def measure(node: int) -> Measurement:
            subject = subjects.of(node)
            started = time.perf_counter()
            masks = method.explain(subject)
            seconds = time.perf_counter() - started
            values = asdict(
                evaluate(subject, masks, noise, samples=FRESH, seed=self.seed + FRESH_SEED)
            )
            return Measurement({**values, **_chosen(subject, masks), "seconds": seconds})

        return measure


def _chosen(subject: Subject, masks: Masks) -> dict[str, Any]:
    """Return the ids of the nodes that were selected, or of the five that count most."""
    candidates = subject.graph.candidates
    chosen: Tensor | None = None
    if masks.edges is not None:
        graph = subject.graph
        every = nodes_of_top_edges(
            masks.edges, edge_index=graph.edge_index, num_nodes=graph.x.size(0), at_least=TOP
        )
        chosen = every[: candidates.numel()]
    elif masks.nodes is not None and _is_hard(masks.nodes):
        chosen = masks.nodes.bool()
    elif masks.nodes is not None:
        chosen = top_k(masks.nodes, k=TOP)
    return {
        "node": subject.graph.query,
        "candidates": candidates.numel(),
        "chosen": None if chosen is None else candidates[chosen].tolist(),
    }


def _is_hard(mask: Tensor) -> bool:
    return bool(((mask == 0) | (mask == 1)).all())


@cache
def _loaded(cell: Cell) -> tuple[Any, Any]:
    return cell.load()


def measured(
    experiment: str, cell: Cell, variant: Variant, nodes: Sequence[int], settings: Settings
) -> list[dict[str, Any]]:
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


def mean(rows: Sequence[Mapping[str, Any]], measure: str) -> float | None:
    """Return the mean of a measure; None if a method does not have it."""
    values = [float(row[measure]) for row in rows if row.get(measure) is not None]
    return sum(values) / len(values) if values else None
