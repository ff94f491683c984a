"""How what a row hears changes when elements are toggled: only where its messages differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.elements import Selection
from zorro.evaluation.traced.changed_input import ChangedInput
from zorro.evaluation.traced.entries_of_columns import is_set, picked
from zorro.evaluation.traced.heard_entry import HeardEntry, Listener

_NUMBERS_AT_ONCE = 1 << 22
_MOSTLY = 0.5  # of columns and samples differ: then all are looked at, which is quicker a number


@dataclass(frozen=True)
class HeardChange:
    """How what one row hears changes at some of the columns and samples, g of them."""

    listener: Listener
    columns: Tensor  # (c,), those that were looked at
    column: Tensor  # (g,), which of them
    sample: Tensor  # (g,)
    change: Tensor  # (K, g)
    toggled: Tensor | None = None  # (g,), which node

    @property
    def feature(self) -> Tensor:
        """Which features' columns they are, (g,)."""
        return self.columns[self.column]

    def of_node(self, node: int) -> HeardChange:
        """Return what toggling one of the nodes changes."""
        assert self.toggled is not None
        mine = (self.toggled == node).nonzero().flatten()
        return HeardChange(
            self.listener,
            self.columns,
            self.column[mine],
            self.sample[mine],
            self.change[:, mine],
        )

    def spread(self, samples: int) -> Tensor:
        """Return changes at their columns and samples, zero elsewhere, (K, c, S)."""
        spread = self.change.new_zeros(self.change.size(0), self.columns.numel(), samples)
        spread[:, self.column, self.sample] = self.change
        return spread


def of_columns(
    entry: HeardEntry,
    changed: ChangedInput,
    columns: Tensor,
    nodes: Tensor,
    *,
    most: int | None = None,
) -> Iterator[HeardChange]:
    """Yield what nodes (n,) bool change at columns (k,) that were noise and become true there.

    Args:
        entry: what hears them.
        changed: X − Z.
        columns: the features.
        nodes: that are selected.
        most: messages of a row; where there are more, some samples stand for all.
    """
    hearing = [one for one in entry.listeners if bool(nodes[one.candidates].any())]
    if not hearing:
        return
    for some, change in changed.everywhere(columns):  # (c,), (c, n, S)
        for listener in hearing:
            selected = nodes[listener.candidates]
            differs = is_set(change, listener.candidates[selected])  # (c, S)
            places = differs.nonzero()  # (g, 2)
            if places.size(0) > _MOSTLY * differs.numel():
                places = torch.ones_like(differs).nonzero()
            places, scale = _thinned(places, listener.messages, change.size(2), most)
            column, sample = places.t()
            true, noise = _values(entry, listener, change, some, column, sample)
            before = entry.aggregated(listener, noise)
            chosen = listener.inside[selected]
            noise[chosen] = true[chosen]
            made = entry.aggregated(listener, noise) - before
            yield HeardChange(listener, some, column, sample, made * scale)


def of_nodes(
    entry: HeardEntry,
    changed: ChangedInput,
    selection: Selection,
    wanted: Tensor,
    *,
    most: int | None = None,
) -> Iterator[HeardChange]:
    """Yield what toggling each of the wanted nodes (n,) bool changes.

    Args:
        entry: what hears them.
        changed: X − Z.
        selection: in which they are toggled, one at a time.
        wanted: the nodes.
        most: messages of a row; where there are more, some samples stand for all.
    """
    hearing = []
    for listener in entry.listeners:
        toggled = torch.unique(listener.candidates[wanted[listener.candidates]])  # (u,)
        if toggled.numel():
            hearing.append((listener, toggled))
    if not hearing:
        return
    for some, change in changed.everywhere(selection.columns):  # (c,), (c, n, S)
        for listener, toggled in hearing:
            selected = selection.nodes.new_zeros(listener.messages, 1)
            selected[listener.inside, 0] = selection.nodes[listener.candidates]
            sent_by = torch.full_like(listener.senders, -1).unsqueeze(1)  # (e, 1)
            sent_by[listener.inside, 0] = listener.candidates
            places = (change[:, toggled] != 0).nonzero()  # (g, 3)
            places, scale = _thinned(places, listener.messages, change.size(2), most)
            for part in torch.split(places, max(1, _NUMBERS_AT_ONCE // listener.messages)):
                column, which, sample = part.t()
                true, noise = _values(entry, listener, change, some, column, sample)
                before = entry.aggregated(listener, torch.where(selected, true, noise))
                kept = selected ^ (sent_by == toggled[which])  # (e, g)
                made = entry.aggregated(listener, torch.where(kept, true, noise)) - before
                yield HeardChange(listener, some, column, sample, made * scale, toggled[which])


def _values(
    entry: HeardEntry,
    listener: Listener,
    change: Tensor,
    columns: Tensor,
    column: Tensor,
    sample: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return true and noisy values (e, g) of a row's senders at some columns and samples (g,)."""
    if column.numel() == columns.numel() * change.size(2):  # all of them
        true = entry.x[listener.senders][:, columns]
        true = true.repeat_interleave(change.size(2), dim=1)
        differ = change[:, listener.candidates].transpose(0, 1).flatten(1)  # (i, g)
    else:
        true = entry.x[listener.senders].index_select(1, columns[column])
        differ = picked(change, column, listener.candidates, sample)
    noise = true.clone()
    noise[listener.inside] -= differ
    return true, noise


def _thinned(places: Tensor, messages: int, samples: int, most: int | None) -> tuple[Tensor, float]:
    """Return places (g, …, sample) of some samples if there are too many; how much one counts."""
    if most is None or places.size(0) * messages <= most:
        return places, 1.0
    step = min(samples, -(-places.size(0) * messages // most))
    return places[places[:, -1] % step == 0], samples / len(range(0, samples, step))
