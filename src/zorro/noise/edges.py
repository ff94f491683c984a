"""What happens to edges that an explanation does not keep: present by chance, or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from zorro.elements import EDGE_ATTRIBUTES, Selection
from zorro.elements.edges import EdgeElements
from zorro.graph.model_inputs import ModelInputs
from zorro.noise.streams import Purpose, key_of, seed_of, words

_WORDS_AT_ONCE = 1 << 22
_COST = 100.0  # nanoseconds, of the messages along an edge


@dataclass(frozen=True)
class Structure:
    """The edges of several copies of a graph, column by column of its edge index.

    Args:
        present: (b, e) which columns are there.
        attributes: (b, e, …), those that may be others than the graph's.
        ends: (b, 2, e) between which rows of a copy they lead, if others than the graph's.
        scales_messages: whether columns that are not there only send nothing, as PyG's masks do,
            and count in degrees all the same.
    """

    present: Tensor
    attributes: Mapping[str, Tensor] = field(default_factory=dict)
    ends: Tensor | None = None
    scales_messages: bool = False

    def edge_index(self, of_copies: Tensor, nodes: int) -> Tensor:
        """Return the edges of the copies, one graph's after the other's.

        Args:
            of_copies: (2, b · e), all that the graph has.
            nodes: of one copy.
        """
        if self.ends is not None:
            first = torch.arange(len(self.ends), device=self.ends.device) * nodes
            of_copies = (self.ends + first.view(-1, 1, 1)).transpose(0, 1).flatten(1)
        return of_copies if self.scales_messages else of_copies[:, self.present.flatten()]

    def further(self, model_inputs: ModelInputs) -> dict[str, Any]:
        """Return the model's further arguments for the copies."""
        return model_inputs.copies(
            len(self.present),
            present=None if self.scales_messages else self.present,
            changed=self.attributes,
        )

    @property
    def message_mask(self) -> Tensor | None:
        """How strong messages are along all columns of all copies (b · e,); None for all alike."""
        return self.present.flatten().float() if self.scales_messages else None


