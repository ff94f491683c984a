"""PGM-Explainer on models whose cause is planted, and its test against SciPy's."""

import copy

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn
from torch_geometric.nn import GCNConv

from zorro.cut import Extractor
from zorro.errors import InputError
from zorro.graph.graph import Graph
from zorro.methods.pgm import PGM, dependence
from zorro.methods.subject import Subject
from zorro.model.predictor import Predictor

NODES = 8


class TwoCauses(nn.Module):
    """The hub's class is 1 while nodes 2 and 5 are bright; all others look at themselves."""

    def forward(self, x, edge_index):
        own = x[:, 0].clone()
        own[0::NODES] = 8 * (x[2::NODES, 0] + x[5::NODES, 0] - 1.5)  # in every copy of the star
        return torch.stack([torch.zeros_like(own), own], dim=1)


class Convolutions(nn.Module):
    def __init__(self, features=4):
        super().__init__()
        self.first = GCNConv(features, 8, cached=True)
        self.second = GCNConv(8, 3, cached=True)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


class DistanceToTheMean(nn.Module):
    """Copies of the graph in one batch would influence each other."""

    def forward(self, x, edge_index):
        own = x - x.mean(0)
        return torch.cat([own, -own], dim=1)


def star():
    leaves = torch.arange(1, NODES)
    spokes = torch.stack([leaves, torch.zeros_like(leaves)])
    return torch.cat([spokes, spokes.flip(0)], dim=1)


def subject_of(model, x, edge_index, *, query=0, seed=0, **options):
    predictor = Predictor(model)
    return Subject(
        predictor, Extractor(predictor, Graph(x, edge_index), **options).extract(query), seed
    )


def two_causes(seed=0, x=None):
    x = torch.ones(NODES, 1) if x is None else x
    return subject_of(TwoCauses(), x, star(), hops=1, seed=seed)


def ring(nodes=20, seed=0, query=3):
    torch.manual_seed(7)
    order = torch.arange(nodes)
    edges = torch.stack([order, (order + 1) % nodes])
    edges = torch.cat([edges, edges.flip(0)], dim=1)
    return subject_of(Convolutions(), torch.rand(nodes, 4), edges, query=query, seed=seed)


def selected(masks):
    return masks.nodes.nonzero().flatten().tolist()


@pytest.mark.parametrize("seed", range(5))
def test_selects_the_two_planted_causes_and_the_query(seed):
    assert selected(PGM(samples=400, significance=1e-4).explain(two_causes(seed))) == [0, 2, 5]


def test_the_smallest_p_values_are_the_top_nodes():
    assert selected(PGM(top_nodes=3).explain(two_causes())) == [0, 2, 5]
    assert selected(PGM(top_nodes=99).explain(two_causes())) == list(range(NODES))


def test_scaling_leaves_zeros_as_they_are():
    """A cause without features cannot be perturbed by a factor: the other one is left."""
    x = torch.ones(NODES, 1)
    x[5] = 0
    x[2] = 2
    method = PGM(samples=400, significance=1e-4, perturbation="scaling")
    assert selected(method.explain(two_causes(x=x))) == [0, 2]


def test_dependence_is_the_tail_of_pearsons_statistic():
    rng = np.random.default_rng(0)
    states = rng.integers(0, 4, size=(60, 5))
    states[:, 1] %= 2  # a table of two rows
    states[:, 2] = 3  # of one row
    target = np.where(rng.random(60) < 0.5, states[:, 0], rng.integers(0, 3, size=60))
    expected = []
    for column in states.T:
        table = np.array(
            [[np.sum((column == i) & (target == j)) for j in range(4)] for i in range(4)]
        )
        table = table[table.any(1)][:, table.any(0)]
        frequencies = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / table.sum()
        expected.append(stats.chisquare(table.flatten(), frequencies.flatten()).pvalue)
    assert dependence(states, target) == pytest.approx(expected)


def test_the_seed_decides_what_is_drawn():
    method = PGM()
    first = method.p_values(ring(seed=1))
    assert np.array_equal(first, method.p_values(ring(seed=1)))
    assert not np.array_equal(first, method.p_values(ring(seed=2)))


def test_the_size_of_a_batch_does_not_matter():
    subject = ring()
    assert np.array_equal(PGM(memory=1).p_values(subject), PGM().p_values(subject))


def test_copies_that_influence_each_other_are_run_one_by_one(caplog):
    subject = subject_of(DistanceToTheMean(), torch.rand(NODES, 1), star(), hops=1)
    in_batches = PGM().p_values(subject)
    assert "one by one" in caplog.text
    assert np.array_equal(in_batches, PGM(memory=1).p_values(subject))


def test_the_model_and_the_graph_are_left_as_they_were():
    subject = ring()
    subject.model.train()
    state = copy.deepcopy(subject.model.state_dict())
    x = subject.graph.x.clone()
    PGM().explain(subject)
    assert all(module.training for module in subject.model.modules())
    assert subject.model.first._cached_edge_index is None
    assert all(torch.equal(state[name], now) for name, now in subject.model.state_dict().items())
    assert all(weight.grad is None for weight in subject.model.parameters())
    assert torch.equal(x, subject.graph.x)


def test_a_lone_query_explains_itself():
    no_edges = torch.zeros(2, 0, dtype=torch.long)
    subject = subject_of(Convolutions(), torch.rand(3, 4), no_edges, query=1)
    nodes = PGM().explain(subject).nodes
    assert nodes is not None
    assert nodes.tolist() == [1.0]


def test_context_is_not_selected():
    subject = ring()
    assert subject.graph.context.numel() > 0
    nodes = PGM().explain(subject).nodes
    assert nodes is not None
    assert nodes.shape == (subject.candidates,)


@pytest.mark.parametrize(
    "options", [{"samples": 0}, {"top_nodes": 0}, {"perturbation": "permutation"}]
)
def test_unusable_options_are_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        PGM(**options)
