"""Links: every claim against a plain loop that calls the model as its owner does."""

import math
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from scipy.stats import binom, binomtest
from torch import nn
from torch_geometric.nn import GAE

from zorro import Explanation, Zorro
from zorro.elements import Element
from zorro.errors import InputError, ModelError
from zorro.graph.names import Names

NODES, FEATURES = 60, 6


class Predictor(nn.Module):
    """Two convolutions, and the product of the ends' states, less an offset."""

    def __init__(self):
        super().__init__()
        self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, 8)

    def forward(self, x, edge_index, edge_label_index, edge_weight=None):
        z = self.first(x, edge_index, edge_weight).tanh()
        z = self.second(z, edge_index, edge_weight)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1) * 4 - 0.1


class Concatenated(nn.Module):
    """Ends side by side, through a perceptron; class scores of three kinds of links."""

    def __init__(self):
        super().__init__()
        self.conv = gnn.SAGEConv(FEATURES, 8)
        self.last = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x, edge_index, edge_label_index):
        z = self.conv(x, edge_index).relu()
        source, target = edge_label_index
        return self.last(torch.cat([z[source], z.index_select(0, target)], dim=-1))


@pytest.fixture
def graph():
    torch.manual_seed(4)
    x = torch.randn(NODES, FEATURES)
    pairs = torch.randint(NODES, (2, 80))
    pairs = pairs[:, pairs[0] != pairs[1]]
    return x, torch.cat([pairs, pairs.flip(0)], dim=1).unique(dim=1)


def made(kind, seed=1):
    torch.manual_seed(seed)
    return kind().eval()


def without(edge_index, u, *ends):
    """The message edges without those that are asked about."""
    keep = torch.ones(edge_index.size(1), dtype=torch.bool)
    for v in ends:
        for a, b in ((u, v), (v, u)):
            keep &= ~((edge_index[0] == a) & (edge_index[1] == b))
    return edge_index[:, keep]


def plain_share(same, model, x, edge_index, links, explanation, samples=300):
    """Redraw all but the set on the whole graph, run, and compare the links' outputs."""
    generator = torch.Generator().manual_seed(6)
    keep = torch.zeros_like(x, dtype=torch.bool)
    for row in explanation.nodes:
        keep[row, list(explanation.features)] = True
    links = torch.tensor(links).t()
    with torch.no_grad():
        before = model(x, edge_index, links)
        stayed = 0
        for _ in range(samples):
            rows = torch.randint(len(x), x.shape, generator=generator)
            after = model(torch.where(keep, x, x.gather(0, rows)), edge_index, links)
            stayed += bool(same(before, after))
    return stayed, samples


def assert_holds(explanation, stayed, samples):
    assert explanation.certified, explanation
    assert binom.cdf(stayed, samples, explanation.certificate.bound) > 1e-4
    assert abs(stayed / samples - explanation.fidelity.value) < 0.12


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
@pytest.mark.parametrize("link", [(3, 17), (40, 5)])
def test_a_certified_link_stays_by_a_plain_loop(graph, evaluator, link):
    x, edge_index = graph
    model = made(Predictor)
    zorro = Zorro.of_links(model, x, edge_index, threshold=0.0, tau=0.9, evaluator=evaluator)
    explanation = zorro.explain(link)
    assert explanation.evaluator == evaluator
    assert explanation.status == "certified"
    assert str(explanation.query) == f"link {link[0]}–{link[1]}"
    messages = without(edge_index, *link)
    with torch.no_grad():
        there = bool(model(x, messages, torch.tensor([link]).t()) > 0)
    assert explanation.predicted_class == there
    stayed = plain_share(lambda a, b: (a > 0) == (b > 0), model, x, messages, [link], explanation)
    assert_holds(explanation, *stayed)


def test_a_sentence_names_the_link_and_its_class(graph):
    explanation = Zorro.of_links(made(Predictor), *graph, threshold=0.0, tau=0.9).explain((3, 17))
    names = Names(classes=["apart", "friends"], nodes={3: "Ann", 17: "Ben"})
    said = explanation.sentence(names)
    assert explanation.predicted_class is not None
    assert said.startswith(f"The model says {names.of_class(explanation.predicted_class)} ")
    assert "for nodes Ann and Ben. " in said
    assert "for nodes 3 and 17. " in explanation.sentence()


