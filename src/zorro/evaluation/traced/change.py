"""What a candidate changes in the states of a model's first linear maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Moved:
    """Rows of P inputs that differ from their samples' by any vectors."""

    place: Tensor  # (q, P): which of the moves is a row's, −1 for none
    moves: Tensor  # (t, S, h)

    def part(self, inputs: slice) -> Moved:
        """Return the moves of some inputs."""
        return Moved(self.place[:, inputs], self.moves)

    def add_to(self, states: Tensor, sample: Tensor) -> None:
        """Add them to all states (q, P, h) of inputs with samples (P,)."""
        row, column = (self.place >= 0).nonzero(as_tuple=True)
        states[row, column] += self.moves[self.place[row, column], sample[column]]

    def add_at(self, row: Tensor, column: Tensor, states: Tensor, sample: Tensor) -> None:
        """Add them to the states (E, h) of some rows (E,) of some inputs (E,)."""
        place = self.place[row, column]
        moved = (place >= 0).nonzero().flatten()
        states[moved] += self.moves[place[moved], sample[column[moved]]]


@dataclass(frozen=True)
class Change:
    """States of P inputs, each that of a sample plus a matrix of low rank and what was moved.

    Input p has the state base[:, sample_p] + Σ_k mixed_k[:, p] ⊗ direction_k[p] + moved_p.
    """

    base: Tensor  # (q, S, h)
    sample: Tensor  # (P,)
    mixed: tuple[Tensor, ...]  # each (q, P)
    direction: tuple[Tensor, ...]  # each (P, h)
    moved: tuple[Moved, ...] = ()

    @classmethod
    def joined(cls, parts: Sequence[Change]) -> Change:
        """Return all that several changes of the same inputs add."""
        first = parts[0]
        if len(parts) == 1:
            return first
        return cls(
            first.base,
            first.sample,
            tuple(mixed for part in parts for mixed in part.mixed),
            tuple(direction for part in parts for direction in part.direction),
            tuple(moved for part in parts for moved in part.moved),
        )

    @property
    def numbers(self) -> int:
        """How many numbers all states are."""
        return self.base.size(0) * self.sample.numel() * self.base.size(2)

    def part(self, inputs: slice) -> Change:
        """Return the change of some inputs."""
        return Change(
            self.base,
            self.sample[inputs],
            tuple(mixed[:, inputs] for mixed in self.mixed),
            tuple(direction[inputs] for direction in self.direction),
            tuple(moved.part(inputs) for moved in self.moved),
        )

    def changed_rows(self) -> Tensor:
        """Return which rows of which inputs differ from the sample's, (q, P) bool."""
        first, *others = (
            *(mixed != 0 for mixed in self.mixed),
            *(moved.place >= 0 for moved in self.moved),
        )
        changed: Tensor = first
        for other in others:
            changed = changed | other
        return changed

    def states(self) -> Tensor:
        """Return all states, (q, P, h)."""
        states = self.base[:, self.sample]
        for mixed, direction in zip(self.mixed, self.direction, strict=True):
            states.addcmul_(mixed.unsqueeze(-1), direction)
        for moved in self.moved:
            moved.add_to(states, self.sample)
        return states

    def states_at(self, row: Tensor, column: Tensor) -> Tensor:
        """Return the states of some rows (E,) of some inputs (E,), (E, h)."""
        states = self.base[row, self.sample[column]]
        for mixed, direction in zip(self.mixed, self.direction, strict=True):
            states.addcmul_(mixed[row, column].unsqueeze(-1), direction[column])
        for moved in self.moved:
            moved.add_at(row, column, states, self.sample)
        return states


@dataclass(frozen=True)
class ChangedRows:
    """The rows of a node-level value that differ from those of the inputs' samples."""

    row: Tensor  # (E,)
    column: Tensor  # (E,) which input
    values: Tensor  # (E, …)

    @classmethod
    def of(cls, parts: Sequence[tuple[int, Tensor, Tensor]]) -> ChangedRows:
        """Join rows, the inputs (p,) in which they differ, and their values there (p, …)."""
        return cls(
            torch.cat([torch.full_like(inputs, row) for row, inputs, _ in parts]),
            torch.cat([inputs for _, inputs, _ in parts]),
            torch.cat([values for _, _, values in parts]),
        )

    def minus(self, base: Tensor, sample: Tensor) -> Tensor:
        """Return how far the rows are from the samples' (r, S, …), (E, …)."""
        return self.values - base[self.row, sample[self.column]]

    def mixed(self, values: Tensor, matrix: Tensor, *, inputs: int) -> Tensor:
        """Return what a matrix (q, r) makes of values (E, h) at their rows, (q, P, h)."""
        mixed = values.new_zeros(matrix.size(0), inputs, values.size(1))
        for total, coefficients in zip(mixed, matrix, strict=True):
            total.index_add_(0, self.column, values * coefficients[self.row].unsqueeze(1))
        return mixed

    def spread(self, values: Tensor, *, rows: int, inputs: int) -> Tensor:
        """Return values (E, …) at their rows and inputs, zero elsewhere, (r, P, …)."""
        spread = values.new_zeros(rows, inputs, *values.shape[1:])
        spread[self.row, self.column] = values
        return spread

    def dense(self, base: Tensor, sample: Tensor) -> Tensor:
        """Return all rows of all inputs (r, P, …), given the samples' (r, S, …)."""
        dense = base[:, sample]
        dense[self.row, self.column] = self.values
        return dense
