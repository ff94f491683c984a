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
    few that do not reach the end are walked again in a wider one.

    Args:
        keys: (t,) of the streams.
        density: (t,), the chance of each position to be a non-zero.
        positions: of each stream.

    Returns:
        The number of non-zeros of each stream (t,), and where they are, stream after stream.
    """
    count = np.zeros(keys.size, dtype=np.int64)
    parts = []
    expected = positions * density
    steps = np.ceil(expected + _SLACK * (np.sqrt(expected) + 1)).astype(np.int64)
    pending = np.flatnonzero(density > 0)
    while pending.size:
        pending = pending[np.argsort(-steps[pending], kind="stable")]
        unfinished = []
        first = 0
        while first < pending.size:
            width = int(steps[pending[first]])
            some = pending[first : first + max(1, _STEPS_AT_ONCE // width)]
            first += some.size
            position = _steps(keys[some], density[some], width, positions)
            inside = position < positions
            short = inside[:, -1].copy()
            inside[short] = False
            unfinished.append(some[short])
            count[some] = inside.sum(axis=1)
            parts.append((some[~short], position[inside]))
        pending = np.concatenate(unfinished)
        steps[pending] *= 2
    return count, _in_order(parts, count)


def _steps(keys: Words, density: Floats, width: int, positions: int) -> Words:
    """Return where `width` steps of each stream lead, (t, width)."""
    # The gap before non-zero c is the uniform at counter 2 c; that at 2 c + 1 picks its value.
    counter = 2 * np.arange(width, dtype=np.uint64)
    word = (keys.view(np.uint64) + GOLDEN)[:, None] + counter * GOLDEN
    mix_in_place(word)
    gap = uniform_in_place(word)
    np.log(gap, out=gap)
    with np.errstate(divide="ignore"):  # where every position is a non-zero, gaps are log(u) / −∞
        gap /= np.log1p(-density)[:, None]
    np.minimum(gap, float(positions), out=gap)
    step = gap.astype(np.int64)
    step += 1
    walked = step.cumsum().reshape(step.shape)  # of all streams as if they were one: much faster
    walked -= (walked[:, 0] - step[:, 0] + 1)[:, None]
    return walked


def _in_order(parts: list[tuple[Words, Words]], count: Words) -> Words:
    """Put what some streams at a time gave in the order of the streams."""
    result = np.empty(int(count.sum()), dtype=np.int64)
    start = count.cumsum() - count
    for streams, position in parts:
        per_stream = count[streams]
        shift = start[streams] - (per_stream.cumsum() - per_stream)
        result[np.arange(position.size) + np.repeat(shift, per_stream)] = position
    return result
