"""What a model takes besides features and edges, and how it follows into a subgraph or a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from zorro.errors import InputError


@dataclass(frozen=True)
class Extras:
    """A model's further keyword arguments, sorted by what their first dimension counts.

    `node` tensors have one row per node, `edge` tensors one row per edge (weights, attributes);
    `other` values (scalars, flags, None) are passed on as they are.
    """

    node: Mapping[str, Tensor] = field(default_factory=dict)
    edge: Mapping[str, Tensor] = field(default_factory=dict)
    other: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def sort(cls, kwargs: Mapping[str, Any], *, nodes: int, edges: int) -> Extras:
        """Sort `kwargs` by their first dimension.

        In a graph with as many edges as nodes, names that begin with `edge` are edge-level.
        """
        sorted_: dict[str, dict[str, Any]] = {"node": {}, "edge": {}, "other": {}}
        for name, value in kwargs.items():
            sorted_[_level(name, value, nodes=nodes, edges=edges)][name] = value
        return cls(**sorted_)

    def subgraph(self, nodes: Tensor, edges: Tensor) -> Extras:
        """Keep the rows of `nodes` and `edges` (indices)."""
        return Extras(
            node={name: value[nodes] for name, value in self.node.items()},
            edge={name: value[edges] for name, value in self.edge.items()},
            other=self.other,
        )

    def copies(self, count: int) -> dict[str, Any]:
        """Return the keyword arguments for `count` disjoint copies of the graph."""
        tensors = {**self.node, **self.edge}
        repeated = {
            name: value.repeat(count, *[1] * (value.dim() - 1)) for name, value in tensors.items()
        }
        return {**self.other, **repeated}


def _level(name: str, value: Any, *, nodes: int, edges: int) -> str:
    if not isinstance(value, Tensor) or value.dim() == 0:
        return "other"
    rows = value.size(0)
    if rows == edges and (rows != nodes or name.startswith("edge")):
        return "edge"
    if rows == nodes:
        return "node"
    raise InputError(
        f"model_kwargs[{name!r}]: expected one row per node ({nodes}) or per edge ({edges}), "
        f"or a scalar; got a tensor of shape {tuple(value.shape)}"
    )
