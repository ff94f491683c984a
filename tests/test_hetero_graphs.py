"""Whole graphs of several types: what is claimed of them, against plain loops over each graph."""

import random
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

sys.path.append(str(Path(__file__).parent))
from plain_edges import assert_same_share
from plain_hetero import as_kept
from scipy.stats import binom
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv, global_add_pool, global_mean_pool

from zorro import Explanation, Zorro
from zorro.errors import InputError

ROUTES = ("city", "road", "city")
SERVES = ("depot", "serves", "city")
BACK = ("city", "rev_serves", "depot")


def maps(count=12, *, seed=0):
    """Cities with four features, joined by roads both ways, and depots with two; one map has no
    depot at all."""
    die = torch.Generator().manual_seed(seed)
    made = []
    for number in range(count):
        cities = int(torch.randint(4, 8, (1,), generator=die))
        depots = 0 if number == 5 else int(torch.randint(1, 4, (1,), generator=die))
        data = HeteroData()
        data["city"].x = torch.randn(cities, 4, generator=die)
        data["depot"].x = (torch.rand(depots, 2, generator=die) < 0.5).float()
        ring = torch.stack([torch.arange(cities), (torch.arange(cities) + 1) % cities])
        data[ROUTES].edge_index = torch.cat([ring, ring.flip(0)], dim=1)
        data[ROUTES].edge_attr = torch.rand(cities, 1, generator=die).repeat(2, 1)
        served = torch.stack(
            [torch.arange(depots), torch.randint(cities, (depots,), generator=die)]
        )
        data[SERVES].edge_index = served
        data[BACK].edge_index = served.flip(0)
        made.append(data)
    return made


