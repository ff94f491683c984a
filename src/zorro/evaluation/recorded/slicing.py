"""A recording cut down to the rows that a query's output is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from zorro.evaluation.recorded.recording import Operation, Recording, Value
from zorro.evaluation.recorded.rules import RULES, Plan, Rows, Shapes, positions
from zorro.graph.edge_index import sorted_unique


@dataclass(frozen=True)
class Sliced:
    """What a recording computes some rows of its output by, from some rows of the input.

    Args:
        operations: in order.
        output: the number of the value that comes out, (r, C).
        rows: of the input that are read, ascending; None for all.
    """

    operations: Sequence[Operation]
    output: int
    rows: Rows

    def run_from(self, values: dict[int, Tensor]) -> Tensor:
        """Return the output's rows, given the values that no operation makes."""
        for operation in self.operations:
            args, kwargs = tree_map_only(
                Value, lambda value: values[value.number], (operation.args, dict(operation.kwargs))
            )
            result = operation.function(*args, **kwargs)
            results = result if isinstance(result, list | tuple) else [result]
            values.update(zip(operation.results, results, strict=True))
        return values[self.output]


def sliced(recording: Recording, rows: Tensor) -> Sliced:
    """Return what computes some rows (r,) of a recording's output, ascending."""
    shapes = Shapes(recording.shapes)
    held: dict[int, Rows] = {recording.output: rows}  # of each value that is needed at all
    plans: list[tuple[Operation, Plan | None]] = []
    for operation in reversed(recording.operations):  # whoever reads its results is done
        asked = [held[number] for number in operation.results if number in held]
        if not asked:
            continue
        of_results = _union(asked)
        plan = None if of_results is None else _plan(operation, of_results, shapes)
        held.update(dict.fromkeys(operation.results, of_results if plan else None))
        for number, wanted in _wanted(operation, plan):
            held[number] = _union([held[number], wanted]) if number in held else wanted
        plans.append((operation, plan))
    fresh = count(len(recording.shapes))
    operations: list[Operation] = []
    for operation, plan in reversed(plans):
        args = [list(it) if isinstance(it, list | tuple) else it for it in operation.args]
        for place, argument in _tensors(args):
            wanted = None if plan is None else plan.wanted.get(place)
            if isinstance(argument, Value):
                rows_held = held[argument.number]
                if wanted is not None and not _is_same(wanted, rows_held):
                    number = next(fresh)
                    operations.append(_picking(argument, positions(wanted, rows_held), number))
                    argument = Value(number)
            elif wanted is not None:
                argument = argument[wanted]
            if isinstance(place, tuple):
                args[place[0]][place[1]] = argument
            else:
                args[place] = argument
        args = args if plan is None else plan.finish(args)
        operations.append(replace(operation, args=tuple(args)))
    whole = held[recording.output]
    if whole is None:  # all rows were computed after all
        number = next(fresh)
        operations.append(_picking(Value(recording.output), rows, number))
        return Sliced(operations, number, held.get(0))
    return Sliced(operations, recording.output, held.get(0))


def _picking(value: Value, places: Tensor, number: int) -> Operation:
    """Return the operation that takes rows at some places of a value."""
    function = torch.ops.aten.index_select.default
    return Operation(function, (value, 0, places), {}, (number,), ((),))


def _plan(operation: Operation, rows: Tensor, shapes: Shapes) -> Plan | None:
    by_name = _tensors(list(operation.kwargs.values()))
    rule = RULES.get(operation.name)
    return None if rule is None or by_name else rule(operation, rows, shapes)


def _tensors(args: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return the tensors and values among arguments, each with its place, also that in a list."""
    found: list[tuple[Any, Any]] = []
    for place, argument in enumerate(args):
        if isinstance(argument, list | tuple):
            every = enumerate(argument)
            found += [((place, i), it) for i, it in every if isinstance(it, Value | Tensor)]
        elif isinstance(argument, Value | Tensor):
            found.append((place, argument))
    return found


def _wanted(operation: Operation, plan: Plan | None) -> list[tuple[int, Rows]]:
    """Return which rows of which values an operation reads."""
    every = [*_tensors(operation.args), *_tensors(list(operation.kwargs.values()))]
    return [
        (argument.number, None if plan is None else plan.wanted.get(place))
        for place, argument in every
        if isinstance(argument, Value)
    ]


def _union(every: Sequence[Rows]) -> Rows:
    known = [rows for rows in every if rows is not None]
    return sorted_unique(torch.cat(known)) if len(known) == len(every) else None


def _is_same(one: Tensor, other: Rows) -> bool:
    return other is not None and one.shape == other.shape and bool((one == other).all())