@dataclass(frozen=True)
class EdgesOfSamples:
    """The edges of several samples, element by element.

    Args:
        present: (b, m) which are there.
        redrawn: (b, m) whose attributes are another edge's; None where none is.
        donors: (b, m) that other edge, a column of the data set.
        ends: (b, m, 2) between which nodes they lead, if that differs.
        scales_messages: whether edges that are not there only send nothing.
    """

    present: Tensor
    redrawn: Tensor | None = None
    donors: Tensor | None = None
    ends: Tensor | None = None
    scales_messages: bool = False

    def part(self, samples: slice | Tensor) -> EdgesOfSamples:
        """Return some of the samples; by numbers they are copies."""
        return EdgesOfSamples(
            self.present[samples],
            None if self.redrawn is None else self.redrawn[samples],
            None if self.donors is None else self.donors[samples],
            None if self.ends is None else self.ends[samples],
            self.scales_messages,
        )

    @staticmethod
    def joined(parts: Sequence[EdgesOfSamples | None]) -> EdgesOfSamples | None:
        """Return the samples of several, one after the other; None where edges do not differ."""
        every = [part for part in parts if part is not None]
        if not every:
            return None
        redrawn = [part.redrawn for part in every if part.redrawn is not None]
        donors = [part.donors for part in every if part.donors is not None]
        ends = [part.ends for part in every if part.ends is not None]
        return EdgesOfSamples(
            torch.cat([part.present for part in every]),
            torch.cat(redrawn) if redrawn else None,
            torch.cat(donors) if donors else None,
            torch.cat(ends) if ends else None,
            every[0].scales_messages,
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
            present,
            replaced(self.redrawn, other.redrawn),
            replaced(self.donors, other.donors),
            scales_messages=other.scales_messages,
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
        changed = {}
        if self.redrawn is not None and self.donors is not None:
            donor, replaced = self.donors[:, columns], self.redrawn[:, columns]  # (b, e)
            for name, values in pool.items():
                wide = replaced.view(*replaced.shape, *[1] * (values.dim() - 1))
                changed[name] = torch.where(wide, values[donor], attributes[name])
        ends = None
        if self.ends is not None:
            pairs = self.ends[:, columns]  # (b, e, 2)
            pairs = torch.where(edges.is_turned.view(1, -1, 1), pairs.flip(-1), pairs)
            ends = pairs.transpose(1, 2)
        return Structure(self.present[:, columns], changed, ends, self.scales_messages)


@dataclass(frozen=True)
class EdgeNoise:
    """Edges that are not kept are there with a probability, each for itself.

    Args:
        presence: the probability.
        pool: attributes (E, …) of all edges of the data set; those that are not kept are
            replaced by those of a random edge, all of them together.
        scales_messages: whether edges that are not there only send nothing, as PyG's masks do.
    """

    presence: float
    pool: Mapping[str, Tensor] = field(default_factory=dict)
    scales_messages: bool = False
    needs_the_whole_graph = False

    def draws(self, edges: EdgeElements, *, seed: int, query: int, samples: range) -> EdgeDraws:
        """Draw the noise of one query's edges.

        What is drawn for an edge and a sample depends on no other edge and no other sample.
        """
        step = max(1, _WORDS_AT_ONCE // max(1, edges.count))
        parts = [samples[first : first + step] for first in range(0, len(samples), step)]
        own = seed_of(seed, Purpose.EDGES)
        present = [drawn_words(edges, own, query, part) < self._limit for part in parts]
        donors = None
        if self.pool:
            count = len(next(iter(self.pool.values())))
            own = seed_of(seed, Purpose.EDGE_ATTRIBUTES)
            drawn = [drawn_words(edges, own, query, part) % count for part in parts]
            donors = torch.cat(drawn)  # (S, m)
        return EdgeDraws(edges, torch.cat(present), donors, self.pool, self.scales_messages)

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
        scales_messages: whether edges that are not there only send nothing.
    """

    edges: EdgeElements
    present: Tensor
    donors: Tensor | None
    pool: Mapping[str, Tensor]
    scales_messages: bool = False

    @property
    def why_not_traced(self) -> str:
        """Why a traced model cannot follow; nothing if it can."""
        if self.donors is not None:
            return "attributes of edges are redrawn"
        return "messages are scaled" if self.scales_messages else ""

    @property
    def cost_per_sample(self) -> float:
        """What a sample costs in nanoseconds, roughly and by its size: messages along all edges."""
        return _COST * max(1, self.edges.of_column.numel())

    def only(self, samples: Tensor) -> EdgeDraws:
        """Return the noise of some samples alone."""
        donors = None if self.donors is None else self.donors[samples]
        return EdgeDraws(self.edges, self.present[samples], donors, self.pool, self.scales_messages)

    def joined(self, others: Sequence[Any]) -> EdgeDraws:
        """Return this noise and that of other samples of the same query, one after the other."""
        every = [self, *others]
        donors = [one.donors for one in every if one.donors is not None]
        return EdgeDraws(
            self.edges,
            torch.cat([one.present for one in every]),
            torch.cat(donors) if donors else None,
            self.pool,
            self.scales_messages,
        )

    def toggled(self, selection: Selection, edges: Tensor) -> Tensor:
        """Return whether edges (k,) are there (k, S) once each is kept too, or not any more."""
        is_out = selection.edges[edges].unsqueeze(1)  # (k, 1)
        return torch.where(is_out, self.present[:, edges].t(), True)

    def under(self, selection: Selection) -> EdgesOfSamples:
        """Return the edges of all samples under a selection."""
        redrawn = None
        if self.donors is not None and EDGE_ATTRIBUTES in selection.masks:
            redrawn = (~selection.edge_attributes).expand_as(self.present)
        return EdgesOfSamples(
            self.present | selection.edges,
            redrawn,
            self.donors,
            scales_messages=self.scales_messages,
        )


def drawn_words(edges: EdgeElements, seed: int, query: int, samples: range) -> Tensor:
    """Return a random word (S, m) for each sample and edge."""
    device = edges.number.device
    numbers = torch.arange(samples.start, samples.stop, device=device)
    keys = words(torch.tensor([key_of(seed, query)], device=device), numbers)[0]  # (S,)
    return words(keys, edges.addresses)
