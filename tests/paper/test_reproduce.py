"""Experiments: published values are the paper's, measurements are kept, tables are written."""

from __future__ import annotations

import csv
import json
import math
from typing import Any

import pytest

from zorro.data.ba_community import house_of, motif_nodes
from zorro.paper import EXPERIMENTS, Settings
from zorro.paper.cells import SYNTHETIC, NodeCell
from zorro.paper.jobs import MethodJob, Variant
from zorro.paper.measuring import mean, measure
from zorro.paper.paper_values import published, published_by
from zorro.paper.report import Report, as_csv, as_table
from zorro.paper.synthetic import against_the_house, mean_precision
from zorro.show.plot.canvas import new_figure


def test_the_published_values_are_those_of_the_paper():
    main = published_by("real_main", "metric", "method", "dataset", "model")
    assert len(main) == 28 * 12
    assert main["feature_entropy", "zorro .85", "cora", "gcn"] == 1.91
    assert main["node_entropy", "pgm", "pubmed", "appnp"] == 2.93
    assert main["validity", "empty", "citeseer", "gin"] == 0.08
    assert published_by("syn_runtime", "method", value="seconds")["subgraphx",] == 4895.03
    assert published_by("synthetic_node", "metric", "method")["precision", "zorro .85"] == 0.95
    assert published_by("syn2_faith", "method", "epoch")["gnnexplainer", "kendall"] == -0.73
    assert len(published("additional_metrics_1")) == 50 * 12
    assert len(published("additional_metrics_2")) == 52 * 12
    assert (
        published_by("vary_samples", "tau", "samples", "metric")[".98", "150", "fidelity"] == 0.97
    )
    amazon = published_by("results_amazon", "model", "method", "metric")
    assert amazon["appnp", "zorro .98", "node_entropy"] == 5.63
    assert ("gcn", "pgm", "feature_entropy") not in amazon


def test_every_house_node_is_in_its_house():
    houses = {tuple(house_of(node)) for node in motif_nodes()}
    assert len(houses) == 160
    assert sorted(node for house in houses for node in house) == motif_nodes()


def test_precision_and_accuracy_by_hand():
    row = {"node": 302, "chosen": [300, 301, 7], "candidates": 20}
    found = against_the_house(row)
    assert found["precision"] == pytest.approx(2 / 3)
    assert found["accuracy"] == pytest.approx(1 - (1 + 3) / 20)
    assert against_the_house(row | {"chosen": None})["precision"] == 0
    nothing = row | {"chosen": []}
    assert mean_precision([row, nothing]) == found["precision"]
    assert mean_precision([nothing]) == 0
    assert mean_precision([]) is None


def drawn():
    figure = new_figure(2, 1)
    figure.subplots().scatter([1, 2], [3, 4])
    return figure


def test_a_report_is_a_table_a_page_and_pictures(tmp_path):
    rows: list[dict[str, Any]] = [{"a": 1, "b": 0.5}, {"a": 2, "c": None}]
    report = Report("Title", rows, as_table(["a"], [[None]]), {"figure": drawn})
    files = report.write(tmp_path / "new", "some", command="zorro reproduce some")
    assert [path.name for path in files] == ["some.csv", "some.md", "some.svg", "some.png"]
    assert all(path.exists() for path in files)
    first, _ = csv.DictReader(files[0].read_text().splitlines())
    assert first == {"a": "1", "b": "0.5", "c": ""}
    page = files[1].read_text()
    assert page.startswith("# Title\n\n`zorro reproduce some`; zorro ")
    assert "| – |" in page
    assert "![some](some.png)" in page
    assert as_csv([]) == "\n"
    again = report.write(tmp_path / "again", "some", command="zorro reproduce some")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in files]


def test_the_first_house_nodes_are_a_fair_part(paper_dir):
    nodes = SYNTHETIC.nodes()
    assert sorted(nodes) == motif_nodes()
    assert {node % 5 for node in nodes[:16]} == set(range(5))
    assert NodeCell("cora", "gcn").nodes()[:1] == [1346]


def test_measurements_equal_the_librarys(tmp_path, paper_dir, data_dir):
    cell = NodeCell("cora", "gcn")
    job = MethodJob(cell, Variant("zorro .85", "zorro-paper", {"tau": 0.85}))
    rows = measure([job], Settings(runs=tmp_path, nodes=2)).of(job)
    from zorro import Zorro

    model, data = cell.load()
    zorro = Zorro(model, data.x, data.edge_index, search="paper", delta=None, tau=0.85)
    assert [row["node"] for row in rows] == cell.nodes()[:2]
    for row in rows:
        explanation = zorro.explain(row["node"])
        assert row["chosen"] == list(explanation.nodes)
        assert row["node_entropy"] == pytest.approx(explanation.node_entropy)
        assert row["feature_entropy"] == pytest.approx(explanation.feature_entropy)
    average = mean(rows, "fidelity")
    assert average is not None
    assert average > 0.7
    assert mean(rows, "nothing") is None


def test_the_reference_setting_gives_the_published_codes_set(tmp_path, paper_dir, data_dir):
    """The truncated graph, the published noise and its seed."""
    golden = json.loads((paper_dir / "golden" / "cora_gcn_tau85_node2521.json").read_text())
    variant = Variant("zorro .85", "zorro-paper", {"tau": golden["tau"]}, reference=True)
    job = MethodJob(NodeCell("cora", "gcn"), variant, nodes=(golden["node"],))
    (row,) = measure([job], Settings(runs=tmp_path)).of(job)
    (theirs,) = golden["explanations"]
    assert sorted(row["chosen"]) == sorted(theirs["nodes"])
    assert row["feature_entropy"] == pytest.approx(math.log(len(theirs["features"])))
    assert row["fidelity"] == pytest.approx(
        theirs["steps"][-1]["fidelity"]
    )  # on the search's own samples


def test_the_computational_graphs_have_the_published_sizes(tmp_path, paper_dir, data_dir):
    report = EXPERIMENTS["graph-sizes"].run(Settings(runs=tmp_path))
    for row in report.rows:
        if row["dataset"] != "amazon-computers":
            assert float(row["ours"]) == pytest.approx(float(row["published"]), abs=0.005)


def test_accuracies_are_the_published_ones(tmp_path, paper_dir, data_dir):
    report = EXPERIMENTS["accuracy"].run(Settings(runs=tmp_path))
    assert len(report.rows) == 12
    for row in report.rows:
        assert row["ours"] == pytest.approx(row["published"], abs=0.0025)