def test_both_evaluators_find_the_same(graph):
    model = made(Predictor)
    one, other = (
        Zorro.of_links(model, *graph, threshold=0.0, tau=0.9, evaluator=name).explain((3, 17))
        for name in ("traced", "any-model")
    )
    assert one.selected == other.selected
    assert one.steps == other.steps


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_kinds_of_links(graph, evaluator):
    x, edge_index = graph
    model = made(Concatenated)
    zorro = Zorro.of_links(model, x, edge_index, tau=0.9, evaluator=evaluator)
    explanation = zorro.explain((3, 17))
    stayed = plain_share(
        lambda a, b: a.argmax(-1) == b.argmax(-1),
        model,
        x,
        without(edge_index, 3, 17),
        [(3, 17)],
        explanation,
    )
    assert_holds(explanation, *stayed)


def test_an_edge_that_is_asked_about_carries_no_messages_unless_it_is_said(graph):
    x, edge_index = graph
    model = made(Predictor)
    u, v = edge_index[:, 0].tolist()
    link = torch.tensor([[u], [v]])
    with torch.no_grad():
        apart = float(model(x, without(edge_index, u, v), link).sigmoid())
        with_it = float(model(x, edge_index, link).sigmoid())
    assert apart != pytest.approx(with_it, abs=1e-3)
    for carries, expected in ((False, apart), (True, with_it)):
        zorro = Zorro.of_links(
            model, x, edge_index, threshold=0.0, tau=0.9, carries_messages=carries
        )
        explanation = zorro.explain((u, v))
        assert explanation.probabilities[1] == pytest.approx(expected, abs=1e-5)
        messages = edge_index if carries else without(edge_index, u, v)
        stayed = plain_share(
            lambda a, b: (a > 0) == (b > 0), model, x, messages, [(u, v)], explanation
        )
        assert_holds(explanation, *stayed)


def test_weights_of_edges_follow_when_one_is_taken_out(graph):
    x, edge_index = graph
    model = made(Predictor)
    weight = torch.rand(edge_index.size(1)) + 0.5
    u, v = edge_index[:, 0].tolist()
    rest = ~(
        ((edge_index[0] == u) & (edge_index[1] == v))
        | ((edge_index[0] == v) & (edge_index[1] == u))
    )
    with torch.no_grad():
        expected = model(x, edge_index[:, rest], torch.tensor([[u], [v]]), weight[rest]).sigmoid()
    zorro = Zorro.of_links(
        model, x, edge_index, threshold=0.0, model_kwargs={"edge_weight": weight}
    )
    assert zorro.explain((u, v)).probabilities[1] == pytest.approx(float(expected), abs=1e-5)


def test_one_link_stays_ahead_of_another(graph):
    x, edge_index = graph
    model = made(Predictor)
    with torch.no_grad():
        ends = torch.tensor([[3] * 3, [17, 25, 41]])
        score = model(x, without(edge_index, 3, 17, 25, 41), ends).tolist()
    (_, low), _, (_, high) = sorted(zip(score, (17, 25, 41), strict=True))
    zorro = Zorro.of_links(model, x, edge_index, threshold=0.0, tau=0.9)
    explanation = zorro.explain((3, high), why_not=(3, low))
    assert explanation.answer == f"ahead of 3–{low}"
    assert Explanation.from_json(explanation.to_json()) == explanation
    stayed = plain_share(
        lambda a, b: b[0] > b[1],
        model,
        x,
        without(edge_index, 3, high, low),
        [(3, high), (3, low)],
        explanation,
    )
    assert_holds(explanation, *stayed)
    with pytest.raises(InputError, match=r"^why_not: expected links that link .* is ahead of"):
        zorro.explain((3, low), why_not=(3, high))


def test_a_link_stays_among_the_first_of_many(graph):
    x, edge_index = graph
    model = made(Predictor)
    ends = list(range(20, 33))
    messages = without(edge_index, 3, *ends)
    with torch.no_grad():
        score = model(x, messages, torch.tensor([(3, end) for end in ends]).t())
    end = ends[int(score.argsort(descending=True)[1])]  # the second best
    zorro = Zorro.of_links(model, x, edge_index, threshold=0.0, tau=0.9)
    explanation = zorro.explain((3, end), among=ends, top=4)
    assert explanation.answer == "among the first 4 of 13"
    assert explanation.status == "certified"
    links = [(3, end), *((3, other) for other in ends if other != end)]
    stayed = plain_share(
        lambda a, b: (b[1:] >= b[0]).sum() < 4, model, x, messages, links, explanation
    )
    assert_holds(explanation, *stayed)


