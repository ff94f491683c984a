"""What a candidate changes in the states of a model's first linear maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Change:
    """States of P inputs, each that of a sample plus a matrix of low rank.

    Input p has the state base[:, sample_p] + Σ_k mixed_k[:, p] ⊗ direction_k[p].
    """

    base: Tensor  # (q, S, h)
    sample: Tensor  # (P,)
    mixed: tuple[Tensor, ...]  # each (q, P)
    direction: tuple[Tensor, ...]  # each (P, h)

    def part(self, inputs: slice) -> Change:
        """Return the change of some inputs."""
        return Change(
            self.base,
            self.sample[inputs],
            tuple(mixed[:, inputs] for mixed in self.mixed),
            tuple(direction[inputs] for direction in self.direction),
        )

    def changed_rows(self) -> Tensor:
        """Return which rows of which inputs differ from the sample's, (q, P) bool."""
        changed = self.mixed[0] != 0
        for mixed in self.mixed[1:]:
            changed = changed | (mixed != 0)
        return changed

    def states(self) -> Tensor:
        """Return all states, (q, P, h)."""
        states = self.base[:, self.sample]
        for mixed, direction in zip(self.mixed, self.direction, strict=True):
            states.addcmul_(mixed.unsqueeze(-1), direction)
        return states

    def states_at(self, row: Tensor, column: Tensor) -> Tensor:
        """Return the states of some rows (E,) of some inputs (E,), (E, h)."""
        states = self.base[row, self.sample[column]]
        for mixed, direction in zip(self.mixed, self.direction, strict=True):
            states.addcmul_(mixed[row, column].unsqueeze(-1), direction[column])
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
