"""Edges that exchange ends, and edges that only send nothing."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.nn import GCNConv
from torch_geometric.utils import degree, to_undirected

from zorro import Zorro
from zorro.elements import Selection, Space
from zorro.elements.edges import EdgeElements
from zorro.errors import InputError, ModelError
from zorro.noise.rewiring import Rewiring

NODES = 14


class TwoLayers(nn.Module):
    def __init__(self, layer=GCNConv):
        super().__init__()
        torch.manual_seed(2)
        self.first, self.second = layer(4, 8), layer(8, 3)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def a_graph(*, directed=False, seed=0):
    draw = torch.Generator().manual_seed(seed)
    pairs = torch.randint(NODES, (2, 24), generator=draw)
    pairs = torch.unique(pairs[:, pairs[0] != pairs[1]], dim=1)
    x = torch.randn(NODES, 4, generator=draw)
    return x, pairs if directed else to_undirected(pairs)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_degrees_stay_kept_edges_stay_and_no_edge_is_double(directed):
    _, edge_index = a_graph(directed=directed)
    edges = EdgeElements.of(edge_index, {}, nodes=NODES, directed=directed)
    draws = Rewiring().draws(edges, seed=1, query=2, samples=range(60))
    kept = torch.arange(edges.count) % 4 == 0
    selection = Selection(Space(NODES, 1, ("edges",), edges=edges.count), {"edges": kept})
    given = draws.under(selection)
    structure = given.structure(edges, {}, {})
    moved = 0
    for sample in range(60):
        assert structure.ends is not None
        index = structure.ends[sample]
        for row in (0, 1):
            assert torch.equal(degree(index[row], NODES), degree(edge_index[row], NODES))
        columns = list(map(tuple, index.t().tolist()))
        assert len(set(columns)) == len(columns)
        assert all(u != v for u, v in columns)
        if not directed:
            assert {(v, u) for u, v in columns} == set(columns)
        stays = kept[edges.of_column]
        assert torch.equal(index[:, stays], edge_index[:, stays])
        moved += int((index != edge_index).any(0).sum())
    assert moved > 60  # and the others move


def test_draws_have_an_address():
    _, edge_index = a_graph()
    edges = EdgeElements.of(edge_index, {}, nodes=NODES, directed=False)
    every = Rewiring().draws(edges, seed=1, query=2, samples=range(20))
    later = Rewiring().draws(edges, seed=1, query=2, samples=range(12, 20))
    assert torch.equal(every.words[12:], later.words)


def rewired(edge_index, keep, draw):
    """Exchange ends of edges that are not kept, in pairs, by Python's own random numbers."""
    pairs = sorted({tuple(sorted(pair)) for pair in edge_index.t().tolist()})
    free = [pair for pair in pairs if pair not in keep]
    draw.shuffle(free)
    there, result = set(pairs), set(pairs)
    for (a, b), (c, d) in zip(free[0::2], free[1::2], strict=False):
        one = (a, b) if draw.random() < 0.5 else (b, a)
        two = (c, d) if draw.random() < 0.5 else (d, c)
        new = [tuple(sorted((one[0], two[1]))), tuple(sorted((two[0], one[1])))]
        if new[0] != new[1] and not any(u == v for u, v in new) and not set(new) & (there | result):
            result -= {(a, b), (c, d)}
            result |= set(new)
    return to_undirected(torch.tensor(sorted(result)).t())


def test_the_fidelity_is_a_plain_loops():
    x, edge_index = a_graph(seed=2)
    model = TwoLayers().eval()
    pairs = sorted({tuple(sorted(pair)) for pair in edge_index.t().tolist()})
    for keep in ([], pairs[::3]):
        zorro = Zorro(model, x, edge_index, keep=("edges",), edge_noise="rewire")
        ours = zorro.fidelity(3, edges=keep, samples=800)
        draw, hits = random.Random(4), 0
        with torch.no_grad():
            predicted = int(model(x, edge_index)[3].argmax())
            for _ in range(800):
                hits += int(model(x, rewired(edge_index, keep, draw))[3].argmax()) == predicted
        assert 0.02 < hits / 800 < 0.99  # it is not decided anyway
        assert abs(hits / 800 - ours.value) < 0.07


def test_messages_that_are_scaled_are_pygs():
    x, edge_index = a_graph(seed=2)
    model = TwoLayers().eval()
    pairs = sorted({tuple(sorted(pair)) for pair in edge_index.t().tolist()})
    zorro = Zorro(model, x, edge_index, keep=("edges",), edge_effect="message")
    seen = zorro.meter(3).graph.edges.labels
    for keep in (set(), set(seen[::4])):
        ours = zorro.fidelity(3, edges=sorted(keep), samples=800)
        draw, hits = random.Random(4), 0
        with torch.no_grad():
            predicted = int(model(x, edge_index)[3].argmax())
            for _ in range(800):
                there = {pair for pair in pairs if pair in keep or draw.random() < 0.5}
                mask = [tuple(sorted(pair)) in there for pair in edge_index.t().tolist()]
                set_masks(model, torch.tensor(mask).float(), edge_index, apply_sigmoid=False)
                hits += int(model(x, edge_index)[3].argmax()) == predicted
                clear_masks(model)
        assert 0.02 < hits / 800 < 0.99
        assert abs(hits / 800 - ours.value) < 0.07
    assert zorro.explain(3).certified


def test_what_cannot_be_is_refused():
    x, edge_index = a_graph()
    model = TwoLayers()
    with pytest.raises(InputError, match="edge_presence: expected nothing else with edge_noise"):
        Zorro(model, x, edge_index, keep=("edges",), edge_noise="rewire", edge_presence=0.3)
    with pytest.raises(InputError, match="edge_noise: expected"):
        Zorro(model, x, edge_index, keep=("edges",), edge_noise="swap")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="edge_effect: expected 'edges' in keep"):
        Zorro(model, x, edge_index, edge_effect="message")
    with pytest.raises(ModelError, match="edge_effect: 'message' scales the messages"):
        Zorro(lambda x, edge_index: x[:, :3], x, edge_index, keep=("edges",), edge_effect="message")
