"""Scores of inputs that differ in their edges alone, and were run before."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import torch
from torch import Tensor

MOST_EDGES = 62  # that a number tells apart
_MOST_INPUTS = 1 << 17


class SeenInputs:
    """Remembers the scores of inputs by which edges they have: each is run once.

    A search comes back to the same inputs again and again: an edge that is there by chance may be
    kept or not, and one that was tried may be taken. It makes up half of a search among few edges.

    Args:
        edges: how many there are, 62 at most.
        device: of the scores.
    """

    def __init__(self, edges: int, device: torch.device) -> None:
        self.bits = 2 ** torch.arange(edges, device=device)  # (m,)
        self._numbers = torch.empty(0, dtype=torch.long, device=device)  # ascending
        self._places = torch.empty_like(self._numbers)  # where the scores of each stand
        self._scores: Tensor | None = None
        self._one_at_a_time = Lock()  # pages ask about a query from several threads

    def numbers_of(self, present: Tensor) -> Tensor:
        """Return the numbers (b,) by which inputs with such edges (b, m) are known."""
        return (present * self.bits).sum(1)

    def scores(self, numbers: Tensor, run: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the scores (b, C) of inputs (b,).

        Args:
            numbers: of the inputs.
            run: gives the scores (u, C) of some of them, by their places (u,).
        """
        with self._one_at_a_time:
            return self._looked_up(numbers, run)

    def _looked_up(self, numbers: Tensor, run: Callable[[Tensor], Tensor]) -> Tensor:
        if self._numbers.numel() > _MOST_INPUTS:
            self._numbers, self._places = self._numbers[:0], self._places[:0]
            self._scores = None
        ordered, order = numbers.sort(stable=True)
        is_first = torch.ones_like(ordered, dtype=torch.bool)
        is_first[1:] = ordered[1:] != ordered[:-1]
        new = is_first & ~self._are_known(ordered)
        if self._scores is None or bool(new.any()):
            self._take_down(ordered[new], run(order[new]))
        assert self._scores is not None
        return self._scores[self._places[torch.searchsorted(self._numbers, numbers)]]

    def _are_known(self, numbers: Tensor) -> Tensor:
        """Return which of some numbers (b,) were run before."""
        if self._numbers.numel() == 0:
            return torch.zeros_like(numbers, dtype=torch.bool)
        at = torch.searchsorted(self._numbers, numbers).clamp(max=self._numbers.numel() - 1)
        return self._numbers[at] == numbers

    def _take_down(self, new: Tensor, scores: Tensor) -> None:
        """Remember the scores (u, C) of inputs (u,), ascending, none of which is known."""
        known = self._numbers.numel()
        at = torch.searchsorted(self._numbers, new) + torch.arange(new.numel(), device=new.device)
        is_old = torch.ones(known + new.numel(), dtype=torch.bool, device=new.device)
        is_old[at] = False
        old = is_old.nonzero().flatten()
        numbers, places = new.new_empty(is_old.numel()), new.new_empty(is_old.numel())
        numbers[old], numbers[at] = self._numbers, new
        places[old] = self._places
        places[at] = torch.arange(known, is_old.numel(), device=new.device)
        self._numbers, self._places = numbers, places
        self._scores = scores if self._scores is None else torch.cat([self._scores, scores])
