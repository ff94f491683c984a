"""The plug-in for PyG's explainer, asked for masks of edges."""

import random
import re
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.explain import (
    Explainer,
    characterization_score,
    fidelity,
    unfaithfulness,
)

from zorro import Zorro, ZorroExplainer
from zorro.errors import InputError, ModelError

OPTIONS: dict[str, Any] = {"tau": 0.8, "samples": 60, "seed": 2}
MODES = {1: "binary_classification", 3: "multiclass_classification"}

# Node i + 1 receives from node i alone and so predicts class i. Without that edge all scores are
# zero and the first class wins: node 1 needs no edge, node 2 needs (1, 2) and node 0 needs (2, 0).
RING = torch.tensor([[0, 1, 2], [1, 2, 0]])
X = torch.eye(3)


class Sums(nn.Module):
    """Sums over neighbours, read off nodes, links or graphs."""

    def __init__(self, level="node", shift=0.0):
        super().__init__()
        self.conv, self.level, self.shift = gnn.SimpleConv(), level, shift

    def forward(self, x, edge_index, edge_weight=None, batch=None, edge_label_index=None):
        out = self.conv(x, edge_index, edge_weight) + self.shift
        if self.level == "graph":
            return gnn.global_add_pool(out, batch)
        if self.level == "edge":
            return out[edge_label_index[0]] + out[edge_label_index[1]]
        return out


class Net(nn.Module):
    """A GCN in which nodes hear their neighbours alone."""

    def __init__(self, level):
        super().__init__()
        self.level = level
        self.first = gnn.GCNConv(4, 8, add_self_loops=False)
        self.second = gnn.GCNConv(8, 3, add_self_loops=False)

    def forward(self, x, edge_index, edge_weight=None, batch=None, edge_label_index=None):
        out = self.second(self.first(x, edge_index, edge_weight).tanh(), edge_index, edge_weight)
        if self.level == "graph":
            return gnn.global_mean_pool(out, batch)
        if self.level == "edge":
            return out[edge_label_index[0]] - out[edge_label_index[1]]
        return out


def explainer_of(
    model, *, nodes=None, edges="object", mode=None, level=None, kind="model", **options
):
    return Explainer(
        model,
        ZorroExplainer(**options),
        explanation_type=kind,
        node_mask_type=nodes,
        edge_mask_type=edges,
        model_config={
            "mode": mode or "multiclass_classification",
            "task_level": level or model.level,
            "return_type": "raw",
        },
    )


@pytest.fixture(scope="module")
def graph():
    """An undirected graph whose columns stand in no order, with a weight for each edge."""
    chooser = random.Random(4)
    pairs = {tuple(sorted(chooser.sample(range(12), 2))) for _ in range(22)}
    columns = [(u, v, i) for i, (u, v) in enumerate(sorted(pairs))]
    columns += [(v, u, i) for u, v, i in columns]
    chooser.shuffle(columns)
    torch.manual_seed(3)
    weights = 0.2 + torch.rand(len(pairs))
    return {
        "x": torch.randn(12, 4),
        "edge_index": torch.tensor([edge[:2] for edge in columns]).t(),
        "edge_weight": weights[[which for _, _, which in columns]],
    }


def made(level):
    torch.manual_seed(8)
    return Net(level).eval()


def columns_of(edges, edge_index):
    """The columns of undirected edges, one by one."""
    kept = {frozenset(edge) for edge in edges}
    return [float(frozenset(column) in kept) for column in edge_index.t().tolist()]


def test_by_hand_on_the_ring():
    ask = explainer_of(Sums())
    expected = {0: [0, 0, 1], 1: [0, 0, 0], 2: [0, 1, 0], None: [0, 1, 1]}
    for index, mask in expected.items():
        found = ask(X, RING, index=index)
        assert found.edge_mask.tolist() == mask
        assert found.edge_mask.dtype == torch.float32
        assert "node_mask" not in found
        assert found.validate(raise_on_error=True)
    assert {n: e.status for n, e in ask(X, RING).zorro.items()} == {
        0: "certified",
        1: "nothing needed",
        2: "certified",
    }
    assert ask(X, RING, index=torch.tensor([2, 1])).edge_mask.tolist() == [0, 1, 0]


