"""The data, the model and the explainer that a run was made with, to ask it more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from torch import nn

from zorro.errors import InputError
from zorro.question.reading import READINGS
from zorro.runs.digests import model_digest
from zorro.runs.given import GivenData
from zorro.runs.manifest import Manifest

# Of a run's parameters, those that an explainer takes.
_TAKEN = (
    "tau",
    "delta",
    "k",
    "samples",
    "fresh_samples",
    "confidence",
    "seed",
    "max_elements",
    "max_evaluations",
    "hops",
    "halo",
    "check",
    "carries_messages",
    "evaluator",
    *READINGS,
    "noise",
    "beyond_chance",
    "keep",
    "feature_groups",
    "edge_presence",
    "edge_noise",
    "edge_effect",
    "connected",
    "directed",
)
QUESTION = ("why_not", "contrast", "among", "top")  # and those that are asked of every query
# What noise is called when features are grouped, and how it is asked for.
_ASKED_AS = {"group-marginals": "column-marginals"}


class Kept(Protocol):
    """A run, as far as it tells what it was made with."""

    path: Path
    manifest: Manifest


def options_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's parameters as the guided search takes them, which can be limited in time."""
    options = {name: parameters[name] for name in _TAKEN if name in parameters}
    if parameters.get("search") == "paper" and parameters.get("tau", 0) < 1:
        options.pop("delta", None)  # it is None there since the paper's search claims nothing
    if options.get("noise") in _ASKED_AS:
        options["noise"] = _ASKED_AS[options["noise"]]
    return options


def question_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return with what a run's answers are compared, as an explainer is asked."""
    return {name: parameters[name] for name in QUESTION if name in parameters}


def refuse_other_data(run: Kept, data: GivenData, model_kwargs: Mapping[str, Any]) -> None:
    """Raise `InputError` unless a run was made with this data.

    Args:
        run: to ask more.
        data: a graph, or several; what is asked about is the run's.
        model_kwargs: further arguments of the model, as the run was given them.
    """
    kept = run.manifest["data"]["sha256"]
    found = data.described(model_kwargs, lambda done, total: None)["sha256"]
    if found != kept:
        raise InputError(
            f"{data.level} data: expected those that {run.path} was made with (digest "
            f"{kept[:12]}), got others ({found[:12]}): give them, and the model_kwargs if there "
            "were any, as they were then"
        )


def refuse_other_model(run: Kept, model: nn.Module) -> None:
    """Raise `InputError` unless a run was made with this model."""
    kept, found = run.manifest["model"]["sha256"], model_digest(model)
    if found != kept:
        raise InputError(
            f"model: expected the one that {run.path} was made with (digest {kept[:12]}), got "
            f"another ({found[:12]}): give the model with the weights that it had then"
        )
