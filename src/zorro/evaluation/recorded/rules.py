"""Which rows of what an operation reads some rows of its result are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from zorro.evaluation.recorded.recording import Operation, Value
from zorro.graph.edge_index import sorted_unique

# Rows of a tensor, ascending; None stands for all of them.
Rows = Tensor | None


@dataclass(frozen=True)
class Plan:
    """How an operation gives some rows of its result.

    Args:
        wanted: of each positional argument that is cut down, its rows; by its place, or by its
            place and that in a list. Arguments that are not named are taken whole.
        finish: gives the arguments from those that were cut down.
    """

    wanted: Mapping[Any, Tensor]
    finish: Callable[[list[Any]], list[Any]] = lambda args: args


Rule = Callable[[Operation, Tensor, "Shapes"], Plan | None]


class Shapes:
    """The shapes of arguments in the run that was recorded."""

    def __init__(self, of_values: Mapping[int, tuple[int, ...]]) -> None:
        self._of_values = of_values

    def of(self, argument: Any) -> tuple[int, ...] | None:
        """Return the shape of a value or a constant; None of what is no tensor."""
        if isinstance(argument, Value):
            return self._of_values[argument.number]
        return tuple(argument.shape) if isinstance(argument, Tensor) else None


def positions(rows: Tensor, within: Rows) -> Tensor:
    """Return where rows stand among others, which hold them."""
    return rows if within is None else torch.searchsorted(within, rows)


def row_by_row(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    """Each row of what comes out is made of the same rows of what goes in."""
    out = operation.shapes[0]
    wanted = {}
    for place, argument in enumerate(operation.args):
        shape = shapes.of(argument)
        if shape is not None and len(shape) == len(out) and shape[0] == out[0]:
            wanted[place] = rows
        elif shape is not None and len(shape) > len(out):
            return None
    return Plan(wanted)


def normalised(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    """Each row is normalised by itself, or by what was seen in training."""
    shape = shapes.of(operation.args[0])
    if operation.name == "native_batch_norm":
        return None if operation.args[5] else Plan({0: rows})
    return Plan({0: rows}) if shape and len(operation.args[1]) < len(shape) else None


def reshaped(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    """Other dimensions than the first are told apart, or joined, in another way."""
    before, after = shapes.of(operation.args[0]), operation.shapes[0]
    if not before or not after or before[0] != after[0] or len(operation.args) < 2:
        return None
    if operation.name == "expand" and len(before) != len(after):
        return None  # what is added stands in front
    return Plan({0: rows}, lambda args: [args[0], [len(rows), *after[1:]], *args[2:]])


def with_dimensions(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    """Dimensions are exchanged or added, behind the first."""
    before, after = shapes.of(operation.args[0]), operation.shapes[0]
    count = max(len(before or ()), len(after))
    dims = operation.args[1] if operation.name == "permute" else operation.args[1:]
    if not before or not after or before[0] != after[0]:
        return None
    if operation.name == "permute":
        return Plan({0: rows}) if dims[0] % count == 0 else None
    return Plan({0: rows}) if all(dim % count != 0 for dim in dims) else None


def along(place: int) -> Rule:
    """Return the rule of what works along dimensions that an argument names."""

    def rule(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
        shape = shapes.of(operation.args[0])
        dims = operation.args[place] if len(operation.args) > place else None
        if not shape or dims is None or dims == []:
            return None
        every = dims if isinstance(dims, list | tuple) else [dims]
        return Plan({0: rows}) if all(dim % len(shape) != 0 for dim in every) else None

    return rule


def matrix_product(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    """Rows of the product are made of rows of the first matrix."""
    if operation.name == "addmm":
        added = shapes.of(operation.args[0])
        own = {0: rows} if added and len(added) == 2 and added[0] > 1 else {}
        return Plan({**own, 1: rows})
    return Plan({0: rows, 1: rows} if operation.name == "bmm" else {0: rows})


def gathered(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    """Rows are those of the first argument that an index names."""
    shape = shapes.of(operation.args[0])
    if operation.name == "index":
        index = operation.args[1]
        if len(index) != 1 or not isinstance(index[0], Tensor) or index[0].dim() != 1:
            return None
        taken, dim = index[0], 0
    else:
        dim, taken = operation.args[1], operation.args[2]
    if not shape or not isinstance(taken, Tensor):
        return None
    if dim % len(shape) != 0:
        return Plan({0: rows})
    of_source = taken[rows] % shape[0]
    held = sorted_unique(of_source)
    where = positions(of_source, held)
    if operation.name == "index":
        return Plan({0: held}, lambda args: [args[0], [where]])
    return Plan({0: held}, lambda args: [args[0], 0, where])


def collected(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    """Rows of a source are added to, or put into, those that an index names."""
    out = operation.shapes[0]
    if operation.name == "index_put":
        index, source = operation.args[1], operation.args[2]
        if len(index) != 1:
            return None
        taken, dim = index[0], 0
    else:
        dim, taken, source = operation.args[1:4]
    of_source = shapes.of(source)
    if not isinstance(taken, Tensor) or not of_source:
        return None
    if dim % len(out) != 0:
        return None
    flat = taken.flatten(1)[:, :1].flatten() if taken.dim() > 1 else taken
    if taken.dim() > 1 and not bool((taken.flatten(1) == flat.unsqueeze(1)).all()):
        return None
    if of_source[0] != flat.numel():
        return None
    into = flat % out[0]
    here = torch.isin(into, rows).nonzero().flatten()
    where = positions(into[here], rows)
    if operation.name == "index_put":
        return Plan({0: rows, 2: here}, lambda args: [args[0], [where], *args[2:]])
    if taken.dim() > 1:
        where = where.view(-1, *[1] * (taken.dim() - 1)).expand(-1, *taken.shape[1:])
    return Plan({0: rows, 3: here}, lambda args: [args[0], 0, where, *args[3:]])


def joined(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    """Several tensors, one below or beside the other."""
    parts = operation.args[0]
    dim = operation.args[1] if len(operation.args) > 1 else 0
    sizes = [shapes.of(part) for part in parts]
    if any(not size for size in sizes) or len({len(size or ()) for size in sizes}) > 1:
        return None
    if dim % len(sizes[0] or ()) != 0:
        return Plan({(0, i): rows for i in range(len(parts))})
    wanted, first = {}, 0
    for i, size in enumerate(sizes):
        assert size is not None
        wanted[0, i] = rows[(rows >= first) & (rows < first + size[0])] - first
        first += size[0]
    return Plan(wanted)


def picked(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    """Part of a tensor, along one dimension."""
    shape = shapes.of(operation.args[0])
    dim = operation.args[1] if len(operation.args) > 1 else 0
    if not shape or dim % len(shape) == 0:
        return None
    return Plan({0: rows})


_ROW_BY_ROW = """
abs add addcdiv addcmul bitwise_and bitwise_not bitwise_or ceil celu clamp clamp_max clamp_min clone
cos cosh detach div elu eq erf exp expm1 floor fmod ge gelu gt hardsigmoid hardswish hardtanh
isfinite isinf isnan leaky_relu le lerp log log10 log1p log2 logical_and logical_not logical_or
logical_xor lt masked_fill maximum minimum mish mul nan_to_num ne neg pow reciprocal relu remainder
round rsqrt rsub sigmoid sign silu sin sinh softplus sqrt square sub tan tanh threshold _to_copy
trunc where copy fill alias
"""
_ALONG_DIMENSIONS = """
sum mean amax amin var std prod max min _softmax _log_softmax logsumexp argmax argmin cumsum squeeze
"""
# What has no rule is computed whole, from all rows of what it reads, which is always right.
RULES: dict[str, Rule] = {
    **dict.fromkeys(_ROW_BY_ROW.split(), row_by_row),
    **dict.fromkeys(_ALONG_DIMENSIONS.split(), along(1)),
    "linalg_vector_norm": along(2),
    **dict.fromkeys(("view", "_unsafe_view", "reshape", "expand"), reshaped),
    **dict.fromkeys(("unsqueeze", "transpose", "permute"), with_dimensions),
    **dict.fromkeys(("mm", "bmm", "addmm"), matrix_product),
    **dict.fromkeys(("index_select", "index"), gathered),
    **dict.fromkeys(
        ("scatter_add", "scatter_reduce", "index_add", "index_copy", "index_put"), collected
    ),
    "cat": joined,
    **dict.fromkeys(("select", "slice"), picked),
    **dict.fromkeys(("native_batch_norm", "native_layer_norm"), normalised),
}