@pytest.mark.parametrize("nodes", ["attributes", "object", "common_attributes"])
def test_both_masks_by_hand_on_the_ring(nodes):
    found = explainer_of(Sums(), nodes=nodes)(X, RING, index=0)
    whole = torch.tensor([[0.0] * 3, [0.0] * 3, [1.0] * 3])
    expected = {"attributes": whole, "object": whole[:, :1], "common_attributes": whole[2:]}
    assert torch.equal(found.node_mask, expected[nodes])
    assert found.edge_mask.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("nodes", "edges", "kinds"),
    [
        (None, "object", ["edges"]),
        ("object", None, ["nodes", "features"]),
        ("object", "object", ["nodes", "features", "edges"]),
    ],
)
def test_sets_are_of_what_the_masks_show(nodes, edges, kinds):
    found = explainer_of(Sums(), nodes=nodes, edges=edges)(X, RING, index=2)
    assert list(found.zorro[2].selected) == kinds
    masks = {"node_mask": nodes, "edge_mask": edges}
    assert set(found.available_explanations) == {name for name, asked in masks.items() if asked}


def test_keep_may_leave_out_a_kind_that_a_mask_would_show():
    found = explainer_of(Sums(), nodes="attributes", keep=("nodes", "edges"))(X, RING, index=0)
    assert found.zorro[0].selected == {"nodes": (2,), "edges": ((2, 0),)}
    assert found.node_mask.tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]


def test_an_undirected_edge_is_kept_both_ways_unless_directions_are_told_apart():
    """Node 0 hears node 1, which alone has something to say."""
    x, edge_index = torch.tensor([[0.0], [1.0]]), torch.tensor([[0, 1], [1, 0]])
    for level, shift in ("node", -0.5), ("graph", -0.25):
        for options, mask in ({}, [1, 1]), ({"directed": True}, [0, 1]):
            ask = explainer_of(Sums(level, shift), mode=MODES[1], **options)
            assert ask(x, edge_index, index=0).edge_mask.tolist() == mask


def test_how_often_other_edges_are_there_is_an_option():
    """Either of two edges is enough: both are missing in every fourth sample, or in every 100th."""
    x, edge_index = torch.ones(3, 1), torch.tensor([[1, 2], [0, 0]])
    for presence, kept in (None, 1), (0.9, 0):
        ask = explainer_of(Sums(shift=-0.5), mode=MODES[1], edge_presence=presence)
        found = ask(x, edge_index, index=0)
        assert found.edge_mask.sum() == kept
        assert found.zorro[0].parameters.edge_presence == (presence or 0.5)


def test_a_value_rests_on_the_edges_that_move_it_by_more_than_the_tolerance():
    x, edge_index = torch.ones(4, 1), torch.tensor([[1, 2, 3], [0, 0, 0]])
    weight = torch.tensor([1.0, 0.1, 1.0])
    ask = explainer_of(Sums(), mode="regression", tolerance=0.5)
    assert ask(x, edge_index, index=0, edge_weight=weight).edge_mask.tolist() == [1, 0, 1]


def test_directions_of_parallel_edges_belong_together_by_their_attributes():
    """The heavy one of two edges between nodes 0 and 1 is columns 0 and 2."""
    x = torch.ones(2, 1)
    edge_index = torch.tensor([[1, 0, 0, 1], [0, 1, 1, 0]])
    weight = torch.tensor([5.0, 0.1, 5.0, 0.1])
    ask = explainer_of(Sums(shift=-2.0), mode=MODES[1])
    found = ask(x, edge_index, index=0, edge_weight=weight)
    assert found.edge_mask.tolist() == [1, 0, 1, 0]
    alone = found.zorro[0].to_pyg(x, edge_index, edge_attributes={"edge_weight": weight})
    assert torch.equal(alone.edge_mask, found.edge_mask)


@pytest.mark.parametrize("nodes", [None, "attributes"])
def test_nodes_of_a_graph_have_what_zorro_finds(graph, nodes):
    model, wanted = made("node"), torch.tensor([7, 0, 3])
    found = explainer_of(model, nodes=nodes, **OPTIONS)(**graph, index=wanted)
    keep: tuple[Any, ...] = ("edges",) if nodes is None else ("nodes", "features", "edges")
    weights = {"edge_weight": graph["edge_weight"]}
    zorro = Zorro(
        model, graph["x"], graph["edge_index"], model_kwargs=weights, keep=keep, **OPTIONS
    )
    each = {node: zorro.explain(node) for node in wanted.tolist()}
    assert {n: e.selected for n, e in found.zorro.items()} == {
        n: e.selected for n, e in each.items()
    }
    union = [edge for explanation in each.values() for edge in explanation.edges]
    assert found.edge_mask.tolist() == columns_of(union, graph["edge_index"])
    assert 0 < found.edge_mask.mean() < 1


