"""Only what a model itself raises, and raises again, is read as an answer."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch_geometric.nn import GCNConv, SAGEConv

from zorro import Zorro
from zorro.errors import ModelError
from zorro.model.failures import RepeatedFailure, try_twice
from zorro.model.predictor import Predictor

NODES, FEATURES, QUERY = 12, 4, 3
NO_STOP = 1 << 60


class LateError(Exception):
    """As of a time-out that is raised from outside, in the middle of anything."""


class LateRuntimeError(RuntimeError):
    """The same, by a class that models raise too."""


class LateAssertionError(AssertionError):
    """The same again."""


def failing(errors):
    """Return what raises errors in turn, None being none, and counts its calls."""
    calls: list[None] = []

    def compute():
        calls.append(None)
        error = errors[len(calls) - 1]
        if error is not None:
            raise error
        return len(calls)

    return compute, calls


def test_what_fails_twice_alike_has_failed():
    first = ValueError("one")
    compute, calls = failing([first, ValueError("two")])
    with pytest.raises(RepeatedFailure) as raised:
        try_twice(compute, (ValueError,))
    assert raised.value.error is first
    assert len(calls) == 2


@pytest.mark.parametrize("second", [None, KeyError("another")])
def test_a_failure_that_does_not_come_again_is_raised(second):
    first = ValueError("one")
    compute, _ = failing([first, second])
    with pytest.raises(ValueError, match="one") as raised:
        try_twice(compute, (ValueError, KeyError))
    assert raised.value is first


def test_failures_of_another_kind_in_the_model_are_not_alike():
    def raised_by_the_model(cause):
        error = ModelError("it raised")
        error.__cause__ = cause
        return error

    compute, _ = failing([raised_by_the_model(ValueError()), raised_by_the_model(KeyError())])
    with pytest.raises(ModelError):
        try_twice(compute)


def test_what_is_no_such_failure_is_raised_at_once():
    compute, calls = failing([LateError(), None])
    with pytest.raises(LateError):
        try_twice(compute)
    assert len(calls) == 1


class Raises(nn.Module):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def forward(self, x, edge_index):
        raise self.error


@pytest.mark.parametrize("error", [TimeoutError("late"), LateError(), KeyboardInterrupt()])
def test_what_no_computing_raises_is_raised_as_it_is(error):
    with pytest.raises(type(error)) as raised:
        Predictor(Raises(error)).scores(torch.eye(2), torch.empty(2, 0, dtype=torch.long), {})
    assert raised.value is error


class StopsOnce(TorchFunctionMode):
    """Raises an error before one operation of torch, by its number, and counts them."""

    # What puts a thread back in order on the way out is not stopped.
    restoring = (torch._C._set_grad_enabled,)

    def __init__(self, error: Exception, at: int = NO_STOP) -> None:
        super().__init__()
        self.error = error
        self.left = at
        self.count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in self.restoring:
            self.count += 1
            self.left -= 1
            if self.left == 0:
                raise self.error
        return func(*args, **(kwargs or {}))


class Mixes(nn.Module):
    """Is run as it is, one copy at a time, for copies influence each other."""

    def __init__(self):
        super().__init__()
        self.layer = SAGEConv(FEATURES, 3)

    def forward(self, x, edge_index):
        scores = self.layer(x, edge_index)
        return 3 * (scores - scores.mean(0) * float(scores.sum() > 0))


class Traced(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = GCNConv(FEATURES, 6), GCNConv(6, 3)

    def forward(self, x, edge_index):
        return 3 * self.last(self.first(x, edge_index).relu(), edge_index)


@pytest.mark.parametrize("keep", [("nodes", "features"), ("edges",)])
@pytest.mark.parametrize("error", [LateError, TimeoutError, LateRuntimeError, LateAssertionError])
@pytest.mark.parametrize("model", [Mixes, Traced])
def test_an_error_from_outside_ends_a_query_wherever_it_strikes(model, error, keep):
    """No operation of torch takes it for an answer of the model's, and goes on."""
    torch.manual_seed(0)
    x = torch.randn(NODES, FEATURES)
    edge_index = torch.randint(0, NODES, (2, 30))
    options: dict[str, Any] = {"samples": 20, "max_evaluations": 60, "fresh_samples": 20}

    def explained(stop):
        torch.manual_seed(1)  # the same weights, and as many operations, each time
        zorro = Zorro(model(), x, edge_index, keep=keep, **options)
        with stop:
            return zorro.explain(QUERY)

    counting = StopsOnce(error())
    explained(counting)
    for at in range(1, counting.count, max(1, counting.count // 20)):
        stop = StopsOnce(error(), at)
        with pytest.raises((error, ModelError)) as raised:
            explained(stop)
        assert stop.error in (raised.value, raised.value.__cause__), at
        if error in (LateError, TimeoutError):
            assert raised.value is stop.error, at
