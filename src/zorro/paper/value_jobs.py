"""What is measured on molecules with a value of which each atom's share is known."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from scipy.stats import kendalltau
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.explainer import Zorro
from zorro.explanation import Explanation
from zorro.model.memory import default_budget
from zorro.models.graph_evaluation import graph_inputs
from zorro.paper.graph_cells import GraphCell, loaded_graphs
from zorro.paper.jobs import Measured, Place

_SAMPLES = 500  # on which atoms are compared
SETS = ("certified set", "all atoms", "nothing")


@dataclass(frozen=True)
class ValueSearchJob:
    """Our sets of atoms, and what each atom adds to the value, against what it truly adds.

    Args:
        cell: model and molecules.
        name: in the table.
        nodes: which molecules.
        options: of `Zorro`.
    """

    cell: GraphCell
    name: str
    nodes: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values."""
        return {**self.options, "keep": ["nodes"], "samples": _SAMPLES}

    def open(self, place: Place) -> Measured:
        """Return what measures a molecule."""
        model, dataset = loaded_graphs(self.cell, place.device)
        molecules = dataset.graphs
        zorro = Zorro.of_graphs(
            model,
            molecules,
            keep=("nodes",),
            model_kwargs={name: name for name in graph_inputs(model, dataset).passed},
            seed=place.seed,
            memory=default_budget(molecules[0].x.device) // place.workers,
            **self.options,
        )

        def measured(number: int) -> dict[str, Any]:
            started = time.perf_counter()
            found = zorro.explain(number)
            seconds = time.perf_counter() - started
            truth = true_shares(molecules[number])
            return {
                "node": number,
                "on": place.hardware,
                "seconds": seconds,
                "status": found.status,
                "certified": found.certified,
                "candidates": found.graph.num_nodes,
                "chosen": len(found.nodes),
                **{
                    f"tau {name}": rank_agreement(_added(zorro, number, explanation), truth)
                    for name, explanation in _compared_with(found).items()
                },
            }

        return measured


@dataclass(frozen=True)
class GradInputJob:
    """The gradient of the value times the input, atom by atom, against what it truly adds.

    Args:
        cell: model and molecules.
        nodes: which molecules.
        name: in the table.
    """

    cell: GraphCell
    nodes: tuple[int, ...]
    name: str = "grad-input"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides about the values: nothing."""
        return {}

    def open(self, place: Place) -> Measured:
        """Return what measures a molecule."""
        model, dataset = loaded_graphs(self.cell, place.device)
        inputs = list(graph_inputs(model, dataset).passed)

        def measured(number: int) -> dict[str, Any]:
            molecule = dataset.graphs[number]
            started = time.perf_counter()
            scores = grad_input(model, molecule, inputs)
            seconds = time.perf_counter() - started
            return {
                "node": number,
                "on": place.hardware,
                "seconds": seconds,
                "tau": rank_agreement(scores.tolist(), true_shares(molecule)),
            }

        return measured


def true_shares(molecule: Data) -> list[float]:
    """Return what each atom truly adds to the molecule's value."""
    shares: list[float] = molecule.attribution[:, 0].tolist()
    return shares


def rank_agreement(scores: Sequence[float], truth: Sequence[float]) -> float | None:
    """Return Kendall's τ of atoms' scores with the truth; None where either knows no order.

    >>> rank_agreement([0.1, 0.5, 0.3], [1.0, 3.0, 2.0])
    1.0
    """
    tau = float(kendalltau(scores, truth).statistic)
    return None if math.isnan(tau) else tau


def grad_input(model: nn.Module, molecule: Data, inputs: Sequence[str]) -> Tensor:
    """Return Σ_j X_ij ∂f/∂X_ij of each atom i, with its sign, (n,).

    Args:
        model: returns a value f, (1, 1).
        molecule: of whose atoms.
        inputs: names of what the model takes of its bonds.
    """
    x = molecule.x.clone().requires_grad_()  # (n, d)
    value = model(x, molecule.edge_index, **{name: molecule[name] for name in inputs})
    (slope,) = torch.autograd.grad(value.sum(), x)
    scores: Tensor = (slope * molecule.x).sum(dim=1)
    return scores


def _compared_with(found: Explanation) -> dict[str, Explanation | None]:
    """Return by name the sets S to which an atom is added, or from which it is taken."""
    empty = replace(found, selected={"nodes": ()}, steps=())
    return dict(zip(SETS, (found, None, empty), strict=True))


def _added(zorro: Zorro, number: int, explanation: Explanation | None) -> list[float]:
    """Return what each atom adds to the mean value, by its number."""
    values = zorro.importance(number, explanation, samples=_SAMPLES).values("nodes")
    return [values[atom] for atom in sorted(values)]
