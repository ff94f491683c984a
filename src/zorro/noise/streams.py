"""Random numbers that have an address: the same for any order, batch, worker or device."""

from __future__ import annotations

from enum import IntEnum, unique

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zorro.graph.grouping import ranges, repeated

Words = NDArray[np.int64]
Floats = NDArray[np.float64]

_GOLDEN = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, the step of the SplitMix64 generator
GOLDEN = np.uint64(_GOLDEN)
_WORD = (1 << 64) - 1

# Samples are drawn in blocks: what is drawn for a sample does not depend on how many are asked for.
BLOCK = 50
_AT_ONCE = 1 << 14


@unique
class Purpose(IntEnum):
    """What random numbers are for other than the features of a query's candidates.

    Each purpose draws with a seed of its own, so that no two share a number. All lie below zero:
    numbers from zero on are those of types of nodes, whose features have seeds of their own too.
    """

    EDGES = -1  # which are there
    EDGE_ATTRIBUTES = -2  # of which edge an edge has those that it is refilled with
    REWIRING = -3  # which edges exchange ends
    POOL = -4  # rows of features, of which the redrawing of all that lies around a cut picks some
    REACH = -5  # redraws that show how far the model looks
    CONTEXT = -6  # redraws of nodes that are no candidates, which show whether these matter
    GUARD = -7  # redraws of all that is no candidate, beside samples of a claim
    ROWS = -8  # features of nodes that are drawn some at a time


def seed_of(seed: int, *purpose: int) -> int:
    """Return the seed with which is drawn what has a purpose, or the number of a type."""
    return seed if purpose == (0,) else key_of(seed, *purpose) >> 2


def key_of(*address: int) -> int:
    """Mix an address of integers (seed, query, block, …) into one 64-bit key (as int64)."""
    key = 0
    for part in address:
        key = _mix_int((key + (part + 1) * _GOLDEN) & _WORD)
    return _signed(key)


def child_keys(keys: Tensor, columns: Tensor) -> Tensor:
    """Return a key (k, b) for each of `columns` (k,) below each of `keys` (b,)."""
    if keys.device.type == "cpu":
        return words(keys, columns).t()
    return _mix(keys + (columns.unsqueeze(1) + 1) * _signed(_GOLDEN))


def words(keys: Tensor, counters: Tensor) -> Tensor:
    """Return a random 64-bit word (k, c), as int64, of `keys` (k,) at each of `counters` (c,)."""
    if keys.device.type != "cpu":
        return _mix(keys.unsqueeze(1) + (counters + 1) * _signed(_GOLDEN))
    step = (counters.numpy().astype(np.uint64) + np.uint64(1)) * GOLDEN
    word = keys.numpy().view(np.uint64)[:, None] + step
    mix_in_place(word)
    return torch.from_numpy(word.view(np.int64))


def uniforms(keys: Tensor, counters: Tensor) -> Tensor:
    """Return one float64 in (0, 1) per pair of a key and a counter."""
    word = _mix(keys + (counters + 1) * _signed(_GOLDEN))
    return (_shift(word, 11).double() + 0.5) * 2.0**-53


def uniforms_of(keys: Tensor, counters: Tensor) -> Tensor:
    """Return the same numbers as `uniforms`, in the way that is fastest on their device."""
    if keys.device.type == "cpu":
        return torch.from_numpy(uniforms_on_cpu(keys.numpy(), counters.numpy()))
    return uniforms(keys, counters)


def uniforms_on_cpu(keys: Words, counters: Words) -> Floats:
    """Return the same numbers as `uniforms`, computed in place, some at a time."""
    result = np.empty(keys.size)
    for first in range(0, keys.size, _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        word = counters[some].astype(np.uint64)
        word += np.uint64(1)
        word *= GOLDEN
        word += keys[some].view(np.uint64)
        mix_in_place(word)
        result[some] = uniform_in_place(word)
    return result


def uniforms_along(keys: Tensor, count: Tensor, *, first: int, step: int) -> Tensor:
    """Return each key's uniforms at counters first, first + step, …, one key's after the other's.

    Args:
        keys: (t,).
        count: (t,), how many of each.
        first: counter.
        step: from one counter to the next.
    """
    if keys.device.type != "cpu":
        counter = step * ranges(torch.zeros_like(count), count) + first
        return uniforms(repeated(keys, count), counter)
    # The words of a key are an arithmetic sequence before they are mixed, and so are those of all
    # keys together if each begins earlier by as many steps as there were before it.
    stride = np.uint64(step * _GOLDEN & _WORD)
    before = (count.cumsum(0) - count).numpy().astype(np.uint64)
    start = keys.numpy().view(np.uint64) + np.uint64((first + 1) * _GOLDEN & _WORD)
    word = np.repeat(start - before * stride, count.numpy())
    along = np.arange(_AT_ONCE, dtype=np.uint64) * stride
    shifted = np.empty(_AT_ONCE, dtype=np.uint64)
    result = np.empty(word.size)
    for begin in range(0, word.size, _AT_ONCE):
        some = word[begin : begin + _AT_ONCE]
        some += along[: some.size] + np.uint64(begin * int(stride) & _WORD)
        mix_in_place(some, shifted[: some.size])
        result[begin : begin + _AT_ONCE] = uniform_in_place(some)
    return torch.from_numpy(result)


def mix_in_place(word: NDArray[np.uint64], shifted: NDArray[np.uint64] | None = None) -> None:
    """Turn words that count up into random ones, with memory of the same size if it is at hand."""
    shifted = np.empty_like(word) if shifted is None else shifted
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        np.right_shift(word, np.uint64(shift), out=shifted)
        word ^= shifted
        word *= np.uint64(factor)
    np.right_shift(word, np.uint64(31), out=shifted)
    word ^= shifted


def uniform_in_place(word: NDArray[np.uint64]) -> Floats:
    """Return random words as float64 in (0, 1); the words are lost."""
    word >>= np.uint64(11)
    result = word.astype(np.float64)
    result += 0.5
    result *= 2.0**-53
    return result


def generator(*address: int) -> torch.Generator:
    """Return a CPU generator of an address's own."""
    return torch.Generator("cpu").manual_seed(key_of(*address) & (_WORD >> 1))


def blocks_of(samples: range) -> range:
    """Return the blocks that hold `samples`."""
    return range(samples.start // BLOCK, -(-samples.stop // BLOCK))


def parts_of(samples: range) -> list[tuple[int, slice]]:
    """Split samples into (block, the part of that block that is asked for)."""
    return [
        (
            block,
            slice(
                max(samples.start - block * BLOCK, 0),
                min(samples.stop - block * BLOCK, BLOCK),
            ),
        )
        for block in blocks_of(samples)
    ]


def _mix(word: Tensor) -> Tensor:
    word = (word ^ _shift(word, 30)) * _signed(0xBF58476D1CE4E5B9)
    word = (word ^ _shift(word, 27)) * _signed(0x94D049BB133111EB)
    return word ^ _shift(word, 31)


def _mix_int(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)


def _shift(word: Tensor, bits: int) -> Tensor:
    """Logical right shift: torch's own keeps the sign."""
    return (word >> bits) & ((1 << (64 - bits)) - 1)


def _signed(word: int) -> int:
    return word - (1 << 64) if word >= 1 << 63 else word
