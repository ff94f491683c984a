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
        self._places: dict[int, int] = {}
        self._parts: list[Tensor] = []
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
        if len(self._places) > _MOST_INPUTS:
            self._places, self._parts = {}, []
        each = numbers.tolist()
        new: dict[int, int] = {}
        for at, number in enumerate(each):
            if number not in self._places:
                new.setdefault(number, at)
        if new:
            known = len(self._places)
            self._parts.append(run(torch.tensor(list(new.values()), device=numbers.device)))
            self._places.update((number, known + at) for at, number in enumerate(new))
        if len(self._parts) > 1:
            self._parts = [torch.cat(self._parts)]
        places = torch.tensor([self._places[number] for number in each], device=numbers.device)
        return self._parts[0][places]
