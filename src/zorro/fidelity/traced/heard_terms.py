"""The terms Σ_k a_k(Y) W_k + b of the entries' states: aggregations of each column on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, fx

from zorro.cut import ComputationalGraph
from zorro.fidelity.traced.change import Change, Moved
from zorro.fidelity.traced.changed_input import ChangedInput
from zorro.fidelity.traced.heard import Heard, Listener
from zorro.fidelity.traced.program import Program
from zorro.fidelity.traced.terms import States, Toggled
from zorro.noise import Draws
from zorro.selection import Selection

_ROWS_AND_SAMPLES = 1 << 18  # of noise that is aggregated at once
_NUMBERS_AT_ONCE = 1 << 22
_MOST_FOR_GAINS = 1 << 24  # messages of one row: gains need not be of all samples
_MOSTLY = 0.3  # of entries that are zero in all messages: leaving them out pays below this
_COST = 2.0  # nanoseconds a message


@dataclass(frozen=True)
class HeardEntry:
    """An entry's heard term over a query's candidates."""

    heard: Heard
    weight: Tensor  # (K, d, h)
    x: Tensor  # (m, d), true features of the rows read, candidates first
    rows: Tensor  # (i,), those of them that are candidates

    def candidates_of(self, listener: Listener) -> tuple[Tensor, Tensor]:
        """Return which messages (i,) are candidates', and which candidates' (i,)."""
        inside = (listener.senders < self.rows.numel()).nonzero().flatten()
        return inside, self.rows[listener.senders[inside]]

    def aggregated(self, listener: Listener, values: Tensor) -> Tensor:
        """Return the aggregates (K, g) that a row makes of its senders' values (e, g)."""
        messages = values if listener.scale is None else values * listener.scale
        made = self.heard.aggregate(messages.unsqueeze(1), listener.edges)  # (1, 1, K · g)
        return made.view(self.weight.size(0), values.size(1))

    def mapped(self, made: Tensor, columns: Tensor) -> Tensor:
        """Return Σ_k a_kᵀ W_k of aggregates (K, c, S) at some columns (c,), (S, h)."""
        return made.flatten(0, 1).t() @ self.weight[:, columns].flatten(0, 1)


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


class _Heard(NamedTuple):
    """How what one row hears changes at some of the columns and samples, (g,) of them."""

    listener: Listener
    columns: Tensor  # (c,), those that were looked at
    column: Tensor  # (g,), which of them
    sample: Tensor  # (g,)
    sender: Tensor  # (g,), of toggled nodes: which
    change: Tensor  # (K, g)