def test_an_autoencoder_of_pyg(graph):
    x, edge_index = graph
    torch.manual_seed(2)
    model = GAE(gnn.GCN(FEATURES, 8, num_layers=2, out_channels=4)).eval()
    explanation = Zorro.of_links(model, x, edge_index, threshold=0.5, tau=0.9).explain((3, 17))
    assert explanation.evaluator == "traced"

    def called(x, edge_index, links):
        return model.decode(model.encode(x, edge_index), links)

    messages = without(edge_index, 3, 17)
    stayed = plain_share(
        lambda a, b: (a > 0.5) == (b > 0.5), called, x, messages, [(3, 17)], explanation
    )
    assert_holds(explanation, *stayed)


class Autoencoder(nn.Module):
    """Notes what it encodes; its decoder writes to what it decodes."""

    def __init__(self):
        super().__init__()
        self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, 8)
        self.encoded = []

    def encode(self, x, edge_index):
        self.encoded.append(x)
        return self.second(self.first(x, edge_index).tanh(), edge_index)

    def decode(self, z, edge_label_index):
        z *= 2
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1) - 0.1


def test_the_whole_graph_is_encoded_once_until_the_weights_change(graph):
    x, edge_index = graph
    apart = [(3, 17), (40, 5), (11, 52)]
    there = tuple(edge_index[:, 0].tolist())
    assert not any((edge_index.t() == torch.tensor(link)).all(1).any() for link in apart)
    model = made(Autoencoder)
    options: dict[str, Any] = {"threshold": 0.0, "samples": 40, "fresh_samples": 100}

    def alone(link):
        """What an explainer finds that was asked nothing else, and what the model says."""
        found = Zorro.of_links(model, x, edge_index, **options).explain(link)
        messages = without(edge_index, *link)
        with torch.no_grad():
            score = model.decode(model.encode(x, messages), torch.tensor([link]).t())
        assert found.predicted_class == int(score > 0)
        return found.selected, found.certificate

    zorro = Zorro.of_links(model, x, edge_index, **options)
    for _ in range(2):
        zorro.explain(apart[0])  # reads the model's outputs, and finds out how far it sees
        model.encoded.clear()
        first = [zorro.explain(link) for link in (*apart, there)]
        assert sum(torch.equal(seen, x) for seen in model.encoded) == 1  # without the last link
        found = [(one.selected, one.certificate) for one in first]
        assert found == [alone(link) for link in (*apart, there)]
        with torch.no_grad():
            model.second.lin.weight *= torch.linspace(-1, 2, 8)


def test_a_value_of_a_link(graph):
    x, edge_index = graph
    model = made(Predictor)
    explanation = Zorro.of_links(model, x, edge_index, tolerance_share=0.7, tau=0.9).explain(
        (3, 17)
    )
    assert explanation.value is not None
    assert explanation.value.tolerance > 0
    stayed = plain_share(
        lambda a, b: (a - b).abs() <= explanation.value.tolerance,
        model,
        x,
        without(edge_index, 3, 17),
        [(3, 17)],
        explanation,
    )
    assert_holds(explanation, *stayed)


@pytest.mark.parametrize("kept", [(), (0,), (0, 1)])
def test_a_fidelity_known_in_closed_form(kept):
    """A link where both ends have a one, two in five nodes do: each end that is kept counts."""
    x = torch.zeros(10, 1)
    x[:4] = 1.0
    zorro = Zorro.of_links(
        lambda x, edge_index, edge_label_index: (
            x[edge_label_index[0], 0] * x[edge_label_index[1], 0] - 0.5
        ),
        x,
        torch.empty(2, 0, dtype=torch.long),
        threshold=0.0,
    )
    measured = zorro.fidelity((0, 1), nodes=kept, samples=4000)
    interval = binomtest(measured.hits, measured.samples).proportion_ci(0.9999)
    assert interval.low <= 0.4 ** (2 - len(kept)) <= interval.high


def test_candidates_are_what_either_end_can_see():
    """Two stars: all leaves of both are candidates, and nobody else."""
    leaves = [*((0, i) for i in range(2, 6)), *((1, i) for i in range(6, 10))]
    edge_index = torch.tensor([(leaf, centre) for centre, leaf in leaves]).t()
    x = torch.randn(14, FEATURES)
    zorro = Zorro.of_links(made(Predictor), x, edge_index, threshold=0.0)
    assert zorro.explain((0, 1)).graph.candidates == 10


