import math

import pytest
import torch

from zorro.errors import InputError
from zorro.metrics import effective_size


@pytest.mark.parametrize("count", [1, 2, 7, 1433])
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32])
def test_a_hard_mask_has_the_logarithm_of_its_count(count, dtype):
    mask = torch.zeros(2000, dtype=dtype)
    mask[torch.randperm(2000, generator=torch.Generator().manual_seed(0))[:count]] = 1
    assert effective_size(mask) == pytest.approx(math.log(count), abs=1e-12)


def test_a_soft_mask_by_hand():
    # p = (1/2, 1/4, 1/4): H = 1/2 log 2 + 2 · 1/4 log 4 = 3/2 log 2.
    assert effective_size(torch.tensor([2.0, 1.0, 0.0, 1.0])) == pytest.approx(1.5 * math.log(2))


@pytest.mark.parametrize("mask", [torch.zeros(4), torch.zeros(0), torch.tensor([False, False])])
def test_selecting_nothing_has_size_zero(mask):
    assert effective_size(mask) == 0.0


def test_one_element_is_plain_zero():
    assert math.copysign(1.0, effective_size(torch.tensor([0.3]))) == 1.0


def test_order_and_scale_do_not_matter_and_uniform_is_the_largest():
    generator = torch.Generator().manual_seed(1)
    mask = torch.rand(50, generator=generator, dtype=torch.float64)
    size = effective_size(mask)
    shuffled = mask[torch.randperm(50, generator=generator)]
    assert effective_size(shuffled) == pytest.approx(size, rel=1e-12)
    assert effective_size(mask * 1e-300) == pytest.approx(size, rel=1e-12)
    assert effective_size(mask * 1e308) == pytest.approx(size, rel=1e-12)
    assert size < effective_size(torch.ones(50)) == pytest.approx(math.log(50))


@pytest.mark.parametrize(
    ("mask", "complaint"),
    [
        (torch.tensor([0.5, -0.1]), "absolute values"),
        (torch.tensor([0.5, math.nan]), "finite"),
        (torch.tensor([0.5, math.inf]), "finite"),
        (torch.ones(2, 2), "1-D"),
        ([True, False], "list"),
    ],
)
def test_what_is_no_mask_is_refused(mask, complaint):
    with pytest.raises(InputError, match=complaint):
        effective_size(mask)
