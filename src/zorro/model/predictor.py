"""A model seen as a pure function: eval mode, no gradients, no caches, nothing left behind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from zorro.errors import ModelError
from zorro.model.agreement import tolerance
from zorro.model.function_model import as_module
from zorro.model.model_state import node_level_state, undisturbed

logger = logging.getLogger(__name__)

Model = nn.Module | Callable[..., Any]  # called as model(x, edge_index, **kwargs)

_FEW_ROWS = 8  # scores that happen to lie between 0 and 1 on fewer nodes say little


class Predictor:
    """Calls `model(x, edge_index, **kwargs)` and returns one row of class scores per node.

    The caller's model is left as it was: the training flag of every submodule, parameters,
    buffers, gradients, and the normalised adjacency that layers built with `cached=True` remember.
    Plain attributes that the forward pass sets (`self.last = …`) cannot all be known and stay.

    Args:
        model: any module or function that returns scores (N, C), C ≥ 2; or one score per node,
            (N,) or (N, 1), whose class is 1 where the score exceeds `threshold` and 0 elsewhere.
        threshold: where a one-column model draws the line; such a model is refused without it. At
            .5 the column is taken for the probability of class 1, elsewhere for its logit.
        num_nodes: of the whole graph, to say why a model fails on a part of it.
    """

    def __init__(
        self, model: Model, *, threshold: float | None = None, num_nodes: int | None = None
    ) -> None:
        self.model = as_module(model)
        self.threshold = threshold
        self._num_nodes = num_nodes

    def scores(
        self,
        x: Tensor,
        edge_index: Tensor,
        kwargs: Mapping[str, Any],
        *,
        rows: int | None = None,
        differentiable: bool = False,
    ) -> Tensor:
        """Return the class scores (N, C) with C ≥ 2, with a gradient if they are to have one.

        Args:
            x: (N, d).
            edge_index: (2, E).
            kwargs: further arguments of the model.
            rows: how many the output is to have, if not one per node.
            differentiable: whether the scores are to have a gradient.
        """
        with undisturbed(self.model), torch.set_grad_enabled(differentiable):
            try:
                output = self.model(x, edge_index, **kwargs)
            except torch.OutOfMemoryError:
                raise
            except Exception as error:
                raise ModelError(
                    f"the model raised {type(error).__name__}: {error} (called with x "
                    f"{tuple(x.shape)} and edge_index {tuple(edge_index.shape)})"
                    f"{self._hint(x.size(0))}"
                ) from error
        return self._checked(output, nodes=x.size(0), rows=rows)

    def as_columns(self, output: Tensor) -> Tensor:
        """Return scores (N, C) with C ≥ 2 for an output (N, C) or (N, 1)."""
        if output.size(1) == 1:
            if self.threshold is None:
                raise ModelError(
                    "threshold: the model returns one number per node, which may mean several "
                    "things: pass threshold=0.0 if it is the logit of class 1, threshold=0.5 if "
                    "it is its probability; a value (regression) cannot be explained yet"
                )
            is_probability = self.threshold == 0.5
            other = 1 - output if is_probability else torch.full_like(output, self.threshold)
            output = torch.cat([other, output], dim=1)
        return output

    def refuse_misread(self, scores: Tensor) -> None:
        """Raise `ModelError` if the scores (N, C) of many nodes are not what they are taken for.

        Args:
            scores: of all nodes of a graph, as `scores` returns them.
        """
        if scores.size(1) == 2 and self._is_one_column(scores):
            self._refuse_misread_column(scores[:, 1])
        elif self._look_independent(scores):
            raise ModelError(
                "the model's outputs all lie between 0 and 1 and do not add up to 1, so they seem "
                "to be independent labels (a sigmoid each), of which a node may have several: "
                "explain one label at a time, with a model that returns its column, "
                "`lambda x, edge_index: model(x, edge_index)[:, label]`, and threshold=0.5; or, "
                "if a node's class is the highest of them, with one that returns their "
                "logarithms, `lambda x, edge_index: model(x, edge_index).log()`"
            )

    def _is_one_column(self, scores: Tensor) -> bool:
        """Whether scores (N, 2) were made of one column."""
        if self.threshold is None:
            return False
        column = scores[:, 1:]
        return bool(torch.equal(self.as_columns(column), scores))

    def _refuse_misread_column(self, column: Tensor) -> None:
        inside = bool(((column >= 0) & (column <= 1)).all())
        if self.threshold == 0.5 and not inside:
            raise ModelError(
                "threshold: 0.5 is for a probability, and the model returns numbers from "
                f"{float(column.min()):.4g} to {float(column.max()):.4g}: pass threshold=0.0 if "
                "they are logits"
            )
        if self.threshold == 0 and inside and column.numel() >= _FEW_ROWS:
            logger.warning(
                "threshold: 0.0 is for a logit, and all of the model's outputs lie between 0 and "
                "1, as probabilities do: with these, pass threshold=0.5"
            )

    def _look_independent(self, scores: Tensor) -> bool:
        """Whether scores (N, C) look like several probabilities each."""
        if scores.size(0) < _FEW_ROWS or not bool(((scores >= 0) & (scores <= 1)).all()):
            return False
        apart = (scores.double().sum(dim=1) - 1).abs()  # (N,)
        return bool((apart > scores.size(1) * tolerance(scores.dtype)).any())

    def _hint(self, nodes: int) -> str:
        """Return what may be the cause of a failure on a part of the graph."""
        if self._num_nodes is None or nodes == self._num_nodes:
            return ""
        held = node_level_state(self.model, self._num_nodes)
        if not held:
            return ""
        return (
            f"; it was run on a part of the graph, and it holds {', '.join(held)} with one row "
            f"for each of the graph's {self._num_nodes} nodes: let its forward method take that "
            "as an argument and pass the tensor in model_kwargs, whose rows follow the nodes"
        )

    def _checked(self, output: Any, *, nodes: int, rows: int | None) -> Tensor:
        if not isinstance(output, Tensor):
            raise ModelError(
                f"the model must return a tensor of class scores, it returned "
                f"{type(output).__name__}: wrap it so that it returns the scores alone"
            )
        if output.dim() == 1:
            output = output.unsqueeze(1)
        wanted = nodes if rows is None else rows
        each = "node" if wanted == nodes else "graph"
        if output.dim() != 2 or output.size(0) != wanted:
            raise ModelError(
                f"the model must return one row of class scores per {each}, ({wanted}, classes); "
                f"it returned {tuple(output.shape)}{self._hint(nodes)}"
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
    return (scores >= 0).all(dim=-1, keepdim=True) & ((total - 1).abs() < tolerance(scores.dtype))
