"""What every evaluator offers to the searches."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from zorro.selection import Selection


class Evaluator(Protocol):
    """Tells, sample by sample, whether a selection keeps the query's prediction."""

    name: str
    samples: int
    evaluations: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of candidate nodes and of features."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the evaluation runs."""
        ...

    def hits(self, selection: Selection) -> Tensor:
        """Return the hits (S,) of a selection."""
        ...

    def hits_adding_nodes(self, selection: Selection, rows: Tensor) -> Tensor:
        """Return the hits (r, S) of a selection with one of `rows` (r,) added."""
        ...

    def hits_adding_features(self, selection: Selection, columns: Tensor) -> Tensor:
        """Return the hits (k, S) of a selection with one of `columns` (k,) added."""
        ...
