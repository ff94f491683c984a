"""What a graph has for each edge and a model takes: weights, attributes, types."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.errors import InputError
from zorro.graph.stored import StoredGraph
from zorro.graph.stored.layout import EDGE_TENSORS
from zorro.graph.validation import check_edge_tensor


@dataclass(frozen=True)
class EdgeInputs:
    """The edge-level tensors of a graph, by what becomes of them.

    >>> import torch
    >>> from torch_geometric.nn import GCNConv
    >>> from zorro.data import karate_club
    >>> from zorro.models import edge_inputs
    >>> club = karate_club()
    >>> club.edge_weight = club.edge_attr = torch.ones(club.num_edges)
    >>> inputs = edge_inputs(GCNConv(4, 4), club)
    >>> print(inputs)
    edge_weight is passed to the model; edge_attr is ignored: the model takes no such argument
    >>> list(inputs.passed), inputs.ignored
    (['edge_weight'], ('edge_attr',))

    Args:
        passed: those that the model takes; they are its further keyword arguments.
        ignored: names of those that it does not take.
    """

    passed: Mapping[str, Tensor] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = []
        if self.passed:
            said.append(f"{_listed(self.passed)} passed to the model")
        if self.ignored:
            said.append(f"{_listed(self.ignored)} ignored: the model takes no such argument")
        return "; ".join(said)


def edge_inputs(
    model: nn.Module, data: Data | StoredGraph, *, given: Collection[str] = ()
) -> EdgeInputs:
    """Return the edge-level tensors of `data` that `model.forward` takes, by their names.

    Raises `InputError` where `forward` cannot do without an argument that `data` has not.

    >>> import torch
    >>> from torch_geometric.nn import GATConv
    >>> from zorro.data import karate_club
    >>> from zorro.models import edge_inputs
    >>> club = karate_club()
    >>> club.edge_weight, club.edge_attr = torch.ones(156), torch.ones(156, 2)
    >>> print(edge_inputs(GATConv(4, 4, edge_dim=2), club))
    edge_attr is passed to the model; edge_weight is ignored: the model takes no such argument

    Args:
        model: called as `model(x, edge_index, …)`; its signature says what else it takes.
        data: perhaps with `edge_weight`, `edge_attr` and `edge_type`.
        given: names of further arguments that the model gets anyway.
    """
    parameters, takes_any = _further(model)
    there: dict[str, Tensor] = {
        name: values for name in EDGE_TENSORS if (values := data.get(name)) is not None
    }
    missing = [
        name
        for name, it in parameters.items()
        if it.default is it.empty and name not in there and name not in given
    ]
    if missing:
        raise InputError(_refusal(model, missing[0], there))
    if not isinstance(data, StoredGraph):  # whose values were checked when they were written
        for name, values in there.items():
            check_edge_tensor(name, values, edges=data.num_edges)
    return EdgeInputs(
        {name: it for name, it in there.items() if takes_any or name in parameters},
        tuple(name for name in there if not takes_any and name not in parameters),
    )


def _further(model: nn.Module) -> tuple[dict[str, inspect.Parameter], bool]:
    """Return the arguments after x and edge_index, and whether any other would do as well."""
    every = list(inspect.signature(model.forward).parameters.values())
    by_place = [it for it in every if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)]
    by_name = [it for it in every if it.kind == it.KEYWORD_ONLY]
    takes_any = any(it.kind == it.VAR_KEYWORD for it in every)
    return {it.name: it for it in [*by_place[2:], *by_name]}, takes_any


def _refusal(model: nn.Module, name: str, there: Mapping[str, Tensor]) -> str:
    forward = f"{type(model).__name__}.forward"
    if name not in EDGE_TENSORS:
        return (
            f"model: expected {forward} to need nothing besides x, edge_index, "
            f"{', '.join(EDGE_TENSORS)}, got {name!r}: give it a default"
        )
    has = f"it has {_and(there)}" if there else "it has no array for edges"
    return (
        f"{name}: expected one row per edge in the data set, since {forward} needs it, got none "
        f"({has}): add {name} to the data set, or give the argument a default"
    )


def _listed(names: Mapping[str, Tensor] | tuple[str, ...]) -> str:
    return f"{_and(names)} {'is' if len(names) == 1 else 'are'}"


def _and(names: Mapping[str, Tensor] | tuple[str, ...]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
