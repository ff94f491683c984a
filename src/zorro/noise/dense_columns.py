"""Noise of columns with few zeros: each entry has a random number of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zorro.graph.column_values import ColumnValues
from zorro.graph.grouping import quotient_and_rest, repeated
from zorro.noise.draws import Draws, JoinedDraws
from zorro.noise.random_rows import LANES, RandomRows
from zorro.noise.streams import BLOCK, child_keys, key_of, uniforms_of, words

_QUARTERS = 4  # random numbers of 16 bits that a word holds
_HALF_RANGE = 1 << 15  # of 16 bits
_LOW_HALF = (1 << 32) - 1
_WORDS_AT_ONCE = 1 << 16  # on a CPU: what stays in the caches
_COST, _GENERAL_COST = 5.0, 12.0  # nanoseconds an entry, of two-valued columns and of others
_CUDA_NUMBERS = 1 << 26
_FEW_NODES = 64  # of which several columns are drawn together on a CPU too
_KEPT_NUMBERS = 1 << 22  # of nodes that are asked for again and again
_MIXED_AT_ONCE = 1 << 20  # numbers of some columns, that stay in the caches


@dataclass(frozen=True)
class DenseColumns:
    """What the columns of a data set hold, ready to draw from.

    A column with two values is drawn by comparing 16 bits with a threshold; where they are equal
    to it, which happens once in 65,536 times, a further number decides, so that the probability
    is the column's own. Of any other column a row is drawn: 32 bits times the number of rows,
    drawn again in the rare cases that would favour some rows.
    """

    columns: ColumnValues
    is_two_valued: Tensor  # (d,)
    low: Tensor  # (d,), the value that is drawn where a number is not below the threshold
    high: Tensor  # (d,)
    threshold: Tensor  # (d,) int16
    rest: Tensor  # (d,) float64, the chance of `high` where a number equals the threshold

    @classmethod
    def of(cls, columns: ColumnValues) -> DenseColumns:
        """Look through the columns of a data set."""
        values, count = columns.values, columns.count
        filled = count > 0
        smallest, largest = (_extremes(columns, kind) for kind in ("amin", "amax"))
        has_zeros = count < columns.num_rows
        is_extreme = (values == repeated(smallest[filled], count[filled])) | (
            values == repeated(largest[filled], count[filled])
        )
        column = repeated(torch.arange(count.numel(), device=count.device), count)
        others = torch.bincount(column[~is_extreme], minlength=count.numel())
        is_two_valued = (others == 0) & (~has_zeros | (smallest == largest))
        low = torch.where(has_zeros, torch.zeros_like(smallest), smallest)
        at_largest = values == repeated(largest[filled], count[filled])
        chosen = torch.bincount(column[at_largest], minlength=count.numel())
        chosen[low == largest] = 0  # one value: nothing is drawn
        scaled = chosen * (2 * _HALF_RANGE)
        whole = torch.div(scaled, columns.num_rows, rounding_mode="floor")
        return cls(
            columns=columns,
            is_two_valued=is_two_valued,
            low=low,
            high=largest,
            threshold=(whole - _HALF_RANGE).to(torch.int16),
            rest=(scaled - whole * columns.num_rows).double() / columns.num_rows,
        )


class AddressedDraws:
    """The noise of one query, hardly any of it kept: any entry can be drawn again alone.

    Args:
        dense: the columns.
        nodes: how many candidates there are.
        seed: of the noise.
        query: the node that is explained.
        samples: (S,), which ones, ascending.
        memory: bytes of which a small part may be kept.
    """

    def __init__(
        self,
        dense: DenseColumns,
        nodes: int,
        *,
        seed: int,
        query: int,
        samples: Tensor,
        memory: int = 1 << 30,
    ) -> None:
        self._dense = dense
        self._nodes = nodes
        self._seed = seed
        self._query = query
        self._samples = samples.cpu()
        self._device = dense.low.device
        self._memory = memory
        self._kept: dict[int, Tensor] = {}  # all columns of a node, (d, S)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Samples, candidate nodes and features."""
        return self._samples.numel(), self._nodes, self._dense.low.numel()

    def only(self, samples: Tensor) -> AddressedDraws:
        """Return the noise of some samples (q,), ascending, alone."""
        return AddressedDraws(
            self._dense,
            self._nodes,
            seed=self._seed,
            query=self._query,
            samples=self._samples[samples.cpu()],
            memory=self._memory,
        )

    def joined(self, others: Sequence[Draws]) -> Draws:
        """Return this noise and that of other samples of the same query."""
        same = [other for other in others if isinstance(other, AddressedDraws)]
        if len(same) < len(others):
            return JoinedDraws([self, *others])
        return AddressedDraws(
            self._dense,
            self._nodes,
            seed=self._seed,
            query=self._query,
            samples=torch.cat([self._samples, *(other._samples for other in same)]),
            memory=self._memory,
        )

    @property
    def cost_per_sample(self) -> float:
        """What drawing and multiplying its entries costs."""
        two_valued = int(self._dense.is_two_valued.sum())
        others = self._dense.low.numel() - two_valued
        return self._nodes * (_COST * two_valued + _GENERAL_COST * others)

    def columns(self, columns: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return some columns of some nodes (v,), all when None, as (k, v, S)."""
        if rows is not None and self._can_keep(rows):
            return self._kept_at(rows)[columns]
        return self._columns(columns, rows)

    def _columns(self, columns: Tensor, rows: Tensor | None) -> Tensor:
        rows = self._every_node if rows is None else rows
        by_kind = self._by_kind(columns)
        if len(by_kind) == 1:
            return by_kind[0][0].values(columns, _drawn(by_kind[0][0], columns, rows, self._parts))
        result = self._dense.low.new_empty(columns.numel(), rows.numel(), self.shape[0])
        for kind, place in by_kind:
            drawn = _drawn(kind, columns[place], rows, self._parts)
            result[place] = kind.values(columns[place], drawn)
        return result

    def _can_keep(self, rows: Tensor) -> bool:
        """Whether all columns of some nodes are few numbers."""
        samples, _, features = self.shape
        most = min(_KEPT_NUMBERS, self._memory // 32 // self._dense.low.element_size())
        return 0 < rows.numel() * samples * features <= most

    def _kept_at(self, rows: Tensor) -> Tensor:
        """Return all columns of some nodes (v,), (d, v, S), which are kept: a search asks again."""
        wanted = rows.tolist()
        missing = [row for row in wanted if row not in self._kept]
        if missing:
            if not self._can_keep(rows.new_empty(len(self._kept) + len(missing))):
                self._kept.clear()
                missing = list(dict.fromkeys(wanted))
            every = torch.arange(self.shape[2], device=self._device)
            drawn = self._columns(every, torch.tensor(missing, device=self._device))
            each = drawn.transpose(0, 1).contiguous()  # (v, d, S)
            self._kept.update(zip(missing, each.unbind(), strict=True))
        return torch.stack([self._kept[row] for row in wanted], dim=1)

    def matrices(self, samples: Tensor) -> Tensor:
        """Return some samples whole, (q, n, d)."""
        ordered, place = torch.unique(samples, return_inverse=True)
        every = torch.arange(self.shape[2], device=self._device)
        drawn = self.only(ordered).columns(every)  # (d, n, q)
        return drawn.permute(2, 1, 0)[place].contiguous()

    def times(self, weight: Tensor) -> Tensor:
        """Return Z W for a weight (d, h), as (n, S, h)."""
        samples, nodes, features = self.shape
        result = weight.new_zeros(nodes, samples, weight.size(1))
        every = torch.arange(features, device=self._device)
        for kind, columns in self._by_kind(every):
            low, span = _low_and_span(kind, columns, weight)
            result += (low * weight[columns]).sum(0)
            scaled = span * weight[columns]
            for part in self._parts:
                step = _nodes_at_once(kind, columns.numel() * part.count)
                for rows in torch.split(torch.arange(nodes, device=self._device), step):
                    factor = _drawn(kind, columns, rows, [part.alone], weight.dtype)  # (k, v, s)
                    product = factor.flatten(1).t() @ scaled  # (v · s, h)
                    into = result[int(rows[0]) : int(rows[-1]) + 1, part.place]
                    into += product.view_as(into)
        return result

    def mixed(self, mixes: Sequence[Callable[[Tensor], Tensor]]) -> list[Tensor]:
        """Return A Z for matrices A (q, n), as (d, q, S) each.

        Where few rows come out that is much less work, and memory, than the product with a weight.

        Args:
            mixes: give the products A V of values (n, S).
        """
        samples, nodes, features = self.shape
        parts: list[list[Tensor]] = [[] for _ in mixes]
        at_once = _CUDA_NUMBERS if self._dense.low.is_cuda else _MIXED_AT_ONCE
        every = torch.arange(features, device=self._device)
        for columns in torch.split(every, max(1, at_once // max(1, nodes * samples))):
            for values in self.columns(columns):  # (n, S)
                for part, mix in zip(parts, mixes, strict=True):
                    part.append(mix(values))
        return [torch.stack(part) for part in parts]

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s Z_sᵀ V_s over some rows (v,), for values (v, S, h), as (d, h)."""
        every = torch.arange(self.shape[2], device=self._device)
        result = values.new_zeros(every.numel(), values.size(2))
        if self._can_keep(rows):
            return self._kept_at(rows).flatten(1).to(values.dtype) @ values.flatten(0, 1)
        total = values.sum((0, 1))  # (h,)
        for kind, columns in self._by_kind(every):
            product = values.new_zeros(columns.numel(), values.size(2))
            step = _nodes_at_once(kind, columns.numel() * self.shape[0])
            for some in torch.split(torch.arange(rows.numel()), step):
                factor = _drawn(kind, columns, rows[some], self._parts, values.dtype)
                product.addmm_(factor.flatten(1), values[some].flatten(0, 1))
            low, span = _low_and_span(kind, columns, values)
            result[columns] = low * total + span * product
        return result

    def _by_kind(self, columns: Tensor) -> list[tuple[_Kind, Tensor]]:
        """Return how columns are drawn and which of them, as far as there are any."""
        two_valued = self._dense.is_two_valued[columns]
        kinds = zip(self._kinds, (two_valued, ~two_valued), strict=True)
        return [(kind, mine.nonzero().flatten()) for kind, mine in kinds if bool(mine.any())]

    @cached_property
    def _kinds(self) -> tuple[_Kind, _Kind]:
        return _TwoValued(self._dense), _General(self._dense)

    @cached_property
    def _every_node(self) -> Tensor:
        return torch.arange(self._nodes, device=self._device)

    @cached_property
    def _parts(self) -> list[_Part]:
        """What is drawn of each block of samples."""
        block = torch.div(self._samples, BLOCK, rounding_mode="floor")
        numbers, counts = torch.unique_consecutive(block, return_counts=True)
        parts = []
        first = 0
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            place = slice(first, first + count)
            key = torch.tensor([key_of(self._seed, self._query, number)], device=self._device)
            parts.append(_Part(key, self._samples[place] - number * BLOCK, place))
            first += count
        return parts


@dataclass(frozen=True)
class _Part:
    """Some samples of a block."""

    key: Tensor  # (1,), of the block
    within: Tensor  # (s,), which samples of the block
    place: slice  # where they stand among all

    @property
    def count(self) -> int:
        return self.within.numel()

    @property
    def alone(self) -> _Part:
        """The same samples, with no others before them."""
        return replace(self, place=slice(0, self.count))

    def numbers(self, lanes: int) -> _Numbers:
        """Return which numbers of a node are the samples', with some `lanes` in a word."""
        word = torch.div(self.within, lanes, rounding_mode="floor")
        used, place = torch.unique_consecutive(word, return_inverse=True)
        return _Numbers(lanes, used.to(self.key.device), place * lanes + self.within % lanes)


@dataclass(frozen=True)
class _Numbers:
    """The random numbers that some samples of a block have at each node."""

    lanes: int  # numbers of a word
    used: Tensor  # (w,), words of a node
    wanted: Tensor  # (s,), which of their w · lanes numbers

    @property
    def drawn(self) -> int:
        """How many are drawn at each node."""
        return self.used.numel() * self.lanes

    @property
    def index(self) -> Tensor | slice:
        """Where the wanted ones stand: a slice if it can be, which is many times as fast."""
        first, last = int(self.wanted[0]), int(self.wanted[-1])
        is_whole = last - first + 1 == self.wanted.numel()
        return slice(first, last + 1) if is_whole else self.wanted.to(self.used.device)

    @property
    def position(self) -> Tensor:
        """Where each number stands among the wanted ones, −1 for none, (w · lanes,)."""
        position = torch.full((self.drawn,), -1)
        position[self.wanted] = torch.arange(self.wanted.numel())
        return position.to(self.used.device)

    def addresses(self, rows: Tensor) -> Tensor:
        """Return where the words of nodes (v,) are found, (v · w,)."""
        per_node = -(-BLOCK // self.lanes)
        return (rows.unsqueeze(1) * per_node + self.used).flatten()


class _Kind(Protocol):
    """How some columns are drawn: values are low + (high − low) · what is drawn."""

    lanes: int  # numbers that a word holds
    dtype: torch.dtype  # of what is drawn
    numbers_at_once: int  # that are drawn and multiplied on a CPU
    low: Tensor  # (d,)
    high: Tensor  # (d,)

    def draw_into(
        self, result: Tensor, columns: Tensor, rows: Tensor, parts: Sequence[_Part]
    ) -> None:
        """Draw some columns (k,) of some nodes (v,), (k, v, S)."""
        ...

    def read(self, columns: Tensor, word: Tensor) -> tuple[Tensor, Tensor]:
        """Return what words (k, w) of columns (k,) say, (k, w · lanes), and where not, flat."""
        ...

    def decide(self, columns: Tensor, number: Tensor) -> Tensor:
        """Return what numbers (t,) in (0, 1) say of columns (t,) where words did not."""
        ...

    def values(self, columns: Tensor, drawn: Tensor) -> Tensor:
        """Return the values (k, v, s) that are drawn."""
        ...


def _drawn(
    kind: _Kind,
    columns: Tensor,
    rows: Tensor,
    parts: Sequence[_Part],
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Draw some columns (k,) of some nodes (v,), (k, v, S), as another type if it is given."""
    shape = (columns.numel(), rows.numel(), sum(part.count for part in parts))
    result = torch.empty(shape, dtype=dtype or kind.dtype, device=rows.device)
    if result.numel():
        kind.draw_into(result, columns, rows, parts)
    return result


def _draw_by_words(
    result: Tensor, kind: _Kind, columns: Tensor, rows: Tensor, parts: Sequence[_Part]
) -> None:
    """Draw some columns (k,) of some nodes (v,), (k, v, S), words of several columns together."""
    layouts = [part.numbers(kind.lanes) for part in parts]
    most = max(layout.used.numel() for layout in layouts) * rows.numel()
    at_once = _CUDA_NUMBERS if rows.is_cuda else _WORDS_AT_ONCE
    # All samples of some columns, then of the next: what the columns hold stays in the caches.
    for some in torch.split(torch.arange(columns.numel()), max(1, at_once // max(1, most))):
        which = slice(int(some[0]), int(some[-1]) + 1)
        for part, numbers in zip(parts, layouts, strict=True):
            into = result[which, :, part.place]
            _draw_into(into, kind, columns[which], rows, part.key, numbers)


def _draw_into(
    result: Tensor, kind: _Kind, columns: Tensor, rows: Tensor, key: Tensor, numbers: _Numbers
) -> None:
    """Draw some columns (k,) of some nodes (v,) in samples of a block with a key, (k, v, s)."""
    address = numbers.addresses(rows)
    drawn, undecided = kind.read(columns, words(child_keys(key, columns).flatten(), address))
    _copy(drawn.view(-1, rows.numel(), numbers.drawn)[:, :, numbers.index], result)
    if undecided.numel() == 0:
        return
    node, number = quotient_and_rest(undecided, numbers.drawn)
    column, node = quotient_and_rest(node, rows.numel())
    sample = numbers.position[number]
    wanted = (sample >= 0).nonzero().flatten()
    column, node, number, sample = (part[wanted] for part in (column, node, number, sample))
    word = address[(node * numbers.drawn + number) // kind.lanes]
    further = child_keys(key, columns[column] + kind.low.numel()).flatten()  # no column has these
    random = uniforms_of(further, word * kind.lanes + number % kind.lanes)
    result[column, node, sample] = kind.decide(columns[column], random).to(result.dtype)


def _nodes_at_once(kind: _Kind, numbers: int) -> int:
    """Return of how many nodes, with so many numbers each, a matrix is drawn and multiplied."""
    return max(1, (_CUDA_NUMBERS if kind.low.is_cuda else kind.numbers_at_once) // max(1, numbers))


def _low_and_span(kind: _Kind, columns: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
    low, high = (each[columns].to(like.dtype).unsqueeze(1) for each in (kind.low, kind.high))
    return low, high - low


def _copy(values: Tensor, into: Tensor) -> None:
    if into.is_cuda or torch.bfloat16 in (values.dtype, into.dtype):  # which NumPy lacks
        into.copy_(values)
    else:
        np.copyto(into.numpy(), values.numpy())  # several times as fast from bool


class _TwoValued:
    """Columns with two values, of which true stands for the higher one."""

    lanes = _QUARTERS
    dtype = torch.bool
    numbers_at_once = 1 << 21

    def __init__(self, dense: DenseColumns) -> None:
        self._dense = dense
        self.low = dense.low
        self.high = dense.high

    def draw_into(
        self, result: Tensor, columns: Tensor, rows: Tensor, parts: Sequence[_Part]
    ) -> None:
        """Draw some columns (k,) of some nodes (v,), (k, v, S)."""
        _draw_by_words(result, self, columns, rows, parts)

    def read(self, columns: Tensor, word: Tensor) -> tuple[Tensor, Tensor]:
        """Return which numbers are below their threshold, and where they are equal to it."""
        threshold = self._dense.threshold[columns].unsqueeze(1)
        if word.is_cuda:
            number = word.view(torch.int16)
            return number < threshold, (number == threshold).flatten().nonzero().flatten()
        quarter = word.numpy().view(np.int16)  # NumPy compares several times as fast
        below = torch.from_numpy(quarter < threshold.numpy())
        return below, _places(quarter == threshold.numpy())

    def decide(self, columns: Tensor, number: Tensor) -> Tensor:
        """Return the higher value as often as the threshold's rounding left out."""
        return number < self._dense.rest[columns]

    def values(self, columns: Tensor, drawn: Tensor) -> Tensor:
        """Return the values (k, v, s) that are drawn."""
        high, low = self._dense.high[columns], self._dense.low[columns]
        return torch.where(drawn, high.view(-1, 1, 1), low.view(-1, 1, 1))


class _General:
    """Columns with more than two values: a random row's."""

    lanes = LANES
    numbers_at_once = 1 << 22

    def __init__(self, dense: DenseColumns) -> None:
        self._held = dense.columns
        self._first = dense.columns.first
        self.dtype = dense.low.dtype
        self.low = torch.zeros_like(dense.low)
        self.high = torch.ones_like(dense.low)
        self._last: tuple[Tensor, Sequence[_Part], list[RandomRows]] | None = None

    def draw_into(
        self, result: Tensor, columns: Tensor, rows: Tensor, parts: Sequence[_Part]
    ) -> None:
        """Draw some columns (k,) of some nodes (v,), (k, v, S); of many nodes one by one."""
        if rows.is_cuda or rows.numel() < _FEW_NODES:
            _draw_by_words(result, self, columns, rows, parts)
            return
        for part, random_rows in zip(parts, self._random_rows(rows, parts), strict=True):
            numbers = part.numbers(self.lanes)
            index = numbers.index
            drawn = self._held.values.new_empty(rows.numel(), numbers.drawn)
            keys = child_keys(part.key, columns).flatten().numpy().view(np.uint64)
            further = child_keys(part.key, columns + self.low.numel()).flatten()
            for place, column in enumerate(columns.tolist()):
                into = result[place, :, part.place]
                straight = into.shape == drawn.shape and into.is_contiguous()
                straight = straight and into.dtype == drawn.dtype
                target = into if straight else drawn
                random_rows.draw(column, keys[place], further[place], target.view(-1))
                if not straight:
                    _copy(drawn[:, index], into)

    def _random_rows(self, rows: Tensor, parts: Sequence[_Part]) -> list[RandomRows]:
        """Return what draws columns of some nodes; that of the last nodes is kept."""
        if self._last is None or self._last[0] is not rows or self._last[1] is not parts:
            each = [part.numbers(self.lanes).addresses(rows) for part in parts]
            made = [RandomRows(self._held, address) for address in each]
            self._last = (rows, parts, made)
        return self._last[2]

    def read(self, columns: Tensor, word: Tensor) -> tuple[Tensor, Tensor]:
        """Return what random rows hold, and where a number would favour some of them."""
        row, undecided = _random_rows(word, self._held.num_rows)
        return self._at(columns, row), undecided

    def decide(self, columns: Tensor, number: Tensor) -> Tensor:
        """Return what the rows hold that further numbers stand for."""
        row = (number * self._held.num_rows).long()
        return self._at(columns, row.unsqueeze(1)).squeeze(1)

    def values(self, columns: Tensor, drawn: Tensor) -> Tensor:
        """Return the values (k, v, s) that are drawn."""
        return drawn

    def _at(self, columns: Tensor, row: Tensor) -> Tensor:
        """Return what rows (k, t) of columns (k,) hold, the zeros of a column standing last."""
        held = self._held
        count = held.count[columns].unsqueeze(1)
        place = self._first[columns].unsqueeze(1) + torch.minimum(row, count - 1)
        return held.values[place].masked_fill_(row >= count, 0)


def _random_rows(word: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """Return a row (k, 2 w) for each half of words (k, w), and where it is no fair one, flat.

    A half times the number of rows has the row in its upper 32 bits. Rows get as many halves
    each, except that some get one more: the first 2^32 mod `rows` remainders are those too many.
    """
    half = torch.stack([word & _LOW_HALF, (word >> 32) & _LOW_HALF], dim=-1).flatten(1)
    half *= rows
    unfair = (half & _LOW_HALF) < (1 << 32) % rows
    return half >> 32, unfair.flatten().nonzero().flatten()


def _places(mask: NDArray[np.bool_]) -> Tensor:
    """Return where a mask is true, flat."""
    return torch.from_numpy(np.flatnonzero(mask))


def _extremes(columns: ColumnValues, kind: str) -> Tensor:
    """Return the smallest or largest non-zero value of each column, (d,), 0 where there is none."""
    column = repeated(
        torch.arange(columns.count.numel(), device=columns.count.device), columns.count
    )
    result = columns.values.new_zeros(columns.count.numel())
    return result.scatter_reduce_(0, column, columns.values, kind, include_self=False)
