"""What is kept of a training are the weights with the least loss, as they were then."""

import math

import pytest
import torch
from torch import nn

from zorro.models.best_weights import BestWeights


@pytest.mark.parametrize(
    ("losses", "kept"),
    [
        ([3.0, 1.0, 2.0], 1),
        ([1.0, 1.0], 0),  # as good is not better
        ([math.nan, 2.0, math.nan], 1),
        ([math.nan, math.nan], 1),  # none is better than another: the last ones stay
        ([], None),
    ],
)
def test_the_weights_are_those_of_the_first_least_loss(losses, kept):
    model, best = nn.Linear(1, 1), BestWeights()
    nn.init.constant_(model.weight, -1.0)
    for number, loss in enumerate(losses):
        with torch.no_grad():
            model.weight.fill_(number)
        lowest = min([math.inf, *(each for each in losses[:number] if each == each)])
        assert best.offer(model, loss) is (loss < lowest)
    best.restore(model)
    assert model.weight.item() == (-1.0 if kept is None else kept)
