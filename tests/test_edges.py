"""Sets of edges: every claim against a plain loop that takes edges out of the whole graph."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data
from torch_geometric.utils import degree

from zorro import Zorro
from zorro.elements import Kind
from zorro.errors import InputError

sys.path.append(str(Path(__file__).parent))
from plain_edges import (
    assert_holds,
    assert_same_share,
    plain_elements,
    plain_share,
    redrawn,
)

NODES, FEATURES = 40, 6
EDGES: tuple[Kind, ...] = ("edges",)


def ring_with_chords(nodes=NODES, step=7):
    here = torch.arange(nodes)
    pairs = torch.stack([here.repeat(2), torch.cat([(here + 1) % nodes, (here + step) % nodes])])
    return torch.cat([pairs, pairs.flip(0)], dim=1)


def features(nodes=NODES, seed=0):
    return torch.randn(nodes, FEATURES, generator=torch.Generator().manual_seed(seed))


class Weighted(nn.Module):
    """Two convolutions with weights of edges."""

    def __init__(self):
        super().__init__()
        self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, 3)

    def forward(self, x, edge_index, edge_weight):
        return self.second(self.first(x, edge_index, edge_weight).tanh(), edge_index, edge_weight)


MODELS = {
    "gcn": lambda: gnn.GCN(FEATURES, 8, num_layers=2, out_channels=3, act="tanh"),
    "gat": lambda: gnn.GAT(FEATURES, 8, num_layers=2, out_channels=3, act="tanh"),
    "gin": lambda: gnn.GIN(FEATURES, 8, num_layers=2, out_channels=3),
    "sage": lambda: gnn.GraphSAGE(FEATURES, 8, num_layers=2, out_channels=3, act="tanh"),
}


def made(build, seed=0):
    torch.manual_seed(seed)
    return build().eval()


def class_stays(model, x, edge_index, node, **given):
    """Whether a node's class stays, as its model is called by its owner; tensors are of edges."""
    with torch.no_grad():
        true = int(model(x, edge_index, **given)[node].argmax())

    def stays(columns, die):
        with torch.no_grad():
            less = {name: values[columns] for name, values in given.items()}
            return int(model(x, edge_index[:, columns], **less)[node].argmax()) == true

    return stays


def first_that_needs_some(zorro, queries, most=0.7, **nothing):
    """The first query whose answer stays too rarely with no edge kept."""
    for query in queries:
        if zorro.fidelity(query, edges=[], samples=200, **nothing).value < most:
            return query
    raise AssertionError("no query needs an edge")


@pytest.mark.parametrize("presence", [None, 0.0, 0.9])
@pytest.mark.parametrize("name", MODELS)
def test_claims_about_nodes_hold_in_a_plain_loop(name, presence):
    x, edge_index = features(), ring_with_chords()
    model = made(MODELS[name])
    tau = 0.95 if presence == 0.9 else 0.85
    zorro = Zorro(model, x, edge_index, keep=EDGES, edge_presence=presence, tau=tau)
    query = first_that_needs_some(zorro, range(NODES), most=tau - 0.05)
    elements = plain_elements(edge_index)
    stays = class_stays(model, x, edge_index, query)
    given = {"presence": 0.5 if presence is None else presence}
    explanation = zorro.explain(query)
    assert explanation.parameters.edge_presence == given["presence"]
    assert explanation.edges
    assert_holds(explanation, *plain_share(stays, elements, explanation.edges, **given))
    some = [edge for edge in explanation.edges if edge != explanation.edges[0]]
    for kept in ([], some):
        measured = zorro.fidelity(query, edges=kept, samples=600)
        assert_same_share(measured, *plain_share(stays, elements, kept, **given))


def test_weights_go_with_their_edges():
    x, edge_index = features(), ring_with_chords()
    weight = torch.rand(edge_index.size(1), generator=torch.Generator().manual_seed(3)) * 3
    model = made(Weighted)
    zorro = Zorro(model, x, edge_index, keep=EDGES, model_kwargs={"edge_weight": weight})
    query = first_that_needs_some(zorro, range(NODES))
    explanation = zorro.explain(query)
    elements = plain_elements(edge_index)
    stays = class_stays(model, x, edge_index, query, edge_weight=weight)
    assert_holds(explanation, *plain_share(stays, elements, explanation.edges))
    measured = zorro.fidelity(query, edges=explanation.edges[1:], samples=600)
    assert_same_share(measured, *plain_share(stays, elements, explanation.edges[1:]))