class HeardTerms:
    """Heard terms: toggling changes what a row makes of the messages that differ.

    Only where noise and true features differ is anything aggregated again: where features are
    mostly zero, at few columns of few samples.

    Args:
        entries: that hear their neighbours.
        changed: X − Z.
        draws: Z.
        on_batch: called before noise is drawn.
    """

    def __init__(
        self,
        entries: Mapping[fx.Node, HeardEntry],
        changed: ChangedInput,
        draws: Draws,
        on_batch: Callable[[], None],
    ) -> None:
        self._entries = entries
        self._changed = changed
        self._draws = draws
        self._on_batch = on_batch
        self._samples = draws.shape[0]

    @property
    def cost_per_sample(self) -> float:
        """What aggregating all messages costs."""
        edges = sum(entry.heard.edges.ids.numel() for entry in self._entries.values())
        return _COST * edges * self._changed.x.size(1)

    def of_noise(self) -> dict[fx.Node, Tensor]:
        """Return them with nothing selected."""
        return {node: self._of_noise(entry) for node, entry in self._entries.items()}

    def _of_noise(self, entry: HeardEntry) -> Tensor:
        heard = entry.heard
        states = self._zeros(entry)
        if heard.bias is not None:
            states += heard.bias
        step = max(1, _ROWS_AND_SAMPLES // max(1, entry.rows.numel()))
        for samples in torch.split(torch.arange(self._samples, device=states.device), step):
            part = slice(int(samples[0]), int(samples[-1]) + 1)
            whole = samples.numel() == self._samples
            draws = self._draws if whole else self._draws.only(samples)
            at_once = max(1, _NUMBERS_AT_ONCE // (samples.numel() * max(1, entry.x.size(0))))
            every = torch.arange(entry.x.size(1), device=states.device)
            for columns in torch.split(every, at_once):
                self._on_batch()
                noise = draws.columns(columns, entry.rows)  # (c, i, s)
                context = entry.x[entry.rows.numel() :, columns].t().unsqueeze(2)
                if context.size(1):
                    noise = torch.cat([noise, context.expand(-1, -1, samples.numel())], dim=1)
                for listener in heard.listeners:
                    values = noise[:, listener.senders].transpose(0, 1).flatten(1)  # (e, c · s)
                    made = _all_aggregated(entry, listener, values)
                    made = made.view(-1, columns.numel(), samples.numel())  # (K, c, s)
                    states[listener.row, part] += entry.mapped(made, columns)
        return states

    def added(self, selection: Selection) -> dict[fx.Node, Tensor]:
        """Return what a selection adds."""
        added = {node: self._zeros(entry) for node, entry in self._entries.items()}
        for node, found in self._of_columns(selection.columns, selection.nodes):
            entry = self._entries[node]
            added[node][found.listener.row] += entry.mapped(self._spread(found), found.columns)
        return added

    def toggling_features(self, base: States, selection: Selection, columns: Tensor) -> Toggled:
        """Return what toggling each of `columns` (k,) changes."""
        place = torch.zeros_like(selection.features, dtype=torch.long)
        place[columns] = torch.arange(columns.numel(), device=columns.device)
        shape = (columns.numel(), self._samples)
        mixed = {
            node: entry.x.new_zeros(entry.weight.size(0), base[node].size(0), *shape)
            for node, entry in self._entries.items()
        }  # each (K, q, k, S)
        sign = 1 - 2 * selection.features.to(self._changed.x)  # (d,)
        for node, found in self._of_columns(columns, selection.nodes):
            column = found.columns[found.column]
            change = found.change * sign[column]
            mixed[node][:, found.listener.row, place[column], found.sample] = change
        differs = torch.zeros(shape, dtype=torch.bool, device=columns.device)
        for each in mixed.values():
            differs |= (each != 0).any(0).any(0)

        def changes(candidate: Tensor, sample: Tensor) -> dict[fx.Node, Change]:
            return {
                node: Change(
                    base[node],
                    sample,
                    tuple(one[:, candidate, sample] for one in mixed[node]),
                    tuple(weight[columns[candidate]] for weight in entry.weight),
                )
                for node, entry in self._entries.items()
            }

        return Toggled(differs, changes)

    def toggling_nodes(self, base: States, selection: Selection, rows: Tensor) -> Toggled:
        """Return what toggling each of `rows` (k,) changes."""
        place = torch.full_like(selection.nodes, -1, dtype=torch.long)
        place[rows] = torch.arange(rows.numel(), device=rows.device)
        moves = {
            node: _Moves(rows.numel(), entry, base[node]) for node, entry in self._entries.items()
        }
        for node, found in self._of_nodes(selection, place >= 0):
            moves[node].add(found, place, self._spread)
        differs = torch.zeros(rows.numel(), self._samples, dtype=torch.bool, device=rows.device)
        joined = {node: each.joined() for node, each in moves.items()}
        for node, each in moves.items():
            each.mark(differs, joined[node])

        def changes(candidate: Tensor, sample: Tensor) -> dict[fx.Node, Change]:
            return {
                node: Change(
                    base[node],
                    sample,
                    (),
                    (),
                    (Moved(moves[node].place[:, candidate], joined[node]),),
                )
                for node in self._entries
            }

        return Toggled(differs, changes)

    def feature_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return what adding each feature gives with the gradients, (d,)."""
        gains = torch.zeros_like(self._changed.x[0])
        if selection.rows.numel() == 0:
            return gains
        every = torch.arange(gains.numel(), device=gains.device)
        for node, found in self._of_columns(every, selection.nodes):
            gains.index_add_(0, found.columns[found.column], self._worth(node, found, gradients))
        return gains

    def node_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return what adding each node gives with the gradients, (n,)."""
        gains = torch.zeros_like(self._changed.x[:, 0])
        every = torch.ones_like(selection.nodes)
        for node, found in self._of_nodes(selection, every, most=_MOST_FOR_GAINS):
            gains.index_add_(0, found.sender, self._worth(node, found, gradients))
        return torch.where(selection.nodes, -gains, gains)

    def _worth(self, node: fx.Node, found: _Heard, gradients: States) -> Tensor:
        """Return what changes give with the gradients, (g,)."""
        weight = self._entries[node].weight[:, found.columns]  # (K, c, h)
        toward = weight @ gradients[node][found.listener.row].t()  # (K, c, S)
        return (toward[:, found.column, found.sample] * found.change).sum(0)

    def _of_columns(self, columns: Tensor, nodes: Tensor) -> Iterator[tuple[fx.Node, _Heard]]:
        """Yield what selected nodes (n,) bool change at columns (k,) that were noise."""
        for some, change in self._changed.everywhere(columns):  # (c,), (c, n, S)
            for node, entry in self._entries.items():
                for listener in entry.heard.listeners:
                    inside, rows = entry.candidates_of(listener)
                    selected = nodes[rows]
                    if not bool(selected.any()):
                        continue
                    differs = (change[:, rows[selected]] != 0).any(1)  # (c, S)
                    column, sample = differs.nonzero(as_tuple=True)
                    true, noise = _values(entry, listener, change, some, column, sample)
                    before = entry.aggregated(listener, noise)
                    chosen = inside[selected]
                    noise[chosen] = true[chosen]
                    made = entry.aggregated(listener, noise) - before
                    yield node, _Heard(listener, some, column, sample, column, made)

    def _of_nodes(
        self, selection: Selection, wanted: Tensor, most: int | None = None
    ) -> Iterator[tuple[fx.Node, _Heard]]:
        """Yield what toggling each of the wanted nodes (n,) bool changes.

        Args:
            selection: what is selected.
            wanted: which nodes are toggled, one at a time.
            most: messages of a row; where there are more, some samples stand for all.
        """
        for some, change in self._changed.everywhere(selection.columns):  # (c,), (c, n, S)
            for node, entry in self._entries.items():
                for listener in entry.heard.listeners:
                    inside, rows = entry.candidates_of(listener)
                    toggled = torch.unique(rows[wanted[rows]])  # (u,)
                    if toggled.numel() == 0:
                        continue
                    selected = selection.nodes.new_zeros(listener.senders.numel(), 1)
                    selected[inside, 0] = selection.nodes[rows]
                    sent_by = torch.full_like(listener.senders, -1)
                    sent_by[inside] = rows
                    places = (change[:, toggled] != 0).nonzero()  # (g, 3)
                    places, scale = _thinned(places, sent_by.numel(), self._samples, most)
                    at_once = max(1, _NUMBERS_AT_ONCE // max(1, sent_by.numel()))
                    for part in torch.split(places, at_once):
                        column, which, sample = part.t()
                        sender = toggled[which]
                        true, noise = _values(entry, listener, change, some, column, sample)
                        before = entry.aggregated(listener, torch.where(selected, true, noise))
                        kept = selected ^ (sent_by.unsqueeze(1) == sender)  # (e, g)
                        made = entry.aggregated(listener, torch.where(kept, true, noise)) - before
                        yield node, _Heard(listener, some, column, sample, sender, made * scale)

    def _spread(self, found: _Heard) -> Tensor:
        """Return changes at their columns and samples, zero elsewhere, (K, c, S)."""
        shape = (found.change.size(0), found.columns.numel(), self._samples)
        spread = found.change.new_zeros(shape)
        spread[:, found.column, found.sample] = found.change
        return spread

    def _zeros(self, entry: HeardEntry) -> Tensor:
        rows = len(entry.heard.listeners)
        return entry.weight.new_zeros(rows, self._samples, entry.weight.size(2))


class _Moves:
    """What toggling candidates moves, row by row, as it is found."""

    def __init__(self, candidates: int, entry: HeardEntry, base: Tensor) -> None:
        self._entry = entry
        self._base = base  # (q, S, h)
        self.place = torch.full((base.size(0), candidates), -1, device=base.device)
        self._moves: list[Tensor] = []  # each (S, h)

    def add(self, found: _Heard, place: Tensor, spread: Callable[[_Heard], Tensor]) -> None:
        """Add what one row hears of candidates, whose places (n,) say which they are."""
        row = found.listener.row
        for sender in torch.unique(found.sender).tolist():
            mine = (found.sender == sender).nonzero().flatten()
            part = found._replace(
                column=found.column[mine], sample=found.sample[mine], change=found.change[:, mine]
            )
            move = self._entry.mapped(spread(part), found.columns)  # (S, h)
            candidate = int(place[sender])
            at = int(self.place[row, candidate])
            if at >= 0:
                self._moves[at] += move
            else:
                self.place[row, candidate] = len(self._moves)
                self._moves.append(move)

    def joined(self) -> Tensor:
        """Return all moves, (t, S, h)."""
        return torch.stack(self._moves) if self._moves else self._base[:0]

    def mark(self, differs: Tensor, moves: Tensor) -> None:
        """Set `differs` (k, S) where a candidate moves something."""
        moved = (moves != 0).any(-1)  # (t, S)
        row, candidate = (self.place >= 0).nonzero(as_tuple=True)
        for one, at in zip(candidate.tolist(), self.place[row, candidate].tolist(), strict=True):
            differs[one] |= moved[at]


def _values(
    entry: HeardEntry,
    listener: Listener,
    change: Tensor,
    columns: Tensor,
    column: Tensor,
    sample: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return true and noisy values (e, g) of a row's senders at some columns and samples (g,)."""
    inside, rows = entry.candidates_of(listener)
    true = entry.x[listener.senders.unsqueeze(1), columns[column]]
    noise = true.clone()
    noise[inside] -= change[column, rows.unsqueeze(1), sample]
    return true, noise


def _all_aggregated(entry: HeardEntry, listener: Listener, values: Tensor) -> Tensor:
    """Return what a row makes of all values (e, g), (K, g); zeros everywhere are made once."""
    differs = (values != 0).any(0)
    few = differs.nonzero().flatten()
    if few.numel() > _MOSTLY * values.size(1):
        return entry.aggregated(listener, values)
    made = entry.aggregated(listener, torch.zeros_like(values[:, :1])).repeat(1, values.size(1))
    made[:, few] = entry.aggregated(listener, values[:, few])
    return made


def _thinned(places: Tensor, messages: int, samples: int, most: int | None) -> tuple[Tensor, float]:
    """Return places (g, 3) of some samples if there are too many, and how much each counts."""
    if most is None or places.size(0) * messages <= most:
        return places, 1.0
    step = min(samples, -(-places.size(0) * messages // most))
    return places[places[:, 2] % step == 0], samples / len(range(0, samples, step))
