"""What is measured on molecules with known truth: our sets and rankings, and other methods'."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch_geometric.utils import index_to_mask

from zorro.explainer import Zorro
from zorro.explanation import Explanation
from zorro.methods.subjects import Subjects
from zorro.metrics import top_k
from zorro.model.memory import default_budget
from zorro.paper.graph_cells import GraphCell, loaded_graphs
from zorro.paper.jobs import Measured, Place, Variant
from zorro.paper.measures import is_hard
from zorro.paper.molecules import (
    best_auroc,
    best_match,
    ranks_of,
    truths_of,
)

_BONDS = {"edge_attr": "edge_attr"}  # what the model takes besides atoms and who is bound
_SAMPLES = 500  # on which the ring alone and nothing at all are measured


@dataclass(frozen=True)
class SearchJob:
    """Our sets of atoms, and the order in which atoms matter, against the ring.

    Args:
        cell: model and molecules.
        name: in the table.
        nodes: which molecules.
        options: of `Zorro`.
        union: take all atoms of several disjoint explanations together.
    """

    cell: GraphCell
    name: str
    nodes: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    union: bool = False

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {**self.options, "keep": ["nodes"], "union": self.union}

    def open(self, place: Place) -> Measured:
        """Return what measures a molecule."""
        model, dataset = loaded_graphs(self.cell, place.device)
        molecules = dataset.graphs
        zorro = Zorro.of_graphs(
            model,
            molecules,
            keep=("nodes",),
            model_kwargs=_BONDS,
            seed=place.seed,
            memory=default_budget(molecules[0].x.device) // place.workers,
            **self.options,
        )

        def measured(number: int) -> dict[str, Any]:
            started = time.perf_counter()
            found = zorro.explain_multiple(number) if self.union else [zorro.explain(number)]
            seconds = time.perf_counter() - started
            first = found[0]
            truths = truths_of(molecules[number])
            chosen = sorted({node for each in found for node in each.nodes})
            row: dict[str, Any] = {
                "node": number,
                "on": place.hardware,
                "seconds": seconds,
                "status": first.status,
                "certified": first.certified,
                "predicted": first.predicted_class,
                "candidates": first.graph.num_nodes,
                "explanations": len(found),
                "chosen": len(chosen),
                **best_match(_as_mask(chosen, first.graph.num_nodes), truths),
                **_fidelities(zorro, number, truths),
            }
            return row if self.union else row | _ranking(zorro, first, truths)

        return measured


@dataclass(frozen=True)
class OtherJob:
    """Another method's scores of atoms, or its set, against the ring.

    Args:
        cell: model and molecules.
        variant: the method.
        nodes: which molecules.
        most: atoms that soft masks are cut down to.
    """

    cell: GraphCell
    variant: Variant
    nodes: tuple[int, ...]
    most: int

    @property
    def name(self) -> str:
        """Names its run."""
        return self.variant.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {"method": self.variant.method, **self.variant.options, "cut": self.most}

    def open(self, place: Place) -> Measured:
        """Return what measures a molecule."""
        model, dataset = loaded_graphs(self.cell, place.device)
        molecules = dataset.graphs
        subjects = Subjects.of_graphs(model, molecules, seed=place.seed, model_kwargs=_BONDS)
        method = self.variant.built({"subjects": subjects})

        def measured(number: int) -> dict[str, Any]:
            subject = subjects.of(number)
            started = time.perf_counter()
            nodes = method.explain(subject).nodes
            seconds = time.perf_counter() - started
            assert nodes is not None, "a method that ranks no nodes"
            nodes = nodes.detach().cpu()
            truths = truths_of(molecules[number])
            # Where a model is so sure that there is no gradient, all is 0 and nothing is chosen.
            chosen = (
                nodes.bool() if is_hard(nodes) else top_k(nodes, k=min(self.most, nodes.numel()))
            )
            return {
                "node": number,
                "on": place.hardware,
                "seconds": seconds,
                "predicted": subject.predicted_class,
                "candidates": nodes.numel(),
                "auroc": best_auroc(nodes, truths),
                "chosen": int(chosen.sum()),
                **best_match(chosen, truths),
            }

        return measured


def _fidelities(zorro: Zorro, number: int, truths: Tensor) -> dict[str, float]:
    """Return how often the answer stays with nothing kept, and with the first truth alone."""
    kept: dict[str, list[int]] = {"chance": []}
    if len(truths):
        kept["ring"] = truths[0].nonzero().flatten().tolist()
    return {
        name: zorro.fidelity(number, nodes=nodes, samples=_SAMPLES).value
        for name, nodes in kept.items()
    }


def _ranking(zorro: Zorro, explanation: Explanation, truths: Tensor) -> dict[str, Any]:
    """Return how the order in which atoms matter fits the truths, and the set of the helpful."""
    size = explanation.graph.num_nodes
    importance = zorro.importance(explanation.query.index, explanation)
    helpful = [
        node
        for node, value in importance.of("nodes").items()
        if value > 0 and isinstance(node, int)
    ]
    fits = best_match(_as_mask(helpful, size), truths)
    return {
        "auroc": best_auroc(ranks_of(importance, size), truths),
        "above 0 chosen": len(helpful),
        **{f"above 0 {name}": value for name, value in fits.items()},
    }


def _as_mask(nodes: Sequence[int], size: int) -> Tensor:
    mask: Tensor = index_to_mask(torch.tensor(nodes, dtype=torch.long), size)
    return mask
