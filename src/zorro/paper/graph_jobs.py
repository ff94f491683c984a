"""What is measured on whole graphs: one method on one model, graph by graph."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch_geometric.utils import index_to_mask

from zorro.elements import FEATURES, KEPT, NODES, Kind
from zorro.explainer import Zorro
from zorro.explanation import Explanation
from zorro.methods.masks import Masks
from zorro.methods.random_set import RandomSet
from zorro.methods.subject import Subject
from zorro.methods.subjects import Subjects
from zorro.model.memory import default_budget
from zorro.paper.graph_cells import GraphCell, loaded_graphs
from zorro.paper.jobs import (
    FRESH,
    FRESH_SEED,
    PUBLISHED,
    Measured,
    Place,
    Variant,
    measured_by,
)
from zorro.paper.measures import MEASURES, Worlds


def variant_name(method: str, tau: float, keep: Sequence[Kind]) -> str:
    """Return what a search is called in tables.

    >>> variant_name("zorro", 0.85, ["nodes"]), variant_name("zorro", 0.85, KEPT)
    ('zorro .85', 'zorro .85 with features')
    """
    shown = f"{method} {tau:g}".replace("0.", ".")
    return f"{shown} with features" if FEATURES in keep else shown


@dataclass(frozen=True)
class GraphMethodJob:
    """A method's masks, measured on graphs.

    Args:
        cell: model and graphs.
        variant: the method; its noise is that of the nodes of all graphs.
        nodes: numbers of the graphs.
        measure: of `MEASURES`.
    """

    cell: GraphCell
    variant: Variant
    nodes: tuple[int, ...]
    measure: str = "as given"

    def __hash__(self) -> int:
        return hash((self.cell, self.name))

    @property
    def name(self) -> str:
        """Names its run."""
        return self.variant.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {
            "method": self.variant.method,
            "options": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in self.variant.options.items()
            },
            "noise": self.variant.noise,
            "measure": self.measure,
            "fresh_samples": FRESH,
            "tau": self.variant.options.get("tau"),
        }

    def open(self, place: Place) -> Measured:
        """Return what measures a graph."""
        subjects, worlds = _prepared(self.cell, place, noise=self.variant.noise)
        return measured_by(self.variant, self.measure, subjects, worlds, place)


@dataclass(frozen=True)
class CertifiedJob:
    """Certified explanations of graphs, beside random sets of as many elements.

    Args:
        cell: model and graphs.
        tau: the fidelity that is to be proved.
        nodes: numbers of the graphs.
        keep: what sets may be of.
    """

    cell: GraphCell
    tau: float
    nodes: tuple[int, ...]
    keep: tuple[Kind, ...] = KEPT

    @property
    def name(self) -> str:
        """Names its run."""
        return variant_name("certified", self.tau, self.keep)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {"tau": self.tau, "keep": list(self.keep), "fresh_samples": FRESH}

    def open(self, place: Place) -> Measured:
        """Return what measures a graph."""
        model, graphs = loaded_graphs(self.cell, place.device)
        subjects, worlds = _prepared(self.cell, place)
        zorro = Zorro.of_graphs(
            model,
            graphs.graphs,
            tau=self.tau,
            keep=self.keep,
            seed=place.seed,
            memory=worlds.memory,
        )

        def measured(graph: int) -> dict[str, Any]:
            started = time.perf_counter()
            explanation = zorro.explain(graph)
            seconds = time.perf_counter() - started
            subject = subjects.of(graph)
            masks = _masks(explanation, subject)
            chance = worlds.of(subject, _as_many(masks, subject))
            return {
                "node": graph,
                "candidates": subject.candidates,
                **MEASURES["as given"](subject, masks, worlds),
                "random fidelity": chance["fidelity"],
                "certified": explanation.certified,
                "status": explanation.status,
                "evaluator": explanation.evaluator,
                "seconds": seconds,
                "on": place.hardware,
            }

        return measured


def _prepared(
    cell: GraphCell, place: Place, *, noise: str = "column-marginals"
) -> tuple[Subjects, Worlds]:
    """Return a cell's predictions, and noise that no method has seen."""
    model, graphs = loaded_graphs(cell, place.device)
    subjects = Subjects.of_graphs(model, graphs.graphs, noise=noise, seed=place.seed)
    memory = default_budget(torch.device(place.device)) // place.workers
    fresh = range(PUBLISHED, PUBLISHED + FRESH)
    return subjects, Worlds(subjects.noise, fresh, place.seed + FRESH_SEED, memory)


def _masks(explanation: Explanation, subject: Subject) -> Masks:
    """Return an explanation's sets as masks; what is not selectable has none."""
    x = subject.graph.candidate_x
    sizes = dict(zip(KEPT, x.shape, strict=True))
    masks = {
        kind: index_to_mask(torch.tensor(members, dtype=torch.long), sizes[kind]).to(x.device)
        for kind in KEPT
        if (members := explanation.selected.get(kind)) is not None
    }
    return Masks(nodes=masks.get(NODES), features=masks.get(FEATURES))


def _as_many(masks: Masks, subject: Subject) -> Masks:
    """Return random masks that select as many elements of each kind."""
    nodes, columns = subject.graph.candidate_x.shape
    sizes = (
        nodes if masks.nodes is None else int(masks.nodes.sum()),
        columns if masks.features is None else int(masks.features.sum()),
    )
    drawn = RandomSet(sizes).explain(subject)
    return Masks(nodes=drawn.nodes, features=None if masks.features is None else drawn.features)
