"""Where a model first hears its neighbours' features, for one query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, fx

from zorro.cut import ComputationalGraph
from zorro.evaluation.traced.edges import LocalEdges
from zorro.evaluation.traced.entries_of_columns import is_set, picked
from zorro.evaluation.traced.heard import Heard
from zorro.evaluation.traced.program import Program
from zorro.noise import Draws

_ROWS_AND_SAMPLES = 1 << 18  # of noise that is aggregated at once
_NUMBERS_AT_ONCE = 1 << 22
_FEW = 0.3  # of columns and samples have a message that is not zero: only these are aggregated


@dataclass(frozen=True)
class Listener:
    """A row that hears others."""

    row: int  # of those written
    senders: Tensor  # (e,) among the rows read
    edges: LocalEdges  # into it alone
    scale: Tensor | None  # (e, 1), of the messages
    inside: Tensor  # (i,), which messages are candidates'
    candidates: Tensor  # (i,), which candidates'

    @property
    def messages(self) -> int:
        """How many it hears."""
        return self.senders.numel()


@dataclass(frozen=True)
class HeardEntry:
    """An entry's heard term over a query's candidates."""

    heard: Heard
    weight: Tensor  # (K, d, h)
    x: Tensor  # (m, d), true features of the rows read, candidates first
    rows: Tensor  # (i,), those of them that are candidates

    @cached_property
    def listeners(self) -> list[Listener]:
        """The rows that are written."""
        edges, weight = self.heard.edges, self.heard.edge_weight
        found = []
        for row, (_, senders, ids) in enumerate(edges.into):
            inside = (senders < self.rows.numel()).nonzero().flatten()
            alone = LocalEdges(
                ids=ids,
                sender=torch.arange(ids.numel(), device=ids.device),
                receiver=torch.zeros_like(ids),
                own=edges.own[row : row + 1],
            )
            scale = None if weight is None else weight[ids].view(-1, 1)
            candidates = self.rows[senders[inside]]
            found.append(Listener(row, senders, alone, scale, inside, candidates))
        return found

    def aggregated(self, listener: Listener, values: Tensor) -> Tensor:
        """Return the aggregates (K, g) that a row makes of its senders' values (e, g)."""
        messages = values if listener.scale is None else values * listener.scale
        made = self.heard.aggregate(messages.unsqueeze(1), listener.edges)  # (1, 1, K · g)
        return made.view(self.weight.size(0), values.size(1))

    def mapped(self, made: Tensor, columns: Tensor) -> Tensor:
        """Return Σ_k a_kᵀ W_k of aggregates (K, c, S) at some columns (c,), (S, h)."""
        return made.flatten(0, 1).t() @ self.weight[:, columns].flatten(0, 1)

    def no_states(self, samples: int) -> Tensor:
        """Return zero for each state, (q, S, h)."""
        return self.weight.new_zeros(self.heard.edges.own.numel(), samples, self.weight.size(2))

    def of_noise(self, draws: Draws, on_batch: Callable[[], None]) -> Tensor:
        """Return the states (q, S, h) of noise; no more than some columns are drawn at once."""
        count = draws.shape[0]
        states = self.no_states(count)
        if self.heard.bias is not None:
            states += self.heard.bias
        step = max(1, _ROWS_AND_SAMPLES // max(1, self.rows.numel()))
        for samples in torch.split(torch.arange(count, device=states.device), step):
            part = slice(int(samples[0]), int(samples[-1]) + 1)
            some = draws if samples.numel() == count else draws.only(samples)
            self._add_noise(states[:, part], some, on_batch)
        return states

    def _add_noise(self, states: Tensor, draws: Draws, on_batch: Callable[[], None]) -> None:
        samples = draws.shape[0]
        at_once = max(1, _NUMBERS_AT_ONCE // (samples * max(1, self.x.size(0))))
        for columns in torch.split(torch.arange(self.x.size(1), device=states.device), at_once):
            on_batch()
            drawn = draws.columns(columns, self.rows)  # (c, i, s)
            for listener in self.listeners:
                made = self._made_of_noise(listener, columns, drawn)
                states[listener.row] += self.mapped(made, columns)

    def _made_of_noise(self, listener: Listener, columns: Tensor, drawn: Tensor) -> Tensor:
        """Return what a row makes of noise (c, i, s) and of the context, (K, c, s)."""
        places = listener.senders[listener.inside]
        x = self.x[listener.senders][:, columns]  # (e, c)
        context = x.index_fill(0, listener.inside, 0)
        heard = is_set(drawn, places) | (context != 0).any(0).unsqueeze(1)  # (c, s)
        at = heard.flatten().nonzero().flatten()  # (g,)
        if at.numel() > _FEW * heard.numel():
            values = context.repeat_interleave(drawn.size(2), dim=1)
            values[listener.inside] = drawn[:, places].transpose(0, 1).flatten(1)
            return self.aggregated(listener, values).view(-1, *heard.shape)
        column = torch.div(at, drawn.size(2), rounding_mode="floor")
        sample = at - column * drawn.size(2)
        values = context.index_select(1, column)
        values[listener.inside] = picked(drawn, column, places, sample)
        silence = self.aggregated(listener, values.new_zeros(listener.messages, 1))
        made = silence.repeat(1, heard.numel())
        made.index_copy_(1, at, self.aggregated(listener, values))
        return made.view(-1, *heard.shape)


def heard_entries_of(program: Program, graph: ComputationalGraph) -> dict[fx.Node, HeardEntry]:
    """Return the heard terms of the program's entries."""
    return {
        node: HeardEntry(
            heard=plan.heard,
            weight=plan.heard.weight.view(-1, graph.x.size(1), plan.heard.weight.size(1)),
            x=graph.x[plan.needs],
            rows=plan.needs[plan.needs < graph.candidates.numel()],
        )
        for node, plan in program.entries.items()
        if plan.heard is not None
    }
