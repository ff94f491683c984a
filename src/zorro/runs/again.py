"""The explainer that a run was made with, to ask it more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Of a run's parameters, those that an explainer takes; noise needs the features.
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
    "evaluator",
    "threshold",
)


def options_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's parameters as the guided search takes them, which can be limited in time."""
    options = {name: parameters[name] for name in _TAKEN if name in parameters}
    if parameters.get("search") == "paper" and parameters.get("tau", 0) < 1:
        options.pop("delta", None)  # it is None there since the paper's search claims nothing
    return options