def test_a_mask_keeps_the_answer_as_often_as_is_claimed(graph):
    """Counted in a plain loop in which other edges are dropped, both ways at once."""
    model = made("node")
    found = explainer_of(model, **OPTIONS)(**graph, index=1)
    chooser = random.Random(1)
    columns = graph["edge_index"].t().tolist()
    edges = sorted({tuple(sorted(column)) for column in columns})
    kept = {
        tuple(sorted(c)) for c, one in zip(columns, found.edge_mask.tolist(), strict=True) if one
    }
    stayed = 0
    with torch.no_grad():
        for _ in range(400):
            there = {edge for edge in edges if edge in kept or chooser.random() < 0.5}
            some = torch.tensor([tuple(sorted(column)) in there for column in columns])
            scores = model(graph["x"], graph["edge_index"][:, some], graph["edge_weight"][some])
            stayed += int(scores[1].argmax()) == int(found.target[1])
    explanation = found.zorro[1]
    assert explanation.certified
    assert explanation.edges
    assert stayed / 400 > explanation.certificate.bound - 0.06
    assert abs(stayed / 400 - explanation.fidelity.value) < 0.1


def test_links_of_a_graph_have_what_zorro_finds(graph):
    model, links = made("edge"), torch.tensor([[0, 4, 9], [5, 2, 1]])
    found = explainer_of(model, **OPTIONS)(
        **graph, edge_label_index=links, index=torch.tensor([2, 0])
    )
    zorro = Zorro.of_links(
        model,
        graph["x"],
        graph["edge_index"],
        model_kwargs={"edge_weight": graph["edge_weight"]},
        carries_messages=True,
        keep=("edges",),
        **OPTIONS,
    )
    each = [zorro.explain((9, 1)), zorro.explain((0, 5))]
    assert [e.edges for e in found.zorro.values()] == [e.edges for e in each]
    union = [edge for explanation in each for edge in explanation.edges]
    assert found.edge_mask.tolist() == columns_of(union, graph["edge_index"])
    assert found.edge_mask.any()


def batch_of_rings():
    """Rings of 4, 6 and 5 nodes as one batch, whose nodes and columns stand in no order."""
    torch.manual_seed(1)
    graphs = []
    for size in (4, 6, 5):
        here = torch.arange(size)
        ring = torch.stack([here, (here + 1) % size])
        weight = 0.2 + torch.rand(size)
        graphs.append(
            Data(
                x=torch.randn(size, 4),
                edge_index=torch.cat([ring, ring.flip(0)], dim=1),
                edge_weight=weight.repeat(2),
            )
        )
    batch = Batch.from_data_list(graphs)
    nodes, columns = torch.randperm(15), torch.randperm(30)
    return {
        "x": batch.x[nodes],
        "edge_index": nodes.argsort()[batch.edge_index[:, columns]],
        "edge_weight": batch.edge_weight[columns],
        "batch": batch.batch[nodes],
    }


@pytest.mark.parametrize("index", [None, 1, torch.tensor([2, 0])])
def test_graphs_of_a_batch_have_masks_on_the_columns_of_all(index):
    given = batch_of_rings()
    model = made("graph")
    found = explainer_of(model, **OPTIONS)(**given, index=index)
    wanted = [0, 1, 2] if index is None else torch.as_tensor(index).reshape(-1).tolist()
    parts, union = [], []
    for number in range(3):
        ids = (given["batch"] == number).nonzero().flatten().tolist()
        inside = given["batch"][given["edge_index"][0]] == number
        edge_index = given["edge_index"][:, inside].clone().apply_(ids.index)
        parts.append(
            Data(
                x=given["x"][ids],
                edge_index=edge_index,
                edge_weight=given["edge_weight"][inside],
            )
        )
    named = {"edge_weight": "edge_weight"}
    zorro = Zorro.of_graphs(model, parts, model_kwargs=named, keep=("edges",), **OPTIONS)
    for number in wanted:
        alone = zorro.explain(number)
        assert found.zorro[number].edges == alone.edges
        ids = (given["batch"] == number).nonzero().flatten().tolist()
        union += [(ids[u], ids[v]) for u, v in alone.edges]
    assert list(found.zorro) == wanted
    assert found.edge_mask.tolist() == columns_of(union, given["edge_index"])
    assert found.edge_mask.any()