@pytest.mark.parametrize("contrast", ["beats", "not"])
def test_why_one_class_and_not_another(contrast):
    x, edge_index = features(), ring_with_chords()
    model = made(MODELS["gcn"])
    with torch.no_grad():
        scores = model(x, edge_index)
    zorro = Zorro(model, x, edge_index, keep=EDGES)
    for query in range(NODES):
        first, other = scores[query].argsort(descending=True)[:2].tolist()
        explanation = zorro.explain(query, why_not=other, contrast=contrast)
        if explanation.edges:
            break

    def stays(columns, die):
        with torch.no_grad():
            now = model(x, edge_index[:, columns])[query]
        return now[first] > now[other] if contrast == "beats" else int(now.argmax()) != other

    share = plain_share(stays, plain_elements(edge_index), explanation.edges)
    assert_holds(explanation, *share)


@pytest.mark.parametrize("side", ["both", "up"])
def test_a_value_stays_within_its_tolerance(side):
    x, edge_index = features(), ring_with_chords()
    model = made(lambda: gnn.GCN(FEATURES, 8, num_layers=2, out_channels=1, act="tanh"))
    zorro = Zorro(model, x, edge_index, keep=EDGES, tolerance_share=0.4, side=side)
    query = first_that_needs_some(zorro, range(NODES), most=0.8)
    explanation = zorro.explain(query)
    with torch.no_grad():
        every = model(x, edge_index).flatten()
    limit = 0.4 * float(every.std())
    assert explanation.value is not None
    assert explanation.value.tolerance == pytest.approx(limit, rel=1e-4)

    def stays(columns, die):
        with torch.no_grad():
            moved = float(model(x, edge_index[:, columns])[query]) - float(every[query])
        return moved >= -limit and (side == "up" or moved <= limit)

    assert_holds(explanation, *plain_share(stays, plain_elements(edge_index), explanation.edges))


class Linked(nn.Module):
    """Two convolutions, and the product of the ends' states."""

    def __init__(self):
        super().__init__()
        self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, 8)

    def forward(self, x, edge_index, edge_label_index):
        z = self.second(self.first(x, edge_index).tanh(), edge_index)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1) * 4 - 0.1


@pytest.mark.parametrize("carries", [False, True])
def test_a_link_that_is_asked_about_is_no_edge(carries):
    x, edge_index = features(), ring_with_chords()
    model = made(Linked)
    zorro = Zorro.of_links(
        model, x, edge_index, threshold=0.0, keep=EDGES, carries_messages=carries
    )
    edges = list(plain_elements(edge_index))
    link = first_that_needs_some(zorro, edges, most=0.75)
    if not carries:
        with pytest.raises(InputError, match=r"^edges\[0\]: "):
            zorro.fidelity(link, edges=[link])
    messages = edge_index
    if not carries:
        is_link = [set(pair) == set(link) for pair in edge_index.t().tolist()]
        messages = edge_index[:, ~torch.tensor(is_link)]
    explanation = zorro.explain(link)
    asked = torch.tensor([link]).t()
    with torch.no_grad():
        there = bool(model(x, messages, asked) > 0)

    def stays(columns, die):
        with torch.no_grad():
            return bool(model(x, messages[:, columns], asked) > 0) == there

    elements = plain_elements(messages)
    assert (link in elements) == carries
    assert_holds(explanation, *plain_share(stays, elements, explanation.edges))
    some = explanation.edges[1:]
    measured = zorro.fidelity(link, edges=some, samples=600)
    assert_same_share(measured, *plain_share(stays, elements, some))


