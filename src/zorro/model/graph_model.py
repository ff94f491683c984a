"""Models that answer for whole graphs: they are told by `batch` which node belongs to which."""

from __future__ import annotations

from typing import Any

from torch import nn

from zorro.errors import InputError
from zorro.model.as_module import as_module
from zorro.model.signature import names, parameters_of, renaming_line, takes

BATCH = "batch"
_WORDS = ("batch", "graph", "index")
_ONE_BY_ONE = (
    "`lambda x, edge_index, batch: torch.cat([model(x[batch == i], "
    "torch_geometric.utils.subgraph(batch == i, edge_index, relabel_nodes=True)[0]).view(1, -1) "
    "for i in range(int(batch.max()) + 1)])`"
)


def as_graph_model(model: Any) -> nn.Module:
    """Return the module that is called as `model(x, edge_index, batch=…)`."""
    module = as_module(model)
    if takes(module, BATCH):
        return module
    taken = names(parameters_of(module) or ())
    line = renaming_line(module, BATCH, words=_WORDS) if len(taken) > 2 else _ONE_BY_ONE
    raise InputError(
        f"model: expected one that takes {BATCH}, each node's graph, got one that takes "
        f"{', '.join(taken)}: pass {line}"
    )
