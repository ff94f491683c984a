"""How true features differ from a query's noise, X − Z, and what that gives with weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from zorro.noise import Draws
from zorro.noise.dense_columns import AddressedDraws
from zorro.noise.streams import BLOCK

_BATCH = 5e8  # nanoseconds that a batch of noise may take, roughly
_LEAST_SAMPLES = 4
_SMALL = 1 << 16  # numbers of a column: it is cheaper to keep all of it than to draw parts twice
_NUMBERS_AT_ONCE = 1 << 22  # of a change of some columns
_COLUMNS_AT_ONCE = 1 << 19  # numbers of columns at all nodes, that stay in the caches


class ChangedInput:
    """X − Z for all candidates, features and samples, of which only what is asked for is made.

    Args:
        x: (n, d), the candidates' true features.
        draws: Z (S, n, d).
        weight: W (d, H).
        true: X W (n, H).
        memory: bytes that may be kept; past that things are drawn again when asked for.
        on_batch: called before noise is drawn.
        noise: Z W (n, S, H), where it is known.
        keeps_noise: whether to keep Z W where it fits, for gains of all features together.
    """

    def __init__(
        self,
        x: Tensor,
        draws: Draws,
        weight: Tensor,
        true: Tensor,
        *,
        memory: int,
        on_batch: Callable[[], None],
        noise: Tensor | None = None,
        keeps_noise: bool = True,
    ) -> None:
        self.x = x
        self._draws = draws
        self._weight = weight
        self._memory = memory
        self._on_batch = on_batch
        self._true = true
        self.noise = noise  # Z W (n, S, H), if it is kept
        self._keeps_noise = keeps_noise
        self._columns: dict[int, int] = {}  # where X − Z of a column is kept
        self._kept = x.new_empty(0, x.size(0), draws.shape[0])  # (k, n, S)

    @property
    def width(self) -> int:
        """H, of all weights together."""
        return self._weight.size(1)

    @property
    def samples(self) -> int:
        """S."""
        return self._draws.shape[0]

    @property
    def true_product(self) -> Tensor:
        """X W, as (n, 1, H)."""
        return self._true.unsqueeze(1)

    def noise_products(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield Z W (n, s, H) of some samples at a time."""
        if self.noise is not None:
            yield slice(0, self.noise.size(1)), self.noise
            return
        samples, nodes, _ = self._draws.shape
        a_sample = nodes * self._weight.size(1) * self._weight.element_size()
        step = max(_LEAST_SAMPLES, int(_BATCH / max(1.0, self._draws.cost_per_sample)))
        step = max(1, min(step, samples, self._memory // max(1, a_sample)))
        if step > BLOCK:
            step -= step % BLOCK  # whole blocks are drawn faster
        keeps = self._keeps_noise and samples * a_sample <= self._memory
        parts = []
        for first in range(0, samples, step):
            self._on_batch()
            some = torch.arange(first, min(first + step, samples), device=self.x.device)
            draws = self._draws if step == samples else self._draws.only(some)
            product = draws.times(self._weight)
            yield slice(first, first + some.numel()), product
            if keeps:
                parts.append(product)
        if keeps:
            self.noise = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    @property
    def can_mix(self) -> bool:
        """Whether noise can be mixed a column at a time, without its product with the weights."""
        return isinstance(self._draws, AddressedDraws) and not self.x.is_cuda

    def mixed_noise(self, mixes: Sequence[Callable[[Tensor], Tensor]]) -> Iterator[list[Tensor]]:
        """Yield A Z of matrices A (q, n), as (d, q, s) each, a block of samples at a time.

        Args:
            mixes: give the products A V of values (n, s).
        """
        assert isinstance(self._draws, AddressedDraws)
        samples = torch.arange(self._draws.shape[0], device=self.x.device)
        for some in torch.split(samples, BLOCK):
            self._on_batch()
            yield self._draws.only(some).mixed(mixes)

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s (X − Z_s)ᵀ V_s over some rows (v,), for values (v, S, h), as (d, h)."""
        self._on_batch()
        drawn = self._draws.transposed_times(values, rows)
        return self.x[rows].t() @ values.sum(1) - drawn

    def at(self, columns: Tensor, rows: Tensor) -> Tensor:
        """Return X − Z at some columns and rows, (k, v, S)."""
        a_column = self._kept.shape[1] * self._kept.shape[2]
        most = self._most_kept
        if columns.numel() <= most and (a_column <= _SMALL or self._are_kept(columns)):
            self._keep(columns, most)
            return self._kept[self._places(columns).unsqueeze(1), rows]
        noise = self._draws.columns(columns, rows)
        return self.x[rows][:, columns].t().unsqueeze(2) - noise

    def everywhere(self, columns: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield some columns (c,) and their X − Z (c, n, S), until all (k,) have been."""
        if columns.numel() == 0:
            return
        most = self._most_kept
        if columns.numel() <= most:
            self._keep(columns, most)
            yield from self._runs(columns)
            return
        a_column = max(1, self._kept.shape[1] * self._kept.shape[2])
        for some in torch.split(columns, max(1, _COLUMNS_AT_ONCE // a_column)):
            self._on_batch()
            yield some, self._drawn(some)

    def column_by_column(self, columns: Tensor, rows: Tensor) -> Iterator[Tensor]:
        """Yield X − Z of each column at some rows, (v, S)."""
        a_column = max(1, rows.numel() * self.samples)
        true = self.x[rows]
        for some in torch.split(columns, max(1, _COLUMNS_AT_ONCE // a_column)):
            self._on_batch()
            noise = self._draws.columns(some, rows)
            yield from true[:, some].t().unsqueeze(2) - noise

    def rows_by_column(self, rows: Tensor) -> tuple[Tensor, ...]:
        """Split rows into parts of which a column fits into the memory some times."""
        return torch.split(rows, max(1, self._numbers // 4 // max(1, self.samples)))

    def columns_at_once(self, rows: int) -> int:
        """Return how many columns of some rows fit into a part of the memory."""
        return max(1, self._numbers // 8 // max(1, rows * self.samples))

    def product(self, columns: Tensor, rows: Tensor) -> Tensor:
        """Return (X − Z) W over some columns (k,), at some rows (v,), as (v, S, H)."""
        every = self.x.size(1)
        if 2 * columns.numel() <= every:
            return self._product_of(columns, rows)
        is_left_out = torch.ones(every, dtype=torch.bool, device=columns.device)
        is_left_out[columns] = False
        left_out = is_left_out.nonzero().flatten()
        return self._product_of_all(rows) - self._product_of(left_out, rows)

    def _product_of(self, columns: Tensor, rows: Tensor) -> Tensor:
        shape = (rows.numel(), self._draws.shape[0], self._weight.size(1))
        if columns.numel() == 0 or rows.numel() == 0:
            return self._weight.new_zeros(shape)
        a_row = columns.numel() * self._draws.shape[0]
        at_once = max(1, min(_NUMBERS_AT_ONCE, self._numbers // 2) // a_row)
        weight = self._weight[columns]
        if at_once >= rows.numel():
            return (self.at(columns, rows).flatten(1).t() @ weight).view(shape)
        result = self._weight.new_empty(shape)
        for some in torch.split(torch.arange(rows.numel(), device=rows.device), at_once):
            change = self.at(columns, rows[some])  # (k, v, S)
            flat = change.flatten(1).t() @ weight  # (v · S, H)
            result[some] = flat.view(some.numel(), *shape[1:])
        return result

    def _product_of_all(self, rows: Tensor) -> Tensor:
        if self.noise is not None:
            return self._true[rows].unsqueeze(1) - self.noise[rows]
        return self._product_of(torch.arange(self.x.size(1), device=rows.device), rows)

    def rows_at_once(self, rows: Tensor) -> tuple[Tensor, ...]:
        """Split rows into parts whose products fit into the memory."""
        a_row = self._draws.shape[0] * max(1, self.width)
        return torch.split(rows, max(1, self._numbers // 2 // a_row))

    @property
    def _numbers(self) -> int:
        """How many numbers fit into the memory."""
        return self._memory // self.x.element_size()

    @property
    def _most_kept(self) -> int:
        """How many columns may be kept."""
        nodes, samples = self._kept.shape[1:]
        return self._memory // max(1, nodes * samples * self.x.element_size())

    def _are_kept(self, columns: Tensor) -> bool:
        return all(column in self._columns for column in columns.tolist())

    def _places(self, columns: Tensor) -> Tensor:
        """Return where columns that are kept stand, (k,)."""
        places = [self._columns[column] for column in columns.tolist()]
        return torch.tensor(places, device=columns.device)

    def _runs(self, columns: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield columns that are kept side by side, and X − Z, of which nothing is copied."""
        places, order = self._places(columns).sort()
        a_column = max(1, self._kept.shape[1] * self._kept.shape[2])
        at_once = max(1, _COLUMNS_AT_ONCE // a_column)
        ends = (places.diff() != 1).nonzero().flatten() + 1
        for run in torch.tensor_split(torch.arange(places.numel()), ends.cpu()):
            for some in torch.split(run, at_once):
                first, last = int(places[some[0]]), int(places[some[-1]])
                yield columns[order[some]], self._kept[first : last + 1]

    def _keep(self, columns: Tensor, most: int) -> None:
        """Keep X − Z of columns, and of others as long as there is room."""
        new = [column for column in columns.tolist() if column not in self._columns]
        if not new:
            return
        if len(self._columns) + len(new) > most:
            self._columns.clear()
            new = columns.tolist()
        start = len(self._columns)
        if start + len(new) > self._kept.size(0):
            larger = min(most, 2 * (start + len(new)))
            kept = self._kept.new_empty(larger, *self._kept.shape[1:])
            kept[:start] = self._kept[:start]
            self._kept = kept
        self._on_batch()
        drawn = self._drawn(torch.tensor(new, device=columns.device))
        self._kept[start : start + len(new)] = drawn
        self._columns.update((column, start + place) for place, column in enumerate(new))

    def _drawn(self, columns: Tensor) -> Tensor:
        noise = self._draws.columns(columns)  # its own memory
        return torch.sub(self.x[:, columns].t().unsqueeze(2), noise, out=noise)
