"""A random order of the edges: what a ranking of them must be better than."""

from __future__ import annotations

import torch

from zorro.methods.aggregation import masks_of_edges
from zorro.methods.masks import Masks
from zorro.methods.registry import method
from zorro.methods.subject import Subject
from zorro.metrics import UndirectedEdges


@method("random-edges")
class RandomEdges:
    """Gives each undirected edge a random value between 0 and 1.

    >>> import torch
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import RandomEdges, Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)  # its friends are 0 and 3
    >>> edges = RandomEdges().explain(subject).edges
    >>> bool((edges >= 0).all() and (edges < 1).all())
    True
    >>> torch.equal(edges, RandomEdges().explain(subject).edges)  # the query's own, every time
    True
    """

    def explain(self, subject: Subject) -> Masks:
        """Return the query's own random values, and those of nodes from them."""
        edge_index = subject.graph.edge_index
        edges = UndirectedEdges.of(edge_index)
        drawn = torch.rand(edges.count, generator=subject.generator()).to(edge_index.device)
        return masks_of_edges(subject, drawn[edges.of_column])
