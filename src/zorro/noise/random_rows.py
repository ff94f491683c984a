"""Entries of columns that hold many values, drawn on a CPU: what random rows of the column hold.

A column at a time, and some words at a time, in memory that is used again and again: all of it and
the column's values stay in the caches, and nothing is written but the values that are drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zorro.graph.column_values import ColumnValues
from zorro.noise.streams import GOLDEN, mix_in_place, uniforms_of

LANES = 2  # random numbers of 32 bits that a word holds
_WORDS = 1 << 15  # that are drawn at a time
_HALF = np.uint64(32)  # bits
_BACK = np.uint64(pow(int(GOLDEN), -1, 1 << 64))  # undoes a product with it


class RandomRows:
    """Draws entries of one column after the other, always at the same addresses.

    A number of 32 bits times the number of rows has a row in its upper half. Rows get as many
    numbers each, except that some get one more: the lower halves below 2^32 mod rows are those
    too many, and are drawn again.

    Args:
        held: what all columns of the data set hold.
        address: (a,) of the words.
    """

    def __init__(self, held: ColumnValues, address: Tensor) -> None:
        self._dtype = held.values.dtype
        self._values = _bits(held.values)
        self._first = held.first.tolist()
        self._count = held.count.tolist()
        self._rows = held.num_rows
        self._step = address.numpy().astype(np.uint64)
        self._step += np.uint64(1)
        self._step *= GOLDEN
        at_once = min(_WORDS, self._step.size)
        self._word = np.empty(at_once, dtype=np.uint64)
        self._row = np.empty(LANES * at_once, dtype=np.uint64)
        self._shifted = np.empty_like(self._row)
        self._mask = np.empty(self._row.size, dtype=np.bool_)

    def draw(self, column: int, key: np.uint64, further: Tensor, into: Tensor) -> None:
        """Draw a column's entries at all addresses.

        Args:
            column: which one.
            key: of its stream.
            further: (), the key of the stream for what is drawn again.
            into: (2 a,), gets the entries.
        """
        unfair = []
        for start in range(0, self._step.size, _WORDS):
            some = slice(start, start + _WORDS)
            into_some = into[LANES * some.start : LANES * some.stop]
            unfair.append(self._draw_some(column, key, some, into_some) + LANES * start)
        place = np.concatenate(unfair)
        if place.size:
            address = self._step[place // LANES] * _BACK - np.uint64(1)
            number = torch.from_numpy(address.view(np.int64) * LANES + place % LANES)
            again = uniforms_of(further.expand(place.size), number)
            into[torch.from_numpy(place)] = self._at(column, (again * self._rows).long())

    def _draw_some(
        self, column: int, key: np.uint64, some: slice, into: Tensor
    ) -> NDArray[np.int64]:
        """Draw entries at some addresses; return where numbers would favour some rows."""
        step = self._step[some]
        word = self._word[: step.size]
        row, shifted = self._row[: into.numel()], self._shifted[: into.numel()]
        mask = self._mask[: into.numel()]
        np.add(step, key, out=word)
        mix_in_place(word, shifted[: step.size])
        np.multiply(word.view(np.uint32), np.uint64(self._rows), out=row, dtype=np.uint64)
        np.left_shift(row, _HALF, out=shifted)
        np.less(shifted, np.uint64(((1 << 32) % self._rows) << 32), out=mask)
        unfair = np.flatnonzero(mask)
        np.right_shift(row, _HALF, out=row)
        self._pick(column, row, into)
        return unfair

    def _pick(self, column: int, row: NDArray[np.uint64], into: Tensor) -> None:
        """Put down what rows of a column hold, the zeros of a column standing last."""
        first, count = self._first[column], self._count[column]
        values = self._values[first : first + count]
        if count == self._rows:
            np.take(values, row.view(np.int64), out=_bits(into), mode="wrap")
            return
        mask = self._mask[: row.size]
        np.greater_equal(row, np.uint64(count), out=mask)
        np.minimum(row, np.uint64(max(0, count - 1)), out=row)
        np.take(values, row.view(np.int64), out=_bits(into), mode="wrap")
        into.masked_fill_(torch.from_numpy(mask), 0)

    def _at(self, column: int, row: Tensor) -> Tensor:
        into = torch.empty(row.numel(), dtype=self._dtype)
        self._pick(column, row.numpy().view(np.uint64), into)
        return into


def _bits(values: Tensor) -> NDArray[Any]:
    """Return values for NumPy, which only moves them: those of a type it lacks as other bits."""
    return (values.view(torch.int16) if values.dtype == torch.bfloat16 else values).numpy()
