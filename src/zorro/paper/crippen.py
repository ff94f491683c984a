"""Molecules' logP: a value of which each atom's share is known."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median
from typing import Any

import torch

from zorro.data.molecules import ATOMS
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.graph_cells import GraphCell, loaded_graphs, trained
from zorro.paper.measuring import Row, measure
from zorro.paper.paper_values import published_by
from zorro.paper.report import Report, as_table, shown
from zorro.paper.value_jobs import SETS, GradInputJob, ValueSearchJob

_DATASET, _MODEL = "crippen", "gine"
_MOLECULES = 100
_TAU, _SHARE = 0.85, 0.5


def run(settings: Settings) -> Report:
    """Train the model, then explain its values of test molecules."""
    cell = trained(_DATASET, _MODEL, settings.runs / "weights", seed=settings.seed)
    molecules = drawn(cell, _MOLECULES, seed=settings.seed)
    atom = [list(range(len(ATOMS)))]  # the columns that say together which atom it is
    ours = ValueSearchJob(
        cell,
        "zorro .85",
        molecules,
        {"tau": _TAU, "tolerance_share": _SHARE, "feature_groups": atom},
    )
    gradient = GradInputJob(cell, molecules)
    asked = settings.methods
    jobs = [job for job in (ours, gradient) if asked is None or job.name in asked]
    found = measure(jobs, settings)
    of_ours = found.of(ours) if ours in jobs else []
    rows = [_agreement(f"zorro, {name}", of_ours, f"tau {name}") for name in SETS]
    rows.append(_agreement("grad-input", found.of(gradient) if gradient in jobs else [], "tau"))
    text = _TEXT.format(count=_MOLECULES, seed=settings.seed, errors=_errors(cell))
    text += as_table(_HEADER, [[_exact(row[name]) for name in _COLUMNS] for row in rows])
    text += "\n\n" + _ON_SETS + as_table(_ON_SETS_HEADER, [_sets(of_ours)])
    text += "\n\n" + _ON_PUBLISHED + as_table(*_published())
    return Report(CRIPPEN.title, rows, text, made_with=found.made_with)


def drawn(cell: GraphCell, count: int, *, seed: int) -> tuple[int, ...]:
    """Return the numbers of some test molecules, in a random order."""
    test = loaded_graphs(cell)[1].test
    order = torch.randperm(test.numel(), generator=torch.Generator().manual_seed(seed))
    return tuple(test[order[:count]].tolist())


_COLUMNS = ("method", "molecules", "median", "mean")
_HEADER = ["scores", "molecules", "median τ", "mean τ"]
_ON_SETS_HEADER = ["molecules", "certified", "share", "atoms", "atoms kept", "seconds"]
_TEXT = (
    "{count} random test molecules (seed {seed}), in this order as many as are measured. The model "
    "is a GINE of three layers with a value as output, trained here; {errors}. Entries are "
    "Kendall's τ of what the atoms add, by a method, with what they add to Crippen's logP, of each "
    "molecule; a molecule with one kind of atom has none.\n\n"
    "What an atom e adds is E[f | S ∪ e] − E[f | S ∖ e]: the mean output f while e is kept, less "
    "the mean output while it is redrawn, on 500 samples (`Zorro.importance(…).values`). S, what "
    "is kept besides, is the certified set, all atoms, so that e is redrawn alone, or nothing. "
    "*grad-input* is Σ_j X_ej ∂f/∂X_ej, with its sign.\n\n"
)
_ON_SETS = (
    "The sets: fidelity .85 that the value stays within half of a standard deviation "
    "(`tolerance_share=0.5`) of the model's values, certified with δ = .05; atoms alone are kept, "
    "an atom's 14 columns are redrawn together. Atoms and seconds are medians.\n\n"
)
_ON_PUBLISHED = (
    "Published by Sanchez-Lengeling et al., with other models: medians over their GCNs and "
    "MPNNs.\n\n"
)


def _agreement(method: str, rows: Sequence[Row], name: str) -> dict[str, Any]:
    """Return how well scores rank atoms, over the molecules that have an order."""
    values = [row[name] for row in rows if row[name] is not None]
    return {
        "method": method,
        "molecules": len(values),
        "median": median(values) if values else None,
        "mean": mean(values) if values else None,
    }


def _sets(rows: Sequence[Row]) -> list[object]:
    """Return how many answers are certified, and how large their sets are."""
    certified = sum(bool(row["certified"]) for row in rows)
    medians = [
        median(row[name] for row in rows) if rows else None
        for name in ("candidates", "chosen", "seconds")
    ]
    share = f"{certified / len(rows):.0%}" if rows else shown(None)
    return [len(rows), certified, share, *(shown(value) for value in medians)]


def _exact(value: object) -> object:
    if value is None:
        return shown(None)
    return f"{value:.2f}" if isinstance(value, float) else value


def _errors(cell: GraphCell) -> str:
    errors = cell.record["errors"]
    return "; ".join(
        f"{title} {', '.join(f'{part} {found[name]:.3f}' for part, found in errors.items())}"
        for name, title in (("rmse", "RMSE"), ("r2", "R²"))
    )


def _published() -> tuple[list[str], list[list[object]]]:
    """Return a table of the published medians, a line for each model."""
    values = published_by("crippen", "model", "method")
    methods = list(dict.fromkeys(method for _, method in values))
    models = dict.fromkeys(model for model, _ in values)
    lines: list[list[object]] = [
        [model, *(f"{values[model, method]:.2f}" for method in methods)] for model in models
    ]
    return ["model", *methods], lines


CRIPPEN = Experiment("crippen", "A value with known shares: logP of molecules", "not in it", run)
