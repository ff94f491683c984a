"""The explanation that selects nothing: what a method must be better than."""

from __future__ import annotations

import torch

from zorro.methods.masks import Masks
from zorro.methods.registry import method
from zorro.methods.subject import Subject


@method("empty")
class Empty:
    """Selects no node and no feature (Section 6.4).

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Empty, Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)  # its friends are 0 and 3
    >>> masks = Empty().explain(subject)
    >>> masks.nodes.sum(), masks.features.sum()
    (tensor(0), tensor(0))
    """

    def explain(self, subject: Subject) -> Masks:
        """Return masks of zeros."""
        x = subject.graph.candidate_x  # (n, d)
        return Masks(
            nodes=torch.zeros(x.size(0), dtype=torch.bool, device=x.device),
            features=torch.zeros(x.size(1), dtype=torch.bool, device=x.device),
        )
