"""What a set of graphs must look like before anything is computed on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from zorro.errors import InputError
from zorro.graph.validation import check_edge_tensor, check_graph

_EDGE_TENSORS = ("edge_weight", "edge_attr", "edge_type")


def check_graphs(graphs: Any, *, integers: bool = False, targets: bool = True) -> None:
    """Raise `InputError` unless `graphs` are usable graphs that one model can take.

    Each is a PyG `Data` with a floating, finite (n, d) tensor `x`, n ≥ 1, d and type the same in
    all, and node numbers `edge_index` (2, E). A target `y` is one number, and all graphs have one,
    or none has. What there is of `edge_weight`, `edge_attr` and `edge_type` has a row per edge.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from zorro.data import check_graphs
    >>> edge = torch.tensor([[0], [1]])
    >>> check_graphs([Data(x=torch.ones(2, 3), edge_index=edge)])
    >>> check_graphs([Data(x=torch.ones(2, d), edge_index=edge) for d in (3, 4)])
    Traceback (most recent call last):
        ...
    zorro.errors.InputError: graphs[1].x: expected 3 features as in graphs[0], got 4

    Args:
        graphs: a list of them.
        integers: whether `x` may also hold integers (categories) or truth values.
        targets: whether `y` is looked at; who only explains has no use for it.
    """
    if not isinstance(graphs, Sequence) or isinstance(graphs, str | bytes):
        raise InputError(
            f"graphs: expected a list of torch_geometric.data.Data, got {type(graphs).__name__}"
        )
    if not graphs:
        raise InputError("graphs: expected at least one graph, got none")
    for number, graph in enumerate(graphs):
        if not isinstance(graph, Data):
            raise InputError(
                f"graphs[{number}]: expected a torch_geometric.data.Data, got "
                f"{type(graph).__name__}"
            )
        try:
            _check_one(graph, integers=integers)
            if targets:
                _check_target(graph)
        except InputError as error:
            raise InputError(f"graphs[{number}]: {error}") from None
        _check_like_first(graph, graphs[0], number)
        if targets:
            _check_target_like_first(graph, graphs[0], number)


def listed_graphs(graphs: Any, *, draws_from_them: bool = True) -> list[Data]:
    """Return graphs to explain as a list, checked; PyG's data sets are no `Sequence`.

    Their features may be integers, as for `nn.Embedding`.

    Args:
        graphs: a list or a data set.
        draws_from_them: whether noise is drawn from their nodes, of which one graph has too few.
    """
    if not isinstance(graphs, Sequence) and hasattr(graphs, "__len__"):
        graphs = [graphs[number] for number in range(len(graphs))]
    check_graphs(graphs, integers=True, targets=False)
    refuse_few(graphs, draws_from_them=draws_from_them)
    return list(graphs)


def hetero_graphs(graphs: Any) -> list[HeteroData] | None:
    """Return graphs as a list if they are of several types; None if the first one is not."""
    if isinstance(graphs, Data | HeteroData):
        raise InputError(
            f"graphs: expected a list of graphs, got one {type(graphs).__name__}: pass [data]"
        )
    if not hasattr(graphs, "__len__") or len(graphs) == 0:
        return None
    if not isinstance(graphs, Sequence):
        graphs = [graphs[number] for number in range(len(graphs))]
    return list(graphs) if isinstance(graphs[0], HeteroData) else None


def refuse_few(graphs: Sequence[Any], *, draws_from_them: bool) -> None:
    """Refuse one graph alone if noise is drawn from the nodes of all."""
    if len(graphs) == 1 and draws_from_them:
        raise InputError(
            "graphs: expected two at least, got one: noise is drawn from the nodes of all of them, "
            "and a single graph's are too few; pass noise= of your own with a second one"
        )


def check_members(name: str, members: Any, *, graphs: int) -> None:
    """Raise `InputError` unless `members` are numbers of graphs, none of them twice.

    Args:
        name: used in the message.
        members: (k,) int64.
        graphs: how many there are.
    """
    if not isinstance(members, Tensor) or members.dtype != torch.int64 or members.dim() != 1:
        got = (
            f"{members.dtype} of shape {tuple(members.shape)}"
            if isinstance(members, Tensor)
            else type(members).__name__
        )
        raise InputError(f"{name}: expected an int64 tensor of graphs' numbers (k,), got {got}")
    for number in members[(members < 0) | (members >= graphs)].tolist():
        raise InputError(f"{name}: expected numbers from 0 to {graphs - 1}, got {number}")
    if len(set(members.tolist())) != members.numel():
        raise InputError(f"{name}: expected each graph at most once, got some twice")


def _check_one(graph: Data, *, integers: bool) -> None:
    check_graph(graph.x, graph.edge_index, integers=integers)
    for name in _EDGE_TENSORS:
        if (values := graph.get(name)) is not None:
            check_edge_tensor(name, values, edges=graph.edge_index.size(1))


def _check_target(graph: Data) -> None:
    y = graph.get("y")
    if y is not None and not (isinstance(y, Tensor) and y.numel() == 1):
        got = f"shape {tuple(y.shape)}" if isinstance(y, Tensor) else type(y).__name__
        raise InputError(f"y: expected a tensor of one number, got {got}")
    if y is not None and not y.is_floating_point() and int(y) < 0:
        raise InputError(f"y: expected a class number from 0, got {int(y)}")


def _check_like_first(graph: Data, first: Data, number: int) -> None:
    if graph.x.size(1) != first.x.size(1):
        raise InputError(
            f"graphs[{number}].x: expected {first.x.size(1)} features as in graphs[0], got "
            f"{graph.x.size(1)}"
        )
    if graph.x.dtype != first.x.dtype:
        raise InputError(
            f"graphs[{number}].x: expected {first.x.dtype} as in graphs[0], got {graph.x.dtype}"
        )
    for name in _EDGE_TENSORS:
        values, first_values = graph.get(name), first.get(name)
        if _columns(values) != _columns(first_values):
            raise InputError(
                f"graphs[{number}].{name}: expected {_columns(first_values)} as in graphs[0], got "
                f"{_columns(values)}"
            )


def _check_target_like_first(graph: Data, first: Data, number: int) -> None:
    y, first_y = graph.get("y"), first.get("y")
    if (y is None) != (first_y is None):
        had, got = ("none", "one") if first_y is None else ("one", "none")
        raise InputError(f"graphs[{number}].y: expected {had} as in graphs[0], got {got}")
    if y is not None and y.dtype != first_y.dtype:
        raise InputError(
            f"graphs[{number}].y: expected {first_y.dtype} as in graphs[0], got {y.dtype}"
        )


def _columns(values: Tensor | None) -> str:
    return "none" if values is None else f"rows of shape {tuple(values.shape[1:])}"
