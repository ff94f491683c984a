"""The explanation that selects nothing: what a method must be better than."""

from __future__ import annotations

import torch

from zorro.methods.masks import Masks
from zorro.methods.registry import method
from zorro.methods.subject import Subject


@method("empty")
class Empty:
    """Selects no node and no feature (Section 6.4)."""

    def explain(self, subject: Subject) -> Masks:
        """Return masks of zeros."""
        x = subject.graph.candidate_x  # (n, d)
        return Masks(
            nodes=torch.zeros(x.size(0), dtype=torch.bool, device=x.device),
            features=torch.zeros(x.size(1), dtype=torch.bool, device=x.device),
        )
