"""What a model takes besides features and edges, and how it follows into a subgraph or a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from zorro.errors import InputError
from zorro.model.inference_mode import ordinary

MAKE_ADJACENCY = (
    "pass edge_index, and a model that makes the adjacency of it, `lambda x, edge_index, **further:"
    " model(x, torch_geometric.utils.to_torch_csr_tensor(edge_index.flip(0), size=(len(x), "
    "len(x))), **further)`"
)


@dataclass(frozen=True)
class ModelInputs:
    """A model's further keyword arguments, sorted by what their first dimension counts.

    `node` tensors have one row per node, `edge` tensors one row per edge (weights, attributes);
    `other` values (scalars, flags, None) are passed on as they are. `num_nodes`, if the model
    takes it and gets the graph's number of nodes, is that of the subgraph or batch.
    """

    node: Mapping[str, Tensor] = field(default_factory=dict)
    edge: Mapping[str, Tensor] = field(default_factory=dict)
    other: Mapping[str, Any] = field(default_factory=dict)
    num_nodes: int | None = None

    @classmethod
    def sort(cls, kwargs: Mapping[str, Any], *, nodes: int, edges: int) -> ModelInputs:
        """Sort `kwargs` by their first dimension.

        In a graph with as many edges as nodes, names that begin with `edge` are edge-level.
        """
        sorted_: dict[str, dict[str, Any]] = {"node": {}, "edge": {}, "other": {}}
        for name, value in kwargs.items():
            if not _is_count(name, value, nodes):
                sorted_[_level(name, value, nodes=nodes, edges=edges)][name] = ordinary(value)
        counts = any(_is_count(name, value, nodes) for name, value in kwargs.items())
        return cls(**sorted_, num_nodes=nodes if counts else None)

    def subgraph(self, nodes: Tensor, edges: Tensor) -> ModelInputs:
        """Keep the rows of `nodes` and `edges` (indices)."""
        return ModelInputs(
            node={name: value[nodes] for name, value in self.node.items()},
            edge={name: value[edges] for name, value in self.edge.items()},
            other=self.other,
            num_nodes=None if self.num_nodes is None else nodes.numel(),
        )

    def as_kwargs(self) -> dict[str, Any]:
        """Return the keyword arguments for the graph as it is."""
        return self.copies(1)

    def copies(
        self,
        count: int,
        *,
        present: Tensor | None = None,
        changed: Mapping[str, Tensor] | None = None,
    ) -> dict[str, Any]:
        """Return the keyword arguments for `count` disjoint copies of the graph.

        Args:
            count: how many.
            present: (count, e) which edges each copy has; all when None.
            changed: edge-level values (count, e, …) that are others in the copies.
        """
        tensors = {**self.node, **self.edge}
        repeated = {
            name: value.repeat(count, *[1] * (value.dim() - 1)) for name, value in tensors.items()
        }
        repeated |= {name: value.flatten(0, 1) for name, value in (changed or {}).items()}
        if present is not None:
            kept = present.flatten()
            repeated |= {name: repeated[name][kept] for name in self.edge}
        counts = {} if self.num_nodes is None else {"num_nodes": count * self.num_nodes}
        return {**self.other, **repeated, **counts}

    @property
    def following(self) -> frozenset[str]:
        """The names of arguments that are others on another subgraph."""
        counts = () if self.num_nodes is None else ("num_nodes",)
        return frozenset((*self.node, *self.edge, *counts))


def _is_count(name: str, value: Any, nodes: int) -> bool:
    return name == "num_nodes" and isinstance(value, int) and value == nodes


def _level(name: str, value: Any, *, nodes: int, edges: int) -> str:
    if _is_adjacency(value):
        raise InputError(
            f"model_kwargs[{name!r}]: expected dense tensors, got a sparse adjacency, which cannot "
            f"follow into a subgraph: {MAKE_ADJACENCY}"
        )
    if not isinstance(value, Tensor) or value.dim() == 0:
        return "other"
    if value.layout != torch.strided:
        raise InputError(
            f"model_kwargs[{name!r}]: expected a dense tensor, got {value.layout}: pass .to_dense()"
        )
    rows = value.size(0)
    if rows == edges and (rows != nodes or name.startswith("edge")):
        return "edge"
    if rows == nodes:
        return "node"
    raise InputError(
        f"model_kwargs[{name!r}]: expected one row per node ({nodes}) or per edge ({edges}), "
        f"or a scalar, got a tensor of shape {tuple(value.shape)}"
    )


def _is_adjacency(value: Any) -> bool:
    """Whether a value is a sparse square matrix, of torch or of torch_sparse."""
    if isinstance(value, Tensor):
        return value.layout != torch.strided and value.dim() == 2 and value.size(0) == value.size(1)
    return type(value).__name__ == "SparseTensor"
