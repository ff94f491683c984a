"""Models that take one `Data`, as in PyG's tutorials: `model(data)`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from zorro.model.signature import by_position, names, parameters_of, required

logger = logging.getLogger(__name__)

_DATA = ("data", "batch", "graph", "batch_data", "data_batch", "graph_batch", "graphs")
_FEATURES = ("x", "h", "z", "input", "inputs", "feat", "feats", "feature", "features")
_EDGES = ("edge_index", "edges", "adj", "adj_t", "adjacency")
_NOT_FURTHER = ("x", "edge_index", "y", "batch", "ptr")


def takes_data(module: nn.Module) -> bool:
    """Whether a model is to be called with one `Data`: it needs one argument, not the features."""
    parameters = parameters_of(module)
    if parameters is None or any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return False
    positional = by_position(parameters)
    if not positional or _is_tensor(positional[0]):
        return False
    first, *others = positional
    needed = required(parameters)
    if _is_data(first) and needed in ([], [first]):
        return True
    is_bare = not any(each.name in _EDGES for each in others) and first.name not in _FEATURES
    return needed == [first] and is_bare


def takes_features_alone(module: nn.Module) -> str | None:
    """Return the name of the features' argument if a model takes nothing else."""
    parameters = parameters_of(module)
    if parameters is None or len(parameters) != 1 or takes_data(module):
        return None
    return parameters[0].name if by_position(parameters) else None


def _is_tensor(parameter: Parameter) -> bool:
    return parameter.annotation in (Tensor, "Tensor", "torch.Tensor")


def _is_data(parameter: Parameter) -> bool:
    told = parameter.annotation
    name = told if isinstance(told, str) else getattr(told, "__name__", "")
    return name.rpartition(".")[2] in ("Data", "Batch") or parameter.name in _DATA


def _noted(name: str) -> property:
    """Return an attribute of a `Data` that is taken down where it is looked for in vain."""

    def read(self: GivenData) -> Any:
        if name in self._store:
            return self[name]
        self.__dict__.get("_missed", set()).add(name)
        return None

    return property(read)


class GivenData(Data):  # type: ignore[misc]  # PyG ships no types
    """A `Data` that takes down what a model looks for in it in vain, and counts its graphs."""

    # PyG says None of these where they are not there, and a model may go on without.
    edge_weight = _noted("edge_weight")
    edge_attr = _noted("edge_attr")
    pos = _noted("pos")
    y = _noted("y")
    time = _noted("time")

    @property
    def num_graphs(self) -> int:
        """How many graphs there are in it, as PyG's `Batch` says it."""
        return 1 if self.batch is None else self.batch.max().item() + 1


class DataModel(nn.Module):
    """Calls `model(data)` with a `Data` of what it is given itself.

    Arguments that the model has names for besides the first get theirs too.

    Args:
        model: a module that `takes_data`.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self._named = names(parameters_of(model) or ())[1:]
        self._told: set[str] = set()

    def forward(self, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Any:
        """Return what the model returns for a graph."""
        data = GivenData(x=x, edge_index=edge_index, **kwargs)
        missed: set[str] = set()
        data.__dict__["_missed"] = missed  # what is set in the usual way is part of the graph
        named = {name: kwargs[name] for name in self._named if name in kwargs}
        output = self.model(data, **named)
        self._tell(missed - self._told)
        return output

    def hint(self, given: Sequence[str]) -> str:
        """Return what the model got, for the error that it raises.

        Args:
            given: names of further arguments.
        """
        held = ", ".join(("x", "edge_index", *given))
        return (
            f"; it is called with one Data that holds {held}: pass what else it reads in "
            "model_kwargs, as model_kwargs={'edge_attr': data.edge_attr}, or wrap it, "
            "`lambda x, edge_index: model(…)`"
        )

    def _tell(self, missed: set[str]) -> None:
        for name in sorted(missed):
            logger.warning(
                "model: it reads data.%s and gets None: if your graph has it, pass "
                "model_kwargs={%r: data.%s}",
                name,
                name,
                name,
            )
        self._told |= missed


def kwargs_of_graphs(
    model: nn.Module, graphs: Sequence[Data], model_kwargs: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Return a model's further arguments: those that are given, or all that a `Data` would hold.

    Args:
        model: that answers for graphs.
        graphs: to whose attributes a text refers.
        model_kwargs: by the user; if None and the model takes a `Data`, what all graphs have a row
            of for each node, or for each edge.
    """
    if model_kwargs is not None or not isinstance(model, DataModel):
        return model_kwargs or {}
    return {
        name: name
        for name in sorted(graphs[0].keys())
        if name not in _NOT_FURTHER
        and (
            all(_rows(each, name) == each.x.size(0) for each in graphs)
            or all(_rows(each, name) == each.edge_index.size(1) for each in graphs)
        )
    }


def _rows(graph: Data, name: str) -> int | None:
    value = graph.get(name)
    is_dense = isinstance(value, Tensor) and value.layout == torch.strided and value.dim() > 0
    return value.size(0) if is_dense else None