def test_a_link_stays_ahead_of_another():
    x, edge_index = features(), ring_with_chords()
    model = made(Linked)
    ends = [3, 10, 12, 20]
    is_asked = [5 in pair and bool(set(pair) & set(ends)) for pair in edge_index.t().tolist()]
    messages = edge_index[:, ~torch.tensor(is_asked)]
    links = torch.tensor([(5, end) for end in ends]).t()
    with torch.no_grad():
        order = model(x, messages, links).argsort(descending=True).tolist()
    high, *lower = (ends[place] for place in order)
    zorro = Zorro.of_links(model, x, edge_index, threshold=0.0, keep=EDGES)
    explanation = zorro.explain((5, high), among=lower)
    links = torch.tensor([(5, end) for end in (high, *lower)]).t()

    def stays(columns, die):
        with torch.no_grad():
            now = model(x, messages[:, columns], links)
        return bool((now[1:] < now[0]).all())

    assert_holds(explanation, *plain_share(stays, plain_elements(messages), explanation.edges))


class WithBonds(nn.Module):
    """GINE layers with what an edge is, summed."""

    def __init__(self):
        super().__init__()
        self.first = gnn.GINEConv(nn.Linear(FEATURES, 8), edge_dim=2)
        self.second = gnn.GINEConv(nn.Linear(8, 8), edge_dim=2)
        self.last = nn.Linear(8, 3)

    def forward(self, x, edge_index, batch, edge_attr):
        x = self.first(x, edge_index, edge_attr).tanh()
        return self.last(gnn.global_add_pool(self.second(x, edge_index, edge_attr), batch))


