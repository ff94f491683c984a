"""Models that answer for whole graphs: they are told by `batch` which node belongs to which."""

from __future__ import annotations

from typing import Any

from torch import nn

from zorro.errors import InputError
from zorro.model.as_module import as_module
from zorro.model.signature import names, parameters_of, renaming_line, takes

BATCH = "batch"
_WORDS = ("batch", "graph", "index")


def as_graph_model(model: Any) -> nn.Module:
    """Return the module that is called as `model(x, edge_index, batch=…)`."""
    module = as_module(model)
    if takes(module, BATCH):
        return module
    taken = names(parameters_of(module) or ())
    others = f"; it takes {', '.join(taken)}" if taken else ""
    raise InputError(
        f"model: expected one that takes {BATCH}, each node's graph, and pools by it, got "
        f"{type(module).__name__}{others}: pass {renaming_line(module, BATCH, words=_WORDS)}"
    )
