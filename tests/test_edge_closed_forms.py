"""Sets of edges whose fidelity is known, and what must make no difference to it."""

from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from scipy.stats import binom, binomtest, fisher_exact
from torch import nn
from torch_geometric.utils import degree

from zorro import Zorro, explain_many

LEAVES = 8


def star(leaves=LEAVES):
    """Leaves 1, 2, … send to node 0, and it to them."""
    leaf = torch.arange(1, leaves + 1)
    out = torch.stack([leaf, torch.zeros_like(leaf)])
    return torch.cat([out, out.flip(0)], dim=1)


class Hears(nn.Module):
    """Class 1 for nodes that get at least so many messages."""

    def __init__(self, least):
        super().__init__()
        self.least = least

    def forward(self, x, edge_index):
        more = degree(edge_index[1], len(x)) - self.least + 0.5
        return torch.stack([-more, more], dim=1)


class Ignores(nn.Module):
    """A perceptron of a node's own features."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, x, edge_index):
        return self.layers(x)


def is_share(measured, expected, confidence=0.9999):
    interval = binomtest(measured.hits, measured.samples).proportion_ci(confidence)
    return interval.low - 1e-9 <= expected <= interval.high + 1e-9


@pytest.mark.parametrize("presence", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("kept", range(4))
def test_messages_that_are_left_are_binomial(presence, kept):
    """At least 3 of 8 messages: k are sure, the others there with probability p each."""
    zorro = Zorro(Hears(3), torch.randn(9, 2), star(), keep=("edges",), edge_presence=presence)
    expected = binom.sf(3 - kept - 1, LEAVES - kept, presence)
    measured = zorro.fidelity(0, edges=[(0, leaf) for leaf in range(1, kept + 1)], samples=3000)
    assert is_share(measured, expected)


def mean_by_hand(x, edge_index):
    """A mean of neighbours, not a number where there is none."""
    total = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
    return total / degree(edge_index[1], len(x)).unsqueeze(1)


@pytest.mark.parametrize("asked", [{}, {"why_not": 1}, {"why_not": 1, "contrast": "not"}])
def test_what_is_not_a_number_is_no_answer(asked):
    """Two neighbours say class 0; without either the scores are NaN, and name no class."""
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    zorro = Zorro(mean_by_hand, x, star(2), keep=("edges",))
    for kept in range(2):
        edges = [(0, leaf) for leaf in range(1, kept + 1)]
        measured = zorro.fidelity(0, edges=edges, samples=2000, **asked)
        assert is_share(measured, [0.75, 1.0][kept])
    found = zorro.explain(0, **asked)
    assert found.status == "certified"
    assert len(found.edges) == 1


def test_a_link_whose_score_is_not_a_number_stays_ahead_of_none():
    x = torch.tensor([[1.0, 1.0], [1.0, 1.0], [0.1, 0.1], [0.0, 0.0]])
    edge_index = torch.tensor([[0, 3, 2, 3], [3, 0, 3, 2]])

    def score(x, edge_index, edge_label_index):
        u, v = edge_label_index
        return (mean_by_hand(x, edge_index)[u] * x[v]).sum(1)

    zorro = Zorro.of_links(score, x + 1, edge_index, threshold=0.0, keep=("edges",))
    measured = zorro.fidelity((0, 1), why_not=(0, 2), edges=[], samples=2000)
    assert is_share(measured, 0.5)  # 0 hears of 3, or of nobody


@pytest.mark.parametrize(("presence", "size"), [(0.0, 3), (0.3, 2), (0.4, 1), (0.7, 0)])
def test_the_least_sufficient_number_of_edges_is_found(presence, size):
    """F of k kept edges is a binomial tail; one fewer would not reach τ."""
    zorro = Zorro(
        Hears(3), torch.randn(9, 2), star(), keep=("edges",), edge_presence=presence, tau=0.8
    )
    shares = [float(binom.sf(2 - kept, LEAVES - kept, presence)) for kept in range(4)]
    assert next(kept for kept, share in enumerate(shares) if share >= 0.82) == size
    explanation = zorro.explain(0)
    assert explanation.certified
    assert len(explanation.edges) == size
    assert is_share(explanation.fidelity, shares[size])


def test_a_message_that_must_not_come_is_no_edge_to_keep():
    """Leaves send themselves nothing: what a class rests on may be that edges are missing."""
    zorro = Zorro(Hears(9), torch.randn(9, 2), star(), keep=("edges",))
    explanation = zorro.explain(0)  # never nine messages
    assert explanation.status == "nothing needed"
    assert explanation.fidelity.value == 1.0


@pytest.mark.parametrize("keep", [("edges",), ("nodes", "features", "edges")])
def test_a_model_that_ignores_structure_needs_no_edge(keep):
    torch.manual_seed(0)
    x = torch.randn(30, 2)
    here = torch.arange(30)
    edge_index = torch.stack([here, (here + 1) % 30])
    model = Ignores().eval()
    zorro = Zorro(model, x, torch.cat([edge_index, edge_index.flip(0)], dim=1), keep=keep)
    for node in range(4):
        explanation = zorro.explain(node)
        assert explanation.certified
        assert explanation.edges == ()
        if keep == ("edges",):
            assert explanation.status == "nothing needed"
            assert explanation.evaluations < 500


def test_a_node_without_edges_needs_none():
    zorro = Zorro(Hears(1), torch.randn(12, 2), star(), keep=("edges",))
    explanation = zorro.explain(11)
    assert explanation.status == "nothing needed"
    assert explanation.edges == ()
    assert zorro.fidelity(11, edges=[]).value == 1.0
    assert zorro.importance(11, explanation).of("edges") == {}


@pytest.mark.parametrize("presence", [0.0, 0.6])
def test_importance_is_what_an_edge_brings(presence):
    """At least 2 messages of 4 with one kept: F is known with each edge added or taken out."""
    zorro = Zorro(
        Hears(2), torch.randn(5, 2), star(4), keep=("edges",), edge_presence=presence, tau=0.9
    )
    explanation = zorro.explain(0)
    size = len(explanation.edges)
    shares = [float(binom.sf(1 - kept, 4 - kept, presence)) for kept in range(5)]
    importance = zorro.importance(0, explanation, samples=4000)
    assert importance.ranked[0].kept or presence == 0.6
    for each in importance.ranked:
        (edge,) = each.members
        assert each.kept == (edge in explanation.edges)
        expected = shares[size] - shares[size - 1] if each.kept else shares[size + 1] - shares[size]
        assert each.fidelity == pytest.approx(expected, abs=0.04)


def made(seed=0):
    torch.manual_seed(seed)
    return gnn.GCN(4, 8, num_layers=2, out_channels=3, act="tanh").eval()


def grid():
    """Thirty nodes in a ring with chords, and their features."""
    here = torch.arange(30)
    pairs = torch.stack([here.repeat(2), torch.cat([(here + 1) % 30, (here + 11) % 30])])
    x = torch.randn(30, 4, generator=torch.Generator().manual_seed(1))
    return x, torch.cat([pairs, pairs.flip(0)], dim=1)


def same_share(one, other):
    table: Any = [[each.hits, each.samples - each.hits] for each in (one, other)]
    return fisher_exact(table).pvalue > 1e-4


def test_other_numbers_of_nodes_change_names_alone():
    x, edge_index = grid()
    model = made()
    order = torch.randperm(30, generator=torch.Generator().manual_seed(2))
    name = torch.empty_like(order)
    name[order] = torch.arange(30)  # old number → new number
    zorro = Zorro(model, x, edge_index, keep=("edges",))
    renamed = Zorro(model, x[order], name[edge_index], keep=("edges",))
    for query in range(4):
        explanation = zorro.explain(query)
        edges = [(int(name[u]), int(name[v])) for u, v in explanation.edges]
        for kept, others in (([], []), (explanation.edges, edges)):
            measured = zorro.fidelity(query, edges=kept, samples=2000)
            again = renamed.fidelity(int(name[query]), edges=others, samples=2000)
            assert same_share(measured, again)


def test_the_order_of_edges_changes_nothing_at_all():
    x, edge_index = grid()
    model = made()
    order = torch.randperm(edge_index.size(1), generator=torch.Generator().manual_seed(3))
    one = Zorro(model, x, edge_index, keep=("edges",))
    other = Zorro(model, x, edge_index[:, order], keep=("edges",))
    for query in range(4):
        measured = [each.fidelity(query, edges=[], samples=500) for each in (one, other)]
        assert abs(measured[0].hits - measured[1].hits) <= 1  # but for rounding, sample by sample
        assert one.explain(query).edges == other.explain(query).edges


def test_memory_and_order_of_queries_change_nothing():
    x, edge_index = grid()
    options: dict[str, Any] = {"keep": ("edges",), "evaluator": "any-model"}
    usual = Zorro(made(), x, edge_index, **options)
    little = Zorro(made(), x, edge_index, memory=1 << 20, **options)
    expected = {query: usual.explain(query) for query in range(3)}
    for query in reversed(range(3)):
        found = little.explain(query)
        assert found.selected == expected[query].selected
        assert found.steps == expected[query].steps
        assert found.fidelity == expected[query].fidelity


@pytest.mark.parametrize("engine", ["in-process", "processes"])
def test_runs_give_what_single_calls_give(engine, tmp_path):
    x, edge_index = grid()
    options: dict[str, Any] = {"keep": ("edges",), "edge_presence": 0.4}
    zorro = Zorro(made(), x, edge_index, **options)
    run = explain_many(
        made(), x, edge_index, [2, 5, 3], out=tmp_path / "run", engine=engine, **options
    )
    for explanation in run.explanations():
        alone = zorro.explain(explanation.node)
        assert explanation.selected == alone.selected
        assert explanation.fidelity == alone.fidelity
        assert explanation.certificate == alone.certificate
        assert explanation.parameters == alone.parameters
