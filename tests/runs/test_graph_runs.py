"""Many graphs: kept, resumed, the same whoever computes them."""

import dataclasses
import json
import sqlite3
import statistics
from contextlib import closing
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch_geometric.data import Data

from zorro import Zorro, explain_graphs, open_run
from zorro.errors import InputError, RunError

OPTIONS: dict[str, Any] = {"tau": 0.8, "samples": 40, "keep": ("nodes",)}


class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = gnn.GCNConv(3, 4)

    def forward(self, x, edge_index, batch):
        return gnn.global_add_pool(self.conv(x, edge_index).relu(), batch)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Pooled().eval()


@pytest.fixture
def graphs():
    torch.manual_seed(1)
    here = torch.arange(5)
    ring = torch.stack([here, (here + 1) % 5])
    return [Data(x=torch.randn(5, 3), edge_index=ring) for _ in range(8)]


def timeless(run):
    return [dataclasses.replace(each, seconds=0.0) for each in run]


def test_a_run_holds_what_zorro_finds_and_is_not_computed_twice(model, graphs, tmp_path):
    run = explain_graphs(model, graphs, out=tmp_path / "all", engine="in-process", **OPTIONS)
    zorro = Zorro.of_graphs(model, graphs, **OPTIONS)
    alone = [dataclasses.replace(zorro.explain(i), seconds=0.0) for i in range(8)]
    assert timeless(run) == alone
    assert run.level == "graph"
    assert run.manifest["data"]["graphs"] == 8
    again: list[Any] = []
    explain_graphs(model, graphs, out=tmp_path / "all", on_outcome=again.append, **OPTIONS)
    assert again == []
    assert run.median_sizes()["nodes"] == statistics.median(len(each.nodes) for each in run)


def test_workers_find_the_same(model, graphs, tmp_path):
    runs = [
        explain_graphs(
            model, graphs, [5, 1], out=tmp_path / engine, engine=engine, workers=1, **OPTIONS
        )
        for engine in ("in-process", "processes")
    ]
    assert timeless(runs[0]) == timeless(runs[1])
    assert [each.query.index for each in runs[0]] == [5, 1]
    assert runs[0].explanation(5).query.level == "graph"


def test_a_frame_tells_the_level(model, graphs, tmp_path):
    pytest.importorskip("pandas")
    frame = explain_graphs(model, graphs, [2], out=tmp_path / "one", **OPTIONS).frame()
    assert frame["level"].tolist() == ["graph"]
    assert frame["graph"].tolist() == [2]


def test_other_graphs_or_another_question_are_another_run(model, graphs, tmp_path):
    out = tmp_path / "run"
    explain_graphs(model, graphs, [0], out=out, **OPTIONS)
    with pytest.raises(RunError, match="data"):
        explain_graphs(model, graphs[:-1], [0], out=out, **OPTIONS)
    with pytest.raises(RunError, match="keep"):
        explain_graphs(model, graphs, [0], out=out, **{**OPTIONS, "keep": ("features",)})
    with pytest.raises(InputError, match="numbers: expected whole numbers from 0 to 7"):
        explain_graphs(model, graphs, [8], out=tmp_path / "other", **OPTIONS)


def test_a_row_of_another_level_is_damaged(model, graphs, tmp_path):
    out = tmp_path / "run"
    explain_graphs(model, graphs, [0], out=out, **OPTIONS)
    path = next(out.glob("*.json"))
    manifest = json.loads(path.read_text())
    del manifest["data"]["graphs"]
    path.write_text(json.dumps(manifest))
    (damaged,) = open_run(out).damaged()
    assert "level" in damaged.reason


def test_a_graph_without_nodes_is_refused(model, graphs, tmp_path):
    empty = Data(x=torch.zeros(0, 3), edge_index=torch.zeros(2, 0, dtype=torch.int64))
    with pytest.raises(InputError, match=r"graphs\[8\]: x"):
        explain_graphs(model, [*graphs, empty], out=tmp_path / "run", **OPTIONS)
    assert not (tmp_path / "run").exists()


def test_a_failure_and_a_damaged_row_are_of_graphs(model, graphs, tmp_path):
    run = explain_graphs(model, graphs, [2], out=tmp_path / "run", **OPTIONS)
    with pytest.raises(
        InputError, match=r"graph: expected one that has been explained in .*, got 3"
    ):
        run.explanation(3)
    with closing(sqlite3.connect(tmp_path / "run/outcomes.sqlite")) as store, store:
        store.execute("UPDATE outcomes SET explanation = '['")
    with pytest.raises(RunError, match=r"row 0 \(graph 2\) is damaged"):
        list(open_run(tmp_path / "run"))


def test_a_device_is_the_workers_and_the_callers_graphs_stay(model, graphs, tmp_path):
    given = [graph.x for graph in graphs]
    runs = [
        explain_graphs(model, graphs, [3], out=tmp_path / str(device), device=device, **OPTIONS)
        for device in (None, "cpu")
    ]
    assert timeless(runs[0]) == timeless(runs[1])
    assert all(graph.x is x for graph, x in zip(graphs, given, strict=True))
    with pytest.raises(
        InputError, match="device: expected a device that can be used here, got 'tape'"
    ):
        explain_graphs(model, graphs, [3], out=tmp_path / "other", device="tape", **OPTIONS)
