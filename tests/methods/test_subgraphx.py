"""SubgraphX: Shapley values against enumeration, and subgraphs with a planted cause."""

import copy
import itertools
import math
from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, MessagePassing

from zorro.cut import Extractor
from zorro.errors import InputError
from zorro.graph.graph import Graph
from zorro.methods.coalition_values import CoalitionValues
from zorro.methods.masked_runs import MaskedRuns, ZeroFilled
from zorro.methods.subgraphx import SubgraphX, connected_without, neighbours_of
from zorro.methods.subject import Subject
from zorro.model.predictor import Predictor
from zorro.noise.draws import DenseDraws

HOUSE_AND_TAIL = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (1, 4), (2, 5), (5, 6), (6, 7)]


class BrightNeighbours(MessagePassing):
    """Class 1 where the neighbours' second features add up to more than 1.5."""

    def __init__(self):
        super().__init__(aggr="sum")

    def forward(self, x, edge_index):
        total = self.propagate(edge_index, x=x[:, 1:])
        return torch.cat([torch.zeros_like(total), 6 * (total - 1.5)], dim=1)


class Convolutions(nn.Module):
    def __init__(self, features=4):
        super().__init__()
        self.first = GCNConv(features, 8, cached=True)
        self.second = GCNConv(8, 3, cached=True)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def both_directions(edges):
    one_way = torch.tensor(edges).t()
    return torch.cat([one_way, one_way.flip(0)], dim=1)


def subject_of(model, x, edge_index, *, query=0, seed=0, **options):
    predictor = Predictor(model)
    return Subject(
        predictor, Extractor(predictor, Graph(x, edge_index), **options).extract(query), seed
    )


def planted(seed=0):
    """A hub with seven neighbours, of which nodes 2 and 5 are bright, and a leaf on each."""
    edges = [(0, node) for node in range(1, 8)] + [(node, node + 7) for node in range(1, 8)]
    x = torch.ones(15, 2)
    x[:, 1] = 0
    x[[2, 5], 1] = 1
    return subject_of(BrightNeighbours(), x, both_directions(edges), hops=2, seed=seed)


def house(**options):
    torch.manual_seed(3)
    return subject_of(Convolutions(), torch.rand(8, 4), both_directions(HOUSE_AND_TAIL), **options)


def mask_of(nodes, length):
    mask = torch.zeros(length, dtype=torch.bool)
    mask[list(nodes)] = True
    return mask


def values_of(subject, *, radius=4, samples=100, always=(), generator=None):
    return CoalitionValues(
        MaskedRuns(subject).probabilities,
        neighbours_of(subject.graph),
        radius=radius,
        samples=samples,
        generator=generator or subject.generator(),
        always=mask_of(always, subject.candidates),
    )


def set_value(subject, always=frozenset()):
    """Return a function of a set of nodes: the model's probability, run on that set alone."""

    def value(nodes):
        x = subject.graph.x.clone()
        gone = set(range(subject.candidates)) - set(nodes) - set(always)
        x[sorted(gone)] = 0
        return float(subject.scores(x).softmax(0)[subject.predicted_class])

    return value


def exact_shapley_value(value, coalition, players):
    """Enumerate the sets of other players, weighted by how many orders begin with them."""
    total = 0.0
    others = sorted(players - coalition)
    for size in range(len(others) + 1):
        weight = 1 / math.comb(len(others), size) / (len(others) + 1)
        for before in itertools.combinations(others, size):
            total += weight * (value({*before} | coalition) - value({*before}))
    return total


def is_connected(nodes, graph):
    neighbours = neighbours_of(graph)
    reached = mask_of({graph.target}, nodes.numel())
    for _ in range(nodes.numel()):
        reached = (neighbours[reached].any(0) & nodes) | reached
    return torch.equal(reached, nodes)


@pytest.mark.parametrize("coalition", [{0}, {0, 1, 4}, {0, 1, 2, 3, 5}])
@pytest.mark.parametrize("always", [frozenset(), frozenset({0})])
def test_shapley_values_are_those_of_an_enumeration(coalition, always):
    subject = house(hops=5)
    n = subject.candidates
    exact = exact_shapley_value(set_value(subject, always), coalition, set(range(n)))
    estimate = values_of(subject, radius=6, samples=20_000, always=always).of(mask_of(coalition, n))
    assert estimate.shapley_value == pytest.approx(exact, abs=2e-3)


def test_nodes_beyond_the_radius_are_always_there():
    subject = house(hops=5)
    near = {0, 1, 3, 4}  # one edge from the query
    exact = exact_shapley_value(set_value(subject, always={2, 5, 6, 7}), {0}, near)
    estimate = values_of(subject, radius=2, samples=20_000).of(mask_of({0}, 8))
    assert estimate.shapley_value == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize("radius", [2, 4])
def test_a_subset_is_worth_the_same_however_it_is_reached(radius):
    subject = house(hops=5)
    values = values_of(subject, radius=radius)
    whole = values.of(torch.ones(8, dtype=torch.bool))
    subsets = [mask_of(nodes, 8) for nodes in ({0, 1, 2, 3, 4, 5}, {0, 1, 2, 3}, {0})]
    for subset, from_whole in zip(subsets, values.smaller(whole, subsets), strict=True):
        afresh = values_of(subject, radius=radius).of(subset)
        torch.testing.assert_close(from_whole.present, afresh.present)
        torch.testing.assert_close(from_whole.absent, afresh.absent)


