"""What an explanation claims is tested where nothing but its set keeps a true value."""

import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCN, GCNConv

from zorro import Zorro
from zorro.cut import Extractor
from zorro.cut.perturbed import Perturbed
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import resolve

sys.path.insert(0, str(Path(__file__).parents[1]))
from plain_loop import plain_fidelity

NODES, FEATURES = 120, 5


class LooksFurtherAtSome(nn.Module):
    """One hop for every node but a few, which no look at other nodes gives away."""

    def __init__(self, some, hops):
        super().__init__()
        self.some = some
        self.hops = hops

    def forward(self, x, edge_index, number):
        near = x
        for _ in range(self.hops):
            near = near + torch.zeros_like(near).index_add(0, edge_index[1], near[edge_index[0]])
        here = x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return torch.where(torch.isin(number, self.some).unsqueeze(1), near, here)[:, :3]


def a_ring():
    torch.manual_seed(0)
    here = torch.arange(NODES)
    edges = torch.stack([here, (here + 1) % NODES])
    return torch.randn(NODES, FEATURES), torch.cat([edges, edges.flip(0)], dim=1)


def plain_loop(model, x, edge_index, explanation, number, samples=300):
    generator = torch.Generator().manual_seed(7)
    kept = torch.zeros_like(x, dtype=torch.bool)
    kept[torch.tensor(explanation.nodes)[:, None], torch.tensor(explanation.features)] = True
    hits = 0
    for _ in range(samples):
        rows = torch.randint(NODES, x.shape, generator=generator)
        noisy = torch.where(kept, x, x.gather(0, rows))
        predicted = model(noisy, edge_index, number)[explanation.node].argmax()
        hits += int(predicted == explanation.predicted_class)
    return hits / samples


@pytest.fixture
def unusual():
    """A model that looks three hops far at node 60 alone, and its graph."""
    x, edge_index = a_ring()
    model = LooksFurtherAtSome(torch.tensor([60]), hops=3)
    number = torch.arange(NODES)
    probes = Extractor(Predictor(model), Graph(x, edge_index, {"number": number}))
    assert probes.reach.hops == 1, "else the guard has nothing to do"
    return model, x, edge_index, number


def test_a_query_that_sees_further_than_others_gets_more_candidates(unusual):
    model, x, edge_index, number = unusual
    zorro = Zorro(model, x, edge_index, model_kwargs={"number": number})
    assert zorro.explain(30).graph.candidates == 3
    explanation = zorro.explain(60)
    assert explanation.graph.candidates == 7
    assert explanation.certified
    assert plain_loop(model, x, edge_index, explanation, number) > 0.8
    everything = zorro.fidelity(60, nodes=range(57, 64), samples=50)
    assert everything.value == 1.0


def test_a_claim_within_too_few_hops_is_conditional(unusual):
    model, x, edge_index, number = unusual
    kwargs = {"number": number}
    for hops, status in ((1, "conditional"), (3, "certified")):
        explanation = Zorro(model, x, edge_index, model_kwargs=kwargs, hops=hops).explain(60)
        assert (explanation.status, explanation.certified) == (status, hops == 3)
        assert (explanation.caveat is None) == (hops == 3)


class ByNumber(nn.Module):
    """Looks nodes up by where they stand, so that no cut means the same."""

    def __init__(self):
        super().__init__()
        self.own = nn.Embedding(NODES, 8)
        self.layer = GCNConv(FEATURES, 8)

    def forward(self, x, edge_index):
        return self.layer(x, edge_index) + self.own(torch.arange(x.size(0)))


def test_a_model_that_counts_nodes_is_run_as_its_owner_runs_it(caplog):
    x, edge_index = a_ring()
    torch.manual_seed(2)
    model = ByNumber().eval()
    with torch.no_grad():
        model.layer.lin.weight *= 4
    explanation = Zorro(model, x, edge_index, fresh_samples=100).explain(60)
    assert "the model holds own.weight with one row per node" in caplog.text
    assert explanation.graph.whole
    assert explanation.graph.candidates == NODES
    assert explanation.predicted_class == int(model(x, edge_index)[60].argmax())

    def called(noisy, edges, number):
        return model(noisy, edges)

    measured = plain_loop(called, x, edge_index, explanation, None)
    assert abs(measured - explanation.fidelity.value) < 0.15
    assert torch.equal(x, a_ring()[0])  # the whole graph is the caller's own


def noted(noise):
    """What a model is given on a ring from now on, the extractor, and a cut of two hops."""
    x, edge_index = a_ring()
    seen = []

    class Noted(nn.Module):
        def forward(self, x, edge_index):
            seen.append(x.clone())
            return x[:, :3]

    extractor = Extractor(Predictor(Noted()), Graph(x, edge_index), noise=resolve(noise, x), hops=2)
    graph = extractor.extract(60)
    seen.clear()
    return seen, extractor, graph


def test_the_guard_redraws_everything_but_the_candidates():
    seen, extractor, graph = noted("zeros")
    values = torch.full((2, 5, FEATURES), 9.0)
    extractor.guard.scores(graph, Perturbed(values))
    expected = torch.zeros(NODES, FEATURES)
    expected[58:63] = 9.0
    assert len(seen) == 2
    assert all(torch.equal(given, expected) for given in seen)


