"""The terms Σ_k a_k(Y) W_k + b of the entries' states: aggregations of each column on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor, fx

from zorro.elements import Selection
from zorro.evaluation.traced.change import Change, Moved
from zorro.evaluation.traced.changed_input import ChangedInput
from zorro.evaluation.traced.heard_changes import HeardChange, of_columns, of_nodes
from zorro.evaluation.traced.heard_entry import HeardEntry
from zorro.evaluation.traced.terms import States, Toggled
from zorro.noise import Draws

_MOST_FOR_GAINS = 1 << 22  # messages of one row: gains need not be of all samples
_MOST_KEPT = 1 << 23  # numbers of the changes that are kept


class HeardTerms:
    """Heard terms: toggling changes what a row makes of the messages that differ.

    Gains are the gradient at the state times the change there, which is exact up to the state:
    an aggregation's own gradient says little of an element that is not the highest yet.

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
        self._kept: tuple[Tensor, list[tuple[fx.Node, HeardChange]]] | None = None

    def of_noise(self) -> dict[fx.Node, Tensor]:
        """Return them with nothing selected."""
        return {
            node: entry.of_noise(self._draws, self._on_batch)
            for node, entry in self._entries.items()
        }

    def added(self, selection: Selection) -> dict[fx.Node, Tensor]:
        """Return what a selection adds."""
        states = {node: entry.no_states(self._samples) for node, entry in self._entries.items()}
        for node, entry in self._entries.items():
            for found in of_columns(entry, self._changed, selection.columns, selection.nodes):
                added = entry.mapped(found.spread(self._samples), found.columns)  # (S, h)
                states[node][found.listener.row] += added
        return states

    def toggling_features(self, base: States, selection: Selection, columns: Tensor) -> Toggled:
        """Return what toggling each of `columns` (k,) changes."""
        place = torch.zeros_like(selection.features, dtype=torch.long)
        place[columns] = torch.arange(columns.numel(), device=columns.device)
        sign = 1 - 2 * selection.features.to(self._changed.x)  # (d,)
        differs = _nowhere(columns, self._samples)
        mixed: dict[fx.Node, Tensor] = {}  # each (K, q, k, S)
        for node, entry in self._entries.items():
            shape = (entry.weight.size(0), base[node].size(0), *differs.shape)
            mixed[node] = entry.x.new_zeros(shape)
            for found in of_columns(entry, self._changed, columns, selection.nodes):
                change = found.change * sign[found.feature]
                mixed[node][:, found.listener.row, place[found.feature], found.sample] = change
            differs |= (mixed[node] != 0).any(0).any(0)

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
        wanted = torch.zeros_like(selection.nodes)
        wanted[rows] = True
        differs = _nowhere(rows, self._samples)
        moved: dict[fx.Node, Moved] = {}
        for node, entry in self._entries.items():
            found = of_nodes(entry, self._changed, selection, wanted)
            moved[node] = self._moved(entry, found, rows)
            for each in moved[node].place:  # (k,)
                at = (each >= 0).nonzero().flatten()
                differs[at] |= (moved[node].moves[each[at]] != 0).any(-1)

        def changes(candidate: Tensor, sample: Tensor) -> dict[fx.Node, Change]:
            return {
                node: Change(
                    base[node], sample, (), (), (Moved(each.place[:, candidate], each.moves),)
                )
                for node, each in moved.items()
            }

        return Toggled(differs, changes)

    def _moved(self, entry: HeardEntry, found: Iterator[HeardChange], rows: Tensor) -> Moved:
        """Return what toggling each of `rows` (k,) moves in all samples, with places (q, k)."""
        moves: dict[tuple[int, int], Tensor] = {}  # of a row by a node, (S, h)
        for each in found:
            assert each.toggled is not None
            for node in torch.unique(each.toggled).tolist():
                spread = each.of_node(node).spread(self._samples)
                move = entry.mapped(spread, each.columns)
                key = (each.listener.row, node)
                moves[key] = moves[key] + move if key in moves else move
        none = entry.no_states(self._samples)
        place = torch.full((none.size(0), rows.numel()), -1, device=rows.device)
        for at, (row, node) in enumerate(moves):
            place[row, rows == node] = at
        return Moved(place, torch.stack(list(moves.values())) if moves else none[:0])

    def feature_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return what adding each feature gives with the gradients, (d,)."""
        gains = torch.zeros_like(self._changed.x[0])
        for node, found in self._of_all_columns(selection.nodes):
            gains.index_add_(0, found.feature, self._worth(node, found, gradients))
        return gains

    def node_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return what adding each node gives with the gradients, (n,)."""
        gains = torch.zeros_like(self._changed.x[:, 0])
        every = torch.ones_like(selection.nodes)
        for node, entry in self._entries.items():
            for found in of_nodes(entry, self._changed, selection, every, most=_MOST_FOR_GAINS):
                assert found.toggled is not None
                gains.index_add_(0, found.toggled, self._worth(node, found, gradients))
        return torch.where(selection.nodes, -gains, gains)

    def _of_all_columns(self, nodes: Tensor) -> Iterator[tuple[fx.Node, HeardChange]]:
        """Yield what nodes (n,) bool change at any column; kept while features are added."""
        if self._kept is not None and torch.equal(self._kept[0], nodes):
            yield from self._kept[1]
            return
        every = torch.arange(self._changed.x.size(1), device=nodes.device)
        kept: list[tuple[fx.Node, HeardChange]] = []
        room = _MOST_KEPT
        for node, entry in self._entries.items():
            for found in of_columns(entry, self._changed, every, nodes, most=_MOST_FOR_GAINS):
                yield node, found
                room -= found.change.numel() + 4 * found.column.numel()  # places take two each
                if room >= 0:
                    kept.append((node, found))
        self._kept = (nodes, kept) if room >= 0 else None

    def _worth(self, node: fx.Node, found: HeardChange, gradients: States) -> Tensor:
        """Return what changes give with the gradients, (g,)."""
        weight = self._entries[node].weight[:, found.columns]  # (K, c, h)
        toward = weight @ gradients[node][found.listener.row].t()  # (K, c, S)
        return (toward[:, found.column, found.sample] * found.change).sum(0)


def _nowhere(candidates: Tensor, samples: int) -> Tensor:
    """Return false for each candidate (k,) and sample, (k, S)."""
    shape = (candidates.numel(), samples)
    return torch.zeros(shape, dtype=torch.bool, device=candidates.device)
