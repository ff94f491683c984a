"""What rows near few edges give, for every way in which these may be there: looked up, not run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import torch
from torch import Tensor, fx

from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.patterns import Patterns
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.presence import Presence
from zorro.evaluation.traced.unserved import Unserved

# Addresses of a value, and for each of its rows: to compute them takes no longer than two thousand
# inputs do, of which a search runs many thousands.
_MOST, _FOR_EACH_ROW = 1 << 16, 2400
_AT_ONCE = 1 << 18  # numbers of messages that are made at a time


@dataclass(frozen=True)
class Value:
    """A value of the program at each address.

    Args:
        patterns: the addresses.
        values: (T, h).
    """

    patterns: Patterns
    values: Tensor

    def rows(self, numbers: Tensor) -> Value:
        """Return the value of some of the rows (k,), each by itself."""
        if numbers.equal(torch.arange(len(self.patterns.masks), device=numbers.device)):
            return self
        masks = [self.patterns.masks[row] for row in numbers.tolist()]
        patterns = self.patterns.like(masks)
        return Value(
            patterns,
            self.values[self.patterns.addresses(numbers[patterns.row], patterns.number)],
        )

    def under(self, patterns: Patterns) -> Tensor:
        """Return the values at the addresses of the same rows that depend on further edges."""
        if patterns.masks == self.patterns.masks:
            return self.values
        return self.values[self.patterns.addresses(patterns.row, patterns.number)]


class Tables:
    """The values of a program's first layers, for inputs that differ in their edges alone.

    After a layer or two a row depends on the edges near it only. Where these are few, there are
    fewer ways in which they may be there than inputs that a search runs, and each way is computed
    once. A value is kept by a table if the ways of all its rows are at most some thousands.

    Args:
        of_column: (e,) which edge each column of the graph's edge index is.
        edges: how many edges there are, 62 at most.
        dtype: of values.
        numbers: that a table may have.
    """

    def __init__(self, of_column: Tensor, edges: int, *, dtype: torch.dtype, numbers: int) -> None:
        self._of_column = of_column
        self._edges = edges
        self._dtype = dtype
        self._numbers = numbers
        self._values: dict[fx.Node, Value] = {}
        self._states: dict[fx.Node, Value] = {}  # of layers whose output no table keeps
        self.read: frozenset[fx.Node] = frozenset()  # values that are read by what is run
        self.deviation = 0.0  # from the program's scores, relative to 1 + the largest, once known

    def __contains__(self, node: object) -> bool:
        return node in self._values

    def __len__(self) -> int:
        return len(self._values)

    def value(self, node: fx.Node) -> Value:
        """Return a value."""
        return self._values[node]

    def state(self, node: fx.Node) -> Value | None:
        """Return the state (q, B, h) of a layer, None if no table keeps it."""
        return self._states.get(node)

    def known(self, node: fx.Node, rows: Tensor) -> Value | None:
        """Return some rows (k,) of a value, None if no table keeps it."""
        return self._values[node].rows(rows) if node in self._values else None

    def add_layer(self, node: fx.Node, plan: Plan, given: Value | Tensor) -> None:
        """Keep a layer's output, or else its state, if there is a table for it.

        Args:
            node: the layer.
            plan: of it.
            given: the rows that the plan needs; of an entry its state (q, h) in all inputs.
        """
        state = None if plan.heard is not None else self._state(plan, given)
        if state is None:
            return
        try:
            if plan.combine is None:
                found = Value(state.patterns, plan.finish(state.values.unsqueeze(1)).squeeze(1))
            else:
                found = self._combined(plan, state)
            self._values[node] = found
        except Unserved:
            if isinstance(given, Value):
                self._states[node] = state

    def add_row_wise(self, node: fx.Node, given: Mapping[fx.Node, Value], run: Any) -> None:
        """Keep what an operation makes of each row.

        Args:
            node: the operation.
            given: its inputs, the same rows of each.
            run: maps a table (T, …) for each input to the result's.
        """
        some = [value.patterns for value in given.values()]
        masks = [reduce(or_, masks) for masks in zip(*(one.masks for one in some), strict=True)]
        try:
            patterns = self._patterns(
                masks, max(value.values[0].numel() for value in given.values())
            )
        except Unserved:
            return
        # Copies: an operation may write to what it is given.
        result = run({one: value.under(patterns).clone() for one, value in given.items()})
        if isinstance(result, Tensor) and result.size(0) == patterns.count:
            self._values[node] = Value(patterns, result)

    def _patterns(self, masks: list[int], width: int) -> Patterns:
        """Return the addresses of rows that depend on such edges, if they are few."""
        most = min(_MOST, _FOR_EACH_ROW * len(masks), self._numbers // max(1, width))
        if sum(1 << mask.bit_count() for mask in masks) > most:
            raise Unserved("there are too many ways in which edges may be there")
        return Patterns(masks, self._edges, self._of_column.device)

    def _state(self, plan: Plan, given: Value | Tensor) -> Value | None:
        """Return a layer's state, if each of its rows is made of the same row of the input."""
        if isinstance(given, Tensor):
            return Value(self._patterns([0] * given.size(0), given.size(1)), given)
        is_row_wise = len(plan.mixings) == 1 and plan.mixings[0].is_identity
        has_one_bias = plan.bias is None or plan.bias.dim() == 1
        if not is_row_wise or not has_one_bias:
            return None
        return Value(given.patterns, plan.state(given.values.unsqueeze(1)).squeeze(1))

    def _combined(self, plan: Plan, state: Value) -> Value:
        """Return a layer's output at each address, from its state at each address."""
        if plan.near is None:
            raise Unserved("it does not tell what rows make of the edges into them")
        edges, combine = plan.near
        patterns = self._patterns(self._masks_after(edges, state.patterns), state.values.size(1))
        into = torch.tensor(edges.counts, device=edges.receiver.device)  # (r,)
        many = max(1, int(into.max()) if into.numel() else 1) * state.values.size(1)
        every = torch.arange(patterns.count, device=into.device)
        parts = [
            combine(state.values.unsqueeze(1), self._at(some, patterns, state.patterns, edges))
            for some in torch.split(every, max(1, _AT_ONCE // many))
        ]
        return Value(patterns, torch.cat(parts).squeeze(1))

    def _masks_after(self, edges: LocalEdges, before: Patterns) -> list[int]:
        """Return which edges each written row depends on, as a number."""
        masks = [before.masks[row] for row in edges.own.tolist()]
        each = zip(
            edges.receiver.tolist(), edges.sender.tolist(), self._elements(edges), strict=True
        )
        for receiver, sender, element in each:
            own = 0 if element is None else 1 << element
            masks[receiver] |= before.masks[sender] | own
        return masks

    def _elements(self, edges: LocalEdges) -> list[int | None]:
        """Return which edge of the graph each edge of a layer is; None for added loops."""
        origin = edges.ids if edges.origin is None else edges.origin
        return [None if at < 0 else int(self._of_column[at]) for at in origin.tolist()]

    def _at(
        self, some: Tensor, patterns: Patterns, before: Patterns, edges: LocalEdges
    ) -> LocalEdges:
        """Return the edges into some addresses (k,), as if each were a row of one input."""
        assert edges.origin is not None
        row, number = patterns.row[some], patterns.number[some]
        into = torch.bincount(edges.receiver, minlength=edges.own.numel())  # (r,)
        count = into[row]  # (k,)
        address = torch.arange(some.numel(), device=some.device).repeat_interleave(count)  # (x,)
        start = (into.cumsum(0) - into)[row] - (count.cumsum(0) - count)  # (k,)
        edge = start[address] + torch.arange(address.numel(), device=some.device)
        origin = edges.origin[edge]
        element = self._of_column[origin.clamp(min=0)]
        there = (number[address] >> element & 1).bool() | (origin < 0)
        return _EdgesOfAddresses(
            ids=edges.ids[edge],
            sender=before.addresses(edges.sender[edge], number[address]),
            receiver=address,
            own=before.addresses(edges.own[row], number),
            origin=origin,
            presence=_Unknown(),
            there=there.to(self._dtype).unsqueeze(1),
        )


class Known:
    """What tables keep of some inputs.

    Args:
        tables: of the program that runs them.
        present: (B, m), which edges there are in the inputs.
    """

    def __init__(self, tables: Tables, present: Tensor) -> None:
        self.tables = tables
        self._present = present.double()
        self._addresses: dict[tuple[int, ...], Tensor] = {}

    def value(self, node: fx.Node) -> Tensor:
        """Return a value (r, B, h)."""
        return self._looked_up(self.tables.value(node))

    def state(self, node: fx.Node) -> Tensor | None:
        """Return the state (q, B, h) of a layer, None if no table keeps it."""
        value = self.tables.state(node)
        return None if value is None else self._looked_up(value)

    def _looked_up(self, value: Value) -> Tensor:
        patterns = value.patterns
        if patterns.masks not in self._addresses:
            self._addresses[patterns.masks] = patterns.of_inputs(self._present)
        addresses = self._addresses[patterns.masks]  # (r, B)
        return value.values.index_select(0, addresses.flatten()).view(*addresses.shape, -1)


@dataclass(frozen=True)
class _EdgesOfAddresses(LocalEdges):
    """Edges into addresses, of which it is known which are there, and of no others."""

    there: Tensor | None = None  # (e, 1)

    @property
    def present(self) -> Tensor | None:
        """How much of each edge there is."""
        return self.there

    @property
    def counts(self) -> list[int]:
        """Nobody goes through thousands of addresses one after the other."""
        raise Unserved("what it makes of edges takes row after row")


class _Unknown(Presence):
    """The presence of edges of which nothing is known but what those into a row tell of it."""

    def __init__(self) -> None:
        pass

    def of(self, origin: Tensor) -> Tensor:
        """Tell nothing."""
        raise Unserved("it depends on further edges than those into a row")

    def made(self, key: Hashable, make: Callable[[], Tensor]) -> Tensor:
        """Tell nothing."""
        return self.of(torch.empty(0))

    def part(self, columns: Tensor) -> Presence:
        """Tell nothing."""
        return self