def test_samples_that_follow_have_the_noise_that_they_have_among_all():
    seen, extractor, graph = noted("column-marginals")
    values = torch.randn(6, 5, FEATURES)
    extractor.guard.scores(graph, Perturbed(values))
    together = torch.stack(seen)
    seen.clear()
    for first in (0, 4):
        extractor.guard.scores(graph, Perturbed(values[first : first + 4]), first=first)
    assert torch.equal(torch.stack(seen), together)
    assert not torch.equal(together[0, :58], together[4, :58])


def test_on_the_cut_the_guard_redraws_its_context_and_nothing_is_left():
    seen, extractor, graph = noted("zeros")
    values = torch.arange(5.0).view(1, 5, 1).expand(1, 5, FEATURES) + 1
    scores = extractor.guard.scores(graph, Perturbed(values), on_the_cut=True)
    assert graph.context.numel() > 0
    assert len(seen) == 1
    assert torch.equal(seen[0][:5], values[0])
    assert not seen[0][5:].any()
    assert torch.equal(scores, torch.full((1, 3), 3.0))  # node 60 is the third candidate


class LooksAtTheMean(nn.Module):
    """A convolution, and a trace of the mean over all nodes: no part of a graph has that mean."""

    def __init__(self, features):
        super().__init__()
        self.layer = GCNConv(features, 3)

    def forward(self, x, edge_index):
        return self.layer(x, edge_index) + 5 * x.mean(0)[:3]


def a_large_star(nodes=1200, features=1000):
    """More than a million numbers in every cut, of which the query sees two rows."""
    torch.manual_seed(4)
    spokes = torch.arange(1, nodes)
    edges = torch.stack([spokes, torch.zeros_like(spokes)])
    x = (torch.rand(nodes, features) < 0.3).float()
    return x, torch.cat([edges, edges.flip(0)], dim=1)


def test_claims_about_large_cuts_hold_on_the_whole_graph():
    x, edge_index = a_large_star()
    model = GCN(x.size(1), 3, num_layers=1).eval()
    with torch.no_grad():
        model.convs[0].lin.weight *= 3
    explanation = Zorro(model, x, edge_index).explain(5)
    summary = explanation.graph
    assert (summary.candidates + summary.context) * x.size(1) > 1 << 20
    assert (explanation.evaluator, explanation.certified) == ("traced", True)
    assert explanation.nodes, "else there is nothing to keep"

    def predicted(noisy):
        return int(model(noisy, edge_index)[5].argmax())

    measured = plain_fidelity(
        predicted, x, 5, nodes=explanation.nodes, features=explanation.features, samples=120
    )
    assert measured > 0.85 - 4 * (0.85 * 0.15 / 120) ** 0.5


def test_that_the_context_of_a_large_cut_matters_is_seen():
    x, edge_index = a_large_star()
    model = LooksAtTheMean(x.size(1)).eval()
    graph = Extractor(Predictor(model), Graph(x, edge_index), hops=1).extract(5)
    assert graph.x.numel() > 1 << 20
    assert graph.context_matters


class FarEdges(nn.Module):
    """Class 1 where none of the edges between marked nodes is left, class 0 otherwise."""

    def forward(self, x, edge_index, mark):
        is_far = mark[edge_index].all(0)
        broken = (mark.any() & ~is_far.any()).to(x.dtype)
        near = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return torch.stack([1 - broken, broken], 0).expand(len(x), 2) + 0 * near[:, :2]


@pytest.mark.parametrize("query", range(20, 28))
def test_far_edges_that_matter_in_few_samples_are_found(query):
    """Three edges at the other end of a ring are all missing in one of eight samples."""
    x, edge_index = a_ring()
    mark = torch.zeros(NODES, dtype=torch.bool)
    mark[90:94] = True
    zorro = Zorro(FarEdges(), x, edge_index, model_kwargs={"mark": mark}, keep=("edges",), tau=0.93)
    explanation = zorro.explain(query)
    assert explanation.certified
    assert {(90, 91), (91, 92), (92, 93)} & set(explanation.edges)
    measured = zorro.fidelity(query, edges=[], samples=1000)
    assert abs(measured.value - 7 / 8) < 0.05


class LooksFarWhereARareFeatureIs(nn.Module):
    """One node's class is what a node far away has, if it has a feature that nobody else has."""

    def __init__(self, node, far):
        super().__init__()
        self.node = node
        self.far = far

    def forward(self, x, edge_index, number):
        far = x[number == self.far][:, 1:2]
        asked = (number == self.node) & (x[:, 0] == 1)
        scores = torch.tensor([[0.0, 1.0]]).repeat(x.size(0), 1)
        if far.numel():
            scores = torch.where(asked.unsqueeze(1), torch.cat([1 - far, far], dim=1), scores)
        return scores + 0 * x[:, :2]


def test_what_matters_beside_a_set_of_ones_own_alone_is_redrawn():
    """No sample in which nothing is kept tells of it: the feature is the node's alone."""
    _, edge_index = a_ring()
    x = torch.randint(2, (NODES, FEATURES), generator=torch.Generator().manual_seed(1)).float()
    x[:, 0] = 0
    x[5, 0], x[70, 1] = 1, 1
    number = torch.arange(NODES)
    model = LooksFarWhereARareFeatureIs(5, 70)
    zorro = Zorro(model, x, edge_index, model_kwargs={"number": number})
    share = float(x[:, 1].mean())  # of the nodes from which the far one's value is drawn
    meter = zorro.meter(5)
    for measured in (zorro.fidelity(5, nodes=[5], features=[0]), meter.fidelity(nodes=iter([5]))):
        assert measured.lower < share < measured.upper
    assert meter.graph.candidates.numel() == NODES
