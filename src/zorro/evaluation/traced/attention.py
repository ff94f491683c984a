"""GAT's attention for inputs of which only a change is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from zorro.evaluation.traced.change import Change, ChangedRows
from zorro.evaluation.traced.edges import LocalEdges, weighted_total

# Taking terms out of a sum loses digits; sums that lose more than this are added up anew.
_LEAST_LEFT = 0.05
_MOST = 0.7


@dataclass(frozen=True)
class ChangedAttention:
    """Attends at the receivers that a change reaches.

    The projected rows are those of the sample plus a multiple of one direction, so that their
    attention logits, and any weighted sum of them, are too. Where a receiver's own row did not
    change, the messages that did are exchanged in the sample's sums; elsewhere all are added up.
    """

    heads: int
    width: int
    attend: Tensor  # (H · C, 2 H): both halves of the attention, senders' first
    slope: float  # of the leaky ReLU
    shift: Tensor | None  # (e, H), by edge
    finish: Callable[[Tensor, Tensor], Tensor]  # sums (p, H, C) and residual (p, o) → (p, o)

    def __call__(self, change: Change, edges: LocalEdges) -> ChangedRows:
        """Return the changed rows of the output."""
        (mixed,), (direction,) = change.mixed, change.direction  # (m, P), (P, h)
        split = [self.heads * self.width, change.base.size(-1) - self.heads * self.width]
        x, residual = torch.split(change.base, split, dim=-1)
        toward, residual_toward = torch.split(direction, split, dim=-1)
        sent, received = (x @ self.attend).chunk(2, dim=-1)  # each (m, S, H)
        sent_toward, received_toward = (toward @ self.attend).chunk(2, dim=-1)  # each (P, H)
        x = x.reshape(*x.shape[:-1], self.heads, -1)  # (m, S, H, C)
        toward = toward.reshape(-1, self.heads, self.width)  # (P, H, C)
        changed = change.changed_rows()
        every = torch.arange(change.sample.numel(), device=change.sample.device)
        reached = []
        for row, (own, senders, ids) in enumerate(edges.into):
            inputs = _mostly_all(changed[senders].any(0) | changed[own])
            if changed[own, inputs].numel() == 0:
                continue
            sample = change.sample[inputs]
            own_mixed = mixed[own, inputs].unsqueeze(-1)  # (p, 1)
            receiver = _Receiver(
                x=x,
                senders=senders,
                sent=sent,
                received=received[own],
                shift=None if self.shift is None else self.shift[ids],
                slope=self.slope,
            )
            messages = _Messages(
                sample,
                mixed[senders][:, inputs],
                toward[inputs],
                sent_toward[inputs],
                own_mixed * received_toward[inputs],
            )
            sums = receiver.sums(messages, changed[senders][:, inputs], changed[own, inputs])
            kept = torch.addcmul(residual[own, sample], own_mixed, residual_toward[inputs])
            reached.append((row, every[inputs], self.finish(sums, kept)))
        nothing = (0, every[:0], self.finish(toward[:0], residual[0, :0]))
        return ChangedRows.of(reached or [nothing])


@dataclass(frozen=True)
class _Messages:
    """What p inputs send to one receiver, as a change of their samples."""

    sample: Tensor  # (p,)
    mixed: Tensor  # (e, p): how far each sender moved
    toward: Tensor  # (p, H, C): in which direction
    sent_toward: Tensor  # (p, H): what that adds to its half of the logit
    received: Tensor  # (p, H): what the receiver's own change adds to the other half

    def part(self, inputs: Tensor | slice) -> _Messages:
        return _Messages(
            self.sample[inputs],
            self.mixed[:, inputs],
            self.toward[inputs],
            self.sent_toward[inputs],
            self.received[inputs],
        )


@dataclass(frozen=True)
class _Receiver:
    """One receiver's edges and the samples' values at their ends."""

    x: Tensor  # (m, S, H, C)
    senders: Tensor  # (e,)
    sent: Tensor  # (m, S, H)
    received: Tensor  # (S, H)
    shift: Tensor | None  # (e, H)
    slope: float

    def sums(self, messages: _Messages, changed: Tensor, own_changed: Tensor) -> Tensor:
        """Return the attended sums (p, H, C), given which senders (e, p) and inputs changed."""
        inputs = _mostly_all(~own_changed)
        result = torch.empty_like(messages.toward)
        result[inputs], safe = self._exchanged(messages.part(inputs), changed[:, inputs])
        unsafe = own_changed.clone()  # it may be a view of what others read
        unsafe[inputs] |= ~safe
        anew = unsafe.nonzero().flatten()
        if anew.numel():
            result[anew] = self._added_up(messages.part(anew))
        return result

    def _added_up(self, messages: _Messages) -> Tensor:
        sample, by = messages.sample, messages.mixed.unsqueeze(-1)  # (p,), (e, p, 1)
        logits = torch.addcmul(self.sent[self.senders][:, sample], by, messages.sent_toward)
        logits += self.received[sample] + messages.received
        attention = self._leaky(logits, slice(None)).softmax(0)  # (e, p, H)
        total = (attention * by).sum(0).unsqueeze(-1) * messages.toward  # (p, H, C)
        return total.add_(weighted_total(attention, self.x, self.senders, sample))

    def _exchanged(self, messages: _Messages, changed: Tensor) -> tuple[Tensor, Tensor]:
        """Return sums (p, H, C), and in which inputs (p,) enough was left of the sample's."""
        logits = self._leaky(self.sent[self.senders] + self.received, slice(None))  # (e, S, H)
        highest = logits.amax(0)  # (S, H)
        weights = (logits - highest).exp()
        weight = weights.sum(0)  # (S, H)
        total = weighted_total(weights, self.x, self.senders)  # (S, H, C)

        edge, at = changed.nonzero(as_tuple=True)  # (E,)
        sample, sender = messages.sample[at], self.senders[edge]
        by = messages.mixed[edge, at].unsqueeze(-1)  # (E, 1)
        logit = torch.addcmul(self.sent[sender, sample], by, messages.sent_toward[at])
        new = (self._leaky(logit + self.received[sample], edge) - highest[sample]).exp()  # (E, H)
        gained = new - weights[edge, sample]
        before = weight[messages.sample]  # (p, H)
        after = before.index_add(0, at, gained)
        moved = torch.zeros_like(after).index_add_(0, at, new * by)  # (p, H)
        sums = total[messages.sample].addcmul_(moved.unsqueeze(-1), messages.toward)
        sums.index_add_(0, at, self.x[sender, sample].mul_(gained.unsqueeze(-1)))
        sums /= after.unsqueeze(-1)
        safe = ((after > _LEAST_LEFT * before) & after.isfinite()).all(-1)
        return sums, safe

    def _leaky(self, logits: Tensor, edges: Tensor | slice) -> Tensor:
        """Return the attention of logits (e, …, H) of some edges before it is normalised."""
        if self.shift is not None:
            shift = self.shift[edges]
            logits = logits + (shift.unsqueeze(1) if logits.dim() == 3 else shift)
        return functional.leaky_relu(logits, self.slope)


def _mostly_all(wanted: Tensor) -> Tensor | slice:
    """Return where a mask is true, or everywhere if that is most places: picking costs more."""
    places = wanted.nonzero().flatten()
    return slice(None) if places.numel() > _MOST * wanted.numel() else places