def test_order_of_queries_does_not_matter(graph):
    forwards = Zorro.of_links(made(Predictor), *graph, threshold=0.0, tau=0.9)
    backwards = Zorro.of_links(made(Predictor), *graph, threshold=0.0, tau=0.9)
    links = [(3, 17), (17, 3), (40, 5)]
    one = [forwards.explain(link).selected for link in links]
    other = [backwards.explain(link).selected for link in reversed(links)]
    assert one == other[::-1]


@pytest.mark.parametrize(
    ("asked", "options", "said"),
    [
        ((3, NODES), {}, f"link: .*{NODES}"),
        ((3,), {}, r"link: expected two nodes \(u, v\)"),
        (3, {}, "link: "),
        ((3, 17), {"why_not": 4}, r"why_not: expected another link \(3, w\)"),
        ((3, 17), {"why_not": (4, 9)}, r"why_not: expected another link \(3, w\)"),
        ((3, 17), {"why_not": (3, 17)}, r"why_not: expected another link \(3, w\)"),
        ((3, 17), {"among": [17]}, "among: expected other ends"),
        ((3, 17), {"among": [18, 19], "top": 3}, "top: expected a number from 1 to 2, got 3"),
        ((3, 17), {"top": 2}, "among: expected other ends"),
        ((3, 17), {"among": [NODES]}, "among: "),
        ((3, 17), {"among": [18], "why_not": (3, 9)}, "among: expected None where why_not"),
    ],
)
def test_what_is_no_link_is_refused(graph, asked, options, said):
    with pytest.raises(InputError, match=f"^{said}"):
        Zorro.of_links(made(Predictor), *graph, threshold=0.0).explain(asked, **options)


def test_nodes_and_graphs_are_not_compared_with_ends(graph):
    x, edge_index = graph
    zorro = Zorro(gnn.GCN(FEATURES, 8, num_layers=2, out_channels=3), x, edge_index)
    with pytest.raises(InputError, match=r"^among: expected it for links"):
        zorro.explain(3, among=[4])
    with pytest.raises(InputError, match=r"^top: expected it for links"):
        zorro.explain(3, top=2)


def test_models_that_do_not_answer_for_links_are_refused(graph):
    x, edge_index = graph
    with pytest.raises(InputError, match=r"^model: expected one that takes edge_label_index"):
        Zorro.of_links(gnn.GCNConv(FEATURES, 2), x, edge_index)
    with pytest.raises(ModelError, match="one row of class scores per link"):
        Zorro.of_links(
            lambda x, edge_index, edge_label_index: x, x, edge_index, threshold=0.0
        ).explain((3, 17))
    with pytest.raises(InputError, match=r"^hop: expected one of the options"):
        Zorro.of_links(made(Predictor), x, edge_index, hop=2)


def test_keys_of_links_are_no_nodes():
    from zorro.question import Query

    keys = {Query("link", u, v).key for u in range(9) for v in range(9)}
    assert len(keys) == 81
    assert min(keys) > 1 << 31
    assert math.log2(max(keys)) < 62


@pytest.mark.parametrize("top", [None, 4], ids=["why not another", "among the first"])
@pytest.mark.parametrize("keep", [("nodes", "features"), ("edges",)])
def test_links_that_are_compared_are_traced_with_the_same_hits(graph, keep, top):
    x, edge_index = graph
    model = made(Predictor)
    ends = list(range(20, 33))
    with torch.no_grad():
        links = torch.tensor([(3, end) for end in ends]).t()
        score = model(x, edge_index, links)
    best, *others = (ends[place] for place in score.argsort(descending=True).tolist())
    question = {"why_not": (3, others[-1])} if top is None else {"among": ends, "top": top}
    options = {"threshold": 0.0, "keep": keep, "carries_messages": True}
    meters = [
        Zorro.of_links(model, x, edge_index, evaluator=name, **options).meter(
            (3, best), samples=60, **question
        )
        for name in ("traced", "any-model")
    ]
    traced, batched = (meter.evaluator for meter in meters)
    assert [traced.name, batched.name] == ["traced", "any-model"]
    half = traced.nothing.toggled(
        *[
            Element(kind, place)
            for kind, size in traced.space.sizes.items()
            for place in range(0, size, 2)
        ]
    )
    for selection in (traced.nothing, half):
        torch.testing.assert_close(traced.scores(selection), batched.scores(selection))
        assert torch.equal(traced.hits(selection), batched.hits(selection))
        for kind in keep:
            few = torch.arange(4)
            assert torch.equal(
                traced.hits_toggling(selection, kind, few),
                batched.hits_toggling(selection, kind, few),
            )
