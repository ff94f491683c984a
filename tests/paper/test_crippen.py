"""Molecules with a value: ranks and gradients by hand, and a small run on made molecules."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data

from zorro import data
from zorro.data import GraphDataset
from zorro.data.molecules import ATOMS, BONDS
from zorro.models import GraphTrainingSettings
from zorro.paper import EXPERIMENTS, Settings, graph_cells
from zorro.paper.paper_values import published_by
from zorro.paper.value_jobs import grad_input, rank_agreement, true_shares


def test_agreement_counts_pairs_in_the_same_order():
    truth = [0.1, 0.4, 0.2, 0.9]
    assert rank_agreement([1, 3, 2, 4], truth) == 1
    assert rank_agreement([4, 2, 3, 1], truth) == -1
    assert rank_agreement([1, 2, 3, 4], truth) == pytest.approx((5 - 1) / 6)  # one pair is not
    assert rank_agreement([1, 1, 1, 1], truth) is None
    assert rank_agreement([1, 2, 3, 4], [0.0] * 4) is None


def test_the_gradient_times_the_input_keeps_its_sign():
    class Value(nn.Module):
        def forward(self, x, edge_index, edge_attr, batch=None):
            weights = torch.tensor([2.0, -3.0]) * edge_attr.sum()
            return gnn.global_add_pool((x**2 @ weights).unsqueeze(1), batch)

    molecule = Data(
        x=torch.tensor([[1.0, 0.0], [0.0, 2.0]]),
        edge_index=torch.tensor([[0], [1]]),
        edge_attr=torch.tensor([[0.5]]),
    )
    # Σ_j x_j · 2 w_j x_j with weights halved by the bond
    assert grad_input(Value(), molecule, ["edge_attr"]).tolist() == [2.0, -12.0]


def test_the_published_values_are_read():
    values = published_by("crippen", "model", "method")
    assert values["mpnn", "cam"] == 0.40
    assert values["gcn", "ig"] == 0.32


def made_molecules() -> GraphDataset:
    """Paths of atoms whose value is the sum of what each kind of atom adds."""
    generator = torch.Generator().manual_seed(0)
    adds = torch.linspace(-1, 1, len(ATOMS))
    graphs = []
    for number in range(80):
        size = 4 + number % 4
        atoms = torch.randint(0, len(ATOMS), (size,), generator=generator)
        first = torch.arange(size - 1)
        pairs = torch.stack([first, first + 1])
        graphs.append(
            Data(
                x=torch.eye(len(ATOMS))[atoms],
                edge_index=torch.cat([pairs, pairs.flip(0)], dim=1),
                edge_attr=torch.eye(len(BONDS))[[0] * (2 * size - 2)],
                y=adds[atoms].sum().reshape(1),
                attribution=adds[atoms].unsqueeze(1),
            )
        )
    every = torch.arange(80)
    return GraphDataset(
        name="crippen", graphs=graphs, train=every[:50], val=every[50:60], test=every[60:]
    )


@pytest.fixture
def made(monkeypatch):
    graphs = made_molecules()
    quick = GraphTrainingSettings(epochs=60, learning_rate=0.01)
    monkeypatch.setattr(data, "load_graphs", lambda name: graphs)
    monkeypatch.setattr(
        graph_cells, "usual_settings", lambda name, seed=0: replace(quick, seed=seed)
    )
    return graphs


def test_the_experiment_measures_reports_and_goes_on(made, tmp_path):
    settings = Settings(runs=tmp_path / "runs", nodes=4)
    report = EXPERIMENTS["crippen"].run(settings)
    by_method = {row["method"]: row for row in report.rows}
    assert list(by_method) == [
        "zorro, certified set",
        "zorro, all atoms",
        "zorro, nothing",
        "grad-input",
    ]
    assert by_method["grad-input"]["molecules"] == 4
    assert by_method["zorro, nothing"]["median"] > 0.3  # it has learnt what atoms add
    assert "RMSE train" in report.text
    files = report.write(tmp_path, "crippen", command="zorro reproduce crippen")
    assert all(path.stat().st_size > 60 for path in files)
    again = EXPERIMENTS["crippen"].run(replace(settings, measures=False))
    assert json.dumps(again.rows) == json.dumps(report.rows)
    assert true_shares(made.graphs[0]) == made.graphs[0].attribution.flatten().tolist()


def test_a_method_may_be_left_out(made, tmp_path):
    settings = Settings(runs=tmp_path / "runs", nodes=2, methods=("grad-input",))
    report = EXPERIMENTS["crippen"].run(settings)
    assert [row["molecules"] for row in report.rows] == [0, 0, 0, 2]
    assert "| 0 | 0 | – | – |" in report.text
