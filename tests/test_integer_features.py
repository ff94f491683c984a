"""Features that are integers or truth values: categories keep to the values that they have."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data

from zorro import Zorro
from zorro.data import check_graph
from zorro.errors import InputError
from zorro.graph.features import features_of
from zorro.noise import draws_of, resolve

sys.path.append(str(Path(__file__).parent))
from plain_loop import plain_fidelity

NODES, WORDS, COLUMNS = 24, 40, 4
QUERY = 7
QUICK: dict[str, Any] = {"samples": 60, "fresh_samples": 300, "tau": 0.8}


class Embeds(nn.Module):
    """Every column is a category; numbers beyond the vocabulary fail."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 6)
        self.conv = gnn.GCNConv(6, 3)

    def forward(self, x, edge_index):
        return self.conv(self.embedding(x).sum(1).tanh(), edge_index) * 4


class Mixed(nn.Module):
    """The first column is a category, the rest are numbers."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 6)
        self.linear = nn.Linear(COLUMNS - 1, 6)
        self.conv = gnn.GCNConv(6, 3)

    def forward(self, x, edge_index):
        hidden = 3 * self.embedding(x[:, 0].long()) + self.linear(x[:, 1:].float() / 20 - 1)
        return self.conv(hidden.tanh(), edge_index) * 4


class Flags(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = gnn.GCNConv(COLUMNS, 3)

    def forward(self, x, edge_index):
        return self.conv((~x).float(), edge_index) * 6


def a_graph():
    torch.manual_seed(0)
    children = torch.arange(1, NODES)
    parents = (torch.rand(NODES - 1) * children).long()
    edge_index = torch.stack([torch.cat([children, parents]), torch.cat([parents, children])])
    # No zeros, and every other number is missing: 3, 5, …
    return 2 * torch.randint(1, WORDS // 2 - 1, (NODES, COLUMNS)) + 1, edge_index


def made(kind, seed):
    torch.manual_seed(seed)
    return kind().eval()


CASES = {
    "int64": (Embeds, 4, 5, lambda x: x),
    "int32": (Embeds, 4, 5, lambda x: x.int()),
    "uint8": (Mixed, 3, 7, lambda x: x.byte()),
    "mixed integers": (Mixed, 3, 7, lambda x: x),
    "mixed floats": (Mixed, 3, 7, lambda x: x.float()),
    "bool": (Flags, 5, 7, lambda x: x > 20),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("options", [{}, {"search": "paper"}, {"noise": "rows"}], ids=str)
def test_explanations_are_those_of_a_loop_over_the_whole_graph(name, options):
    kind, seed, query, convert = CASES[name]
    x, edge_index = a_graph()
    x, model = convert(x), made(kind, seed)
    explanation = Zorro(model, x, edge_index, **QUICK, **options).explain(query)

    def predict(given):
        assert given.dtype == x.dtype
        with torch.no_grad():
            return int(model(given, edge_index)[query].argmax())

    assert explanation.evaluator == ("recorded" if x.is_floating_point() else "any-model")
    assert explanation.predicted_class == predict(x)
    assert explanation.status != "nothing needed"
    if "noise" not in options:
        share = plain_fidelity(
            predict, x, query, nodes=explanation.nodes, features=explanation.features
        )
        assert abs(share - explanation.fidelity.value) < 4.5 * (2 * 0.25 / 300) ** 0.5
        assert share > 0.7 or options == {"search": "paper"}  # which certifies nothing


class LooksUp(nn.Module):
    """A category decides; the other columns are all but nothing."""

    def __init__(self, dtype):
        super().__init__()
        self.embedding = nn.Embedding(2, 2).requires_grad_(False)
        self.embedding.weight.copy_(torch.tensor([[1.0, -1.0], [-1.0, 1.0]]))
        self.linear = nn.Linear(20, 2)
        self.dtype = dtype

    def forward(self, x, edge_index):
        assert x.dtype == self.dtype or x.is_floating_point()
        return 5 * self.embedding(x[:, 0].long()) + 1e-3 * self.linear(x[:, 1:].float())


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_a_column_without_a_gradient_is_tested_if_it_matters(dtype):
    torch.manual_seed(1)
    x = torch.randint(2, (NODES, 21)).to(dtype)
    edge_index = torch.zeros(2, 0, dtype=torch.long)
    explanation = Zorro(LooksUp(dtype), x, edge_index, k=4, **QUICK).explain(QUERY)
    assert (explanation.nodes, explanation.features) == ((QUERY,), (0,))
    assert explanation.fidelity.value == 1


@pytest.mark.parametrize("noise", ["column-marginals", "rows", "published"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_noise_keeps_to_the_columns_own_values(noise, sparse, dtype):
    x = a_graph()[0]
    x[:, 2] *= torch.arange(NODES) % 3 == 0  # with zeros
    x = (x % 7 > 2) if dtype == torch.bool else x.to(dtype)
    if sparse and noise == "published":
        return
    given = x.to_sparse() if sparse else x
    drawn = draws_of(
        resolve(noise, features_of(given)),
        x[:5],
        seed=0,
        query=0,
        samples=range(200),
        memory=1 << 30,
    ).matrices(torch.arange(200))
    assert drawn.dtype == dtype
    for column in range(COLUMNS):
        # 1000 draws of at most 24 values, each with a chance of 1 in 24 or more.
        assert set(drawn[:, :, column].flatten().tolist()) == set(x[:, column].tolist())


@pytest.mark.parametrize("noise", ["gaussian", "means"])
def test_noise_between_the_values_is_refused(noise):
    x, edge_index = a_graph()
    with pytest.raises(
        InputError, match=f"noise: expected 'column-marginals', .*int64 features, got '{noise}'"
    ):
        Zorro(made(Embeds, 2), x, edge_index, noise=noise)


def test_a_function_must_draw_what_the_features_are():
    x, edge_index = a_graph()

    def halves(candidates, generator):
        return torch.full(candidates.shape, 0.5)

    def threes(candidates, generator):
        return torch.full(candidates.shape, 3)

    with pytest.raises(
        InputError, match=r"noise: expected torch.int64 of halves, .* torch.float32"
    ):
        Zorro(made(Embeds, 2), x, edge_index, noise=halves, **QUICK).explain(QUERY)
    explanation = Zorro(made(Embeds, 2), x, edge_index, noise=threes, **QUICK).explain(QUERY)
    assert explanation.fidelity.value in (0.0, 1.0)


@pytest.mark.parametrize("hops", [None, 1])
def test_the_context_is_disturbed_with_categories_that_exist(hops):
    """Numbers that no node has would be outside the vocabulary."""
    x, edge_index = a_graph()
    x = x * 0 + torch.where(torch.arange(NODES) % 2 == 0, 0, WORDS - 1).unsqueeze(1)
    model = made(Embeds, 2)
    graph = Zorro(model, x, edge_index, hops=hops, samples=20, fresh_samples=20).explain(QUERY)
    assert graph.graph.hops == 1


def test_what_has_no_order_stays_refused():
    with pytest.raises(InputError, match=r"x: expected .* integer or bool .*got torch.complex64"):
        Zorro(made(Embeds, 2), a_graph()[0] + 0j, a_graph()[1])
    with pytest.raises(InputError, match=r"convert it with x.float\(\)"):
        check_graph(*a_graph())  # files and stored graphs hold floats


class OfGraphs(nn.Module):
    """Categories embedded, a convolution, the sum over a graph; notes what it is given."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 6)
        self.conv = gnn.GCNConv(6, 8)
        self.last = nn.Linear(8, 3, bias=False)
        self.seen = []

    def forward(self, x, edge_index, batch=None):
        self.seen.append(x.clone())
        hidden = self.conv(self.embedding(x).sum(1).tanh(), edge_index).tanh()
        return self.last(gnn.global_add_pool(hidden, batch)) * 4


