"""Directed graphs, several edges between two nodes, loops, stored graphs; masks and files."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data

from zorro import Explanation, Zorro
from zorro.data import open_stored, store
from zorro.errors import InputError

sys.path.append(str(Path(__file__).parent))
from plain_edges import assert_holds, assert_same_share, plain_elements, plain_share

NODES, FEATURES = 30, 5


def features(seed=0):
    return torch.randn(NODES, FEATURES, generator=torch.Generator().manual_seed(seed))


def some_pairs(count=60, seed=1):
    draw = torch.Generator().manual_seed(seed)
    pairs = torch.randint(NODES, (2, count), generator=draw)
    return pairs[:, pairs[0] != pairs[1]].unique(dim=1)


def both_ways(pairs):
    return torch.cat([pairs, pairs.flip(0)], dim=1).unique(dim=1)


def made(build, seed=3):
    torch.manual_seed(seed)
    return build().eval()


def gcn():
    return gnn.GCN(FEATURES, 8, num_layers=2, out_channels=3, act="tanh")


def gin():
    return gnn.GIN(FEATURES, 8, num_layers=2, out_channels=3, act="tanh")


class ByType(nn.Module):
    """Layers with a weight for each type of edge, and no message scaled on the way."""

    def __init__(self):
        super().__init__()
        self.first = gnn.GINEConv(nn.Linear(FEATURES, 8), edge_dim=4)
        self.second = gnn.GINEConv(nn.Linear(8, 3), edge_dim=4)
        self.kinds = nn.Embedding(4, 4)

    def forward(self, x, edge_index, edge_type):
        kinds = self.kinds(edge_type) * 2
        return self.second(self.first(x, edge_index, kinds).tanh(), edge_index, kinds)


def checked(
    model, x, edge_index, *, directed=False, tags=None, given=None, queries=3, options=None
):
    """Explain some queries, compare each claim with a plain loop, return the explanations."""
    given = given or {}
    zorro = Zorro(model, x, edge_index, keep=("edges",), model_kwargs=given, **(options or {}))
    elements = plain_elements(edge_index, directed=directed, tags=tags)
    found = []
    for query in range(NODES):
        if zorro.fidelity(query, edges=[], samples=200).value > 0.75:
            continue
        with torch.no_grad():
            true = int(model(x, edge_index, **given)[query].argmax())

        def stays(columns, die, query=query, true=true):
            less = {name: values[columns] for name, values in given.items()}
            with torch.no_grad():
                return int(model(x, edge_index[:, columns], **less)[query].argmax()) == true

        explanation = zorro.explain(query)
        assert explanation.graph.directed == directed
        assert_holds(explanation, *plain_share(stays, elements, explanation.edges))
        some = explanation.edges[1:]
        measured = zorro.fidelity(query, edges=some, samples=600)
        assert_same_share(measured, *plain_share(stays, elements, some))
        mask = explanation.edge_mask(edge_index, given)
        columns = [column for edge in explanation.edges for column in elements[edge]]
        expected = torch.zeros(edge_index.size(1))
        expected[columns] = 1.0
        assert torch.equal(mask, expected)
        carried = explanation.to_pyg(x, edge_index, edge_attributes=given)
        assert torch.equal(carried.edge_mask, expected)
        assert "node_mask" not in carried
        again = Explanation.from_json(explanation.to_json())
        assert again == explanation
        assert again.edges == explanation.edges
        found.append(explanation)
        if len(found) == queries:
            return found
    raise AssertionError("too few queries need an edge")


@pytest.mark.parametrize("build", [gcn, gin])
def test_undirected(build):
    found = checked(made(build), features(), both_ways(some_pairs()))
    assert all(u < v for explanation in found for u, v in explanation.edges)


@pytest.mark.parametrize("build", [gcn, gin])
@pytest.mark.parametrize("said", [None, True])
def test_directed(build, said):
    pairs = some_pairs(110)
    back = pairs.flip(0)[:, :20]  # some have a reverse, which is another edge
    edge_index = torch.cat([pairs, back], dim=1).unique(dim=1)
    found = checked(made(build), features(), edge_index, directed=True, **_said(said))
    every = [edge for explanation in found for edge in explanation.edges]
    assert any(u > v for u, v in every)


def test_undirected_taken_for_directed():
    """The two directions of an edge may be kept one without the other, if that is wanted."""
    found = checked(made(gin), features(), both_ways(some_pairs()), directed=True, **_said(True))
    every = [edge for explanation in found for edge in explanation.edges]
    assert any(u > v for u, v in every)


def _said(directed):
    """What a user says; the plain loop is told of it by its own argument."""
    return {"options": {"directed": directed}} if directed is not None else {}


def test_several_edges_of_several_types():
    pairs = some_pairs(45)
    draw = torch.Generator().manual_seed(4)
    first = torch.randint(4, (pairs.size(1),), generator=draw)
    second = (first + 1 + torch.randint(3, (pairs.size(1),), generator=draw)) % 4
    each = torch.cat([pairs, pairs[:, :25]], dim=1)
    kinds = torch.cat([first, second[:25]])
    edge_index = torch.cat([each, each.flip(0)], dim=1)
    order = torch.randperm(edge_index.size(1), generator=draw)
    edge_index, kinds = edge_index[:, order], kinds.repeat(2)[order]
    found = checked(
        made(ByType),
        features(),
        edge_index,
        tags=kinds.tolist(),
        given={"edge_type": kinds},
    )
    several = [edge for explanation in found for edge in explanation.edges if len(edge) == 3]
    assert several
    explanation = next(each for each in found if any(len(edge) == 3 for edge in each.edges))
    with pytest.raises(InputError, match=r"^attributes: expected edge_type, .* got none$"):
        explanation.edge_mask(edge_index)
    u, v, number = next(edge for edge in explanation.edges if len(edge) == 3)
    assert f"{u}–{v} ({number})" in str(explanation)


def test_loops_of_the_graph_are_edges_and_those_of_a_layer_are_none():
    """A convolution adds loops of its own: they stay, whatever is taken out."""
    loops = torch.arange(0, NODES, 2).repeat(2, 1)
    edge_index = torch.cat([both_ways(some_pairs()), loops], dim=1)
    given = {"edge_weight": torch.where(edge_index[0] == edge_index[1], 4.0, 1.0)}

    class Weighted(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, 3)

        def forward(self, x, edge_index, edge_weight):
            x = self.first(x, edge_index, edge_weight).tanh()
            return self.second(x, edge_index, edge_weight)

    model = made(Weighted)
    found = checked(model, features(), edge_index, given=given, queries=4)
    zorro = Zorro(model, features(), edge_index, keep=("edges",), model_kwargs=given)
    query = found[0].node
    even, odd = query - query % 2, query - query % 2 + 1
    assert zorro.importance(query).of("edges").keys() >= {(query, query)} - {(odd, odd)}
    zorro.fidelity(even, edges=[(even, even)])
    with pytest.raises(InputError, match=rf"^edges\[0\]: .*\({odd}, {odd}\)"):
        zorro.fidelity(odd, edges=[(odd, odd)])


@pytest.mark.parametrize("weighted", [False, True])
def test_a_stored_graph_gives_what_the_same_in_memory_gives(tmp_path, weighted):
    x, edge_index = features(), both_ways(some_pairs())
    model = made(gcn)
    data = Data(x=x, edge_index=edge_index)
    if weighted:
        data.edge_weight = torch.rand(edge_index.size(1)) * 3
    store(data, tmp_path / "graph")
    stored = open_stored(tmp_path / "graph")
    options: dict[str, Any] = {"keep": ("edges",), "directed": False}
    there, here = (
        Zorro(
            model,
            graph.x,
            graph.edge_index,
            check="local",
            model_kwargs={"edge_weight": graph.edge_weight} if weighted else None,
            **options,
        )
        for graph in (stored, data)
    )
    found = 0
    for query in range(6):
        one, other = there.explain(query), here.explain(query)
        assert one.selected == other.selected
        assert one.fidelity == other.fidelity
        found += len(one.edges) > 0
    assert found
    with pytest.raises(InputError, match=r"^directed: expected True or False for a stored graph"):
        Zorro(model, stored.x, stored.edge_index, keep=("edges",))


def test_an_edge_that_the_prediction_cannot_see_makes_no_difference():
    here = torch.arange(NODES - 1)
    path = both_ways(torch.stack([here, here + 1]))
    zorro = Zorro(made(gcn), features(), path, keep=("edges",))
    near = zorro.fidelity(3, edges=[(2, 3)], samples=300)
    assert zorro.fidelity(3, edges=[(2, 3), (21, 20)], samples=300) == near
    with pytest.raises(InputError, match=r"^edges\[1\]: .*\(20, 22\)"):
        zorro.fidelity(3, edges=[(2, 3), (20, 22)])


def test_a_file_with_other_than_edges_is_refused():
    x, edge_index = features(), both_ways(some_pairs())
    zorro = Zorro(made(gin), x, edge_index, keep=("edges",))
    explanation = next(e for e in map(zorro.explain, range(NODES)) if e.edges)
    values = json.loads(explanation.to_json())
    for selected in ({"edges": [3]}, {"edges": [[1, NODES]]}, {"nodes": [[1, 2]]}):
        with pytest.raises(InputError, match=r"^values: expected an explanation"):
            Explanation.from_dict({**values, "selected": selected})


def test_sets_of_edges_have_no_mask_without_an_edge_index():
    zorro = Zorro(made(gin), features(), both_ways(some_pairs()), keep=("edges",))
    with pytest.raises(InputError, match=r"^edge_index: expected with a set of edges, got None$"):
        zorro.explain(0).to_pyg()


def test_masks_of_nodes_and_edges_stand_beside_each_other():
    x, edge_index = features(), both_ways(some_pairs())
    zorro = Zorro(made(gin), x, edge_index, keep=("nodes", "edges"))
    explanation = next(e for e in map(zorro.explain, range(NODES)) if e.edges and e.nodes)
    carried = explanation.to_pyg(x, edge_index)
    assert carried.validate(raise_on_error=True)
    assert carried.node_mask[:, 0].nonzero().flatten().tolist() == list(explanation.nodes)
    assert carried.edge_mask.sum() == 2 * len(explanation.edges)
    without = Zorro(made(gin), x, edge_index, keep=("nodes",)).explain(explanation.node)
    assert (without.edge_mask(edge_index) == 1).all()


def test_what_is_said_names_edges_and_their_presence():
    zorro = Zorro(
        made(gin), features(), both_ways(some_pairs()), keep=("edges",), edge_presence=0.25
    )
    explanation = next(e for e in map(zorro.explain, range(NODES)) if len(e.edges) > 1)
    u, v = explanation.edges[0]
    assert f"{u}–{v}" in str(explanation)
    assert "other edges present with probability 0.25" in str(explanation)
    assert f"{len(explanation.edges)} edges" in repr(explanation)
    assert "edges" in explanation.sentence()
    assert "probability 0.25" in explanation._repr_html_()
