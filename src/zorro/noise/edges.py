"""What happens to edges that an explanation does not keep: present by chance, or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from zorro.elements import EDGE_ATTRIBUTES, Selection
from zorro.elements.edges import EdgeElements
from zorro.errors import InputError
from zorro.noise.streams import key_of, words
from zorro.question.parameters import Parameters

_PRESENCE, _DONORS = 1, 2  # what is drawn, after the query in its address
_WORDS_AT_ONCE = 1 << 22
_COST = 100.0  # nanoseconds, of the messages along an edge


@dataclass(frozen=True)
class Structure:
    """The edges of several copies of a graph, column by column of its edge index.

    Args:
        present: (b, e) which columns are there.
        attributes: (b, e, …), those that may be others than the graph's.
    """

    present: Tensor
    attributes: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class EdgesOfSamples:
    """The edges of several samples, element by element.

    Args:
        present: (b, m) which are there.
        redrawn: (b, m) whose attributes are another edge's; None where none is.
        donors: (b, m) that other edge, a column of the data set.
    """

    present: Tensor
    redrawn: Tensor | None = None
    donors: Tensor | None = None

    def part(self, samples: slice | Tensor) -> EdgesOfSamples:
        """Return some of the samples; by numbers they are copies."""
        return EdgesOfSamples(
            self.present[samples],
            None if self.redrawn is None else self.redrawn[samples],
            None if self.donors is None else self.donors[samples],
        )

    def with_those_of(self, other: EdgesOfSamples, places: Tensor) -> EdgesOfSamples:
        """Return these with those edges replaced that another has at places (m,), −1 for none."""
        has = places >= 0

        def replaced(mine: Tensor | None, theirs: Tensor | None) -> Tensor | None:
            if mine is None or theirs is None or theirs.size(1) == 0:
                return mine
            return torch.where(has, theirs[:, places.clamp(min=0)], mine)

        present = replaced(self.present, other.present)
        assert present is not None
        return EdgesOfSamples(
            present, replaced(self.redrawn, other.redrawn), replaced(self.donors, other.donors)
        )

    def structure(
        self, edges: EdgeElements, attributes: Mapping[str, Tensor], pool: Mapping[str, Tensor]
    ) -> Structure:
        """Return the same column by column.

        Args:
            edges: which columns each element has.
            attributes: true ones (e, …).
            pool: those of all edges of the data set (E, …).
        """
        columns = edges.of_column
        present = self.present[:, columns]
        if self.redrawn is None or self.donors is None:
            return Structure(present)
        donor, replaced = self.donors[:, columns], self.redrawn[:, columns]  # (b, e)
        changed = {}
        for name, values in pool.items():
            wide = replaced.view(*replaced.shape, *[1] * (values.dim() - 1))
            changed[name] = torch.where(wide, values[donor], attributes[name])
        return Structure(present, changed)


@dataclass(frozen=True)
class EdgeNoise:
    """Edges that are not kept are there with a probability, each for itself.

    Args:
        presence: the probability.
        pool: attributes (E, …) of all edges of the data set; those that are not kept are
            replaced by those of a random edge, all of them together.
    """

    presence: float
    pool: Mapping[str, Tensor] = field(default_factory=dict)

    def draws(self, edges: EdgeElements, *, seed: int, query: int, samples: range) -> EdgeDraws:
        """Draw the noise of one query's edges.

        What is drawn for an edge and a sample depends on no other edge and no other sample.
        """
        step = max(1, _WORDS_AT_ONCE // max(1, edges.count))
        parts = [samples[first : first + step] for first in range(0, len(samples), step)]
        present = [_drawn(edges, (seed, query, _PRESENCE), part) < self._limit for part in parts]
        donors = None
        if self.pool:
            count = len(next(iter(self.pool.values())))
            drawn = [_drawn(edges, (seed, query, _DONORS), part) % count for part in parts]
            donors = torch.cat(drawn)  # (S, m)
        return EdgeDraws(edges, torch.cat(present), donors, self.pool)

    @property
    def _limit(self) -> int:
        """Below it lie words of edges that are there, which are any numbers of 64 bits."""
        return int(self.presence * 2.0**64) - (1 << 63)


def edge_noise_of(
    asked: Parameters, attributes: Callable[[], Mapping[str, Tensor]]
) -> EdgeNoise | None:
    """Return what happens to edges that are not kept; None where edges are not selectable.

    Args:
        asked: what is.
        attributes: gives those of all edges of the data set.
    """
    if asked.edge_presence is None:
        return None
    if EDGE_ATTRIBUTES not in asked.keep:
        return EdgeNoise(asked.edge_presence)
    pool = attributes()
    if not pool:
        raise InputError(
            "keep: expected edges that have attributes, for 'edge_attributes': the model gets none "
            "in model_kwargs"
        )
    return EdgeNoise(asked.edge_presence, pool)


@dataclass(frozen=True, eq=False)
class EdgeDraws:
    """The noise of one query's edges, drawn.

    Args:
        edges: the elements.
        present: (S, m) whether an edge is there if it is not kept.
        donors: (S, m) the edge of the data set whose attributes it then has.
        pool: attributes (E, …) of all edges of the data set.
    """

    edges: EdgeElements
    present: Tensor
    donors: Tensor | None
    pool: Mapping[str, Tensor]

    @property
    def cost_per_sample(self) -> float:
        """What a sample costs in nanoseconds, roughly and by its size: messages along all edges."""
        return _COST * self.edges.of_column.numel()

    def only(self, samples: Tensor) -> EdgeDraws:
        """Return the noise of some samples alone."""
        donors = None if self.donors is None else self.donors[samples]
        return EdgeDraws(self.edges, self.present[samples], donors, self.pool)

    def joined(self, others: Sequence[EdgeDraws]) -> EdgeDraws:
        """Return this noise and that of other samples of the same query, one after the other."""
        every = [self, *others]
        donors = [one.donors for one in every if one.donors is not None]
        return EdgeDraws(
            self.edges,
            torch.cat([one.present for one in every]),
            torch.cat(donors) if donors else None,
            self.pool,
        )

    def under(self, selection: Selection) -> EdgesOfSamples:
        """Return the edges of all samples under a selection."""
        redrawn = None
        if self.donors is not None:
            redrawn = (~selection.edge_attributes).expand_as(self.present)
        return EdgesOfSamples(self.present | selection.edges, redrawn, self.donors)


def _drawn(edges: EdgeElements, address: tuple[int, ...], samples: range) -> Tensor:
    """Return a random word (S, m) for each sample and edge."""
    device = edges.number.device
    numbers = torch.arange(samples.start, samples.stop, device=device)
    keys = words(torch.tensor([key_of(*address)], device=device), numbers)[0]  # (S,)
    return words(keys, edges.addresses)
