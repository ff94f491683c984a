import math

import pytest
import torch

from zorro.errors import InputError
from zorro.metrics import stability


@pytest.mark.parametrize(
    ("fidelity", "expected"), [(0.0, 1.0), (1.0, 1.0), (0.5, 0.8), (0.2, 1 / 1.16), (0.8, 1 / 1.16)]
)
def test_theorem_one_by_hand(fidelity, expected):
    assert stability(fidelity) == pytest.approx(expected)


def test_it_is_one_over_one_plus_the_variance_of_validity():
    valid = torch.tensor([1.0] * 17 + [0.0] * 3, dtype=torch.float64)
    by_definition = 1 / (1 + float(valid.var(correction=0)))
    assert stability(17 / 20) == pytest.approx(by_definition)


def test_above_one_half_it_grows_with_fidelity():
    values = [stability(0.5 + step / 100) for step in range(51)]
    assert values == sorted(values)


@pytest.mark.parametrize("fidelity", [-0.01, 1.01, math.nan])
def test_what_is_no_probability_is_refused(fidelity):
    with pytest.raises(InputError, match="fidelity"):
        stability(fidelity)
