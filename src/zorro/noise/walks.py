"""Walks along the entries of columns, from one non-zero to the next, on a CPU."""

from __future__ import annotations

import numpy as np

from zorro.noise.streams import GOLDEN, Floats, Words, mix_in_place, uniform_in_place

_SLACK = 1.0  # standard deviations by which a walk is begun longer than it is expected to be
_STEPS_AT_ONCE = 1 << 15  # what stays in the caches


def walk(keys: Words, density: Floats, positions: int) -> tuple[Words, Words]:
    """Walk streams from one non-zero to the next, to the end of their positions.

    The gap before a non-zero is geometric with the stream's density. Streams of similar density
    are walked together, as a matrix of steps that is a little wider than most of them need; the
    few that do not reach the end go on from where they are.

    Args:
        keys: (t,) of the streams.
        density: (t,), the chance of each position to be a non-zero.
        positions: of each stream.

    Returns:
        The number of non-zeros of each stream (t,), and where they are, stream after stream.
    """
    count = np.zeros(keys.size, dtype=np.int64)
    reached = np.full(keys.size, -1)
    parts = []
    expected = positions * density
    slack = np.ceil(_SLACK * (np.sqrt(expected) + 1)).astype(np.int64)
    steps = np.ceil(expected).astype(np.int64) + slack
    pending = np.flatnonzero(density > 0)
    while pending.size:
        pending = pending[_descending(steps[pending])]
        unfinished = []
        first = 0
        while first < pending.size:
            width = int(steps[pending[first]])
            some = pending[first : first + max(1, _STEPS_AT_ONCE // width)]
            first += some.size
            position = _steps(keys[some], density[some], count[some], width, positions)
            position += reached[some, None]
            inside = position < positions
            more = inside.sum(axis=1)
            parts.append((some, count[some], more, position[inside]))
            count[some] += more
            short = more == width
            unfinished.append(some[short])
            reached[some[short]] = position[short, -1]
        pending = np.concatenate(unfinished)
        steps = slack
    return count, _in_order(parts, count)


def _descending(numbers: Words) -> Words:
    """Return the order from the largest to the smallest; small numbers are sorted by counting."""
    small = numbers.size > 0 and int(numbers.max()) < 1 << 15
    return np.argsort(-numbers.astype(np.int16) if small else -numbers, kind="stable")


def _steps(keys: Words, density: Floats, begun: Words, width: int, positions: int) -> Words:
    """Return how far `width` steps of each stream lead after those that are begun, (t, width)."""
    # The gap before non-zero c is the uniform at counter 2 c; that at 2 c + 1 picks its value.
    counter = 2 * np.arange(width, dtype=np.uint64)
    start = keys.view(np.uint64) + (2 * begun.astype(np.uint64) + np.uint64(1)) * GOLDEN
    word = start[:, None] + counter * GOLDEN
    mix_in_place(word)
    gap = uniform_in_place(word)
    np.log(gap, out=gap)
    with np.errstate(divide="ignore"):  # where every position is a non-zero, gaps are log(u) / −∞
        gap /= np.log1p(-density)[:, None]
    np.minimum(gap, float(positions), out=gap)
    step = gap.astype(np.int64)
    step += 1
    walked = step.cumsum().reshape(step.shape)  # of all streams as if they were one: much faster
    walked -= (walked[:, 0] - step[:, 0])[:, None]
    return walked


def _in_order(parts: list[tuple[Words, Words, Words, Words]], count: Words) -> Words:
    """Put what some streams at a time gave in the order of the streams.

    Args:
        parts: streams, how many non-zeros of each were there before, how many more, and where.
        count: of all streams.
    """
    result = np.empty(int(count.sum()), dtype=np.int64)
    start = count.cumsum() - count
    for streams, before, more, position in parts:
        shift = start[streams] + before - (more.cumsum() - more)
        result[np.arange(position.size) + np.repeat(shift, more)] = position
    return result
