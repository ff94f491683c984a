"""A model seen as a pure function: eval mode, no gradients, no caches, nothing left behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from zorro.errors import InputError, ModelError
from zorro.model.as_module import as_module
from zorro.model.data_model import DataModel, takes_features_alone
from zorro.model.failures import COMPUTING_ERRORS, backward_passes
from zorro.model.message_masks import message_masks
from zorro.model.model_state import node_level_state, undisturbed
from zorro.model.picked_output import PickedOutput, advice
from zorro.model.snapshot import Snapshot
from zorro.question.agreement import close, limit, same_output, tolerance
from zorro.question.event import Event
from zorro.question.reading import Classes, Reading

Model = nn.Module | Callable[..., Any]  # called as model(x, edge_index, **kwargs)


class Predictor:
    """Calls `model(x, edge_index, **kwargs)` and returns one row of class scores per node.

    The caller's model is left as it was: the training flag of every submodule, parameters,
    buffers, gradients, and the normalised adjacency that layers built with `cached=True` remember.
    So are the tensors that it is given, whatever it writes to them.
    Plain attributes that the forward pass sets (`self.last = …`) cannot all be known and stay.

    Args:
        model: any module or function that returns (N, K), or (N,).
        reading: what the columns mean; classes when None.
        num_nodes: of the whole graph, to say why a model fails on a part of it.
    """

    def __init__(
        self, model: Model, *, reading: Reading | None = None, num_nodes: int | None = None
    ) -> None:
        self.model = as_module(model)
        self.reading = self._asked = Classes() if reading is None else reading
        self._num_nodes = num_nodes
        self._snapshot: Snapshot | None = None  # of the model when it was last looked at
        self._version = 0
        self._written: set[str] = set()  # attributes that the model sets when it runs
        self._knows_written_of = 0  # the version

    @property
    def version(self) -> int:
        """A number that is another one once the model has changed, other than by running."""
        now = Snapshot(self.model)
        if self._snapshot is None or now.differs_in(self._snapshot) - self._written:
            self._version += 1
        self._snapshot = now
        return self._version

    def scores(
        self,
        x: Tensor,
        edge_index: Tensor,
        kwargs: Mapping[str, Any],
        *,
        rows: int | None = None,
        each: str = "node",
        differentiable: bool = False,
        message_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the scores (N, C), with a gradient if they are to have one.

        Args:
            x: (N, d).
            edge_index: (2, E).
            kwargs: further arguments of the model.
            rows: how many the output is to have, if not one per node.
            each: what a row is of.
            differentiable: whether the scores are to have a gradient.
            message_mask: (E,) by which messages are scaled, if they are.
        """
        masks: AbstractContextManager[None] = nullcontext()
        if message_mask is not None:
            masks = message_masks(self.model, message_mask, edge_index)
        # Copies: a model may write to what it is given.
        given = {name: _copied(value) for name, value in kwargs.items()}
        before = Snapshot(self.model) if self._knows_written_of != self._version else None
        with undisturbed(self.model), torch.set_grad_enabled(differentiable), masks:
            try:
                output = self.model(_copied(x), _copied(edge_index), **given)
            except (torch.OutOfMemoryError, InputError, ModelError):
                raise
            except COMPUTING_ERRORS as error:
                raise ModelError(
                    f"the model raised {type(error).__name__}: {error} (called with x "
                    f"{tuple(x.shape)} and edge_index {tuple(edge_index.shape)})"
                    f"{self._hint(x.size(0)) or self._calling_hint(kwargs)}"
                ) from error
        if before is not None:
            after = Snapshot(self.model)
            self._written |= after.attributes(after.differs_in(before))
            self._knows_written_of = self._version
        return self._checked(output, nodes=x.size(0), rows=rows, each=each)

    def gradients(self, aim: Tensor, inputs: Sequence[Tensor]) -> tuple[Tensor | None, ...]:
        """Return the gradient of a number made of scores for each input, None where it has none.

        A backward pass may run layers again, as those whose values are recomputed to save memory:
        they are to find the model as it was. Raises a `ModelError` where that fails.

        Args:
            aim: of one number, made of differentiable scores.
            inputs: tensors that require a gradient.
        """
        with undisturbed(self.model), backward_passes():
            return torch.autograd.grad(aim, inputs, allow_unused=True)

    def read(self, output: Tensor) -> Tensor:
        """Return scores (N, C) of an output (N, K)."""
        return self.reading.scores(output)

    def unsettle(self) -> None:
        """Forget what was noted of the scores: the model is another one now."""
        self.reading = self._asked

    def settle(self, scores: Tensor) -> None:
        """Take note of the scores (N, C) of many queries, or refuse them."""
        self.reading = self._asked.settled(scores)

    def same(self, one: Tensor, other: Tensor) -> bool:
        """Whether scores (…, C) are equal up to rounding and predict the same."""
        return same_output(one, other, spread=self.reading.spread(one))

    def close(self, one: Tensor, other: Tensor) -> bool:
        """Whether scores (…, C) are equal up to rounding."""
        return close(one, other, spread=self.reading.spread(one))

    def undecided(self, event: Event, scores: Tensor) -> Tensor:
        """Return whether an event at scores (…, C) hangs on a difference that counts as none, (…).

        Scores that are equal up to rounding may each be off by what `close` allows.
        """
        allowed = limit(scores, spread=self.reading.spread(scores))
        return event.gap(scores).double() <= 2 * allowed

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

    def _calling_hint(self, kwargs: Mapping[str, Any]) -> str:
        """Return what a model that failed was called with, if it is not called as most are."""
        model = self.model.model if isinstance(self.model, PickedOutput) else self.model
        if isinstance(model, DataModel):
            return model.hint(list(kwargs))
        alone = takes_features_alone(model)
        return f"; it takes {alone} alone: pass `lambda x, edge_index: model(x)`" if alone else ""

    def _checked(self, output: Any, *, nodes: int, rows: int | None, each: str) -> Tensor:
        wanted = nodes if rows is None else rows
        if not isinstance(output, Tensor):
            raise ModelError(
                f"the model must return a tensor of class scores, it returned "
                f"{type(output).__name__}: {advice(output, wanted)}"
            )
        if output.dim() == 1:
            output = output.unsqueeze(1)
        if output.dim() != 2 or output.size(0) != wanted:
            raise ModelError(
                f"the model must return one row of class scores per {each}, ({wanted}, classes); "
                f"it returned {tuple(output.shape)}{self._hint(nodes)}"
            )
        return self.read(output)


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


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
