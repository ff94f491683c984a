"""What a method says matters."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zorro.errors import InputError


@dataclass(frozen=True)
class Masks:
    """Importances that are not negative: hard (0 or 1) or soft.

    A method that says nothing about nodes or about features leaves that mask out: it selects all
    of them.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import Masks, Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)  # its friends are 0 and 3
    >>> nodes = (subject.graph.candidates == 0).float()  # keep the first friend alone
    >>> Masks(nodes=nodes).features is None  # all of them are kept
    True
    >>> Masks(nodes=-nodes)  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    zorro.errors.InputError: nodes: expected finite values that are not negative,
    got tensor([-1., -0., -0.]): take absolute values of signed importances

    Args:
        nodes: (n,), of the candidates.
        features: (d,).
        edges: (e,), of the computational graph's edges, for methods that rank edges.
    """

    nodes: Tensor | None = None
    features: Tensor | None = None
    edges: Tensor | None = None

    def __post_init__(self) -> None:
        for name in ("nodes", "features", "edges"):
            mask = getattr(self, name)
            if mask is None:
                continue
            if not isinstance(mask, Tensor) or mask.dim() != 1:
                raise InputError(f"{name}: expected a mask of one dimension, got {mask!r:.80}")
            if mask.numel() and (not bool(torch.isfinite(mask).all()) or float(mask.min()) < 0):
                raise InputError(
                    f"{name}: expected finite values that are not negative, got {mask!r:.80}: take "
                    "absolute values of signed importances"
                )
