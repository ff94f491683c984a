"""The experiments themselves: their own arithmetic by hand, and a small run of each."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data

from zorro.errors import InputError
from zorro.methods import methods_in
from zorro.paper import (
    EXPERIMENTS,
    Settings,
    faithfulness,
    hard_masks,
    homophily,
    jobs,
    real,
    retraining,
    variants,
)
from zorro.paper.cells import CITATION, NodeCell
from zorro.paper.jobs import MethodJob, MultiplicityJob, Place
from zorro.paper.measuring import measure
from zorro.runs.engines import Processes


def test_features_are_ranked_by_the_sum_of_the_masks():
    rows: list[dict[str, Any]] = [
        {"feature_mask": [[0, 3], [0.5, 1.0]]},
        {"feature_mask": [[0, 1], [0.75, 0.25]]},
        {"feature_mask": None},
    ]
    assert retraining._ranking(rows, 5) == [0, 3, 1, 2, 4]


def test_retraining_sees_only_the_features_that_are_kept(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(2, (40,), generator=generator)
    x = torch.rand(40, 6, generator=generator)
    x[:, 4] = y.float()  # the only feature that says anything
    every = torch.arange(40)
    mask = torch.arange(40) < 20
    data = Data(x=x, y=y, edge_index=torch.stack([every, every]), train_mask=mask, test_mask=~mask)
    monkeypatch.setattr(retraining, "loaded", lambda cell, device="cpu": (None, data))
    accuracies = {}
    for features in ((4,), (1,)):
        job = retraining.RetrainingJob(NodeCell("made", "gcn"), "some", features)
        accuracies[features] = job.open(Place())(0)["accuracy"]
        assert job.name == "retrained on 1 of some"
    assert accuracies[4,] == 1
    assert accuracies[1,] < 0.8
    assert data.x.size(1) == 6


def test_homophily_is_told_apart_by_right_and_wrong(monkeypatch):
    class Says(nn.Module):
        def forward(self, x, edge_index):
            return torch.nn.functional.one_hot(torch.tensor([0, 0, 1, 1]), 2).float()

    data = Data(x=torch.eye(4), edge_index=torch.zeros(2, 0), y=torch.tensor([0, 1, 1, 1]))
    monkeypatch.setattr(homophily, "loaded", lambda cell: (Says(), data))
    rows = [
        {"node": 0, "chosen": [0, 1, 2]},  # right; true labels 1, 1; predicted 0, 1
        {"node": 1, "chosen": [2, 3]},  # wrong; true labels 1, 1; predicted 1, 1
        {"node": 3, "chosen": [3]},  # nobody else
    ]
    found = homophily._by_outcome(NodeCell("made", "up"), rows)
    np.testing.assert_allclose(found["right"], [[0.0], [0.5]])
    np.testing.assert_allclose(found["wrong"], [[1.0], [0.0]])


def test_rank_correlation_needs_every_epoch():
    test = [0.2, 0.4, 0.6]
    assert faithfulness._kendall([0.1, 0.2, 0.3], test) == pytest.approx(1)
    assert faithfulness._kendall([0.1, None, 0.3], test) is None
    assert faithfulness._kendall([0.1, 0.1, 0.1], test) is None


def test_precisions_are_compared_on_the_same_nodes():
    runs = [[{"node": node} for node in nodes] for nodes in ((1, 2, 3), (3, 1), (1, 3, 4))]
    assert faithfulness._common(runs) == {1, 3}


def test_agreement_counts_cells_in_which_all_four_measures_agree():
    cells = [("cora", "gcn"), ("cora", "gat")]
    entries = [
        {
            "measure": name,
            "method": "zorro .85",
            "setting": "reference graph",
            "dataset": dataset,
            "model": model,
            "published": 0.5,
            "value": 0.5 + (0.16 if (model, name) == ("gat", "node_entropy") else 0.01),
            "nodes": 300,
        }
        for dataset, model in cells
        for name in real.MEASURES
    ]
    text = real._agreement(entries)
    assert "in 1 of 2 cells" in text
    assert "- zorro .85 cora gat: node_entropy 0.66, published 0.50" in text
    assert "gcn:" not in text


def test_entropies_are_means_over_explanations_that_select_something(paper_dir):
    class Kept:
        def of(self, job):
            values = {"feature_entropy": 2.0, "node_entropy": 1.0, "fidelity": 0.5, "validity": 0}
            nothing = {"feature_entropy": 0.0, "node_entropy": 0.0, "fidelity": 1.0, "validity": 1}
            return [
                {**values, "chosen": [3]},
                {**values, "chosen": None},
                {**nothing, "chosen": []},
            ]

    job = MethodJob(CITATION[0], variants.ZORRO[0])
    entries = {entry["measure"]: entry for entry in real._entries([job], Kept())}  # type: ignore[arg-type]
    assert [entry["value"] for entry in entries.values()] == [2.0, 1.0, 2 / 3, 1 / 3]
    assert all(entry["empty"] == 1 for entry in entries.values())
    assert real._empty(list(entries.values())).endswith("zorro .85, ours, cora gcn: 1 of 3")


def test_methods_are_chosen_by_their_name_or_their_jobs(paper_dir, data_dir):
    settings = Settings(runs=None, methods=("zorro .98 reference", "grad"))  # type: ignore[arg-type]
    jobs = real.jobs_in(CITATION[:1], settings)
    assert [job.name for job in jobs] == ["zorro .98 reference", "grad"]
    every = real.jobs_in(CITATION[:1], replace(settings, methods=None))
    assert "subgraphx" not in [job.name for job in every]


def test_a_method_on_demand_is_reported_once_it_is_measured(tmp_path, paper_dir, data_dir):
    settings = Settings(runs=tmp_path, measures=False)
    job = MethodJob(CITATION[0], variants.Variant("empty", "empty"))
    assert not variants.wanted(job, settings, on_demand=("empty",))
    measure([job], replace(settings, measures=True, nodes=1))
    assert variants.wanted(job, settings, on_demand=("empty",))
    assert not variants.wanted(job, settings, without=("empty",))
    assert not variants.wanted(job, replace(settings, measures=True), on_demand=("empty",))
    assert not variants.wanted(job, replace(settings, methods=("grad",)), on_demand=("empty",))


def test_several_explanations_are_counted(paper_dir, data_dir):
    job = MultiplicityJob(NodeCell("cora", "gcn"), most=3)
    row = job.open(Place())(2521)
    assert 1 <= row["explanations"] <= 3


def test_an_explainer_of_ones_own_gets_into_the_tables(tmp_path, paper_dir, data_dir):
    """Also in worker processes, which know nothing of the file until they are told."""
    path = tmp_path / "mine.py"
    path.write_text(
        "import torch\n"
        "from zorro.explainers import Masks, method\n"
        "@method('everything')\n"
        "class Everything:\n"
        "    def explain(self, subject):\n"
        "        return Masks(nodes=torch.ones(subject.candidates))\n"
    )
    source = str(path)
    own = tuple(jobs.Variant(name, name, source=source) for name in methods_in(path))
    settings = Settings(runs=tmp_path / "runs", nodes=1, methods=(), own=own, engine=Processes(1))
    rows = EXPERIMENTS["synthetic"].run(settings).rows
    found = {row["measure"]: row for row in rows if row["method"] == "everything"}
    assert found["fidelity"]["ours"] == 1
    assert found["fidelity"]["paper"] is None
    assert {row["method"] for row in rows} == {"everything"}


def test_a_file_without_an_explainer_is_refused(tmp_path):
    path = tmp_path / "nothing.py"
    path.write_text("pass\n")
    with pytest.raises(InputError, match="expected a file with methods"):
        methods_in(path)
    with pytest.raises(InputError, match="expected a Python file"):
        methods_in(tmp_path / "missing.py")


@pytest.mark.parametrize(
    ("name", "methods", "figures"),
    [
        ("real", ("grad",), 0),
        ("synthetic", ("grad", "zorro .85"), 0),
        ("runtime", ("grad",), 0),
        ("faithfulness", ("grad",), 1),
        ("hard-masks", ("grad-input",), 0),
        ("examples", ("grad", "zorro .85"), 4),
        ("thresholds", None, 0),
    ],
)
def test_an_experiment_writes_what_it_measures(
    tmp_path, paper_dir, data_dir, monkeypatch, name, methods, figures
):
    few = [cell for cell in CITATION if cell.dataset == "cora" and cell.model in ("gcn", "gat")]
    for module in (real, hard_masks):
        monkeypatch.setattr(module, "CITATION", few)
    settings = Settings(runs=tmp_path / "runs", nodes=1, methods=methods)
    report = EXPERIMENTS[name].run(settings)
    files = report.write(tmp_path, name, command="zorro reproduce")
    assert len(files) == 2 + 2 * figures
    assert all(path.stat().st_size > 60 for path in files)
    numbers = [
        value
        for row in report.rows
        for key, value in row.items()
        if key in ("value", "ours", "seconds", "reference", "in the house")
    ]
    assert any(isinstance(value, int | float) and math.isfinite(value) for value in numbers)
    if name == "real":
        place = ("feature_entropy", "cora", "gcn")
        (entry,) = (r for r in report.rows if (r["measure"], r["dataset"], r["model"]) == place)
        assert entry["published"] == 4.08
        assert entry["nodes"] == 1
    again = EXPERIMENTS[name].run(replace(settings, measures=False))
    assert json.dumps(again.rows, default=str) == json.dumps(report.rows, default=str)
    assert again.made_with == report.made_with
    assert "CPU: Python" in files[1].read_text()


def test_a_job_knows_its_cell_and_nodes(paper_dir, data_dir):
    job = MethodJob(NodeCell("cora", "gcn"), variants.GUIDED)
    assert len(job.nodes) == 300
    assert job.parameters["tau"] == 0.85
