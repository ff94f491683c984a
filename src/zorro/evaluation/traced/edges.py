"""The edges that a layer's plan reads, grouped by the rows they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from zorro.evaluation.traced.presence import Presence

_CACHED = 1 << 17  # numbers of messages
_FEW_MESSAGES = 1 << 20  # numbers of messages that are added up at once rather than row by row
_MOST_ABSENT = 30.0  # by which the logit of an edge that is not there counts as higher

# Numbers of all messages that are made at once: what stays in the caches, or in a GPU's memory.
_CPU_MESSAGES = 1 << 18
_CUDA_MESSAGES = 1 << 26


@dataclass(frozen=True)
class LocalEdges:
    """Edges into the wanted rows, in terms of the rows that a plan reads and writes."""

    ids: Tensor  # (e,) which of the layer's edges
    sender: Tensor  # (e,) rows read
    receiver: Tensor  # (e,) rows written, ascending
    own: Tensor  # (r,) where each written row stands among the rows read
    origin: Tensor | None = None  # (e,) columns of the graph's edge index, −1 for added loops
    presence: Presence | None = None  # which of them there are in each input; all when None

    @cached_property
    def present(self) -> Tensor | None:
        """How much of each edge there is in each input, (e, B)."""
        if self.presence is None or self.origin is None:
            return None
        return self.presence.of(self.origin)

    def within(self, presence: Presence | None) -> LocalEdges:
        """Return the edges as far as they are present."""
        return self if presence is None else replace(self, presence=presence)

    @cached_property
    def counts(self) -> list[int]:
        """The number of edges into each written row."""
        counts: list[int] = torch.bincount(self.receiver, minlength=self.own.numel()).tolist()
        return counts

    @cached_property
    def into(self) -> list[tuple[int, Tensor, Tensor]]:
        """For each written row: where it stands among the rows read, its senders, its edges."""
        senders = torch.split(self.sender, self.counts)
        ids = torch.split(self.ids, self.counts)
        return list(zip(self.own.tolist(), senders, ids, strict=True))

    def parts(self, state: Tensor) -> list[LocalEdges]:
        """Return the edges in parts of whole rows, so few that messages like states fit."""
        messages = _CUDA_MESSAGES if state.is_cuda else _CPU_MESSAGES
        most = max(1, messages // max(1, state[0].numel()))
        if self.ids.numel() <= most:
            return [self]
        parts = []
        row = edge = rows = edges = 0
        for count in [*self.counts, most + 1]:
            if rows and edges + count > most:
                parts.append(self._part(slice(row, row + rows), slice(edge, edge + edges)))
                row, edge, rows, edges = row + rows, edge + edges, 0, 0
            rows, edges = rows + 1, edges + count
        return parts

    def only(self, wanted: Tensor) -> LocalEdges:
        """Return the edges where a mask (e,) is true, into the same rows."""
        return self._picked(wanted, self.receiver[wanted], self.own)

    def _part(self, rows: slice, edges: slice) -> LocalEdges:
        return self._picked(edges, self.receiver[edges] - rows.start, self.own[rows])

    def _picked(self, edges: Tensor | slice, receiver: Tensor, own: Tensor) -> LocalEdges:
        origin = None if self.origin is None else self.origin[edges]
        return LocalEdges(self.ids[edges], self.sender[edges], receiver, own, origin, self.presence)

    def received(self, values: Tensor) -> Tensor:
        """Return values (m, …) at the rows that the edges lead to, (e, …)."""
        return values[self.own[self.receiver]]

    def softmax(self, logits: Tensor) -> Tensor:
        """Normalise logits (e, B, H) over the edges into each row that are present.

        PyG's `softmax` does not know of edges that are present in some inputs only.
        """
        rows = self.own.numel()
        shape = (rows, *logits.shape[1:])
        highest = logits.new_full(shape, -torch.inf)
        receiver = self.receiver.view(-1, *[1] * (logits.dim() - 1)).expand_as(logits)
        present = None if self.present is None else self.present.unsqueeze(-1)  # (e, B, 1)
        known = logits.detach()
        if present is not None:
            known = known.masked_fill(present == 0, -torch.inf)
        highest.scatter_reduce_(0, receiver, known, "amax")
        if present is not None:
            # Absent edges may have higher ones; their weight is 0, and its gradient is bounded.
            highest = highest.masked_fill(highest == -torch.inf, 0.0)
            weights = (logits - highest[self.receiver]).clamp(max=_MOST_ABSENT).exp() * present
        else:
            weights = (logits - highest[self.receiver]).exp()
        total = logits.new_zeros(shape).index_add_(0, self.receiver, weights)
        return weights / (total + 1e-16)[self.receiver]

    def summed(self, messages: Tensor) -> Tensor:
        """Add up messages (e, B, …) at their receivers, (r, B, …), of edges that are present."""
        if self.present is not None:
            messages = messages * self.present.view(
                *messages.shape[:2], *[1] * (messages.dim() - 2)
            )
        total = messages.new_zeros(self.own.numel(), *messages.shape[1:])
        return total.index_add_(0, self.receiver, messages)

    def weighted_sum(self, weights: Tensor, values: Tensor) -> Tensor:
        """Add up w_e · values[e's sender] at the receivers.

        Args:
            weights: (e, B, H), one per edge and head.
            values: (m, B, H, C), one per row that is read.

        Returns:
            (r, B, H, C).
        """
        few = self.presence is not None and self.ids.numel() * values[0].numel() <= _FEW_MESSAGES
        if values.is_cuda or few:
            total = values.new_zeros(self.own.numel(), *values.shape[1:])
            sent, weights = values.index_select(0, self.sender), weights.unsqueeze(-1)
            is_free = not torch.is_grad_enabled() and weights.dtype == sent.dtype
            messages = sent.mul_(weights) if is_free else sent * weights  # no second copy
            return total.index_add_(0, self.receiver, messages)
        rows = self.own.numel()
        run: Any = _WeightedSum.apply
        summed: Tensor = run(weights, values, self.sender, self.receiver, rows)
        return summed


class _WeightedSum(torch.autograd.Function):
    """Messages to one receiver after the other, some at a time, which stay in the caches.

    So is the gradient, of which torch would keep all messages at once.
    """

    @staticmethod
    def forward(
        ctx: Any, weights: Tensor, values: Tensor, sender: Tensor, receiver: Tensor, rows: int
    ) -> Tensor:
        ctx.save_for_backward(weights, values, sender, receiver)
        total = values.new_zeros(rows, *values.shape[1:])
        for row, edges in _by_receiver(receiver, rows):
            total[row] = weighted_total(weights[edges], values, sender[edges])
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weights, values, sender, receiver = ctx.saved_tensors
        (gradient,) = gradients  # (r, B, H, C)
        of_weights, of_values = torch.empty_like(weights), torch.zeros_like(values)
        for row, edges in _by_receiver(receiver, gradient.size(0)):
            for some in torch.split(edges, _at_once(values)):
                toward = gradient[row]
                of_values.index_add_(0, sender[some], weights[some].unsqueeze(-1) * toward)
                of_weights[some] = (values[sender[some]] * toward).sum(-1)
        return of_weights, of_values, None, None, None


def weighted_total(
    weights: Tensor, values: Tensor, senders: Tensor, samples: Tensor | None = None
) -> Tensor:
    """Add up what is sent to one receiver, (B, H, C).

    Args:
        weights: (e, B, H).
        values: (m, S, H, C).
        senders: (e,), rows of the values.
        samples: (B,), which of them; each its own when None.
    """
    total = values.new_zeros(weights.size(1), *values.shape[2:])
    for some in torch.split(torch.arange(senders.numel()), _at_once(total.unsqueeze(0))):
        part = values[senders[some]] if samples is None else values[senders[some, None], samples]
        total += (weights[some].unsqueeze(-1) * part).sum(0)
    return total


def _at_once(values: Tensor) -> int:
    """Return how many messages, each as large as a row of values, stay in the caches."""
    return max(1, _CACHED // max(1, values[0].numel()))


def _by_receiver(receiver: Tensor, rows: int) -> Iterator[tuple[int, Tensor]]:
    """Yield each receiver and its edges."""
    order = torch.argsort(receiver, stable=True)
    counts = torch.bincount(receiver, minlength=rows).tolist()
    yield from enumerate(torch.split(order, counts))
