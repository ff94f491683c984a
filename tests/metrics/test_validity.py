import itertools

import pytest
import torch

from zorro.errors import InputError, ModelError
from zorro.metrics import validity

# The paper's four-node example: one feature a node, Φ(v1) = 1 if and only if the sum is at least 0.
X = torch.tensor([[1.0], [2.0], [0.0], [-1.0]])
FEATURE = torch.tensor([True])


def at_least_zero(x):
    return torch.stack([torch.tensor(-0.5), x.sum()])  # sums of whole numbers


def nodes(*selected):
    mask = torch.zeros(4, dtype=torch.bool)
    mask[[node - 1 for node in selected]] = True
    return mask


def valid(mask, **options):
    return validity(at_least_zero, X, nodes=mask, features=FEATURE, **options)


def test_the_four_node_example_with_zeros():
    assert valid(nodes(1, 3)) == 1.0  # 1 + 0
    assert valid(nodes()) == 1.0  # the empty explanation: 0
    assert valid(nodes(3, 4)) == 0.0  # 0 − 1


def test_the_four_node_example_with_another_baseline():
    lower = torch.tensor([-1.0])
    assert valid(nodes(1, 3), baseline=lower) == 0.0  # 1 + 0 − 1 − 1
    assert valid(nodes(), baseline=lower) == 0.0  # −4
    assert valid(nodes(1, 2), baseline=lower) == 1.0  # 1 + 2 − 1 − 1


def test_every_explanation_against_the_sum_written_out():
    for size in range(5):
        for selected in itertools.combinations(range(1, 5), size):
            kept = sum(float(X[node - 1]) for node in selected)
            assert valid(nodes(*selected)) == float(kept >= 0)


def test_a_soft_mask_scales_the_features_and_fills_up_with_the_baseline():
    half = torch.full((4,), 0.5)
    assert valid(half) == 1.0  # (1 + 2 + 0 − 1) / 2
    assert valid(half, baseline=torch.tensor([-0.5])) == 1.0  # 1 − 4 / 4
    assert valid(half, baseline=torch.tensor([-1.0])) == 0.0  # 1 − 4 / 2


def test_the_mask_is_the_outer_product_of_nodes_and_features():
    seen = []

    def scores(x):
        seen.append(x.clone())
        return x.sum(dim=0)

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    baseline = torch.tensor([-1.0, -2.0])
    only = {"nodes": torch.tensor([1, 0]), "features": torch.tensor([0.0, 1.0])}
    validity(scores, x, **only, baseline=baseline)
    assert any(torch.equal(x, torch.tensor([[-1.0, 2.0], [-1.0, -2.0]])) for x in seen)


def test_the_complete_explanation_is_valid_and_the_order_of_nodes_does_not_matter():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(6, 5, generator=generator)
    weight = torch.randn(5, 3, generator=generator)
    everything = {"nodes": torch.ones(6), "features": torch.ones(5)}

    def scores(x):
        return (x @ weight).relu().sum(dim=0)

    assert validity(scores, x, **everything) == 1.0
    for _ in range(20):
        mask = torch.rand(6, generator=generator) > 0.5
        features = torch.rand(5, generator=generator) > 0.5
        order = torch.randperm(6, generator=generator)
        here = validity(scores, x, nodes=mask, features=features)
        assert validity(scores, x[order], nodes=mask[order], features=features) == here


def test_nothing_of_the_caller_is_touched():
    x = X.clone().requires_grad_()
    mask = torch.full((4,), 0.5, requires_grad=True)
    validity(at_least_zero, x, nodes=mask, features=FEATURE)
    assert torch.equal(x, X)
    assert x.grad is None
    assert mask.grad is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"nodes": torch.ones(3)}, "nodes: expected 4 values"),
        ({"features": torch.ones(2)}, "features: expected 1 values"),
        ({"nodes": torch.tensor([0.0, 2.0, 0.0, 0.0])}, "between 0 and 1"),
        ({"nodes": torch.tensor([0.0, -1.0, 0.0, 0.0])}, "between 0 and 1"),
        ({"baseline": torch.zeros(3)}, "baseline: expected 1 values"),
        ({"baseline": "means"}, r"data\.x\.mean"),
    ],
)
def test_wrong_arguments_are_named(change, complaint):
    arguments = {"nodes": nodes(1), "features": FEATURE, **change}
    with pytest.raises(InputError, match=complaint):
        validity(at_least_zero, X, **arguments)


def test_features_must_be_a_floating_point_matrix():
    with pytest.raises(InputError, match="x: expected"):
        validity(at_least_zero, X.long(), nodes=nodes(1), features=FEATURE)


@pytest.mark.parametrize(
    "output", [torch.zeros(1), torch.zeros(4, 2), torch.tensor([0.0, torch.nan]), 1]
)
def test_scores_that_name_no_class_are_refused(output):
    with pytest.raises(ModelError, match="scores"):
        validity(lambda _: output, X, nodes=nodes(1), features=FEATURE)
