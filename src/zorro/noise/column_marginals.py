"""The paper's noise: each entry is drawn from its feature's own column of the data set."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp
import torch
from torch import Tensor

from zorro.graph.column_values import ColumnValues
from zorro.graph.grouping import Grouping, quotient, quotient_and_rest, ranges, repeated
from zorro.graph.weighted_rows import weighted_rows
from zorro.noise.dense_columns import AddressedDraws, DenseColumns
from zorro.noise.draws import Draws, JoinedDraws
from zorro.noise.streams import BLOCK, blocks_of, child_keys, key_of, uniforms, uniforms_along
from zorro.noise.walks import walk

# From this share of non-zeros on, drawing every entry is cheaper than drawing non-zeros.
_DENSE = 0.2
_ENTRIES_AT_ONCE = 1 << 22
_DRAWN_AT_ONCE = 1 << 18  # on a CPU
_COST = 100.0  # nanoseconds a non-zero
_KEPT_BYTES = 12  # per non-zero: position and value
_WIDE = 32  # columns of a weight with which the noise is multiplied row by row


@dataclass(frozen=True)
class Entries:
    """Non-zeros of some columns of the noise, column after column."""

    position: Tensor  # (t,), sample · nodes + node
    column: Tensor  # (t,), which of the asked columns
    value: Tensor  # (t,)


@dataclass(frozen=True)
class _Kept:
    """Non-zeros of all columns; those of column j stand from starts[j] to starts[j + 1]."""

    position: Tensor  # (t,)
    value: Tensor  # (t,)
    starts: Tensor  # (d + 1,)

    def columns(self, which: Tensor) -> Tensor:
        """Return the columns of some non-zeros (q,)."""
        return torch.searchsorted(self.starts, which, right=True) - 1


@dataclass(frozen=True)
class _Sums:
    """For each column, the values at some nodes in which it is not zero, and its noise there."""

    nodes: list[int]  # v of them
    rows: Tensor  # (t,), which of the nodes times samples, column after column
    weights: Tensor  # (t,)
    starts: Tensor  # (d + 1,)


class ColumnMarginals:
    """Draws entry (i, j) from the values that feature j takes in the data set.

    Each (seed, query, block of samples, column) has a stream of its own, so that any column and
    any block can be drawn again alone. Of features that are mostly zeros only the others are
    drawn: along the entries of a column, the gap from one to the next is geometric with the
    column's density. Of other features each entry is drawn.

    Args:
        columns: the non-zero values of the whole data set's features.
    """

    name = "column-marginals"

    def __init__(self, columns: ColumnValues) -> None:
        self.num_features = columns.count.numel()
        self._values = columns.values  # (nnz,), by column
        self._count = columns.count  # (d,)
        self._first = columns.first  # (d,)
        self._density = columns.count.double() / columns.num_rows  # (d,)
        # Bags of words are often zeros and ones: then which non-zero is drawn makes no difference.
        self._one_value = columns.values.new_zeros(self.num_features)
        filled = columns.count > 0
        self._one_value[filled] = columns.values[self._first[filled]]
        self._one_value_each = columns.one_each
        self._dense = DenseColumns.of(columns) if self.density > _DENSE else None

    @property
    def density(self) -> float:
        """The share of non-zeros of the data set."""
        return float(self._density.mean())

    def draw(self, candidates: Tensor, *, seed: int, query: int, samples: range) -> Tensor:
        """Return the noise (S, n, d) of `samples` for the candidates' features (n, d)."""
        draws = self.draws(candidates.size(0), seed=seed, query=query, samples=samples)
        return draws.matrices(torch.arange(len(samples), device=candidates.device))

    def draws(
        self, nodes: int, *, seed: int, query: int, samples: range, memory: int = 1 << 30
    ) -> SparseDraws | AddressedDraws:
        """Return the noise of some samples for so many nodes, in the form that is cheapest.

        Args:
            nodes: how many.
            seed: of the noise.
            query: the node that is explained.
            samples: which ones.
            memory: bytes that may be kept; past that noise is drawn again when asked for.
        """
        if self._dense is None:
            return SparseDraws(self, nodes, seed=seed, query=query, samples=samples, memory=memory)
        each = torch.arange(samples.start, samples.stop)
        return AddressedDraws(
            self._dense, nodes, seed=seed, query=query, samples=each, memory=memory
        )

    def entries(self, columns: Tensor, keys: Tensor, *, nodes: int, first: int = BLOCK) -> Entries:
        """Draw the non-zeros of `columns` (k,) in the `first` samples of blocks `keys` (b,)."""
        blocks = keys.numel()
        positions = first * nodes
        stream = child_keys(keys, columns).flatten()  # (k · b,), column after column
        density = self._density[columns].repeat_interleave(blocks)
        count, position = _walked(stream, density, positions)
        block = torch.arange(blocks, device=keys.device).repeat(columns.numel())
        if blocks > 1:
            position += repeated(block * positions, count)
        per_column = count.view(-1, blocks).sum(1)
        column = repeated(torch.arange(columns.numel(), device=keys.device), per_column)
        if self._one_value_each:
            return Entries(position, column, self._one_value[columns][column])
        # The value of non-zero c of a stream is picked by the uniform at counter 2 c + 1.
        pick = uniforms_along(stream, count, first=1, step=2)
        pick *= repeated(self._count[columns].double(), per_column)
        place = pick.long()
        place += repeated(self._first[columns], per_column)
        return Entries(position, column, self._values[place])