class Pooled(nn.Module):
    """A convolution for each relation, and the mean over cities beside that over depots."""

    def __init__(self, *, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.conv = HeteroConv(
            {
                ROUTES: SAGEConv(4, 8),
                SERVES: SAGEConv((2, 4), 8),
                BACK: SAGEConv((4, 2), 8),
            }
        )
        self.last = nn.Linear(16, 3)
        self.eval()

    def forward(self, x_dict, edge_index_dict, batch_dict):
        graphs = int(batch_dict["city"].max()) + 1
        hidden = self.conv(x_dict, edge_index_dict)
        each = [
            global_mean_pool(hidden[name].relu(), batch_dict[name], graphs)
            for name in ("city", "depot")
        ]
        return self.last(torch.cat(each, dim=1))


def alone(model, data, **further):
    """What a model says of one graph, given as its owner has it."""
    batch = {name: torch.zeros(data[name].num_nodes, dtype=torch.long) for name in data.node_types}
    with torch.no_grad():
        return model(data.x_dict, data.edge_index_dict, batch_dict=batch, **further)[0]


def redrawn(graphs, number, kept, die, presence=0.5):
    """A graph with all but a set drawn from the columns of its type in all graphs."""
    data = graphs[number].clone()
    if {"nodes", "features", "types"} & set(kept):
        for name in data.node_types:
            pool = [row for graph in graphs for row in graph[name].x.tolist()]
            x = data[name].x
            nodes: Any = range(len(x))
            if "types" in kept:
                nodes = nodes if name in kept["types"] else ()
            elif "nodes" in kept:
                nodes = kept["nodes"].get(name, ())
            columns = kept["features"].get(name, ()) if "features" in kept else range(x.size(1))
            for row in range(len(x)):
                for column in range(x.size(1)):
                    if row not in nodes or column not in columns:
                        x[row, column] = pool[die.randrange(len(pool))][column]
    if {"edges", "relations"} & set(kept):
        drop(data, kept, presence, die)
    return data


def drop(data, kept, presence, die):
    """Take edges out that no set keeps: a road in both directions, a depot's with its way back."""
    for relation, back in ((ROUTES, ROUTES), (SERVES, BACK)):
        edges = data[relation].edge_index.t().tolist()
        there = {}
        for u, v in edges:
            key = tuple(sorted((u, v))) if relation == back else (u, v)
            if key in there:
                continue
            if "relations" in kept:
                is_kept = relation in kept["relations"]
            else:
                pairs = [tuple(pair) for pair in kept["edges"].get(relation, ())]
                is_kept = (u, v) in pairs or (relation == back and (v, u) in pairs)
            there[key] = is_kept or die.random() < presence
        for one, turn in {(relation, False), (back, back != relation)}:
            stays = []
            for u, v in data[one].edge_index.t().tolist():
                u, v = (v, u) if turn else (u, v)
                stays.append(there[tuple(sorted((u, v))) if relation == back else (u, v)])
            mask = torch.tensor(stays, dtype=torch.bool)
            data[one].edge_index = data[one].edge_index[:, mask]
            if "edge_attr" in data[one]:
                data[one].edge_attr = data[one].edge_attr[mask]


def share(model, graphs, number, kept, *, samples=300, called=alone):
    die = random.Random(3)
    expected = int(called(model, graphs[number]).argmax())
    stayed = sum(
        int(called(model, redrawn(graphs, number, kept, die)).argmax()) == expected
        for _ in range(samples)
    )
    return stayed, samples


KEEP = [
    ("nodes", "features"),
    ("nodes",),
    ("types",),
    ("edges",),
    ("relations",),
    ("nodes", "edges"),
    ("types", "relations"),
]


@pytest.mark.parametrize("keep", KEEP, ids="-".join)
def test_the_fidelity_is_that_of_a_plain_loop(keep):
    graphs, model = maps(), Pooled()
    zorro = Zorro.of_graphs(model, graphs, keep=keep, max_seconds=20)
    for number in (2, 5):
        found = zorro.explain(number)
        assert found.predicted_class == int(alone(model, graphs[number]).argmax())
        assert found.query.asked == number
        stayed, samples = share(model, graphs, number, as_kept(found))
        assert_same_share(found.fidelity, stayed, samples)
        if found.certified:
            assert found.certificate is not None
            assert binom.cdf(stayed, samples, found.certificate.bound) > 1e-4
        again = Explanation.from_json(found.to_json())
        assert again == found
        assert as_kept(again) == as_kept(found)


def test_members_are_numbered_within_their_graph():
    graphs, model = maps(), Pooled()
    zorro = Zorro.of_graphs(model, graphs, keep=("nodes",), max_seconds=20)
    for number in (7, 9):
        found = zorro.explain(number)
        for name, own in found.nodes.items():
            assert all(each < graphs[number][name].num_nodes for each in own)
        kept = zorro.fidelity(number, nodes=dict(found.nodes.items()), samples=500)
        stayed, samples = share(model, graphs, number, {"nodes": dict(found.nodes.items())})
        assert_same_share(kept, stayed, samples)


def test_a_closed_form():
    """The largest first feature of depots decides: that of one depot, or by chance."""
    graphs = maps()
    for data in graphs:
        depots = data["depot"].num_nodes
        data["depot"].x = torch.zeros(depots, 2)
    for number in (0, 1, 2):  # three of all depots have the feature
        graphs[number]["depot"].x[0, 0] = 1.0
    depots = [data["depot"].num_nodes for data in graphs]

    def model(x_dict, edge_index_dict, batch_dict):
        count = int(batch_dict["city"].max()) + 1
        some = global_add_pool(x_dict["depot"][:, :1], batch_dict["depot"], count)
        return torch.cat([0.5 - some, some - 0.5], dim=1)

    zorro = Zorro.of_graphs(model, graphs)
    found = zorro.explain(1)
    assert found.certified
    assert found.nodes["depot"] == (0,)
    assert found.features["depot"] == (0,)
    assert found.nodes["city"] == ()
    nothing = zorro.fidelity(1, nodes={}, features={}, samples=4000)
    chance = 1 - (1 - 3 / sum(depots)) ** depots[1]
    assert nothing.value == pytest.approx(chance, abs=0.03)
    types = Zorro.of_graphs(model, graphs, keep=("types",)).explain(1)
    assert types.node_types == ("depot",)


def test_attributes_follow_by_their_name():
    graphs = maps()

    class Weighted(nn.Module):
        def forward(self, x_dict, edge_index_dict, batch_dict, edge_attr_dict):
            u, v = edge_index_dict[ROUTES]
            heard = torch.zeros_like(x_dict["city"])
            heard = heard.index_add(0, v, x_dict["city"][u] * edge_attr_dict[ROUTES])
            return global_add_pool(heard, batch_dict["city"])

    def called(model, data):
        return alone(model, data, edge_attr_dict={ROUTES: data[ROUTES].edge_attr})

    model = Weighted()
    for keep in (("nodes", "features"), ("edges",)):
        found = Zorro.of_graphs(
            model, graphs, model_kwargs={"edge_attr_dict": "edge_attr"}, keep=keep, max_seconds=20
        ).explain(3)
        assert found.predicted_class == int(called(model, graphs[3]).argmax())
        stayed, samples = share(model, graphs, 3, as_kept(found), called=called)
        assert_same_share(found.fidelity, stayed, samples)


def test_a_model_of_one_hetero_data_gets_what_a_batch_of_pyg_has():
    graphs = maps()
    inner = Pooled()

    class TakesData(nn.Module):
        def forward(self, data):
            scale = data[ROUTES].edge_attr.mean() * 0
            return inner(data.x_dict, data.edge_index_dict, data.batch_dict) + scale

    found = Zorro.of_graphs(TakesData(), graphs).explain(4)
    same = Zorro.of_graphs(inner, graphs).explain(4)
    assert found.selected == same.selected
    batch = Batch.from_data_list(graphs)
    scores = TakesData()(batch)
    assert found.predicted_class == int(scores[4].argmax())


def test_one_graph_that_is_none_of_them():
    graphs, model = maps(), Pooled()
    zorro = Zorro.of_graphs(model, graphs)
    other = maps(3, seed=9)[2]
    found = zorro.explain(other)
    assert found.query.index == len(graphs)
    assert found.predicted_class == int(alone(model, other).argmax())
    assert zorro.explain(graphs[3]).selected == zorro.explain(3).selected
    one_way = other.clone()
    one_way[BACK].edge_index = one_way[BACK].edge_index[:, :-1]
    with pytest.raises(InputError, match="graph: expected types, relations, features and ways"):
        zorro.explain(one_way)


def test_values_and_edges_of_one_graph_alone():
    graphs = maps(2)
    model = Pooled()
    value = Zorro.of_graphs(model, graphs, tolerance=0.3, output=1).explain(0)
    assert value.value is not None
    assert value.value.value == pytest.approx(float(alone(model, graphs[0])[1]), abs=1e-5)
    one = Zorro.of_graphs(model, graphs[:1], keep=("edges",)).explain(0)
    stayed, samples = share(model, graphs[:1], 0, as_kept(one))
    assert_same_share(one.fidelity, stayed, samples)


def broken(change):
    graphs = maps(3)
    change(graphs)
    return graphs


@pytest.mark.parametrize(
    ("graphs", "options", "message"),
    [
        (maps(1), {}, "graphs: expected two at least, got one"),
        (maps(2), {"model_kwargs": {"w": "weight"}}, r"model_kwargs\['w'\]: expected the name of"),
        (
            maps(2),
            {"model_kwargs": {"w": {"city": torch.ones(3)}}},
            r"model_kwargs\['w'\]: expected the name of what the graphs have, or a constant",
        ),
        (maps(2), {"noise": {"film": "rows"}}, "noise: expected one of"),
        (maps(2), {"keep": ("nodes", "types")}, "keep: expected 'types' or 'nodes', got both"),
        (maps(2), {"hops": 2}, "hops: expected one of the options"),
        (
            broken(lambda g: g[2]["city"].update({"x": torch.ones(3, 5)})),
            {},
            r"graphs\[2\]\['city'\].x: expected rows of shape \(4,\)",
        ),
        (
            broken(lambda g: g[1][ROUTES].update({"edge_index": torch.tensor([[0], [99]])})),
            {},
            r"graphs\[1\]\[\('city', 'road', 'city'\)\].edge_index: expected nodes of 'city'",
        ),
        (
            [*maps(2), torch.ones(3)],
            {},
            r"graphs\[2\]: expected PyG's HeteroData as the others, got Tensor",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(graphs, options, message):
    with pytest.raises(InputError, match=message):
        Zorro.of_graphs(Pooled(), graphs, **options)


def test_other_graphs_are_refused_in_one_line():
    with pytest.raises(InputError, match="graphs: expected a list of graphs, got one HeteroData"):
        Zorro.of_graphs(Pooled(), maps(1)[0])
    zorro = Zorro.of_graphs(Pooled(), maps(2))
    with pytest.raises(InputError, match="graph: expected PyG's HeteroData, got Data"):
        zorro.explain(Data(x=torch.ones(2, 4)))
    with pytest.raises(InputError, match="graph: expected a graph from 0 to 1, got 2"):
        zorro.explain(2)


def test_a_model_that_is_not_told_the_graphs_is_refused():
    def model(x_dict, edge_index_dict):
        return x_dict["city"].mean(0, keepdim=True)

    with pytest.raises(InputError, match="model: expected one that takes batch_dict, each node's"):
        Zorro.of_graphs(model, maps(2))