def test_zero_filled_inputs_read_as_if_they_were_kept_whole():
    x, masks = torch.rand(5, 3), torch.rand(6, 5) < 0.5
    lazy, dense = ZeroFilled(x, masks), DenseDraws(masks.unsqueeze(2) * x)
    some, rows = torch.tensor([1, 4]), torch.tensor([0, 3])
    weight, values = torch.rand(3, 2), torch.rand(2, 6, 2)
    assert lazy.shape == dense.shape
    assert torch.equal(lazy.columns(some[:1]), dense.columns(some[:1]))
    assert torch.equal(lazy.matrices(some), dense.matrices(some))
    assert torch.equal(lazy.only(some).matrices(rows[:1]), dense.only(some).matrices(rows[:1]))
    torch.testing.assert_close(lazy.times(weight), dense.times(weight))
    torch.testing.assert_close(
        lazy.transposed_times(values, rows), dense.transposed_times(values, rows)
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_best_subgraph_holds_the_planted_causes(seed):
    found = SubgraphX().explain(planted(seed)).nodes
    assert found is not None
    nodes = found.bool()
    assert nodes[[0, 2, 5]].all()
    assert int(nodes.sum()) <= 5


@pytest.mark.parametrize("options", [{}, {"high_degree_first": True}, {"keep_query": True}])
def test_subgraphs_are_connected_and_hold_the_query(options):
    for query in range(8):
        subject = house(query=query)
        found = SubgraphX(rollouts=5, samples=10, **options).explain(subject).nodes
        assert found is not None
        nodes = found.bool()
        assert nodes[subject.graph.target]
        assert is_connected(nodes, subject.graph)
        assert int(nodes.sum()) <= 5


def test_what_hangs_on_a_removed_node_goes_with_it():
    graph = house(hops=5).graph
    everything = torch.ones(8, dtype=torch.bool)
    left = connected_without(everything, 5, neighbours_of(graph), graph.target)
    assert left.nonzero().flatten().tolist() == [0, 1, 2, 3, 4]


def test_a_long_search_finds_the_best_of_all_connected_subgraphs():
    subject = house()
    n, query = subject.candidates, subject.graph.target
    found = SubgraphX(rollouts=500, leaf_nodes=1, exploration=1e6, samples=30).explain(subject)
    values = values_of(subject, samples=30)
    every = [
        mask_of({query, *others}, n)
        for size in range(5)
        for others in itertools.combinations(set(range(n)) - {query}, size)
    ]
    rewards = [values.of(m).shapley_value for m in every if is_connected(m, subject.graph)]
    assert found.nodes is not None
    reward = values.of(found.nodes.bool()).shapley_value
    assert reward == pytest.approx(max(rewards), abs=1e-5)


def test_the_seed_decides():
    once, again = (SubgraphX().explain(planted(4)).nodes for _ in range(2))
    assert again is not None
    assert once is not None
    assert torch.equal(once, again)
    coalition = mask_of({0, 1}, house().candidates)
    one, other = (values_of(house(seed=seed)).of(coalition).shapley_value for seed in (1, 2))
    assert one != other


def test_the_size_of_a_batch_does_not_matter():
    subject = house()
    masks = torch.rand(40, subject.candidates) < 0.5
    torch.testing.assert_close(
        MaskedRuns(subject, memory=1).probabilities(masks),
        MaskedRuns(subject).probabilities(masks),
    )
    one_by_one, in_batches = (
        SubgraphX(memory=memory, samples=20).explain(planted()).nodes for memory in (1, None)
    )
    assert in_batches is not None
    assert one_by_one is not None
    assert torch.equal(one_by_one, in_batches)


def test_the_model_and_the_graph_are_left_as_they_were():
    subject = house()
    subject.model.train()
    state = copy.deepcopy(subject.model.state_dict())
    x = subject.graph.x.clone()
    SubgraphX(rollouts=2, samples=5).explain(subject)
    assert all(module.training for module in subject.model.modules())
    assert subject.model.first._cached_edge_index is None
    assert all(torch.equal(state[name], now) for name, now in subject.model.state_dict().items())
    assert all(weight.grad is None for weight in subject.model.parameters())
    assert torch.equal(x, subject.graph.x)


def test_a_lone_query_explains_itself():
    no_edges = torch.zeros(2, 0, dtype=torch.long)
    subject = subject_of(Convolutions(), torch.rand(3, 4), no_edges, query=1)
    nodes = SubgraphX().explain(subject).nodes
    assert nodes is not None
    assert nodes.tolist() == [1.0]


def test_context_keeps_its_features_and_is_not_selected():
    subject = house(hops=1)
    n = subject.candidates
    assert subject.graph.context.numel() > 0
    masks = torch.rand(10, n) < 0.5
    expected = [set_value(subject)(mask.nonzero().flatten().tolist()) for mask in masks]
    assert MaskedRuns(subject).probabilities(masks).tolist() == pytest.approx(expected, abs=1e-6)
    nodes = SubgraphX(samples=10).explain(subject).nodes
    assert nodes is not None
    assert nodes.shape == (n,)


def test_the_smallest_subgraph_is_returned_where_none_is_small_enough():
    nodes = SubgraphX(leaf_nodes=4, most_nodes=1, samples=5).explain(house()).nodes
    assert nodes is not None
    assert 1 < int(nodes.sum()) <= 4


@pytest.mark.parametrize("name", ["rollouts", "leaf_nodes", "most_nodes", "children", "samples"])
def test_unusable_options_are_refused(name):
    with pytest.raises(InputError, match=name):
        SubgraphX(**dict[str, Any]({name: 0}))
