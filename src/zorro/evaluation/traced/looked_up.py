"""Numbers among the features that are looked up in a table, as an embedding does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx

from zorro.cut import ComputationalGraph
from zorro.elements import Selection
from zorro.evaluation.traced.change import Change, Moved
from zorro.evaluation.traced.terms import States, Toggled
from zorro.noise import Draws


@dataclass(frozen=True)
class LookedUp:
    """A table, and the column of the features whose numbers are looked up in it."""

    table: Tensor  # (N, h)
    column: int

    @classmethod
    def of(cls, layer: Any, column: int) -> LookedUp:
        """Return what an embedding does."""
        return cls(layer.weight.detach(), column)

    def __call__(self, numbers: Tensor) -> Tensor:
        """Return the rows of the table for numbers (…), (…, h)."""
        return self.table[numbers.round().long()]


@dataclass(frozen=True)
class LookedUpEntry:
    """An entry whose state is what a table has for its rows, over a query's candidates."""

    looked_up: LookedUp
    needs: Tensor  # (q,) rows, ascending
    true: Tensor  # (q, h), what the true numbers give
    inside: Tensor  # (q,) bool: those that are candidates

    @classmethod
    def of(cls, looked_up: LookedUp, needs: Tensor, graph: ComputationalGraph) -> LookedUpEntry:
        """Return the entry of a query."""
        true = looked_up(graph.x[needs, looked_up.column])
        return cls(looked_up, needs, true, needs < graph.candidates.numel())

    def of_noise(self, draws: Draws) -> Tensor:
        """Return the states (q, S, h) of noise; the context stays as it is."""
        states = self.true.unsqueeze(1).repeat(1, draws.shape[0], 1)
        rows = self.needs[self.inside]
        if rows.numel():
            column = torch.tensor([self.looked_up.column], device=rows.device)
            states[self.inside] = self.looked_up(draws.columns(column, rows)[0])
        return states


class LookedUpTerms:
    """States that are looked up: keeping a node puts what the table has for it into its row.

    Args:
        entries: that are looked up.
        draws: Z (S, n, d).
        known: what noise gives, where that has been computed, (q, S, h).
    """

    def __init__(
        self,
        entries: Mapping[fx.Node, LookedUpEntry],
        draws: Draws,
        known: States | None = None,
    ) -> None:
        self._entries = entries
        _, self._nodes, self._columns = draws.shape
        self._noise = {
            node: entry.of_noise(draws) if known is None else known[node]
            for node, entry in entries.items()
        }

    def of_noise(self) -> dict[fx.Node, Tensor]:
        """Return them with nothing selected."""
        return dict(self._noise)

    def _changes(self, node: fx.Node) -> Tensor:
        """Return how far what is true is from noise, (q, S, h)."""
        return self._entries[node].true.unsqueeze(1) - self._noise[node]

    def added(self, selection: Selection) -> dict[fx.Node, Tensor]:
        """Return what a selection adds."""
        return {
            node: self._changes(node) * self._kept(entry, selection).view(-1, 1, 1)
            for node, entry in self._entries.items()
        }

    def _kept(self, entry: LookedUpEntry, selection: Selection) -> Tensor:
        """Return which rows (q,) have their true numbers."""
        if not bool(selection.features[entry.looked_up.column]):
            return torch.zeros_like(entry.inside)
        return self._selected(entry, selection)

    @staticmethod
    def _selected(entry: LookedUpEntry, selection: Selection) -> Tensor:
        """Return which rows (q,) are selected."""
        chosen = torch.zeros_like(entry.inside)
        chosen[entry.inside] = selection.nodes[entry.needs[entry.inside]]
        return chosen

    def toggling_features(self, base: States, selection: Selection, columns: Tensor) -> Toggled:
        """Return what toggling each of `columns` (k,) changes: one that is looked up."""
        places = {}
        for node, entry in self._entries.items():
            at = self._selected(entry, selection).unsqueeze(1)
            places[node] = at & (columns == entry.looked_up.column)  # (q, k)
        signs = 1 - 2 * selection.features[columns].float()
        return self._toggled(base, places, signs)

    def toggling_nodes(self, base: States, selection: Selection, rows: Tensor) -> Toggled:
        """Return what toggling each of `rows` (k,) changes."""
        places = {
            node: (entry.needs.unsqueeze(1) == rows)
            & bool(selection.features[entry.looked_up.column])
            for node, entry in self._entries.items()
        }  # each (q, k)
        return self._toggled(base, places, 1 - 2 * selection.nodes[rows].float())

    def _toggled(self, base: States, places: Mapping[fx.Node, Tensor], signs: Tensor) -> Toggled:
        """Return what candidates change that move rows at places (q, k), with signs (k,)."""
        differs = torch.zeros(signs.numel(), 0, dtype=torch.bool, device=signs.device)
        moved: dict[fx.Node, Moved] = {}
        for node, place in places.items():
            row, candidate = place.nonzero(as_tuple=True)
            moves = self._changes(node)[row] * signs[candidate].view(-1, 1, 1)  # (t, S, h)
            number = torch.full(place.shape, -1, device=place.device)
            number[row, candidate] = torch.arange(row.numel(), device=place.device)
            moved[node] = Moved(number, moves)
            here = torch.zeros(signs.numel(), moves.size(1), dtype=torch.long, device=signs.device)
            here.index_add_(0, candidate, (moves != 0).any(-1).long())
            differs = here > 0 if differs.size(1) == 0 else differs | (here > 0)

        def changes(candidate: Tensor, sample: Tensor) -> dict[fx.Node, Change]:
            return {
                node: Change(
                    base[node], sample, (), (), (Moved(each.place[:, candidate], each.moves),)
                )
                for node, each in moved.items()
            }

        return Toggled(differs, changes)

    def feature_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return what adding each feature gives with the gradients, (d,)."""
        gains = next(iter(gradients.values())).new_zeros(self._columns)
        for node, entry in self._entries.items():
            by_row = (gradients[node] * self._changes(node)).sum((1, 2))  # (q,)
            gains[entry.looked_up.column] += by_row[self._selected(entry, selection)].sum()
        return gains

    def node_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return what adding each node gives with the gradients, (n,)."""
        gains = next(iter(gradients.values())).new_zeros(self._nodes)
        for node, entry in self._entries.items():
            if bool(selection.features[entry.looked_up.column]):
                by_row = (gradients[node] * self._changes(node)).sum((1, 2))
                gains.index_add_(0, entry.needs[entry.inside], by_row[entry.inside])
        return gains
