"""What a candidate changes in the inputs of samples that are run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.noise.edges import EdgesOfSamples


@dataclass(frozen=True)
class Pairs:
    """Some pairs of candidates and samples, with inputs of their own that may be written to.

    Args:
        x: (b, n, d), the samples' features.
        edges: their edges, where these differ.
        chunk: which of all pairs these are.
        candidate: (b,).
        sample: (b,).
    """

    x: Tensor
    edges: EdgesOfSamples | None
    chunk: slice
    candidate: Tensor
    sample: Tensor

    @property
    def each(self) -> Tensor:
        """Their places (b,)."""
        return torch.arange(self.x.size(0), device=self.x.device)


Toggle = Callable[[Pairs], None]


def values_at(at: tuple[Tensor, Tensor], wanted: Tensor) -> Toggle:
    """Write values (k, s, m) to rows and columns, broadcastable to (p, m), that pairs change."""

    def toggle(pairs: Pairs) -> None:
        row, column = (index[pairs.chunk] if index.dim() == 2 else index for index in at)
        pairs.x[pairs.each.unsqueeze(1), row, column] = wanted[pairs.candidate, pairs.sample]

    return toggle


def presence_at(members: Tensor, wanted: Tensor) -> Toggle:
    """Put edges (k,) there, or take them away, as (k, s) says."""

    def toggle(pairs: Pairs) -> None:
        assert pairs.edges is not None
        there = wanted[pairs.candidate, pairs.sample]
        pairs.edges.present[pairs.each, members[pairs.candidate]] = there

    return toggle


def attributes_at(members: Tensor, redrawn: Tensor) -> Toggle:
    """Redraw the attributes of edges (k,), or not, as (k,) says."""

    def toggle(pairs: Pairs) -> None:
        assert pairs.edges is not None
        assert pairs.edges.redrawn is not None
        pairs.edges.redrawn[pairs.each, members[pairs.candidate]] = redrawn[pairs.candidate]

    return toggle
