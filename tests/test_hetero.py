"""Graphs of several types: what is claimed of them, against plain loops over whole graphs."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.append(str(Path(__file__).parent))
from made_hetero import (
    Attended,
    Convolved,
    Linked,
    Related,
    Transformed,
    attention,
    library,
    transformed_sage,
)
from plain_edges import assert_same_share
from plain_hetero import as_kept, plain_share
from scipy.stats import binom
from torch_geometric.data import HeteroData
from torch_geometric.nn import GCNConv, HeteroConv, SAGEConv

from zorro import Explanation, Zorro
from zorro.errors import InputError, ModelError

MODELS = {
    "HeteroConv of SAGE": lambda: (library(), Convolved),
    "HeteroConv of GAT": lambda: (library(), attention),
    "HGT": lambda: (library(), Transformed),
    "to_hetero": lambda: (library(venue_ids=False), transformed_sage),
    "HAN": lambda: (library(venue_ids=False, authors=12, papers=14), Attended),
}
KEEP = [
    ("nodes", "features"),
    ("nodes",),
    ("features",),
    ("types",),
    ("edges",),
    ("relations",),
    ("types", "relations"),
    ("nodes", "edges"),
]


def made(name):
    data, model = MODELS[name]()
    return data, model(data)


@pytest.mark.parametrize("keep", KEEP, ids="-".join)
@pytest.mark.parametrize("name", MODELS)
def test_the_fidelity_is_that_of_a_plain_loop(name, keep):
    data, model = made(name)
    zorro = Zorro.of_hetero(model, data, "author", keep=keep, max_seconds=20)
    found = zorro.explain(3)
    stayed, samples = plain_share(model, data, "author", 3, as_kept(found))
    assert_same_share(found.fidelity, stayed, samples)
    if found.certified:
        assert found.certificate is not None
        assert binom.cdf(stayed, samples, found.certificate.bound) > 1e-4


@pytest.mark.parametrize("name", ["HeteroConv of SAGE", "HGT", "to_hetero"])
def test_a_set_of_one_s_own_is_measured_as_by_a_plain_loop(name):
    data, model = made(name)
    zorro = Zorro.of_hetero(model, data, "author")
    nodes = {"author": [3, 5], "paper": [int(data["author", "writes", "paper"].edge_index[1, 6])]}
    features = {"author": [0, 4], "paper": [1, 2]}
    measured = zorro.fidelity(3, nodes=nodes, features=features, samples=400)
    stayed, samples = plain_share(
        model, data, "author", 3, {"nodes": nodes, "features": features}, samples=400
    )
    assert_same_share(measured, stayed, samples)


def test_edges_of_one_s_own_are_measured_as_by_a_plain_loop():
    data, model = made("HGT")
    zorro = Zorro.of_hetero(model, data, "author", keep=("edges",), edge_presence=0.3)
    relation = ("author", "writes", "paper")
    pairs = [tuple(pair) for pair in data[relation].edge_index.t().tolist() if pair[0] == 3]
    back = ("paper", "rev_writes", "author")
    measured = zorro.fidelity(3, edges={relation: pairs}, samples=400)
    same = zorro.fidelity(3, edges={back: [(v, u) for u, v in pairs]}, samples=400)
    assert measured == same
    stayed, samples = plain_share(
        model, data, "author", 3, {"edges": {relation: pairs}}, samples=400, presence=0.3
    )
    assert_same_share(measured, stayed, samples)


def test_the_prediction_is_the_model_s_on_the_whole_graph():
    for name in MODELS:
        data, model = made(name)
        out = model(data.x_dict, data.edge_index_dict)
        scores = out["author"] if isinstance(out, dict) else out
        found = Zorro.of_hetero(model, data, "author", max_seconds=5).explain(7)
        assert found.predicted_class == int(scores[7].argmax())
        assert found.probability == pytest.approx(scores[7].softmax(0).max().item(), abs=1e-5)


def test_what_is_kept_is_told_by_type():
    data, model = made("HeteroConv of SAGE")
    found = Zorro.of_hetero(model, data, "author").explain(3)
    assert found.types is not None
    assert set(found.nodes) == {
        found.types.node(str(name), number) for name, own in found.nodes.items() for number in own
    }
    assert all(number < 6 for number in found.features["paper"])
    assert found.query.asked == 3
    assert "author" in str(found)
    with pytest.raises(InputError, match="type: expected one of 'author', 'paper', 'venue'"):
        found.nodes["editor"]
    with pytest.raises(InputError, match=r"type: expected one of .*'writes'.*, got"):
        found.edges["author", "edits", "paper"]


def test_one_type_has_no_names():
    draw = torch.Generator().manual_seed(2)
    found = Zorro(
        One(GCNConv).eval(), torch.rand(9, 6, generator=draw), torch.tensor([[0, 1], [1, 0]])
    ).explain(1)
    assert found.nodes == found.nodes[:]
    with pytest.raises(InputError, match="type: expected one of none, since there is one type"):
        found.nodes["paper"]


def test_json_keeps_types():
    data, model = made("HGT")
    for keep in (("nodes", "features"), ("edges",), ("types", "relations")):
        found = Zorro.of_hetero(model, data, "author", keep=keep).explain(3)
        again = Explanation.from_json(found.to_json())
        assert again == found
        assert as_kept(again) == as_kept(found)
        assert str(again) == str(found)


class One(torch.nn.Module):
    """Two convolutions for a graph of one type."""

    def __init__(self, conv):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = conv(6, 8), conv(8, 3)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


class Wrapped(torch.nn.Module):
    """The same, called by dictionaries."""

    def __init__(self, model):
        super().__init__()
        self.first = HeteroConv({("paper", "cites", "paper"): model.first})
        self.second = HeteroConv({("paper", "cites", "paper"): model.second})

    def forward(self, x_dict, edge_index_dict):
        hidden = {name: x.relu() for name, x in self.first(x_dict, edge_index_dict).items()}
        return self.second(hidden, edge_index_dict)


@pytest.mark.parametrize(
    "keep", [("nodes", "features"), ("edges",), ("nodes", "edges")], ids="-".join
)
@pytest.mark.parametrize("evaluator", ["any-model", "traced"])
@pytest.mark.parametrize("conv", [GCNConv, SAGEConv])
def test_one_type_is_explained_as_a_graph_without_types(conv, evaluator, keep):
    draw = torch.Generator().manual_seed(2)
    x = (torch.rand(50, 6, generator=draw) < 0.4).float()
    edges = torch.randint(50, (2, 90), generator=draw)
    edge_index = torch.cat([edges, edges.flip(0)], dim=1).unique(dim=1)
    model = One(conv).eval()
    data = HeteroData()
    data["paper"].x = x
    data["paper", "cites", "paper"].edge_index = edge_index
    for node in (3, 11, 20):
        alone = Zorro(model, x, edge_index, keep=keep, evaluator=evaluator).explain(node)
        typed = Zorro.of_hetero(
            Wrapped(model), data, "paper", keep=keep, evaluator=evaluator
        ).explain(node)
        assert typed.selected == alone.selected
        assert typed.steps == alone.steps
        assert typed.fidelity == alone.fidelity
        assert typed.certificate == alone.certificate
        assert typed.probabilities == alone.probabilities


def test_a_closed_form():
    """A venue's number decides alone: redrawn, the answer stays as often as it is drawn.

    Without an edge the answer is venue 0, so that the edge is needed by a paper of another one.
    """
    data = library()

    class ByVenue(torch.nn.Module):
        def forward(self, x_dict, edge_index_dict):
            seen = torch.zeros(len(x_dict["paper"]), 4)
            paper, venue = edge_index_dict["paper", "in", "venue"]
            number = x_dict["venue"][venue]
            return seen.index_put((paper, number), torch.ones(len(paper)))

    zorro = Zorro.of_hetero(ByVenue(), data, "paper")
    found = zorro.explain(3)
    paper, venue = data["paper", "in", "venue"].edge_index
    mine = int(venue[paper == 3])
    assert found.certified
    assert found.nodes["venue"] == (mine,)
    assert found.features == ()
    kept = zorro.fidelity(3, nodes={"venue": [mine]}, features={}, samples=50)
    assert kept.value == 1.0
    nothing = zorro.fidelity(3, nodes={}, features={}, samples=4000)
    assert nothing.value == pytest.approx(1 / 4, abs=0.03)
    types = Zorro.of_hetero(ByVenue(), data, "paper", keep=("types",)).explain(3)
    assert types.node_types == ("venue",)
    relations = Zorro.of_hetero(ByVenue(), data, "paper", keep=("relations",)).explain(3)
    assert relations.relations == (("paper", "in", "venue"),)


def test_relational_models_of_one_matrix():
    """They are called with an argument `edge_type`, and all types have as many columns."""
    data = library(venue_ids=False)
    for name in data.node_types:
        data[name].x = data[name].x[:, :3].contiguous()
    homogeneous = data.to_homogeneous()
    model = Related(len(data.edge_types), 3)
    found = Zorro.of_hetero(model, data, "author").explain(4)
    scores = model(homogeneous.x, homogeneous.edge_index, homogeneous.edge_type)
    assert found.predicted_class == int(scores[4].argmax())

    def by_type(x_dict, edge_index_dict):
        again = data.clone()
        for name, x in x_dict.items():
            again[name].x = x
        for relation, edge_index in edge_index_dict.items():
            again[relation].edge_index = edge_index
        one = again.to_homogeneous()
        return model(one.x, one.edge_index, one.edge_type)[:30]

    stayed, samples = plain_share(by_type, data, "author", 4, as_kept(found))
    assert_same_share(found.fidelity, stayed, samples)


def test_links_between_types():
    data = library()
    model = Linked(data).eval()
    zorro = Zorro.of_hetero(
        model, data, ("author", "likes", "venue"), threshold=0.0, check="whole", max_seconds=20
    )
    found = zorro.explain((3, 2))
    logit = model(data.x_dict, data.edge_index_dict, torch.tensor([[3], [2]])).item()
    assert found.predicted_class == int(logit > 0)
    assert found.query.asked == (3, 2)
    assert "author–venue 3–2" in repr(found)

    def as_classes(x_dict, edge_index_dict):
        score = model(x_dict, edge_index_dict, torch.tensor([[3], [2]]))
        return torch.stack([-score, score], dim=1)

    stayed, samples = plain_share(as_classes, data, "author", 0, as_kept(found))
    assert_same_share(found.fidelity, stayed, samples)


def test_further_arguments_follow_by_relation_and_by_type():
    data = library(venue_ids=False)
    writes = ("author", "writes", "paper")
    weight = torch.rand(data[writes].edge_index.size(1))
    bias = {"author": torch.randn(30)}

    def model(x_dict, edge_index_dict, weights, biases):
        sender, receiver = edge_index_dict[writes]
        papers = torch.zeros(len(x_dict["paper"]), 3)
        papers = papers.index_add(
            0, receiver, x_dict["author"][sender, :3] * weights[writes][:, None]
        )
        return papers + x_dict["paper"][:, :3] + biases["author"].size(0) * 0.0

    told = {"weights": {writes: weight}, "biases": bias}
    found = Zorro.of_hetero(model, data, "paper", model_kwargs=told).explain(5)

    def called(x_dict, edge_index_dict):
        return model(x_dict, edge_index_dict, {writes: weight}, bias)

    stayed, samples = plain_share(called, data, "paper", 5, as_kept(found))
    assert_same_share(found.fidelity, stayed, samples)


def test_models_of_one_hetero_data():
    data, model = made("HeteroConv of SAGE")

    class TakesData(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, data):
            return self.model(data.x_dict, data.edge_index_dict)

    found = Zorro.of_hetero(TakesData(), data, "author").explain(3)
    same = Zorro.of_hetero(model, data, "author").explain(3)
    assert found.selected == same.selected


def test_values_why_not_and_several_sets():
    data, model = made("HGT")
    value = Zorro.of_hetero(model, data, "author", tolerance=0.5, output=1).explain(3)
    assert value.value is not None
    predicted = Zorro.of_hetero(model, data, "author").explain(3).predicted_class
    assert predicted is not None
    other = (predicted + 1) % 3
    versus = Zorro.of_hetero(model, data, "author").explain(3, why_not=other)
    assert versus.versus is not None
    assert versus.versus.other == other
    several = Zorro.of_hetero(model, data, "author").explain_multiple(3, max_explanations=2)
    assert several[0].types is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "editor"}, "target: expected one of the types 'author', 'paper', 'venue'"),
        ({"target": ("author", "likes", "film")}, "target: expected a type, or"),
        ({"keep": ("types", "nodes")}, "keep: expected 'types' or 'nodes', got both"),
        ({"keep": ("edges", "edge_attributes")}, "keep: expected no 'edge_attributes'"),
        ({"keep": ("edges",), "edge_noise": "rewire"}, "edge_noise: expected 'presence'"),
        ({"noise": {"editor": "rows"}}, "noise: expected one of"),
        ({"feature_groups": {"venue": [[0]]}}, r"feature_groups\['venue'\]: expected a type with"),
        ({"feature_groups": [[0]]}, "feature_groups: expected groups by type"),
        ({"model_kwargs": {"w": {"film": torch.ones(3)}}}, r"model_kwargs\['w'\]: expected a dict"),
    ],
)
def test_bad_input_is_refused_in_one_line(change, message):
    data, model = made("HeteroConv of SAGE")
    given = {"target": "author", **change}
    with pytest.raises(InputError, match=message):
        Zorro.of_hetero(model, data, given.pop("target"), **given)


def test_bad_sets_are_refused_in_one_line():
    data, model = made("HeteroConv of SAGE")
    zorro = Zorro.of_hetero(model, data, "author")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"nodes": {"editor": [0]}}, "nodes: expected some of the types"),
        ({"nodes": [3]}, "nodes: expected numbers by type"),
        ({"nodes": {"venue": [9]}}, r"nodes\['venue'\]: expected whole numbers from 0 to 3"),
        ({"features": {"venue": [0]}}, r"features\['venue'\]: expected a type with features"),
        ({"types": ["author"]}, "types: expected None unless keep has 'types'"),
    ]
    for given, message in wrong:
        with pytest.raises(InputError, match=message):
            zorro.fidelity(3, **given)
    with pytest.raises(InputError, match="author: expected"):
        zorro.explain(99)
    edges = Zorro.of_hetero(model, data, "author", keep=("edges",))
    with pytest.raises(InputError, match="expected an edge that carries messages"):
        edges.fidelity(3, edges={("author", "writes", "paper"): [(3, 3), (3, 4), (3, 5)]})
    with pytest.raises(InputError, match="edges: expected some of the relations"):
        edges.fidelity(3, edges={("author", "edits", "paper"): [(3, 3)]})


def test_types_are_refused_where_there_are_none():
    with pytest.raises(InputError, match="keep: expected some of 'nodes', 'features', 'edges'"):
        Zorro(One(GCNConv), torch.rand(4, 6), torch.tensor([[0], [1]]), keep=("types",))


def test_a_model_without_scores_for_the_type_is_refused():
    data, model = made("HeteroConv of SAGE")

    def of_papers(x_dict, edge_index_dict):
        return {"paper": model(x_dict, edge_index_dict)["paper"]}

    with pytest.raises(ModelError, match=r"^the model returns no scores for 'author'"):
        Zorro.of_hetero(of_papers, data, "author").explain(0)


def test_embeddings_inside_the_model_are_refused_for_features_and_served_for_edges():
    data = library()
    inner = Convolved(data)

    class Holds(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = inner

        def forward(self, x_dict, edge_index_dict):
            every = torch.arange(4)
            return self.inner({**x_dict, "venue": every}, edge_index_dict)

    without = data.clone()
    del without["venue"].x
    without["venue"].num_nodes = 4
    with pytest.raises(InputError, match=r"data\['venue'\].x: expected features or numbers"):
        Zorro.of_hetero(Holds(), without, "author")
    few: dict[str, Any] = {"max_evaluations": 500, "samples": 50, "fresh_samples": 300}  # runs
    found = Zorro.of_hetero(Holds(), without, "author", keep=("edges",), **few).explain(3)
    stayed, samples = plain_share(
        lambda x, edges: Holds()(x, edges), without, "author", 3, as_kept(found)
    )
    assert_same_share(found.fidelity, stayed, samples)


def test_a_node_without_edges_and_one_hot_numbers():
    data = library()
    data["venue"].x = torch.eye(4)
    alone = data["author"].x.size(0)
    data["author"].x = torch.cat([data["author"].x, torch.randn(1, 5)])
    model = Convolved(data, venue_ids=False)
    found = Zorro.of_hetero(model, data, "author").explain(alone)
    assert set(dict(found.nodes.items())) <= {"author"}
    near = Zorro.of_hetero(model, data, "author").explain(3)
    assert near.types is not None
    assert near.types.nodes[2].features == 0  # one-hot numbers are no features

    def numbered(x_dict, edge_index_dict):
        return model({**x_dict, "venue": torch.eye(4)[x_dict["venue"]]}, edge_index_dict)

    again = data.clone()
    again["venue"].x = torch.arange(4)
    stayed, samples = plain_share(numbered, again, "author", 3, as_kept(near))
    assert_same_share(near.fidelity, stayed, samples)
