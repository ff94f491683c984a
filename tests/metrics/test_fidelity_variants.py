import math

import pytest
import torch

from zorro.errors import InputError
from zorro.metrics import (
    fidelity_minus_acc,
    fidelity_minus_prob,
    fidelity_plus_acc,
    fidelity_plus_prob,
    validity,
)

X = torch.tensor([[1.0], [2.0], [0.0], [-1.0]], dtype=torch.float64)
FEATURE = torch.tensor([True])


def logits(x):
    """Class 1 has probability 3^s / (1 + 3^s): 9/10, 3/4, 1/2, 1/4 for sums s of 2, 1, 0, −1."""
    total = x.sum()
    return torch.stack([torch.zeros_like(total), math.log(3) * total])


SCORES = {
    "logits": logits,
    "log_probs": lambda x: logits(x).log_softmax(dim=0),
    "probs": lambda x: logits(x).softmax(dim=0),
}


def explanation(*selected):
    mask = torch.zeros(4, dtype=torch.bool)
    mask[[node - 1 for node in selected]] = True
    return {"nodes": mask, "features": FEATURE}


@pytest.mark.parametrize("return_type", ["logits", "log_probs", "probs"])
def test_by_hand_for_every_kind_of_scores(return_type):
    options = {"return_type": return_type}
    scores = SCORES[return_type]
    # The whole sum is 2: class 1 with 9/10.
    kept = fidelity_minus_prob(scores, X, **explanation(1, 3), **options)  # 1 + 0: 3/4
    assert kept == pytest.approx(0.9 - 0.75)
    removed = fidelity_plus_prob(scores, X, **explanation(1, 2), **options)  # 0 − 1: 1/4
    assert removed == pytest.approx(0.9 - 0.25)
    gained = fidelity_minus_prob(scores, X, **explanation(1, 2), **options)  # 1 + 2: 27/28
    assert gained == pytest.approx(0.9 - 27 / 28)


def test_the_accuracy_variants_by_hand():
    assert fidelity_plus_acc(logits, X, **explanation(1, 3)) == 0.0  # leaves 2 − 1
    assert fidelity_plus_acc(logits, X, **explanation(1, 2)) == 1.0  # leaves 0 − 1
    assert fidelity_minus_acc(logits, X, **explanation(1, 3)) == 0.0  # keeps 1 + 0
    assert fidelity_minus_acc(logits, X, **explanation(4)) == 1.0  # keeps −1


def test_soft_masks_and_their_complement_share_the_input():
    soft = {"nodes": torch.tensor([0.5, 0.5, 0.5, 0.5]), "features": torch.tensor([1.0])}
    # Half of everything is kept and half is left: sums of 1, 3/4.
    kept = fidelity_minus_prob(logits, X, **soft, return_type="logits")
    left = fidelity_plus_prob(logits, X, **soft, return_type="logits")
    assert kept == pytest.approx(0.15)
    assert left == pytest.approx(0.15)


def test_the_baseline_replaces_what_is_removed():
    lower = torch.tensor([-1.0])
    removed = fidelity_plus_prob(
        logits, X, **explanation(2), baseline=lower, return_type="logits"
    )  # 1 − 1 + 0 − 1 = −1
    assert removed == pytest.approx(0.9 - 0.25)
    assert fidelity_plus_acc(logits, X, **explanation(2), baseline=lower) == 1.0


def random_case(seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(5, 4, generator=generator)
    weight = torch.randn(4, 3, generator=generator)
    masks = {
        "nodes": torch.rand(5, generator=generator),
        "features": (torch.rand(4, generator=generator) > 0.5),
    }
    return (lambda x: (x @ weight).tanh().sum(dim=0)), x, masks


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("baseline", ["zeros", torch.tensor([0.3, -1.0, 0.0, 2.0])])
def test_fidelity_minus_acc_is_one_minus_validity(seed, baseline):
    scores, x, masks = random_case(seed)
    valid = validity(scores, x, **masks, baseline=baseline)
    assert fidelity_minus_acc(scores, x, **masks, baseline=baseline) == 1 - valid


@pytest.mark.parametrize("seed", range(5))
def test_the_trivial_explanations_change_nothing(seed):
    scores, x, _ = random_case(seed)
    everything = {"nodes": torch.ones(5), "features": torch.ones(4)}
    nothing = {"nodes": torch.zeros(5), "features": torch.zeros(4)}
    assert fidelity_minus_acc(scores, x, **everything) == 0.0
    assert fidelity_minus_prob(scores, x, **everything, return_type="logits") == 0.0
    assert fidelity_plus_acc(scores, x, **nothing) == 0.0
    assert fidelity_plus_prob(scores, x, **nothing, return_type="logits") == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_removing_a_hard_set_is_keeping_the_others(seed):
    scores, x, masks = random_case(seed)
    chosen, rest = masks["nodes"] > 0.5, masks["nodes"] <= 0.5
    every = torch.ones(4)
    removed = fidelity_plus_prob(scores, x, nodes=chosen, features=every, return_type="logits")
    kept = fidelity_minus_prob(scores, x, nodes=rest, features=every, return_type="logits")
    assert removed == pytest.approx(kept)


@pytest.mark.parametrize("measure", [fidelity_plus_prob, fidelity_minus_prob])
@pytest.mark.parametrize("return_type", ["probs", "log_probs", "raw"])
def test_a_wrong_return_type_is_noticed(measure, return_type):
    with pytest.raises(InputError, match="return_type"):
        measure(logits, X, **explanation(1), return_type=return_type)
