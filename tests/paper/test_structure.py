"""Edges with known truth: orders and truths by hand, and a small run on made graphs."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import SimpleConv

from zorro import Zorro, data
from zorro.data import GraphDataset, motifs
from zorro.data.edge_truth import edges_in_motifs
from zorro.errors import InputError
from zorro.metrics import UndirectedEdges, ground_truth_auroc
from zorro.models import GraphTrainingSettings, TrainingSettings
from zorro.paper import EXPERIMENTS, Settings, cells, graph_cells, structure, structure_jobs
from zorro.paper.jobs import Place, Variant, loaded
from zorro.paper.paper_values import published_by
from zorro.paper.structure_cases import (
    GraphCase,
    NodeCase,
    Truth,
    _ring_edges,
    known_edges,
)
from zorro.paper.structure_jobs import (
    EdgeMethodJob,
    TruthJob,
    between_candidates,
    edges_between,
    first_edges,
    movement,
    of_ranking,
)

HOUSE = ((0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (1, 4))
BASE, HOUSES = 24, 6


def both_ways(pairs):
    pairs = sorted({*pairs, *((v, u) for u, v in pairs)})
    return torch.tensor(pairs).t().contiguous()


def ring_with_houses():
    """A ring of 24 nodes to which six houses are attached by their ground."""
    pairs = {(node, (node + 1) % BASE) for node in range(BASE)}
    for number in range(HOUSES):
        first = BASE + 5 * number
        pairs |= {(first + u, first + v) for u, v in HOUSE} | {(4 * number, first + 3)}
    edge_index = both_ways(pairs)
    nodes = BASE + 5 * HOUSES
    motif = torch.tensor([-1] * BASE + [number for number in range(HOUSES) for _ in range(5)])
    half = torch.arange(nodes) % 2 == 0
    return Data(
        x=torch.ones(nodes, 10),
        edge_index=edge_index,
        y=torch.tensor([0] * BASE + [1, 1, 2, 2, 3] * HOUSES),
        motif=motif,
        edge_truth=edges_in_motifs(edge_index, motif),
        train_mask=half,
        test_mask=~half,
    )


@pytest.fixture
def made(monkeypatch):
    """A small graph and a small set of graphs in the place of the data sets, trained on quickly."""
    graph = ring_with_houses()
    monkeypatch.setattr(motifs, "_GRAPHS", 80)
    graphs = motifs.ba_2motifs(seed=0)
    every = torch.randperm(80, generator=torch.Generator().manual_seed(0))
    dataset = GraphDataset(
        name="ba-2motifs",
        graphs=graphs,
        train=every[:50].sort().values,
        val=every[50:60].sort().values,
        test=every[60:].sort().values,
    )
    monkeypatch.setattr(data, "load", lambda name: graph)
    monkeypatch.setattr(data, "load_graphs", lambda name: dataset)
    quick = TrainingSettings(epochs=300, learning_rate=0.02, weight_decay=0.0)
    monkeypatch.setattr(structure, "motif_settings", lambda seed: replace(quick, seed=seed))
    of_graphs = GraphTrainingSettings(epochs=30, learning_rate=0.01)
    monkeypatch.setattr(
        graph_cells, "usual_settings", lambda name, seed=0: replace(of_graphs, seed=seed)
    )
    monkeypatch.setattr(structure, "_NODE_DATASETS", {"ba-shapes": 5})
    of_two = {"ba-2motifs": ("gcn3", "add", 0.01, 5, None)}
    monkeypatch.setattr(structure, "_GRAPH_DATASETS", of_two)
    return SimpleNamespace(graph=graph, dataset=dataset)


@pytest.fixture
def node_case(made, tmp_path):
    settings = TrainingSettings(epochs=300, learning_rate=0.02, weight_decay=0.0)
    return NodeCase(cells.trained("ba-shapes", "gcn3", tmp_path, settings), 5)


def test_the_published_values_are_read():
    values = published_by("structure", "dataset", "method")
    assert values["ba-shapes", "gnnexplainer"] == 0.925
    assert values["mutagenicity", "pgexplainer"] == 0.873
    assert len(values) == 24


def test_bonds_of_a_ring_have_both_atoms_in_it():
    molecule = Data(
        edge_index=both_ways([(0, 1), (1, 2), (0, 2), (2, 3)]),
        attribution=torch.tensor([[1.0, 0], [1, 0], [1, 1], [0, 1]]),
    )
    truths = _ring_edges(molecule)
    found = [
        {tuple(sorted(pair)) for pair in molecule.edge_index[:, truth].t().tolist()}
        for truth in truths
    ]
    assert found == [{(0, 1), (1, 2), (0, 2)}, {(2, 3)}]


def test_the_truth_of_a_node_is_its_own_house(node_case, made):
    subject = node_case.subjects(Place()).of(BASE + 7)  # ground of the second house
    ids = torch.cat([subject.graph.candidates, subject.graph.context])
    edges = UndirectedEdges.of(subject.graph.edge_index)
    truth = node_case.truth(subject, edges)
    pairs = [tuple(sorted(ids[ends].tolist())) for ends in edges.ends]
    house = {(BASE + 5 + u, BASE + 5 + v) for u, v in HOUSE}
    assert {pair for pair, true in zip(pairs, truth.own[0], strict=True) if true} == house
    assert [bool(true) for true in truth.any[0]] == [
        min(pair) >= BASE and (pair[0] - BASE) // 5 == (pair[1] - BASE) // 5 for pair in pairs
    ]


def test_queries_are_nodes_of_houses_that_the_model_knows(node_case):
    model, graph = loaded(node_case.cell)
    queries = node_case.queries(10, seed=0)
    predicted = model(graph.x, graph.edge_index).argmax(1)
    assert 0 < len(queries) <= 10
    assert all(query >= BASE and predicted[query] == graph.y[query] for query in queries)
    assert node_case.queries(10, seed=0) == queries != node_case.queries(10, seed=1)
    assert all(query >= BASE and graph.train_mask[query] for query in node_case.training_queries())


def test_queries_are_test_graphs_that_the_model_knows(made, tmp_path):
    cell = graph_cells.trained(
        "ba-2motifs", "gcn3", tmp_path, poolings=("add",), rates=(0.01,), seed=0
    )
    for label in (None, 1):
        case = GraphCase(cell, 5, label)
        queries = case.queries(100, seed=0)
        assert set(queries) <= set(made.dataset.test.tolist())
        labels = set(made.dataset.targets[list(queries)].tolist())
        assert labels == ({1} if label else labels)
        subjects = case.subjects(Place())
        for query in queries:
            subject = subjects.of(query)
            assert subject.predicted_class == int(made.dataset.targets[query])
            edges = UndirectedEdges.of(subject.graph.edge_index)
            motif = made.dataset.graphs[query].motif
            inside = [bool((motif[ends] == 0).all()) for ends in edges.ends]
            assert case.truth(subject, edges).own.tolist() == [inside]
    assert len(known_edges(cell)) == 80


def test_sets_of_a_ranking_and_of_nodes(node_case):
    subject = node_case.subjects(Place()).of(BASE + 7)
    edges = UndirectedEdges.of(subject.graph.edge_index)
    truth = node_case.truth(subject, edges)
    ranked = between_candidates(subject, edges)
    assert not ranked.all()  # the context's are not ranked
    scores = torch.rand(edges.count, generator=torch.Generator().manual_seed(0))
    scores[~ranked] = 9
    chosen = first_edges(subject, edges, scores, truth)
    assert int(chosen.sum()) == 6
    assert float(scores[chosen].min()) > float(scores[ranked & ~chosen].max())
    assert of_ranking(subject, edges, scores, truth)["auroc"] == ground_truth_auroc(
        scores[ranked], truth=truth.own[0, ranked]
    )
    whole = Truth(ranked.unsqueeze(0), ranked.unsqueeze(0))
    assert of_ranking(subject, edges, scores, whole)["auroc"] is None  # nothing to tell apart
    nodes = torch.isin(subject.graph.candidates, torch.arange(BASE + 5, BASE + 10))
    assert torch.equal(edges_between(subject, edges, nodes.float()), truth.own[0])


def test_how_far_edges_move_the_answer_is_known_in_closed_form():
    """Three edges of a star add to class 1; by chance they are there in half of the samples."""
    weights, limit = (4.0, 1.0, -2.0), 1.5

    class Adds(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.add = SimpleConv(aggr="add")

        def forward(self, x, edge_index):
            total = self.add(x, edge_index)[:, 0] - limit
            return torch.stack([torch.zeros_like(total), total], dim=1)

    x = torch.tensor([[0.0], *([weight] for weight in weights)])
    star = both_ways([(0, leaf) for leaf in (1, 2, 3)])
    half, none = (
        Zorro(Adds(), x, star, keep=("edges",), edge_presence=presence) for presence in (0.5, 0.0)
    )
    found = movement(half, none, 0, samples=8000)

    def distance(number, others):
        without = sum(others) - limit
        logs = [-math.log1p(math.exp(-total)) for total in (without + weights[number], without)]
        return math.sqrt(abs(logs[0] - logs[1]))

    for number in range(3):
        others = [weight for place, weight in enumerate(weights) if place != number]
        outcomes = [
            [weight for weight, one in zip(others, there, strict=True) if one]
            for there in itertools.product([0, 1], repeat=2)
        ]
        by_chance = sum(distance(number, some) for some in outcomes) / 4
        expected = 0.5 * (by_chance + distance(number, others))
        assert found[0, number + 1] == pytest.approx(expected, abs=0.05)  # a mean of roots


def test_the_truth_is_measured_as_by_hand(node_case):
    """Chance edges are drawn and the model is run on what is left of the whole graph."""
    node = node_case.queries(1, seed=0)[0]
    row = TruthJob(node_case, (node,)).open(Place())(node)
    model, graph = loaded(node_case.cell)
    true = int(model(graph.x, graph.edge_index)[node].argmax())
    generator = torch.Generator().manual_seed(3)
    forth = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    house = (graph.motif[forth] == graph.motif[node]).all(0)
    for kept, name in ((house, "fidelity"), (house & False, "chance")):
        stayed = 0
        for _ in range(1000):
            there = kept | (torch.rand(forth.size(1), generator=generator) < 0.5)
            some = torch.cat([forth[:, there], forth[:, there].flip(0)], dim=1)
            with torch.no_grad():
                stayed += int(model(graph.x, some)[node].argmax()) == true
        assert row[name] == pytest.approx(stayed / 1000, abs=0.1)  # 4.5 standard deviations
    assert (row["chosen"], row["precision"], row["recall"]) == (6, 1.0, 1.0)


def test_a_method_that_ranks_no_edges_is_refused(node_case):
    node = node_case.queries(1, seed=0)[0]
    measured = EdgeMethodJob(node_case, Variant("grad", "grad"), (node,)).open(Place())
    with pytest.raises(InputError, match="method: expected one that ranks edges, got 'grad'"):
        measured(node)


def test_the_experiment_measures_reports_and_goes_on(made, monkeypatch, tmp_path):
    monkeypatch.setattr(structure_jobs, "TRUTH_SAMPLES", 50)
    methods = ("zorro", "gnnexplainer", "subgraphx", "grad", "random")
    settings = Settings(runs=tmp_path / "runs", nodes=2, methods=methods)
    report = EXPERIMENTS["structure"].run(settings)
    by_place = {(row["data set"], row["method"], row["measure"]): row for row in report.rows}
    for dataset in ("ba-shapes", "ba-2motifs"):
        for method in methods:
            ours = by_place[dataset, method, "auroc"]
            assert ours["queries"] == 2
            assert 0 <= ours["ours"] <= 1
            assert 0 <= by_place[dataset, method, "fidelity"]["ours"] <= 1
        truth = by_place[dataset, "truth", "precision"]
        assert truth["ours"] == 1
    assert by_place["ba-2motifs", "gnnexplainer", "auroc"]["published"] == 0.742
    assert by_place["ba-2motifs", "random", "auroc"]["published"] is None
    (certified,) = re.findall(r"^\| ba-shapes \| 2 \| (\d) \| (\d) of (\d) \|", report.text, re.M)
    assert int(certified[0]) + int(certified[2]) == 2
    assert certified[1] == certified[2]
    line = next(it for it in report.text.splitlines() if it.startswith("| pgexplainer |"))
    assert line.startswith("| pgexplainer | 0.963 / – |")
    files = report.write(tmp_path, "structure", command="zorro reproduce structure")
    assert all(path.stat().st_size > 60 for path in files)
    again = EXPERIMENTS["structure"].run(replace(settings, measures=False))
    assert json.dumps(again.rows) == json.dumps(report.rows)
