"""The linear terms Σ_k A_k Y W_k + b of the entries' states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, fx

from zorro.elements import Selection
from zorro.evaluation.traced.change import Change
from zorro.evaluation.traced.changed_input import ChangedInput
from zorro.evaluation.traced.entry import Entry
from zorro.evaluation.traced.plan import Mixing
from zorro.evaluation.traced.terms import States, Toggled

_MANY_ROWS = 256  # of a selection
_DRAWING_COST = 40  # of a number of noise, beside a product of two numbers
_MIXING_COST = 5  # of a non-zero of a matrix over nodes, beside a product of dense matrices


class LinearTerms:
    """Linear terms: adding feature f adds (A_k δ) ⊗ W_k[f], adding node v A_k[:, v] ⊗ (δ W_k).

    Args:
        entries: with their matrices and weights.
        changed: X − Z, with all the entries' weights.
    """

    def __init__(self, entries: Mapping[fx.Node, Entry], changed: ChangedInput) -> None:
        self._entries = entries
        self._changed = changed
        self.noise_states: States | None = None  # with nothing selected, if these are all terms

    def of_noise(self) -> dict[fx.Node, Tensor]:
        """Return them with nothing selected: (A Z) W, or A (Z W) where that is less work."""
        if self._changed.can_mix and self._mixing_first_is_less:
            return self._of_mixed_noise()
        parts: dict[fx.Node, list[Tensor]] = {node: [] for node in self._entries}
        for _, product in self._changed.noise_products():
            for node, entry in self._entries.items():
                parts[node].append(entry.constant.unsqueeze(1) + entry.mixed(product))
        return {
            node: states[0] if len(states) == 1 else torch.cat(states, dim=1)
            for node, states in parts.items()
        }

    @property
    def _mixing_first_is_less(self) -> bool:
        """Whether it is less work to mix noise over nodes before weights are applied to it."""
        first = sum(
            _MIXING_COST * mixing.non_zeros + mixing.shape[0] * weight.size(1)
            for _, mixing, weight, _ in self._terms()
        )
        return first < self._changed.x.size(0) * self._changed.width

    def _of_mixed_noise(self) -> dict[fx.Node, Tensor]:
        terms = list(self._terms())
        parts: dict[fx.Node, list[Tensor]] = {node: [] for node in self._entries}
        for mixed in self._changed.mixed_noise([mixing.times for _, mixing, _, _ in terms]):
            states = {node: entry.constant.unsqueeze(1) for node, entry in self._entries.items()}
            for (node, _, weight, _), columns in zip(terms, mixed, strict=True):
                product = columns.flatten(1).t() @ weight  # (q · s, h), of columns (d, q, s)
                states[node] = states[node] + product.view(*columns.shape[1:], -1)
            for node, state in states.items():
                parts[node].append(state)
        return {
            node: states[0] if len(states) == 1 else torch.cat(states, dim=1)
            for node, states in parts.items()
        }

    def added(self, selection: Selection) -> dict[fx.Node, Tensor]:
        """Return what a selection adds."""
        chosen = _Block(selection.rows, selection.columns)
        if self._is_little(chosen):
            return self._added_by_rows(chosen)
        left_out = _left_out(selection)
        if self.noise_states is None or sum(map(_size, left_out)) > _size(chosen):
            return self._added_by_columns([chosen])
        # Most is selected: what all would add, less what the rest would.
        rest = self._added_by_columns(left_out)
        total = {}
        for node, entry in self._entries.items():
            true = entry.constant + entry.mixed(self._changed.true_product).squeeze(1)  # (q, h)
            total[node] = true.unsqueeze(1) - self.noise_states[node] - rest[node]
        return total

    def _is_little(self, block: _Block) -> bool:
        """Whether it is drawn and multiplied with the weights at once."""
        return not self._mixing_first_is_less or block.rows.numel() < _MANY_ROWS

    def _added_by_rows(self, block: _Block) -> dict[fx.Node, Tensor]:
        total: dict[fx.Node, Tensor] = {}
        for rows in self._changed.rows_at_once(block.rows):
            product = self._changed.product(block.columns, rows)  # (v, S, H)
            for node, entry in self._entries.items():
                part = entry.mixed(product, rows)
                total[node] = part if node not in total else total[node] + part
        return total

    def _added_by_columns(self, blocks: Sequence[_Block]) -> dict[fx.Node, Tensor]:
        """Return what blocks add: each column's change is mixed before the weights are applied."""
        terms = list(self._terms())
        samples = self._changed.samples
        total = {
            node: entry.constant.new_zeros(entry.constant.size(0), samples, weight.size(1))
            for node, entry in self._entries.items()
            for weight in entry.weights[:1]
        }
        for block in filter(_size, blocks):
            last, mixings = None, []
            for rows, columns, change in self._changed.column_by_column(block.columns, block.rows):
                if rows is not last:
                    last, mixings = rows, [mixing.restricted(rows) for _, mixing, _, _ in terms]
                for (node, _, weight, _), mixing in zip(terms, mixings, strict=True):
                    mixed = torch.stack([mixing.times(each) for each in change])  # (c, q, S)
                    product = mixed.flatten(1).t() @ weight[columns]  # (q · S, h)
                    total[node] += product.view_as(total[node])
        return total

    def toggling_features(self, base: States, selection: Selection, columns: Tensor) -> Toggled:
        """Return what toggling each of `columns` (k,) changes."""
        rows = selection.rows  # (v,)
        change = self._changed.at(columns, rows)  # (k, v, S)
        change *= _sign(selection.features[columns], change)
        mixings = {
            node: [mixing.restricted(rows) for mixing in entry.mixings]
            for node, entry in self._entries.items()
        }

        def changes(candidate: Tensor, sample: Tensor) -> dict[fx.Node, Change]:
            delta = change[candidate, :, sample].t()  # (v, p)
            return {
                node: Change(
                    base[node],
                    sample,
                    tuple(mixing.times(delta) for mixing in mixings[node]),
                    tuple(weight[columns[candidate]] for weight in entry.weights),
                )
                for node, entry in self._entries.items()
            }

        return Toggled((change != 0).any(1), changes)

    def toggling_nodes(self, base: States, selection: Selection, rows: Tensor) -> Toggled:
        """Return what toggling each of `rows` (k,) changes."""
        product = self._changed.product(selection.columns, rows)  # (k, S, H)
        product *= _sign(selection.nodes[rows], product)
        columns = {
            node: [mixing.columns(rows) for mixing in entry.mixings]
            for node, entry in self._entries.items()
        }  # each (q, k)

        def changes(candidate: Tensor, sample: Tensor) -> dict[fx.Node, Change]:
            delta = product[candidate, sample]  # (p, H)
            return {
                node: Change(
                    base[node],
                    sample,
                    tuple(column[:, candidate] for column in columns[node]),
                    tuple(delta[:, part] for part in entry.parts),
                )
                for node, entry in self._entries.items()
            }

        return Toggled((product != 0).any(-1), changes)

    def feature_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return what adding each feature gives with the gradients, (d,)."""
        gains = torch.zeros_like(self._changed.x[0])
        if self._ranks_by_column(selection.rows.numel()):
            return self._feature_gains_by_column(gradients, selection.nodes)
        for rows in self._changed.rows_at_once(selection.rows):
            for node, mixing, weight, _ in self._terms():
                gradient = gradients[node]  # (q, S, h)
                flat = mixing.columns(rows).t() @ gradient.flatten(1)  # (v, S · h)
                by_row = flat.view(rows.numel(), *gradient.shape[1:])
                gains += (self._changed.transposed_times(by_row, rows) * weight).sum(1)
        return gains

    def _ranks_by_column(self, rows: int) -> bool:
        """Whether features are ranked with less work by the change of all nodes, as nodes are."""
        (nodes, features), width = self._changed.x.shape, self._changed.width
        mixed = sum(mixing.shape[0] for _, mixing, _, _ in self._terms())
        non_zeros = sum(mixing.non_zeros for _, mixing, _, _ in self._terms())
        by_row = rows * (mixed * width + _DRAWING_COST * features)
        return features * (_DRAWING_COST * nodes + _MIXING_COST * non_zeros) < by_row

    def _feature_gains_by_column(self, gradients: States, is_selected: Tensor) -> Tensor:
        gains = torch.zeros_like(self._changed.x[0])
        every = torch.arange(gains.numel(), device=gains.device)
        for some, change in self._changed.everywhere(every):  # (c,), (c, n, S)
            for by_node in self._gains_at_nodes(gradients, some, change):  # (n, c)
                gains[some] += by_node[is_selected].sum(0)
        return gains

    def node_gains(self, gradients: States, selection: Selection) -> Tensor:
        """Return what adding each node gives with the gradients, (n,)."""
        columns = selection.columns
        by_column = self._changed.noise is None and self._mixing_first_is_less
        if by_column or columns.numel() <= self._changed.width:
            return self._node_gains_by_column(gradients, columns)
        return self._node_gains_by_product(gradients, columns)

    def _node_gains_by_column(self, gradients: States, columns: Tensor) -> Tensor:
        gains = torch.zeros_like(self._changed.x[:, 0])
        for some, change in self._changed.everywhere(columns):  # (c,), (c, n, S)
            for by_node in self._gains_at_nodes(gradients, some, change):  # (n, c)
                gains += by_node.sum(1)
        return gains

    def _gains_at_nodes(
        self, gradients: States, columns: Tensor, change: Tensor
    ) -> Iterator[Tensor]:
        """Yield of each term what entries of columns (c,) give that change by (c, n, S), (n, c)."""
        for node, mixing, weight, _ in self._terms():
            toward = weight[columns] @ gradients[node].transpose(1, 2)  # (q, c, S)
            by_row = mixing.transposed_times(toward)  # (n, c, S)
            yield (by_row * change.transpose(0, 1)).sum(2)

    def _node_gains_by_product(self, gradients: States, columns: Tensor) -> Tensor:
        """Return the same, from the product with the weights: less work for many columns."""
        gains = torch.zeros_like(self._changed.x[:, 0])
        by_row = [
            mixing.transposed_times(gradients[node])  # (n, S, h)
            for node, mixing, _, _ in self._terms()
        ]
        every = torch.arange(gains.numel(), device=gains.device)
        for rows in self._changed.rows_at_once(every):
            product = self._changed.product(columns, rows)  # (v, S, H)
            for toward, (_, _, _, part) in zip(by_row, self._terms(), strict=True):
                gains[rows] += (toward[rows] * product[:, :, part]).sum((1, 2))
        return gains

    def _terms(self) -> Iterator[tuple[fx.Node, Mixing, Tensor, slice]]:
        """Return A_k, W_k and where W_k stands among all weights, entry by entry."""
        for node, entry in self._entries.items():
            for mixing, weight, part in zip(entry.mixings, entry.weights, entry.parts, strict=True):
                yield node, mixing, weight, part


def _sign(selected: Tensor, change: Tensor) -> Tensor:
    """Return +1 for elements (k,) that are added and −1 for those taken out, (k, 1, 1)."""
    return (1 - 2 * selected.to(change)).view(-1, 1, 1)


class _Block(NamedTuple):
    """Entries of the features: some rows and some columns."""

    rows: Tensor  # (v,)
    columns: Tensor  # (k,)


def _size(block: _Block) -> int:
    return block.rows.numel() * block.columns.numel()


def _left_out(selection: Selection) -> list[_Block]:
    """Return all entries that a selection does not keep, in two blocks."""
    other_rows, other_columns = (
        (~chosen).nonzero().flatten() for chosen in (selection.nodes, selection.features)
    )
    every_column = torch.arange(selection.features.numel(), device=other_columns.device)
    return [_Block(other_rows, every_column), _Block(selection.rows, other_columns)]
