"""The weights of the epoch that did best."""

from __future__ import annotations

import math

from torch import Tensor, nn


class BestWeights:
    """The weights with the least loss so far; a model keeps its own until some are offered."""

    def __init__(self) -> None:
        self._loss = math.inf
        self._weights: dict[str, Tensor] | None = None

    def offer(self, model: nn.Module, loss: float) -> bool:
        """Keep the model's weights if they are better than all before, and return whether so."""
        if not loss < self._loss:
            return False
        self._loss = loss
        self._weights = {name: it.clone() for name, it in model.state_dict().items()}
        return True

    def restore(self, model: nn.Module) -> None:
        """Give the model the best weights, if any were kept."""
        if self._weights is not None:
            model.load_state_dict(self._weights)