def molecules(count=10, seed=2):
    draw = torch.Generator().manual_seed(seed)
    graphs = []
    for _ in range(count):
        nodes = int(torch.randint(5, 10, (1,), generator=draw))
        bonds = [(i, (i + 1) % nodes) for i in range(nodes)] + [(0, nodes // 2)]
        pairs = torch.tensor(bonds).t()
        attributes = torch.randn(pairs.size(1), 2, generator=draw)
        graphs.append(
            Data(
                x=torch.randn(nodes, FEATURES, generator=draw),
                edge_index=torch.cat([pairs, pairs.flip(0)], dim=1),
                edge_attr=torch.cat([attributes, attributes]),
            )
        )
    return graphs


@pytest.mark.parametrize("presence", [0.0, 0.5])
def test_claims_about_graphs_hold_in_a_plain_loop(presence):
    graphs, model = molecules(), made(WithBonds)
    zorro = Zorro.of_graphs(
        model,
        graphs,
        keep=EDGES,
        edge_presence=presence,
        model_kwargs={"edge_attr": "edge_attr"},
    )
    number = first_that_needs_some(zorro, range(len(graphs)))
    graph = graphs[number]
    batch = torch.zeros(len(graph.x), dtype=torch.long)
    stays = _graph_stays(model, graph, batch)
    explanation = zorro.explain(number)
    elements = plain_elements(graph.edge_index)
    share = plain_share(stays, elements, explanation.edges, presence=presence)
    assert_holds(explanation, *share)
    some = explanation.edges[1:]
    measured = zorro.fidelity(number, edges=some, samples=600)
    assert_same_share(measured, *plain_share(stays, elements, some, presence=presence))


def _graph_stays(model, graph, batch):
    with torch.no_grad():
        true = int(model(graph.x, graph.edge_index, batch, graph.edge_attr).argmax())

    def stays(columns, die):
        with torch.no_grad():
            output = model(graph.x, graph.edge_index[:, columns], batch, graph.edge_attr[columns])
        return int(output.argmax()) == true

    return stays


def test_attributes_of_other_edges_are_those_of_a_random_edge():
    graphs, model = molecules(), made(WithBonds)
    zorro = Zorro.of_graphs(
        model,
        graphs,
        keep=("edges", "edge_attributes"),
        edge_presence=0.6,
        model_kwargs={"edge_attr": "edge_attr"},
    )
    number = first_that_needs_some(zorro, range(len(graphs)), edge_attributes=[])
    graph = graphs[number]
    pool = torch.cat([each.edge_attr for each in graphs])
    batch = torch.zeros(len(graph.x), dtype=torch.long)
    elements = plain_elements(graph.edge_index)
    with torch.no_grad():
        true = int(model(graph.x, graph.edge_index, batch, graph.edge_attr).argmax())

    def keeping(attributes):
        def stays(columns, die):
            given = graph.edge_attr.clone()
            for name, its_columns in elements.items():
                if name not in attributes:
                    given[its_columns] = pool[die.randrange(len(pool))]
            with torch.no_grad():
                output = model(graph.x, graph.edge_index[:, columns], batch, given[columns])
            return int(output.argmax()) == true

        return stays

    explanation = zorro.explain(number)
    attributes = explanation.selected["edge_attributes"]
    share = plain_share(keeping(attributes), elements, explanation.edges, presence=0.6)
    assert_holds(explanation, *share)
    every = list(elements)
    for edges, kept in (([], every), (every, []), (every[:4], every[2:])):
        measured = zorro.fidelity(number, edges=edges, edge_attributes=kept, samples=600)
        share = plain_share(keeping(kept), elements, edges, presence=0.6)
        assert_same_share(measured, *share)


@pytest.mark.parametrize("keep", [("nodes", "features", "edges"), ("nodes", "edges")])
def test_edges_beside_nodes_and_features(keep):
    x, edge_index = features(), ring_with_chords()
    model = made(MODELS["gcn"])
    zorro = Zorro(model, x, edge_index, keep=keep, tau=0.8)
    columns_kept: dict[str, Any] = {"features": []} if "features" in keep else {}
    query = first_that_needs_some(zorro, range(NODES), nodes=[], **columns_kept)
    elements = plain_elements(edge_index)
    with torch.no_grad():
        true = int(model(x, edge_index)[query].argmax())

    def keeping(nodes, columns):
        mask = torch.zeros_like(x, dtype=torch.bool)
        for row in nodes:
            mask[row, list(columns)] = True

        def stays(there, die):
            with torch.no_grad():
                output = model(redrawn(x, mask, die), edge_index[:, there])
            return int(output[query].argmax()) == true

        return stays

    explanation = zorro.explain(query)
    assert set(explanation.selected) == set(keep)
    kept = explanation.selected.get("features", range(FEATURES))
    share = plain_share(keeping(explanation.nodes, kept), elements, explanation.edges)
    assert_holds(explanation, *share)
    near = [query, (query + 1) % NODES]
    edges = list(elements)[:20]
    measured = zorro.fidelity(query, nodes=near, edges=edges, samples=600)
    share = plain_share(keeping(near, range(FEATURES)), elements, edges)
    assert_same_share(measured, *share)


@pytest.mark.parametrize("keep", [("edges",), ("nodes", "edges")])
def test_several_sets_share_nothing(keep):
    """A node needs one message of two; each edge alone is enough, whoever sends."""
    edge_index = torch.tensor([[1, 2, 3], [0, 0, 0]])

    def model(x, edge_index):
        heard = degree(edge_index[1], len(x))
        return torch.stack([1.5 - 2 * heard, 0 * heard], dim=1)  # class 1 where none is heard

    x = torch.randn(4, 1)
    zorro = Zorro(model, x, edge_index, keep=keep, edge_presence=0.2, tau=0.9)
    several = zorro.explain_multiple(0)
    assert [explanation.status for explanation in several] == ["certified"] * 3
    assert sorted(edge for explanation in several for edge in explanation.edges) == [
        (1, 0),
        (2, 0),
        (3, 0),
    ]


def test_several_sets_hold_in_a_plain_loop():
    x, edge_index = features(), ring_with_chords()
    model = made(MODELS["gat"])
    zorro = Zorro(model, x, edge_index, keep=EDGES, tau=0.6)
    elements = plain_elements(edge_index)
    found = 0
    for query in range(8):
        several = zorro.explain_multiple(query)
        every = [edge for explanation in several for edge in explanation.edges]
        assert len(every) == len(set(every))
        stays = class_stays(model, x, edge_index, query)
        for explanation in several:
            if explanation.edges and explanation.certified:
                assert_holds(explanation, *plain_share(stays, elements, explanation.edges))
        found += len(several) > 1
    assert found


class Centred(nn.Module):
    """One convolution, and the mean over all nodes taken out."""

    def __init__(self):
        super().__init__()
        self.conv, self.last = gnn.SAGEConv(FEATURES, 8, aggr="sum"), nn.Linear(8, 3)

    def forward(self, x, edge_index):
        h = self.conv(x, edge_index)
        return self.last((h - h.mean(0)).tanh())


class LargestDegree(nn.Module):
    """Which of two classes it is rests on the largest degree of all nodes, nothing else."""

    def __init__(self, least):
        super().__init__()
        self.least = least

    def forward(self, x, edge_index):
        largest = degree(edge_index[1], len(x)).max() - self.least + 0 * x[:, 0]
        return torch.stack([largest, -largest], dim=1)


class CountsEdges(nn.Module):
    """A convolution whose scores are shifted by the number of all edges."""

    def __init__(self):
        super().__init__()
        self.conv = gnn.GCNConv(FEATURES, 2)

    def forward(self, x, edge_index):
        more = (edge_index.size(1) - 110) * 0.2
        return self.conv(x, edge_index) + torch.tensor([more, 0.0])


class DegreesFurtherAway(nn.Module):
    """One layer by its looks; the largest degree within two hops decides."""

    def __init__(self, least):
        super().__init__()
        self.conv, self.least = gnn.GCNConv(FEATURES, 2), least

    def forward(self, x, edge_index):
        largest = degree(edge_index[1], len(x))
        for _ in range(2):
            heard = largest[edge_index[0]]
            largest = torch.zeros_like(largest).scatter_reduce(0, edge_index[1], heard, "amax")
        more = largest - self.least
        return 0 * self.conv(x, edge_index) + torch.stack([more, -more], dim=1)


@pytest.mark.parametrize(
    "build",
    [
        Centred,
        lambda: LargestDegree(3.5),
        CountsEdges,
        lambda: DegreesFurtherAway(1.5),
        lambda: DegreesFurtherAway(2.5),
    ],
    ids=["centred", "largest degree", "counts edges", "further 1.5", "further 2.5"],
)
def test_edges_that_matter_however_far_away_make_no_claim_false(build):
    x, edge_index = features(), ring_with_chords()
    model = made(build)
    zorro = Zorro(model, x, edge_index, keep=EDGES, max_evaluations=3000)
    elements = plain_elements(edge_index)
    for query in range(2):
        explanation = zorro.explain(query)
        stays = class_stays(model, x, edge_index, query)
        stayed, samples = plain_share(stays, elements, explanation.edges)
        assert_same_share(explanation.fidelity, stayed, samples)
        if explanation.certified:
            assert_holds(explanation, stayed, samples)


class ByType(nn.Module):
    """Layers that send messages type by type, so that none of them sends along all edges."""

    def __init__(self):
        super().__init__()
        self.first = gnn.RGCNConv(FEATURES, 8, num_relations=3)
        self.second = gnn.RGCNConv(8, 3, num_relations=3)

    def forward(self, x, edge_index, edge_type):
        return self.second(self.first(x, edge_index, edge_type).tanh(), edge_index, edge_type)


def test_messages_that_cannot_be_scaled_are_tested_instead():
    x, edge_index = features(), ring_with_chords()
    kinds = torch.randint(3, (edge_index.size(1) // 2,), generator=torch.Generator().manual_seed(1))
    kinds = kinds.repeat(2)
    model = made(ByType)
    zorro = Zorro(
        model, x, edge_index, keep=EDGES, model_kwargs={"edge_type": kinds}, evaluator="any-model"
    )
    query = first_that_needs_some(zorro, range(NODES))
    explanation = zorro.explain(query)
    stays = class_stays(model, x, edge_index, query, edge_type=kinds)
    share = plain_share(stays, plain_elements(edge_index), explanation.edges)
    assert_holds(explanation, *share)


@pytest.mark.parametrize("options", [{"search": "paper"}, {"beyond_chance": True, "tau": 0.6}])
def test_other_searches(options):
    x, edge_index = features(), ring_with_chords()
    model = made(MODELS["gcn"])
    zorro = Zorro(model, x, edge_index, keep=EDGES, **options)
    query = first_that_needs_some(zorro, range(NODES))
    explanation = zorro.explain(query)
    elements = plain_elements(edge_index)
    stays = class_stays(model, x, edge_index, query)
    stayed, samples = plain_share(stays, elements, explanation.edges)
    assert_same_share(explanation.fidelity, stayed, samples)
    if "beyond_chance" in options:
        assert_holds(explanation, stayed, samples)
        assert_same_share(explanation.chance, *plain_share(stays, elements, []))
