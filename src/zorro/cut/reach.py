"""How far a model sees, found by redrawing what lies further away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import torch
from torch import Tensor

from zorro.cut.graph_parts import Part
from zorro.cut.redrawing import Redrawing
from zorro.graph.edge_index import contains
from zorro.model.failures import RepeatedFailure, try_twice
from zorro.noise.streams import Purpose, generator
from zorro.question import Query
from zorro.question.asking import Asking

_PROBES = 3  # nodes at which the output is watched
_LOOKED_AT = 64  # of which the probes are chosen
_DRAWS = 3
_MORE_DRAWS = 12  # where a trace arrives but no redraw is seen to
_NUMBERS = 1 << 27  # of a pass over the whole graph; of a larger one a part is looked at
_DETOURS = 2  # how much longer the way of messages may be than the way along any edges


@dataclass(frozen=True)
class Reach:
    """Which nodes a model's output at a node can depend on.

    `everything` says that nodes matter however far away they are. `doubtful` says that something
    arrives from further away, though redrawing it was never seen to change the output.
    """

    hops: int
    both_ways: bool = False
    everything: bool = False
    doubtful: bool = False


class ReachFinder:
    """Finds the reach of a model in a graph, on a few nodes that depend on the graph alone.

    What lies outside a neighbourhood is redrawn from the noise, several times, inputs around the
    probes being the true ones and redrawn ones: values that an explanation is tested on, and no
    others. And it is set to NaN, which goes wherever a value goes unless it is compared or
    selected away; so it tells of ways that a few redraws may not show.

    Args:
        model: on the graph.
        hops: how far the model's layers say that they reach.
        asking: about what; of nodes chosen as probes, or of links between them.
    """

    def __init__(self, model: Redrawing, *, hops: int, asking: Asking) -> None:
        self._model = model
        self._asking = asking
        self._parts = model.parts
        self._hops = hops
        self._expected: dict[int, Tensor] = {}  # (p, C) of each draw, nothing replaced

    def find(self) -> Reach:
        """Return how far the model sees."""
        hops = self._hops
        if not self._matters_beyond(hops, both=False):
            hops = self._lowered(hops)
            return Reach(hops, doubtful=self._trace_arrives(self._within(hops, both=False)))
        most = self._part.nodes.numel()  # further away is no node
        radius = _least(lambda r: not self._matters_beyond(r, both=True), hops, most)
        if radius == most or self._holds_most(radius):
            return Reach(hops, both_ways=True, everything=True)
        for hops in range(radius, radius + _DETOURS + 1):
            if not self._matters_beyond(hops, both=False):
                return Reach(hops, doubtful=self._trace_arrives(self._within(hops, both=False)))
        doubtful = self._trace_arrives(self._within(radius, both=True))
        return Reach(radius, both_ways=True, doubtful=doubtful)

    def _lowered(self, hops: int) -> int:
        """Return how far away values really come from, if a trace shows that clearly.

        Layers beside one another, as in an ensemble, are counted as if one followed the other.
        """
        if hops < 2 or not self._trace_goes_through:
            return hops
        now = self._within(hops, both=False)
        for fewer in range(hops - 1, 0, -1):
            nearer = self._within(fewer, both=False)
            if torch.equal(nearer, now):
                continue  # no node lies between, so there is nothing to learn
            if self._trace_arrives(nearer) or self._moves(nearer, range(_DRAWS)):
                break
            hops, now = fewer, nearer
        return hops

    def _matters_beyond(self, hops: int, *, both: bool) -> bool:
        kept = self._within(hops, both=both)
        if bool(kept.all()):
            return False
        if self._moves(kept, range(_DRAWS)):
            return True
        return self._trace_arrives(kept) and self._moves(kept, range(_DRAWS, _MORE_DRAWS))

    def _moves(self, kept: Tensor, draws: range) -> bool:
        """Whether redrawing all rows but those kept (m,) moves the output at a probe."""
        for draw in draws:
            base = self._base(draw)
            if draw not in self._expected:
                self._expected[draw] = self._at_probes(base)
            x = torch.where(kept.unsqueeze(1), base, self._drawn(2 * draw + 1))
            if not self._model.predictor.close(self._at_probes(x), self._expected[draw]):
                return True
        return False

    def _trace_arrives(self, kept: Tensor) -> bool:
        """Whether NaN in all rows but those kept (m,) arrives at a probe."""
        output = self._traced(kept)
        return output is not None and bool(output.isnan().any())

    @cached_property
    def _trace_goes_through(self) -> bool:
        """Whether the model hands NaN on, so that its absence means something."""
        output = self._traced(torch.zeros_like(self._part.nodes, dtype=torch.bool))
        return output is not None and bool(output.isnan().any(-1).all())

    def _traced(self, kept: Tensor) -> Tensor | None:
        if not self._part.x.is_floating_point():
            return None
        x = torch.where(kept.unsqueeze(1), self._part.x, torch.nan)
        try:
            return try_twice(lambda: self._at_probes(x))
        except RepeatedFailure:
            return None  # a category that does not exist, say

    def _base(self, draw: int) -> Tensor:
        return self._part.x if draw == 0 else self._drawn(2 * draw)

    def _drawn(self, sample: int) -> Tensor:
        one = range(sample, sample + 1)
        part = self._part
        return self._model.drawn(part.x, part.nodes, purpose=Purpose.REACH, samples=one)[0]

    def _at_probes(self, x: Tensor) -> Tensor:
        return self._model.scores(self._part, self._queries, x)

    def _holds_most(self, radius: int) -> bool:
        """Whether more than half of all nodes are so near to a probe.

        Few are further away then, and that these do not matter is hard to see; nor would it help.
        """
        way = self._parts.both_ways
        sizes = [way.neighbourhood(probe, radius).numel() for probe in self._probes.unsqueeze(1)]
        return 2 * max(sizes) > self._part.nodes.numel()

    def _within(self, hops: int, *, both: bool) -> Tensor:
        """Return which rows lie within some hops of a probe, (m,) bool."""
        reached = self._parts.ways(both=both).neighbourhood(self._probes, hops)
        return contains(reached, self._part.nodes)

    @cached_property
    def _part(self) -> Part:
        if self._model.whole and self._parts.numbers <= _NUMBERS:
            return self._parts.whole()
        return self._parts.grown(self._probes)

    @cached_property
    def _queries(self) -> list[Query]:
        return self._asking.probes(self._probes.tolist())

    @cached_property
    def _probes(self) -> Tensor:
        """Nodes with edges in both directions, if there are any; ascending."""
        count = self._parts.num_nodes
        ranges = self._asking.ranges(count)
        total = sum(map(len, ranges))
        drawn = torch.unique(torch.randint(total, (_LOOKED_AT,), generator=generator(count)))
        every = list(chain.from_iterable(_picked(ranges, drawn.tolist())))
        nodes = torch.tensor(every, device=self._parts.device)
        ways = (self._parts.incoming, self._parts.outgoing)
        linked = torch.stack([way.degree(nodes) > 0 for way in ways]).sum(0)
        best = linked.sort(descending=True, stable=True).indices[:_PROBES]
        probes: Tensor = nodes[best].sort().values
        return probes


def _picked(ranges: Sequence[range], places: Sequence[int]) -> Iterator[list[int]]:
    """Yield the numbers at places of ranges that follow one another, range by range."""
    before = 0
    for each in ranges:
        yield [each[place - before] for place in places if 0 <= place - before < len(each)]
        before += len(each)


def _least(suffices: Callable[[int], bool], start: int, most: int) -> int:
    """Return the least number from `start` on that suffices, or `most`.

    Numbers that follow one that suffices are taken to suffice too.
    """
    failed, tried, step = start - 1, start, 1
    while tried < most and not suffices(tried):
        failed, step = tried, 2 * step if tried > start + 2 else 1
        tried = min(failed + step, most)
    while tried - failed > 1:
        middle = (tried + failed) // 2
        if suffices(middle):
            tried = middle
        else:
            failed = middle
    return tried
