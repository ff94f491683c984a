"""What is measured: one method on one model, node by node."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, Protocol

import torch
from torch import nn
from torch_geometric.data import Data

from zorro.explainer import Zorro
from zorro.methods.registry import Method, build_with, methods_in
from zorro.methods.subjects import Subjects
from zorro.model.memory import default_budget
from zorro.paper.cells import NodeCell
from zorro.paper.graph_cells import GraphCell
from zorro.paper.measures import MEASURES, Worlds

FRESH = 200  # samples on which sets are measured; a mean over 300 nodes is exact to .002
PUBLISHED = 100  # samples of the paper's
PUBLISHED_SEED = 12345  # of the published code's noise
FRESH_SEED = 1  # of noise that no method has seen
TRAINING_NODES = 140  # that PGExplainer is trained on, at most
PAPER_TAU = {".85": 0.85, ".98": 0.97}  # the published τ = .98 was run as "above .97"

Measured = Callable[[int], dict[str, Any]]


@dataclass(frozen=True)
class Place:
    """Where measurements are made.

    Args:
        device: of model and graph.
        seed: of noise and of methods that draw.
        workers: that share the device's memory.
    """

    device: str = "cpu"
    seed: int = 0
    workers: int = 1

    @property
    def hardware(self) -> str:
        """What the device is."""
        return torch.cuda.get_device_name(self.device) if "cuda" in self.device else "CPU"


class Job(Protocol):
    """Something to measure at the queries of a cell; a run of its own keeps what came."""

    @property
    def name(self) -> str:
        """Names its run, together with the cell."""
        ...

    @property
    def cell(self) -> NodeCell | GraphCell:
        """Model and graph, or graphs."""
        ...

    @property
    def nodes(self) -> tuple[int, ...]:
        """Every node at which it may be measured, or every graph by its number."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        ...

    def open(self, place: Place) -> Measured:
        """Return what measures a query."""
        ...


@dataclass(frozen=True)
class Variant:
    """A method with its options, in one of two settings.

    Args:
        name: in the tables.
        method: of `zorro.explainers`.
        options: of the method.
        reference: whether it looks at the truncated graph, as the published code does, instead of
            one that keeps the whole graph's prediction. Then the published code's noise is used
            too, one set of samples both to search and to measure.
        source: a Python file that registers the method, if it is not the library's.
    """

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    reference: bool = False
    source: str | None = None

    @property
    def noise(self) -> str:
        """That it searches with and is measured on."""
        return "published" if self.reference else "column-marginals"

    def built(self, context: Mapping[str, Any]) -> Method:
        """Return the method, with those parts of the context that it takes."""
        if self.source is not None:
            methods_in(self.source)  # in a worker it is not registered yet
        return build_with(self.method, context, **self.options)

    def referring(self) -> Variant:
        """Return the same in the published setting."""
        return replace(self, reference=True)


@dataclass(frozen=True)
class MethodJob:
    """A method's masks, measured.

    Args:
        cell: model and graph.
        variant: the method.
        measure: of `MEASURES`.
        nodes: where; the paper's query nodes unless others are given.
    """

    cell: NodeCell
    variant: Variant
    measure: str = "as given"
    nodes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.nodes:
            object.__setattr__(self, "nodes", tuple(self.cell.nodes()))

    def __hash__(self) -> int:
        return hash((self.cell, self.name))

    @property
    def name(self) -> str:
        """Names its run."""
        where = " reference" if self.variant.reference else ""
        how = "" if self.measure == "as given" else f" {self.measure}"
        return f"{self.variant.name}{where}{how}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {
            **{k: v for k, v in asdict(self.variant).items() if k != "source"},
            "noise": self.variant.noise,
            "measure": self.measure,
            "fresh_samples": FRESH,
            "tau": self.variant.options.get("tau"),
        }

    def open(self, place: Place) -> Measured:
        """Return what measures a node."""
        model, data = loaded(self.cell, place.device)
        reference: dict[str, Any] = {"halo": 0, "check": "none"} if self.variant.reference else {}
        seed = PUBLISHED_SEED if self.variant.reference else place.seed
        subjects = Subjects(
            model, data.x, data.edge_index, noise=self.variant.noise, seed=seed, **reference
        )
        memory = default_budget(data.x.device) // place.workers
        training = data.train_mask.nonzero().flatten().tolist()[:TRAINING_NODES]
        worlds = (
            Worlds(subjects.noise, range(PUBLISHED), seed, memory)
            if self.variant.reference
            else Worlds(
                subjects.noise, range(PUBLISHED, PUBLISHED + FRESH), seed + FRESH_SEED, memory
            )
        )
        return measured_by(
            self.variant, self.measure, subjects, worlds, place, training_queries=training
        )


def measured_by(
    variant: Variant,
    measure: str,
    subjects: Subjects,
    worlds: Worlds,
    place: Place,
    **context: Any,
) -> Measured:
    """Return what measures a method at a query.

    Args:
        variant: the method.
        measure: of `MEASURES`.
        subjects: the predictions, by their queries.
        worlds: on which masks are measured.
        place: where.
        context: what else there is for methods that take it.
    """
    given = {"subjects": subjects, "noise": subjects.noise, "memory": worlds.memory, **context}
    method = variant.built(given)

    def measured(query: int) -> dict[str, Any]:
        subject = subjects.of(query)
        started = time.perf_counter()
        masks = method.explain(subject)
        seconds = time.perf_counter() - started
        return {
            "node": query,
            "candidates": subject.candidates,
            **MEASURES[measure](subject, masks, worlds),
            "seconds": seconds,
            "on": place.hardware,
        }

    return measured


@dataclass(frozen=True)
class MultiplicityJob:
    """How many disjoint explanations a prediction has.

    Args:
        cell: model and graph.
        tau: that each is to reach.
        most: stop at this many.
    """

    cell: NodeCell
    tau: float = 0.85
    most: int = 10

    @property
    def name(self) -> str:
        """Names its run."""
        return f"multiplicity {self.tau}"

    @property
    def nodes(self) -> tuple[int, ...]:
        """The paper's query nodes."""
        return tuple(self.cell.nodes())

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {"tau": self.tau, "most": self.most, "search": "paper"}

    def open(self, place: Place) -> Measured:
        """Return what measures a node."""
        model, data = loaded(self.cell, place.device)
        zorro = Zorro(
            model,
            data.x,
            data.edge_index,
            tau=self.tau,
            delta=None,
            search="paper",
            seed=place.seed,
            memory=default_budget(data.x.device) // place.workers,
        )

        def measured(node: int) -> dict[str, Any]:
            started = time.perf_counter()
            found = zorro.explain_multiple(node, max_explanations=self.most)
            reached = [each for each in found if each.status == "reached"]
            return {
                "node": node,
                "explanations": len(reached),
                "seconds": time.perf_counter() - started,
                "on": place.hardware,
            }

        return measured


@cache
def loaded(cell: NodeCell, device: str = "cpu") -> tuple[nn.Module, Data]:
    """Return a cell's model and graph on a device."""
    model, data = cell.load()
    return model.to(device), data.to(device)