class SparseDraws:
    """The non-zeros of one query's noise.

    They are kept while they fit `memory` bytes; otherwise columns are drawn again when asked for.
    """

    def __init__(
        self,
        noise: ColumnMarginals,
        nodes: int,
        *,
        seed: int,
        query: int,
        samples: range,
        memory: int = 1 << 30,
    ) -> None:
        self._noise = noise
        self._nodes = nodes
        self._samples = samples
        blocks = blocks_of(samples)
        device = noise._density.device
        keys = [key_of(seed, query, block) for block in blocks]
        self._keys = torch.tensor(keys, device=device)
        self._skipped = samples.start - blocks.start * BLOCK
        # A part of one block is drawn no further than its last sample.
        self._walked = BLOCK if len(blocks) > 1 else self._skipped + len(samples)
        expected = noise.density * noise.num_features * nodes * len(samples)
        self._rows: dict[int, Entries] = {}
        self._last_sums: _Sums | None = None
        self._count = len(samples)
        self._sample_and_node: tuple[Tensor, Tensor] | None = None  # of what is kept
        self._picked: Tensor | None = None  # (len(samples),): a sample's place, −1 for none
        self._kept: _Kept | None = None
        if expected * _KEPT_BYTES <= memory:
            self._kept = self._drawn_whole(expected)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Samples, candidate nodes and features."""
        return self._count, self._nodes, self._noise.num_features

    @property
    def cost_per_sample(self) -> float:
        """What drawing and multiplying its non-zeros costs."""
        return _COST * self._noise.density * self._noise.num_features * self._nodes

    def columns(self, columns: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return some columns of some nodes (v,), all when None, as (k, v, S)."""
        samples, nodes, _ = self.shape
        entries = self._entries(columns)
        if rows is None:
            dense = entries.value.new_zeros(columns.numel(), samples * nodes)
            dense[entries.column, entries.position] = entries.value
            return dense.view(-1, samples, nodes).transpose(1, 2)
        sample, node = quotient_and_rest(entries.position, nodes)
        place = torch.full((nodes,), -1, device=rows.device)
        place[rows] = torch.arange(rows.numel(), device=rows.device)
        mine = (place[node] >= 0).nonzero().flatten()
        some = entries.value.new_zeros(columns.numel(), rows.numel(), samples)
        some[entries.column[mine], place[node[mine]], sample[mine]] = entries.value[mine]
        return some

    def matrices(self, samples: Tensor) -> Tensor:
        """Return some samples whole, (q, n, d)."""
        _, nodes, features = self.shape
        dense = self._noise._values.new_zeros(samples.numel() * nodes, features)
        place = self._places(samples)
        if self._kept is not None:
            row, mine = self._picked_positions(self._kept.position, place)
            dense[row, self._kept.columns(mine)] = self._kept.value[mine]
            return dense.view(-1, nodes, features)
        for columns in self._column_chunks():
            entries = self._entries(columns)
            row, mine = self._picked_positions(entries.position, place)
            dense[row, columns[entries.column[mine]]] = entries.value[mine]
        return dense.view(-1, nodes, features)

    def times(self, weight: Tensor) -> Tensor:
        """Return Z W for a weight (d, h), as (n, S, h)."""
        samples, nodes, _ = self.shape
        if self._kept is not None and not weight.is_cuda:
            return self._kept_times(weight)
        product = weight.new_zeros(samples * nodes, weight.size(1))
        for columns in self._column_chunks(width=weight.size(1)):
            entries = self._entries(columns)
            rows = entries.value.unsqueeze(1) * weight[columns[entries.column]]
            product.index_add_(0, entries.position, rows)
        return product.view(samples, nodes, -1).transpose(0, 1)

    def _kept_times(self, weight: Tensor) -> Tensor:
        """Return Z W (n, S, h) from what is kept, which is a matrix by columns as it stands."""
        samples, nodes, _ = self.shape
        kept = self._kept
        assert kept is not None
        if weight.size(1) >= _WIDE and weight.dtype == kept.value.dtype == torch.float:
            sample, node = self._samples_and_nodes
            by_row = self._by_column(node * samples + sample).tocsr()  # (n · S, d)
            parts = map(torch.from_numpy, (by_row.indices, by_row.data, by_row.indptr))
            return weighted_rows(weight.contiguous(), *parts).view(nodes, samples, -1)
        product = self._by_column(kept.position) @ _numbers(weight.contiguous())
        return torch.from_numpy(product).to(weight.dtype).view(samples, nodes, -1).transpose(0, 1)

    @property
    def _samples_and_nodes(self) -> tuple[Tensor, Tensor]:
        """The sample and the node of each non-zero that is kept, (t,)."""
        assert self._kept is not None
        if self._sample_and_node is None:
            self._sample_and_node = quotient_and_rest(self._kept.position, self._nodes)
        return self._sample_and_node

    def _by_column(self, rows: Tensor) -> sp.csc_array:
        """Return what is kept as a matrix whose non-zeros stand in some rows (t,)."""
        samples, nodes, features = self.shape
        kept = self._kept
        assert kept is not None
        # Of one type, or SciPy makes the wider of all.
        starts = kept.starts.to(rows.dtype) if rows.numel() < 1 << 31 else kept.starts
        parts = (_numbers(kept.value), rows.numpy(), starts.numpy())
        return sp.csc_array(parts, shape=(samples * nodes, features))

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s Z_sᵀ V_s over some rows (v,), for values (v, S, h), as (d, h)."""
        if values.is_cuda:
            product = values.new_zeros(self.shape[2], values.size(2))
            for place, row in enumerate(rows.tolist()):
                entries = self._entries_of_row(row)
                terms = entries.value.unsqueeze(1) * values[place, entries.position]
                product.index_add_(0, entries.column, terms)
            return product
        sums = self._sums_of(rows.tolist())
        flat = values.flatten(0, 1).to(sums.weights.dtype)  # (v · S, h)
        return weighted_rows(flat, sums.rows, sums.weights, sums.starts).to(values.dtype)

    def _sums_of(self, rows: list[int]) -> _Sums:
        """Return which of V (v · S, h) each column of some nodes adds up; it is kept."""
        if self._last_sums is None or self._last_sums.nodes != rows:
            samples, _, features = self.shape
            every = [self._entries_of_row(row) for row in rows]
            at = [entries.position + place * samples for place, entries in enumerate(every)]
            none = self._keys[:0]
            by_column = Grouping.by_key(
                torch.cat([none, *(entries.column for entries in every)]), features
            )
            assert by_column.ordered is not None
            weights = torch.cat([self._noise._values[:0], *(entries.value for entries in every)])
            weights = weights[by_column.ordered]
            self._last_sums = _Sums(
                rows,
                torch.cat([none, *at])[by_column.ordered],
                weights.float() if weights.element_size() < 4 else weights,
                by_column.start.long(),
            )
        return self._last_sums

    def only(self, samples: Tensor) -> SparseDraws:
        """Return the noise of some samples (q,), ascending, alone."""
        place = self._places(samples)
        few = copy.copy(self)
        few._rows, few._last_sums, few._sample_and_node = {}, None, None
        few._count = samples.numel()
        few._picked = place if self._picked is None else _composed(self._picked, place)
        if self._kept is not None:
            position, mine = self._picked_positions(self._kept.position, place)
            starts = torch.searchsorted(mine, self._kept.starts)
            few._kept = _Kept(position, self._kept.value[mine], starts)
        return few

    def joined(self, others: Sequence[Draws]) -> JoinedDraws:
        """Return this noise and that of other samples of the same query."""
        return JoinedDraws([self, *others])

    def _places(self, samples: Tensor) -> Tensor:
        """Return for each sample its place among some of them, −1 for none, (S,)."""
        place = torch.full((self._count,), -1, device=samples.device)
        place[samples] = torch.arange(samples.numel(), device=samples.device)
        return place

    def _picked_positions(self, position: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        """Return positions of the picked samples in terms of these, and which they are."""
        kept = self._kept is not None and position is self._kept.position
        sample = self._samples_and_nodes[0] if kept else quotient(position, self._nodes)
        mine = (place >= 0)[sample].nonzero().flatten()
        sample = sample[mine]
        moved = (place.to(position.dtype)[sample] - sample) * self._nodes
        return position[mine] + moved, mine

    def _entries_of_row(self, row: int) -> Entries:
        """Return one node's non-zeros by column, with the sample as position; they are kept."""
        if row not in self._rows:
            if self._kept is not None:
                self._rows[row] = self._kept_of_row(self._kept, row)
            else:
                parts = []
                for columns in self._column_chunks():
                    entries = self._entries(columns)
                    sample, node = quotient_and_rest(entries.position, self._nodes)
                    mine = (node == row).nonzero().flatten()
                    column = columns[entries.column[mine]]
                    parts.append((sample[mine], column, entries.value[mine]))
                self._rows[row] = Entries(*(torch.cat(part) for part in zip(*parts, strict=True)))
        return self._rows[row]

    def _kept_of_row(self, kept: _Kept, row: int) -> Entries:
        sample, node = self._samples_and_nodes
        mine = (node == row).nonzero().flatten()
        return Entries(sample[mine].long(), kept.columns(mine), kept.value[mine])

    def _column_chunks(self, width: int = 1, most: int | None = None) -> list[Tensor]:
        samples, nodes, features = self.shape
        per_column = samples * nodes * max(self._noise.density, 1e-4) * width
        at_once = max(1, int((most or _ENTRIES_AT_ONCE) / max(per_column, 1.0)))
        every = torch.arange(features, device=self._keys.device)
        return [every[start : start + at_once] for start in range(0, features, at_once)]

    def _entries(self, columns: Tensor) -> Entries:
        if self._kept is None:
            return self._drawn(columns)
        start = self._kept.starts[columns]
        count = self._kept.starts[columns + 1] - start
        column = repeated(torch.arange(columns.numel(), device=columns.device), count)
        at = ranges(start, count)
        return Entries(self._kept.position[at].long(), column, self._kept.value[at])

    def _drawn_whole(self, expected: float) -> _Kept:
        """Draw every column, some at a time: what drawing takes is many times what it leaves.

        Parts are written into place; collected and joined, they would take their size twice.
        """
        samples, nodes, features = self.shape
        room = int(expected + 12 * expected**0.5) + 1024  # beyond any plausible number
        small = samples * nodes < 1 << 31
        device = self._keys.device
        position = torch.empty(room, dtype=torch.int if small else torch.long, device=device)
        value = torch.empty(room, dtype=self._noise._values.dtype, device=device)
        starts = torch.zeros(features + 1, dtype=torch.long, device=device)
        end = 0
        for columns in self._column_chunks(most=_DRAWN_AT_ONCE if device.type == "cpu" else None):
            entries = self._drawn(columns)
            start, end = end, end + entries.value.numel()
            position[start:end] = entries.position
            value[start:end] = entries.value
            places = torch.arange(columns.numel(), device=device)
            starts[columns + 1] = start + torch.searchsorted(entries.column, places, right=True)
        return _Kept(position[:end], value[:end], starts)

    def _drawn(self, columns: Tensor) -> Entries:
        entries = self._noise.entries(columns, self._keys, nodes=self._nodes, first=self._walked)
        if self._picked is None and len(self._samples) == self._keys.numel() * self._walked:
            return entries
        position = entries.position - self._skipped * self._nodes
        inside = (position >= 0) & (position < len(self._samples) * self._nodes)
        inside = inside.nonzero().flatten()
        position = position[inside]
        if self._picked is not None:
            position, mine = self._picked_positions(position, self._picked)
            inside = inside[mine]
        return Entries(position, entries.column[inside], entries.value[inside])


