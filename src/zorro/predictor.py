"""A model seen as a pure function: eval mode, no gradients, no caches, nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from zorro.errors import ModelError


class Predictor:
    """Calls `model(x, edge_index, **kwargs)` and returns one row of class scores per node.

    The caller's model is left as it was: the training flag of every submodule, parameters,
    gradients, and the normalised adjacency that layers built with `cached=True` remember.

    Args:
        model: any module that returns scores (N, C), C ≥ 2; or one score per node, (N,) or (N, 1),
            whose class is 1 where the score exceeds `threshold` and 0 elsewhere.
        threshold: where a one-column model draws the line. At .5 the column is taken for the
            probability of class 1, elsewhere for its logit.
    """

    def __init__(self, model: nn.Module, *, threshold: float = 0.0) -> None:
        self.model = model
        self.threshold = threshold

    def scores(
        self,
        x: Tensor,
        edge_index: Tensor,
        kwargs: Mapping[str, Any],
        *,
        differentiable: bool = False,
    ) -> Tensor:
        """Return the class scores (N, C) with C ≥ 2, with a gradient if they are to have one."""
        with undisturbed(self.model), torch.set_grad_enabled(differentiable):
            try:
                output = self.model(x, edge_index, **kwargs)
            except torch.OutOfMemoryError:
                raise
            except Exception as error:
                raise ModelError(
                    f"the model raised {type(error).__name__}: {error} (called with x "
                    f"{tuple(x.shape)} and edge_index {tuple(edge_index.shape)})"
                ) from error
        return self._checked(output, nodes=x.size(0))

    def as_columns(self, output: Tensor) -> Tensor:
        """Return scores (N, C) with C ≥ 2 for an output (N, C) or (N, 1)."""
        if output.size(1) == 1:
            is_probability = self.threshold == 0.5
            other = 1 - output if is_probability else torch.full_like(output, self.threshold)
            output = torch.cat([other, output], dim=1)
        return output

    def _checked(self, output: Any, *, nodes: int) -> Tensor:
        if not isinstance(output, Tensor):
            raise ModelError(
                f"the model must return a tensor of class scores, it returned "
                f"{type(output).__name__}: wrap it so that it returns the scores alone"
            )
        if output.dim() == 1:
            output = output.unsqueeze(1)
        if output.dim() != 2 or output.size(0) != nodes:
            raise ModelError(
                f"the model must return one row of class scores per node, ({nodes}, classes); "
                f"it returned {tuple(output.shape)}"
            )
        return self.as_columns(output)


def probabilities(scores: Tensor) -> Tensor:
    """Class probabilities of `scores` (…, C), be they logits, log-probabilities or probabilities.

    Softmax maps logits and log-probabilities to probabilities; rows that already are a
    distribution are returned as they are.
    """
    return torch.where(_is_distribution(scores), scores, scores.softmax(dim=-1))


def log_probabilities(scores: Tensor) -> Tensor:
    """Logarithms of `probabilities` (…, C), computed so that small ones keep a gradient."""
    smallest = torch.finfo(scores.dtype).tiny
    # What torch.where does not choose must be finite too, or its gradient is NaN.
    logs = scores.clamp(min=smallest).log()
    return torch.where(_is_distribution(scores), logs, scores.log_softmax(dim=-1))


def _is_distribution(scores: Tensor) -> Tensor:
    """Whether each row of scores (…, C) is a distribution already, (…, 1)."""
    total = scores.sum(dim=-1, keepdim=True)
    return (scores >= 0).all(dim=-1, keepdim=True) & ((total - 1).abs() < 1e-4)


@contextmanager
def undisturbed(model: nn.Module) -> Iterator[None]:
    """Run `model` in eval mode without its caches, and restore both afterwards.

    Flags are written past `Module.__setattr__`: an evaluation enters here hundreds of times.
    """
    modules = list(model.modules())
    training = [vars(module) for module in modules if module.training]
    caches = [
        (values, name, values[name])
        for values in map(vars, modules)
        if "cached" in values
        for name in values
        if name == "cached" or name.startswith("_cached_")
    ]
    try:
        for values in training:
            values["training"] = False
        for values, name, _ in caches:
            values[name] = False if name == "cached" else None
        yield
    finally:
        for values in training:
            values["training"] = True
        for values, name, value in caches:
            values[name] = value
