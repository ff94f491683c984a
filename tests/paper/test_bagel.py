"""Whole graphs beside BAGEL's table: the arithmetic by hand, and a small run."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from zorro import Zorro
from zorro.data import load_graphs
from zorro.methods import Masks, Subjects
from zorro.models.graph_training import GraphTrainingSettings, train_graphs
from zorro.paper import EXPERIMENTS, Settings, bagel, graph_cells
from zorro.paper.bagel_tables import Column
from zorro.paper.graph_cells import GraphCell, trained
from zorro.paper.graph_jobs import CertifiedJob, GraphMethodJob, variant_name
from zorro.paper.jobs import Place, Variant
from zorro.paper.measures import MEASURES, Worlds
from zorro.paper.paper_values import published_by

METHODS = (
    "certified .85",
    "certified .98",
    "zorro .85",
    "zorro .98 with features",
    "grad",
    "empty",
)


@pytest.fixture
def cell(tmp_path, data_dir, monkeypatch):
    monkeypatch.setattr(graph_cells, "usual_settings", few_epochs)
    return trained("mutag", "gcn", tmp_path, poolings=("add", "max"), rates=(0.01,))


def few_epochs(dataset, *, seed=0):
    return GraphTrainingSettings(epochs=3, seed=seed)


def test_the_published_values_are_those_of_the_table():
    values = published_by("bagel", "measure", "method", "dataset", "model")
    assert len(values) == 2 * 4 * 8 + 8
    assert values["fidelity", "gnnexplainer", "mutag", "gcn"] == 0.73
    assert values["fidelity", "pgm", "proteins", "gin"] == 0.89
    assert values["node_entropy", "grad-input", "proteins", "appnp"] == 3.18
    assert values["accuracy", "", "proteins", "gat"] == 0.58


def test_the_settings_are_those_of_the_least_validation_loss(cell):
    """Each candidate is trained again, and its loss on the validation graphs counted here."""
    molecules = load_graphs("mutag")
    losses = {}
    for pooling in ("add", "max"):
        settings = replace(few_epochs("mutag"), learning_rate=0.01)
        model = train_graphs("gcn", molecules, settings, options={"pooling": pooling})
        each = [
            functional.nll_loss(model(graph.x, graph.edge_index), graph.y.reshape(1)).item()
            for graph in (molecules.graphs[number] for number in molecules.val.tolist())
        ]
        losses[pooling] = sum(each) / len(each)
    assert losses["add"] != pytest.approx(losses["max"], abs=1e-4)
    assert cell.record["options"]["pooling"] == min(losses, key=losses.__getitem__)
    model, _ = cell.load()
    assert model.readout.pooling == cell.record["options"]["pooling"]
    again = trained("mutag", "gcn", Path(cell.weights).parent, poolings=(), rates=())
    assert again == cell  # what is kept is not trained again


def test_graphs_are_drawn_by_the_seed(cell):
    one = cell.drawn(50, seed=0)
    assert len(set(one)) == 50
    assert max(one) < 188
    assert cell.drawn(20, seed=0) == one[:20]
    assert cell.drawn(50, seed=1) != one


def test_certified_rows_are_the_front_doors(cell):
    graphs = cell.drawn(3, seed=0)
    job = CertifiedJob(cell, 0.98, graphs, ("nodes",))
    assert job.name == "certified .98"
    measured = job.open(Place())
    model, molecules = cell.load()
    zorro = Zorro.of_graphs(model, molecules.graphs, tau=0.98, keep=("nodes",))
    for graph in graphs:
        row, explanation = measured(graph), zorro.explain(graph)
        assert row["chosen"] == list(explanation.nodes)
        assert row["certified"] == explanation.certified
        assert row["status"] == explanation.status
        assert row["node_entropy"] == pytest.approx(explanation.node_entropy)
        assert row["feature_entropy"] is None
        assert row["fidelity"] > 0.9
        assert row["random fidelity"] <= 1


def test_node_masks_are_measured_with_all_features(cell):
    model, molecules = cell.load()
    subjects = Subjects.of_graphs(model, molecules.graphs)
    subject = subjects.of(0)
    worlds = Worlds(subjects.noise, range(50), seed=1)
    nodes = torch.arange(subject.candidates) % 2
    both = Masks(nodes=nodes.float(), features=torch.zeros(7))
    alone = MEASURES["nodes alone"](subject, both, worlds)
    assert alone == MEASURES["as given"](subject, Masks(nodes=nodes.float()), worlds)
    assert alone["feature_entropy"] is None


def test_a_job_knows_what_decides_about_its_values(cell):
    variant = Variant("zorro .85", "zorro-paper", {"tau": 0.85, "keep": ("nodes",)})
    job = GraphMethodJob(cell, variant, (1, 2), "nodes alone")
    assert job.parameters["options"] == {"tau": 0.85, "keep": ["nodes"]}
    assert job.parameters["measure"] == "nodes alone"
    row = job.open(Place())(1)
    assert row["node"] == 1
    assert row["chosen"] is not None


def test_means_and_medians_by_hand():
    certified = variant_name("certified", 0.98, ["nodes"])
    rows = {
        certified: [
            {"node": 3, "status": "certified", "fidelity": 1.0, "seconds": 3.0, "chosen": [1]},
            {"node": 4, "status": "nothing needed", "fidelity": 0.9, "seconds": 1.0, "chosen": []},
        ],
        "grad": [
            {"node": 3, "fidelity": 0.2, "seconds": 1.0, "node_entropy": 2.0, "chosen": [1]},
            {"node": 4, "fidelity": 0.8, "seconds": 2.0, "node_entropy": 1.0, "chosen": [1]},
        ],
    }
    column = Column(GraphCell("mutag", "gcn", ""), rows)
    assert column.in_need(0.98) == [3]
    assert column.mean("grad", "fidelity") == 0.5
    assert column.mean("grad", "fidelity", [3]) == 0.2
    assert column.mean("pgm", "fidelity") is None
    assert column.seconds(certified) == 2.0
    assert column.seconds("pgm") is None


def rows_of(values, entropy, **more):
    return [
        {"node": node, "fidelity": value, "node_entropy": entropy, "chosen": [1], **more}
        for node, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("fidelity", "entropy", "chance", "better"),
    [(0.95, 1.0, 0.5, True), (0.9, 1.0, 0.5, False), (0.95, 2.1, 0.5, False), (0.95, 1, 1, False)],
)
def test_better_means_a_greater_fidelity_at_no_larger_entropy(fidelity, entropy, chance, better):
    more = {"status": "certified", "random fidelity": chance}
    rows = {
        "certified .85": rows_of([fidelity] * 2, entropy, **more),
        "gnnexplainer": rows_of([1.0, 0.8], 2.0),
        "pgm": rows_of([0.5, 0.6], 0.5),
    }
    column = Column(GraphCell("mutag", "gcn", ""), rows)
    assert column.best_of_the_others("certified .85", [0, 1]) == (
        ("random", 1) if chance == 1 else ("gnnexplainer", 0.9)
    )
    assert column.is_better(0.85) == better
    assert not column.is_better(0.98)  # not measured


def test_a_small_run_is_written_and_read_back(tmp_path, data_dir, monkeypatch):
    monkeypatch.setattr(graph_cells, "usual_settings", few_epochs)
    monkeypatch.setattr(bagel, "DATASETS", ("mutag",))
    monkeypatch.setattr(bagel, "MODELS", ("gcn",))
    monkeypatch.setattr(bagel, "RATES", (0.01,))
    settings = Settings(runs=tmp_path / "runs", nodes=2, methods=METHODS)
    report = EXPERIMENTS["bagel"].run(settings)
    rows = {(row["method"], row["measure"]): row for row in report.rows}
    assert {method for method, _ in rows} == {*METHODS, "random"}
    assert rows["grad", "fidelity"]["published"] == 0.39
    assert rows["grad", "fidelity"]["graphs"] == 2
    assert rows["certified .98", "certified"]["ours"] == 1
    assert rows["zorro .98 with features", "fidelity"]["published"] is None
    for row in report.rows:
        assert math.isfinite(row["ours"])
    files = report.write(tmp_path, "bagel", command="zorro reproduce bagel")
    page = files[1].read_text()
    assert "| mutag gcn | 0.76 |" in page
    assert "| grad | BAGEL | 0.39 |" in page
    again = EXPERIMENTS["bagel"].run(replace(settings, measures=False))
    assert again.rows == report.rows
    assert again.text == report.text
