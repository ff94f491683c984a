"""Molecules with known truth: the best match by hand, and a small run on made molecules."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from zorro import data
from zorro.data import GraphDataset
from zorro.data.molecules import ATOMS, BONDS
from zorro.explanation import ElementImportance, Importance
from zorro.models import GraphTrainingSettings
from zorro.paper import EXPERIMENTS, Settings, graph_cells
from zorro.paper.molecules import balanced, best_auroc, best_match, ranks_of, truths_of
from zorro.paper.paper_values import published_by

NAN = float("nan")


def test_truths_are_the_columns_that_tell_some_atoms_from_others():
    columns = [[1, 1, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0], [NAN] * 4]
    molecule = Data(attribution=torch.tensor(columns).t())
    assert truths_of(molecule).tolist() == [[True, True, False, False], [False] * 3 + [True]]
    nothing = Data(attribution=torch.zeros(4, 1))
    assert truths_of(nothing).shape == (0, 4)


def test_of_several_truths_the_nearest_counts():
    truths = torch.tensor([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0]]).bool()
    selected = torch.tensor([1, 0, 1, 1, 1]).bool()
    found = best_match(selected, truths)
    assert found == {"precision": 0.5, "recall": 1.0, "jaccard": 0.5}
    assert best_match(selected, truths[:0]) == {}
    scores = torch.tensor([0.1, 0.2, 0.9, 0.8, 0.85])
    assert best_auroc(scores, truths) == pytest.approx(5 / 6)
    assert best_auroc(scores, truths[:0]) is None


def test_probability_decides_where_fidelity_does_not():
    every = [(0, 0.2, 0.0), (1, 0.0, 0.3), (2, 0.0, 0.1), (3, 0.0, 0.1), (4, -0.1, 0.9)]
    ranked = tuple(
        ElementImportance("nodes", (node,), node == 0, fidelity, probability)
        for node, fidelity, probability in every
    )
    assert ranks_of(Importance(ranked, 10), 5).tolist() == [3, 2, 1, 1, 0]


def test_the_published_values_are_read():
    values = published_by("benzene", "method", "metric", "model")
    assert values["cam", "auroc", "gcn"] == 0.99
    assert values["ig", "auroc", "gat"] == 0.95
    assert values["subgraphx", "jaccard", "–"] == 0.371


def made_molecules() -> GraphDataset:
    """Paths of atoms with an aromatic ring at the end: of carbons alone in every other one."""
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for number in range(120):
        is_benzene, path = number % 2, 2 + number % 5
        ring = torch.zeros(6, dtype=torch.long)
        ring[: 0 if is_benzene else 3] = 1  # nitrogen
        atoms = torch.cat([torch.randint(0, 3, (path,), generator=generator), ring])
        ends = [(i, i + 1, 0) for i in range(path)]
        ends += [(path + i, path + (i + 1) % 6, 3) for i in range(6)]
        both = torch.tensor([(a, b) for a, b, _ in ends] + [(b, a) for a, b, _ in ends]).t()
        bonds = torch.eye(len(BONDS))[[kind for _, _, kind in ends] * 2]
        truth = (torch.arange(atoms.numel()) >= path).float().unsqueeze(1)
        graphs.append(
            Data(
                x=torch.eye(len(ATOMS))[atoms],
                edge_index=both,
                edge_attr=bonds,
                y=torch.tensor([is_benzene]),
                attribution=truth if is_benzene else torch.zeros_like(truth),
            )
        )
    every = torch.arange(120)
    return GraphDataset(
        name="benzene", graphs=graphs, train=every[:80], val=every[80:90], test=every[90:]
    )


@pytest.fixture
def made(monkeypatch):
    graphs = made_molecules()
    quick = GraphTrainingSettings(epochs=15, learning_rate=0.02, batch_size=16)
    monkeypatch.setattr(data, "load_graphs", lambda name: graphs)
    monkeypatch.setattr(
        graph_cells, "usual_settings", lambda name, seed=0: replace(quick, seed=seed)
    )
    return graphs


def test_test_molecules_are_drawn_with_and_without_a_ring_in_turn(made):
    numbers = balanced(made, 10, seed=1)
    assert len(set(numbers)) == 10
    assert made.targets[list(numbers)].tolist() == [1, 0] * 5
    assert set(numbers) <= set(made.test.tolist())
    assert balanced(made, 10, seed=1) == numbers != balanced(made, 10, seed=2)


def test_the_experiment_measures_reports_and_goes_on(made, tmp_path):
    methods = ("zorro .85", "zorro .85 union", "grad", "random")
    settings = Settings(runs=tmp_path / "runs", nodes=4, methods=methods)
    report = EXPERIMENTS["benzene"].run(settings)
    assert {row["method"] for row in report.rows} == set(methods)
    by_place = {(row["method"], row["set"], row["measure"]): row for row in report.rows}
    ours = by_place["zorro .85", "certified", "jaccard"]
    assert ours["molecules"] == 2  # of four, half have a ring
    assert 0 < ours["ours"] <= 1
    assert by_place["grad", "first six", "jaccard"]["published"] == "0.122"
    assert by_place["zorro .85 union", "union", "auroc"]["ours"] is None
    assert "accuracies: train" in report.text
    files = report.write(tmp_path, "benzene", command="zorro reproduce benzene")
    assert all(path.stat().st_size > 60 for path in files)
    again = EXPERIMENTS["benzene"].run(replace(settings, measures=False))
    assert json.dumps(again.rows) == json.dumps(report.rows)
    (row,) = (
        line for line in report.text.splitlines() if line.startswith("| zorro .85 | without |")
    )
    assert row.split("|")[3].strip() == "2"
