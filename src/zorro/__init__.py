"""Which nodes and features a graph neural network's prediction rests on, and the proof of it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from zorro.errors import ZorroError
from zorro.version import __version__

if TYPE_CHECKING:
    from zorro.evaluation import FidelityEstimate
    from zorro.explainer import Zorro, rdt_fidelity
    from zorro.explanation import Explanation
    from zorro.pyg import ZorroExplainer
    from zorro.runs import (
        Run,
        explain_graphs,
        explain_hetero,
        explain_links,
        explain_many,
        open_run,
    )

__all__ = [
    "Explanation",
    "FidelityEstimate",
    "Run",
    "Zorro",
    "ZorroError",
    "ZorroExplainer",
    "__version__",
    "explain_graphs",
    "explain_hetero",
    "explain_links",
    "explain_many",
    "open_run",
    "rdt_fidelity",
]

# torch and PyG take seconds to load: they are loaded with the first name that needs them.
_HOMES = {
    "Explanation": "zorro.explanation",
    "FidelityEstimate": "zorro.evaluation",
    "Run": "zorro.runs",
    "Zorro": "zorro.explainer",
    "ZorroExplainer": "zorro.pyg",
    "explain_graphs": "zorro.runs",
    "explain_hetero": "zorro.runs",
    "explain_links": "zorro.runs",
    "explain_many": "zorro.runs",
    "open_run": "zorro.runs",
    "rdt_fidelity": "zorro.explainer",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'zorro' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