def some_graphs():
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for nodes in range(5, 13):
        ring = torch.arange(nodes)
        edges = torch.stack([ring, ring.roll(1)])
        x = 2 * torch.randint(1, WORDS // 2 - 1, (nodes, COLUMNS), generator=generator) + 1
        graphs.append(Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], dim=1)))
    return graphs


@pytest.mark.parametrize("groups", [[], [[0, 2]], [range(COLUMNS)]], ids=str)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_categories_of_whole_graphs_are_drawn_from_their_own_values(groups, dtype):
    """Alone each column keeps to its values; in a group the columns keep to a node's."""
    graphs = some_graphs()
    for graph in graphs:
        graph.x = graph.x.to(dtype)
    pool = torch.cat([graph.x for graph in graphs])
    model, query = made(OfGraphs, 2), 3
    zorro = Zorro.of_graphs(model, graphs, feature_groups=groups or None, **QUICK)
    explanation = zorro.explain(query)
    assert explanation.certified
    assert explanation.status == "certified"
    grouped = {column for group in groups for column in group}
    every = [*map(list, groups), *([c] for c in range(COLUMNS) if c not in grouped)]
    for columns in every:
        known = {tuple(row) for row in pool[:, columns].tolist()}
        for x in model.seen:
            assert x.dtype == dtype or x.requires_grad  # where gradients are tried
            assert {tuple(row) for row in x[:, columns].tolist()} <= known
        assert len(set(columns) & set(explanation.features)) in (0, len(columns))

    keep = torch.zeros_like(graphs[query].x, dtype=torch.bool)
    for row in explanation.nodes:
        keep[row, list(explanation.features)] = True
    generator = torch.Generator().manual_seed(5)
    hits = 0
    for _ in range(400):
        drawn = torch.empty_like(graphs[query].x)
        for columns in every:
            rows = torch.randint(len(pool), (len(drawn),), generator=generator)
            drawn[:, columns] = pool[rows][:, columns]
        with torch.no_grad():
            scores = model(torch.where(keep, graphs[query].x, drawn), graphs[query].edge_index)
        hits += int(scores[0].argmax()) == explanation.predicted_class
    assert hits / 400 > 0.8 - 4 * (0.16 / 400) ** 0.5


def test_a_graph_of_other_numbers_is_refused():
    graphs = some_graphs()
    zorro = Zorro.of_graphs(made(OfGraphs, 0), graphs, **QUICK)
    other = Data(x=graphs[0].x.float(), edge_index=graphs[0].edge_index)
    with pytest.raises(InputError, match=r"graph: expected torch.int64 features as in graphs\[0\]"):
        zorro.explain(other)
    with pytest.raises(InputError, match=r"graphs\[1\].x: expected torch.int64 as in graphs\[0\]"):
        Zorro.of_graphs(made(OfGraphs, 0), [graphs[0], other])
