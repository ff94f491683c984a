"""What happens to edges that an explanation does not keep: present by chance, or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from zorro.elements.edges import EdgeElements
from zorro.noise.streams import key_of, words

_PRESENCE, _DONORS = 1, 2  # what is drawn, after the query in its address
_WORDS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Structure:
    """The edges of several copies of a graph, as far as they differ from those that it has.

    Args:
        present: (b, e) which columns of the edge index are there; all when None.
        attributes: (b, e, …), of those that differ.
    """

    present: Tensor | None = None
    attributes: Mapping[str, Tensor] = field(default_factory=dict)

    def part(self, copies: slice | Tensor) -> Structure:
        """Return some of the copies."""
        return Structure(
            None if self.present is None else self.present[copies],
            {name: value[copies] for name, value in self.attributes.items()},
        )


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

    def structure(
        self,
        present: Tensor,
        redrawn: Tensor | None,
        samples: Tensor,
        attributes: Mapping[str, Tensor],
    ) -> Structure:
        """Return the edges of copies, column by column.

        Args:
            present: (b, m) which elements are there.
            redrawn: (b, m) whose attributes are redrawn; none when None.
            samples: (b,) by which noise.
            attributes: true ones (e, …).
        """
        columns = self.edges.of_column
        if redrawn is None or self.donors is None:
            return Structure(present[:, columns])
        donor = self.donors[samples][:, columns]  # (b, e)
        replaced = redrawn[:, columns]
        changed = {}
        for name, pool in self.pool.items():
            wide = replaced.view(*replaced.shape, *[1] * (pool.dim() - 1))
            changed[name] = torch.where(wide, pool[donor], attributes[name])
        return Structure(present[:, columns], changed)


def _drawn(edges: EdgeElements, address: tuple[int, ...], samples: range) -> Tensor:
    """Return a random word (S, m) for each sample and edge."""
    device = edges.number.device
    numbers = torch.arange(samples.start, samples.stop, device=device)
    keys = words(torch.tensor([key_of(*address)], device=device), numbers)[0]  # (S,)
    return words(keys, edges.addresses)
