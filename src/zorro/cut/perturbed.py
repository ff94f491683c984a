"""What a model is given in place of the true input."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from zorro.noise.edges import EdgesOfSamples


@dataclass(frozen=True)
class Perturbed:
    """Samples of a query's input.

    Args:
        x: (S, n, d), the candidates' features.
        edges: which edges there are; all when None.
    """

    x: Tensor
    edges: EdgesOfSamples | None = None

    def part(self, samples: slice) -> Perturbed:
        """Return some of the samples."""
        return Perturbed(self.x[samples], None if self.edges is None else self.edges.part(samples))