def test_graphs_that_edges_join_are_explained_together():
    """Node 3 of graph 1 decides for graph 0, along an edge that leads from one to the other."""
    x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 5.0]])
    edge_index = torch.tensor([[0, 3, 2], [1, 0, 3]])
    batch = torch.tensor([0, 0, 1, 1])
    found = explainer_of(Sums("graph"))(x, edge_index, batch=batch, index=0)
    assert found.zorro[0].predicted_class == 1
    assert found.edge_mask.tolist() == [0, 1, 0]


def test_one_graph_alone_is_enough_where_only_edges_are_asked_for():
    ask = explainer_of(Sums("graph", shift=-0.5), mode=MODES[1])
    x, edge_index = torch.ones(3, 1), torch.tensor([[0, 1], [2, 2]])  # 2 − 1.5 with both of them
    assert ask(x, edge_index).edge_mask.tolist() == [1, 1]
    both = explainer_of(Sums("graph", shift=-0.5), mode=MODES[1], nodes="object")
    with pytest.raises(InputError, match="graphs: expected two at least, got one"):
        both(x, edge_index)
    values = explainer_of(Sums("graph"), mode="regression")
    with pytest.raises(ModelError, match="tolerance_share: one value has no spread"):
        values(x, edge_index)


def test_a_model_of_graphs_may_be_called_one_of_nodes():
    given = batch_of_rings()
    model = made("graph")
    as_graphs = explainer_of(model, **OPTIONS)(**given)
    as_nodes = explainer_of(model, level="node", **OPTIONS)(**given)
    assert list(as_nodes.zorro) == [0, 1, 2]
    assert torch.equal(as_nodes.edge_mask, as_graphs.edge_mask)


def test_nodes_and_graphs_without_edges_need_none():
    ask = explainer_of(Sums())
    found = ask(X, torch.tensor([[2], [0]]))
    assert found.edge_mask.tolist() == [1]
    assert [found.zorro[node].status for node in (1, 2)] == ["nothing needed"] * 2
    graphs = explainer_of(Sums("graph"))(X, torch.tensor([[1], [0]]), batch=torch.tensor([0, 0, 1]))
    assert graphs.edge_mask.tolist() == [1]
    assert graphs.zorro[1].status == "nothing needed"


def test_pygs_metrics_by_hand_on_the_ring():
    ask = explainer_of(Sums())
    needed, not_needed = ask(X, RING, index=0), ask(X, RING, index=1)
    # Without edge (2, 0) all scores of node 0 are zero, and the first class wins.
    assert fidelity(ask, needed) == (1.0, 0.0)
    assert fidelity(ask, not_needed) == (0.0, 0.0)
    assert float(characterization_score(*map(torch.tensor, fidelity(ask, needed)))) == 1.0
    assert unfaithfulness(ask, needed) == pytest.approx(0.0, abs=1e-6)
    # No edge is kept: the answer of node 1 is that of equal scores.
    true, kept = torch.tensor([1.0, 0.0, 0.0]).softmax(0), torch.full((3,), 1 / 3)
    divergence = (kept * (kept / true).log()).sum()
    assert unfaithfulness(ask, not_needed) == pytest.approx(
        float(1 - (-divergence).exp()), abs=1e-6
    )


def test_pygs_fidelity_at_other_levels(graph):
    """An explanation of all links or graphs, with arguments of the edges: PyG's own loops run."""
    links = torch.tensor([[0, 4], [5, 2]])
    rings = batch_of_rings()
    for level, given in ("edge", {**graph, "edge_label_index": links}), ("graph", rings):
        ask = explainer_of(made(level), kind="model", **OPTIONS)
        found = ask(**given)
        with torch.no_grad():
            kept = masked(ask.model, given, found.edge_mask)
        assert fidelity(ask, found)[1] == pytest.approx(
            float((kept.argmax(1) != found.target).float().mean())
        )


