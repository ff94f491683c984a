"""The ways in which the few edges that a row depends on may be there, each with an address."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor


class Patterns:
    """An address for each row and each way in which the edges that it depends on may be there.

    Inputs stand for numbers: bit e of an input's number tells whether edge e is there.

    Args:
        masks: a number for each row: the bits of the edges that it depends on, 62 at most.
        edges: how many edges there are.
        device: of what is looked up.
    """

    def __init__(self, masks: Sequence[int], edges: int, device: torch.device) -> None:
        self.masks = tuple(masks)
        self._edges = edges
        self._device = device
        each = [[bit for bit in range(edges) if mask >> bit & 1] for mask in masks]
        sizes = torch.tensor([2 ** len(bits) for bits in each])
        self._first = (sizes.cumsum(0) - sizes).to(device)  # (r,)
        self._sizes = sizes.to(device)
        self.count = int(sizes.sum())
        most = max((len(bits) for bits in each), default=0)
        padded = [bits + [edges] * (most - len(bits)) for bits in each]  # a bit that no input has
        self._bits = torch.tensor(padded, dtype=torch.long, device=device).view(len(each), most)

    def like(self, masks: Sequence[int]) -> Patterns:
        """Return the same of other rows."""
        return Patterns(masks, self._edges, self._device)

    @cached_property
    def row(self) -> Tensor:
        """Of which row each address is, (T,)."""
        rows = torch.arange(self._sizes.numel(), device=self._device)
        return rows.repeat_interleave(self._sizes)

    @cached_property
    def number(self) -> Tensor:
        """An input's number with each address's pattern, and no other edges, (T,)."""
        code = torch.arange(self.count, device=self._device) - self._first[self.row]
        number = torch.zeros_like(code)
        for place, bits in enumerate(self._bits.t()):
            number |= (code >> place & 1) << bits[self.row]
        return number

    def addresses(self, row: Tensor, number: Tensor) -> Tensor:
        """Return the addresses (k,) of rows (k,) in inputs of such numbers (k,)."""
        address = self._first[row]
        for place, bits in enumerate(self._bits.t()):
            address = address + ((number >> bits[row] & 1) << place)
        return address

    @cached_property
    def _places(self) -> Tensor:
        """What each edge adds to each row's address, (r, m)."""
        rows, most = self._bits.shape
        places = torch.zeros(rows, self._edges + 1, dtype=torch.double, device=self._device)
        worth = 2.0 ** torch.arange(most, device=self._device).double()
        places.scatter_(1, self._bits, worth.expand(rows, -1))
        return places[:, : self._edges].contiguous()

    def of_inputs(self, present: Tensor) -> Tensor:
        """Return the addresses (r, B) of all rows in inputs with such edges, doubles (B, m)."""
        # Doubles are exact here: floats a device may round further in products.
        return self._first.unsqueeze(1) + (self._places @ present.t()).long()
