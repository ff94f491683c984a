"""What is measured of masks: as they come, cut, made hard, or kept."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch_geometric.nn import SimpleConv

from zorro.methods import Masks, Subjects, evaluation
from zorro.paper.measures import MEASURES, Worlds, first_nodes

FEATURES = 4


class Votes(nn.Module):
    """Log-probabilities of the mean of a node's neighbourhood."""

    def __init__(self):
        super().__init__()
        self.conv = SimpleConv(aggr="mean", combine_root="sum")

    def forward(self, x, edge_index):
        return torch.log_softmax(self.conv(x, edge_index)[:, :2], dim=1)


@pytest.fixture
def subject():
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(9, FEATURES, generator=generator)
    edge_index = torch.tensor([[1, 2, 3, 4, 5, 6, 7], [0] * 7])
    return Subjects(Votes(), x, edge_index).of(0)


@pytest.fixture
def worlds(subject):
    x = torch.rand(9, FEATURES, generator=torch.Generator().manual_seed(0))
    noise = Subjects(Votes(), x, torch.tensor([[1], [0]])).noise
    return Worlds(noise, range(50), seed=3)


def soft(subject):
    return Masks(
        nodes=torch.arange(1.0, subject.candidates + 1), features=torch.tensor([0.1, 0, 0.9, 0.5])
    )


def test_masks_as_given(subject, worlds):
    values = MEASURES["as given"](subject, soft(subject), worlds)
    weights = (
        torch.arange(1.0, subject.candidates + 1) / torch.arange(1.0, subject.candidates + 1).sum()
    )
    assert values["node_entropy"] == pytest.approx(float(-(weights * weights.log()).sum()))
    last = subject.graph.candidates[-5:].tolist()
    assert values["chosen"] == last


def test_the_memory_that_measuring_may_take_changes_nothing(subject, worlds, monkeypatch):
    alone = MEASURES["as given"](subject, soft(subject), worlds)
    assert 0 < alone["fidelity"] < 1
    monkeypatch.setattr(evaluation, "default_budget", lambda device: pytest.fail("not asked"))
    tight = replace(worlds, memory=1)  # one sample at a time
    assert MEASURES["as given"](subject, soft(subject), tight) == alone


def test_a_cut_mask_has_five_nodes_of_equal_weight(subject, worlds):
    values = MEASURES["cut"](subject, soft(subject), worlds)
    assert values["node_entropy"] == pytest.approx(math.log(5))
    assert len(values["chosen"]) == 5


def test_hard_masks_are_not_cut(subject, worlds):
    nodes = torch.ones(subject.candidates)
    chosen = first_nodes(subject, Masks(nodes=nodes))
    assert chosen is not None
    assert int(chosen.sum()) == subject.candidates
    assert first_nodes(subject, Masks(features=torch.ones(FEATURES))) is None
    values = MEASURES["hard"](subject, Masks(nodes=nodes, features=torch.ones(FEATURES)), worlds)
    assert values["HM fidelity"] == 1  # everything is kept
    assert values["HM fidelity_minus_acc"] == 0
    assert values["HM fidelity_minus_prob"] == pytest.approx(0)
    assert not any(name.startswith("S-0.5") for name in values)


def test_soft_masks_are_made_hard_in_three_ways(subject, worlds):
    values = MEASURES["hard"](subject, soft(subject), worlds)
    count = subject.candidates
    assert values["S-0.5 node_entropy"] == pytest.approx(math.log(count // 2))
    assert values["S-0.7 node_entropy"] == pytest.approx(math.log(int(count * 0.3)))
    assert values["NT node_entropy"] == pytest.approx(math.log(count - 1))  # all but the least
    assert values["NT feature_entropy"] == pytest.approx(math.log(3))
    for transform in ("S-0.5", "S-0.7", "NT"):
        assert values[f"{transform} fidelity_minus_acc"] == 1 - values[f"{transform} validity"]


def test_a_mask_of_too_few_elements_has_no_half(worlds):
    x = torch.rand(3, FEATURES, generator=torch.Generator().manual_seed(0))
    alone = Subjects(Votes(), x, torch.tensor([[1], [2]])).of(0)
    assert alone.candidates == 1
    masks = Masks(nodes=torch.tensor([0.5]), features=torch.tensor([0.1, 0.2, 0.3, 0.4]))
    values = MEASURES["hard"](alone, masks, worlds)
    assert {name.split()[0] for name in values} == {"NT"}


def test_feature_masks_are_kept_without_zeros(subject, worlds):
    values = MEASURES["features"](subject, soft(subject), worlds)
    places, weights = values["feature_mask"]
    assert places == [0, 2, 3]
    assert weights == pytest.approx([0.1, 0.9, 0.5])
    nodes_only = Masks(nodes=torch.ones(subject.candidates))
    assert MEASURES["features"](subject, nodes_only, worlds) == {"feature_mask": None}