def masked(model, given, mask):
    """What a GCN says if messages are scaled that were normalised on the whole graph."""
    x, edge_index, weight = given["x"], given["edge_index"], given["edge_weight"]
    sender, receiver = edge_index
    degree = torch.zeros(len(x)).index_add(0, receiver, weight)
    scale = mask * weight / (degree[sender] * degree[receiver]).sqrt()

    def convolved(layer, h):
        h = h @ layer.lin.weight.t()
        return torch.zeros_like(h).index_add(0, receiver, scale[:, None] * h[sender]) + layer.bias

    out = convolved(model.second, convolved(model.first, x).tanh())
    if "batch" in given:
        return torch.stack([out[given["batch"] == number].mean(0) for number in range(3)])
    first, second = given["edge_label_index"]
    return out[first] - out[second]


def test_subgraphs_are_those_of_the_kept_and_of_the_other_edges():
    found = explainer_of(Sums())(X, RING, index=0, edge_weight=torch.tensor([1.0, 2.0, 3.0]))
    kept, others = found.get_explanation_subgraph(), found.get_complement_subgraph()
    assert kept.edge_index.tolist() == [[2], [0]]
    assert kept.edge_weight.tolist() == [3]
    assert torch.equal(kept.x, X)
    assert others.edge_index.tolist() == [[0, 1], [1, 2]]
    assert others.edge_weight.tolist() == [1, 2]
    assert kept.zorro == others.zorro == found.zorro


def test_with_a_mask_of_nodes_pyg_leaves_out_edges_of_others():
    found = explainer_of(Sums(), nodes="object")(X, RING, index=0)  # node 2 and the edge (2, 0)
    kept = found.get_explanation_subgraph()
    assert kept.x.tolist() == [[0, 0, 1]]
    assert kept.edge_index.size(1) == 0


def test_pyg_draws_the_kept_edges(tmp_path, monkeypatch):
    pytest.importorskip("networkx", reason="PyG draws graphs with networkx")
    monkeypatch.setenv("MPLBACKEND", "agg")
    found = explainer_of(Sums())(X, RING, index=0)
    path = tmp_path / "graph.svg"
    found.visualize_graph(str(path), backend="networkx", node_labels=["one", "two", "three"])
    drawn = re.findall(r"<!-- (\w+) -->", path.read_text())
    assert sorted(drawn) == ["one", "three"]
    found.edge_mask[:] = 1.0  # of which PyG takes the smallest for nothing
    found.visualize_graph(str(path), backend="networkx")
    assert not re.findall(r"<!-- (\w+) -->", path.read_text())


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"nodes": "object", "keep": ("nodes",)}, r"edge_mask_type .* \(got .* keep \('nodes',\)"),
        (
            {"keep": ("nodes", "edges")},
            "node_mask_type exactly where keep has 'nodes' or 'features'",
        ),
        ({"nodes": "object", "edges": None, "keep": ("nodes", "edges")}, "edge_mask_type None"),
        (
            {"nodes": "object", "edges": None, "edge_presence": 0.2},
            "edge_presence: expected 'edges'",
        ),
        ({"nodes": "object", "edges": None, "directed": True}, "directed: expected 'edges'"),
        (
            {"nodes": "object", "search": "paper"},
            "search: expected 'guided' for edges",
        ),
    ],
)
def test_what_does_not_go_with_the_masks_is_refused_with_the_reason(settings, reason, caplog):
    with pytest.raises(ValueError, match="does not support"):
        explainer_of(Sums(), **settings)
    assert re.search(reason, caplog.text)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"edge_presence": 1.0}, "edge_presence: expected a number of at least 0 and below 1"),
        ({"directed": "yes"}, "directed: expected True, False or None, got 'yes'"),
        ({"keep": ("edge_attributes",)}, "keep: expected 'edges' with 'edge_attributes'"),
    ],
)
def test_bad_options_of_edges_are_refused_at_once(option, message):
    with pytest.raises(InputError, match=message):
        ZorroExplainer(**option)


def test_attributes_need_edges_that_have_some():
    ask = explainer_of(Sums(), keep=("edges", "edge_attributes"))
    with pytest.raises(InputError, match="keep: expected edges that have attributes"):
        ask(X, RING, index=0)
    found = ask(X, RING, index=0, edge_weight=torch.ones(3)).zorro[0]
    assert found.selected == {"edges": ((2, 0),), "edge_attributes": ()}
