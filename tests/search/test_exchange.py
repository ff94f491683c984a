"""Sets of edges that can be smaller: one for two, and none by chance."""

import pytest
import torch
from torch import nn

from zorro import Zorro
from zorro.elements import Element
from zorro.search.guided import GuidedSearch

LEAVES = 8


class Rule(nn.Module):
    """Class 1 for node 0 where a rule about the leaves that send to it is true."""

    def __init__(self, rule):
        super().__init__()
        self.rule = rule

    def forward(self, x, edge_index):
        sender = edge_index[0]
        heard = torch.zeros(len(x), dtype=torch.bool)
        heard[sender] = True  # leaves send to no other node
        true = torch.zeros(len(x))
        true[:: LEAVES + 1] = self.rule(heard.view(-1, LEAVES + 1).t()).float()
        return torch.stack([0.5 - true, true - 0.5], dim=1)


def asked(rule, **options):
    leaf = torch.arange(1, LEAVES + 1)
    edge_index = torch.stack([leaf, torch.zeros_like(leaf)])
    x = torch.zeros(LEAVES + 1, 1)
    return Zorro(Rule(rule), x, edge_index, keep=("edges",), **options)


def edges_of(search, evaluator):
    labels = evaluator.graph.edges.labels
    return [labels[place][0] for place in search.selection.members("edges").tolist()]


def test_one_edge_takes_the_place_of_two():
    """Five will do, 1 to 5, and 6 makes 4 and 5 needless; none of the five can go alone."""

    def rule(heard):
        return heard[1:4].all(0) & (heard[6] | (heard[4] & heard[5]))

    evaluator = asked(rule, edge_presence=0.0).meter(0, samples=20).evaluator
    search = GuidedSearch(evaluator, k=None)
    for leaf in range(1, 6):
        assert search._toggle_all([Element("edges", leaf - 1)])
    search.prune(0.9)
    assert edges_of(search, evaluator) == [1, 2, 3, 4, 5]
    search.exchange(0.9)
    assert edges_of(search, evaluator) == [1, 2, 3, 6]
    assert search.fidelity == 1.0
    later = [(move.element, move.added) for move in search.moves[6:]]
    assert [(element and element.place + 1, added) for element, added in later] in (
        [(6, True), (4, False), (5, False)],
        [(6, True), (5, False), (4, False)],
    )


def test_an_exchange_that_reaches_less_is_none():
    """Edge 6 for two others would do in five samples of ten alone."""

    def rule(heard):
        return heard[1:4].all(0) & ((heard[6] & heard[7]) | (heard[4] & heard[5]))

    evaluator = asked(rule, edge_presence=0.5).meter(0, samples=200).evaluator
    search = GuidedSearch(evaluator, k=None)
    for leaf in range(1, 6):
        search._toggle_all([Element("edges", leaf - 1)])
    search.exchange(0.9)
    assert edges_of(search, evaluator) == [1, 2, 3, 4, 5]


def test_no_edge_is_kept_by_chance():
    """With edge 1 the class stays in seven samples of eight, which is enough for τ = .85."""

    def rule(heard):
        return heard[1] & heard[2:5].any(0)

    found = [asked(rule, seed=seed).explain(0) for seed in range(12)]
    assert all(explanation.certified for explanation in found)
    assert sum(explanation.edges == ((1, 0),) for explanation in found) >= 11


@pytest.mark.parametrize("samples", [6, 20, 49, 93, 100])
def test_the_fidelity_is_the_share_of_the_samples_and_not_a_sum_of_roundings(samples):
    evaluator = asked(lambda heard: heard[1] & heard[2]).meter(0, samples=samples).evaluator
    search = GuidedSearch(evaluator, k=None)
    assert search.grow(0.99)
    assert search.fidelity == 1.0
    shares = {hits / samples for hits in range(samples + 1)}
    assert {move.fidelity for move in search.moves} <= shares
    for seed in range(50):  # of weights, as samples have them that an attempt failed on
        draw = torch.Generator().manual_seed(seed)
        search.look_at(evaluator, torch.rand(samples, dtype=torch.double, generator=draw))
        assert search.fidelity <= 1
        assert search.fidelity == pytest.approx(1)