def _numbers(values: Tensor) -> Any:
    """Return values for SciPy, which does not know half precision."""
    return (values.float() if values.element_size() < 4 else values).numpy()


def _composed(first: Tensor, then: Tensor) -> Tensor:
    """Return then[first], −1 where first is −1."""
    return torch.where(first < 0, first, then[first.clamp(min=0)])


def _walked(keys: Tensor, density: Tensor, positions: int) -> tuple[Tensor, Tensor]:
    """Walk streams (t,) from one non-zero to the next, to the end of their positions.

    Returns:
        The number of non-zeros of each stream (t,), and where they are, stream after stream.
    """
    if keys.device.type == "cpu":
        count, position = walk(keys.numpy(), density.numpy(), positions)
        return torch.from_numpy(count), torch.from_numpy(position)
    return _walked_at_once(keys, density, positions)


def _walked_at_once(keys: Tensor, density: Tensor, positions: int) -> tuple[Tensor, Tensor]:
    """Walk all streams together.

    Most reach the end with little more than the expected number of steps; the others go on.
    """
    expected = positions * density
    pending = (density > 0).nonzero().flatten()
    begun = torch.zeros_like(keys)  # steps so far
    reached = torch.full_like(keys, -1)  # where they led
    parts: list[tuple[Tensor, Tensor, Tensor]] = []
    slack = 1.0
    while pending.numel():
        steps = expected[pending] / max(1, len(parts)) + slack * (expected[pending].sqrt() + 1)
        steps = steps.ceil().long()
        parts.append(_steps(keys[pending], density[pending], steps, begun[pending]))
        which, counter, position = parts[-1]
        position += reached[pending].repeat_interleave(steps) + 1
        last = steps.cumsum(0) - 1
        begun[pending] += steps
        reached[pending] = position[last]
        inside = (position < positions).nonzero().flatten()
        parts[-1] = (pending[which[inside]], counter[inside], position[inside])
        pending = pending[position[last] < positions]
        slack *= 2.0
    if not parts:
        return begun, begun[:0]
    stream, counter, position = (torch.cat(some) for some in zip(*parts, strict=True))
    # Counters run on within a stream, so that they say where each non-zero belongs.
    count = torch.bincount(stream, minlength=keys.numel())
    ordered = torch.empty_like(position)
    ordered[(count.cumsum(0) - count)[stream] + counter] = position
    return count, ordered


def _steps(
    keys: Tensor, density: Tensor, steps: Tensor, begun: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Take some steps (t,) in each of streams (t,) after those that are begun (t,).

    Returns:
        Of each step: the stream, its counter, and how far from the last begun one it leads, less
        one.
    """
    start = steps.cumsum(0) - steps
    which = torch.arange(keys.numel(), device=keys.device).repeat_interleave(steps)
    counter = torch.arange(which.numel(), device=keys.device)
    counter += (begun - start).repeat_interleave(steps)
    gap = uniforms(keys.repeat_interleave(steps), 2 * counter).log_()
    gap /= torch.log1p(-density).repeat_interleave(steps)
    step = gap.clamp_(max=float(1 << 40)).long() + 1  # one more than the geometric gap
    walked = step.cumsum(0)
    walked -= (walked - step)[start].repeat_interleave(steps)
    return which, counter, walked - 1
