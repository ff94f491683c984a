"""A run on a stored graph keeps nothing unless the graph is what was stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCN

from zorro import explain_many, open_run
from zorro.data import open_stored, store
from zorro.errors import DatasetError
from zorro.graph.stored import graph as stored_graph
from zorro.graph.stored import verification
from zorro.runs.again import refuse_other_data
from zorro.runs.given import OneGraph

QUICK: dict[str, Any] = {"samples": 20, "fresh_samples": 50, "seed": 0}


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """A stored graph that counts as large, so that opening it reads nothing."""
    monkeypatch.setattr(stored_graph, "_SMALL", 0)
    torch.manual_seed(0)
    here = torch.arange(30)
    edge_index = torch.stack([here, (here + 1) % 30])
    data = Data(x=torch.randn(30, 4), edge_index=torch.cat([edge_index, edge_index.flip(0)], 1))
    store(data, tmp_path / "graph")
    return open_stored(tmp_path / "graph")


@pytest.fixture
def model():
    torch.manual_seed(0)
    return GCN(4, 4, num_layers=2, out_channels=2)


def alter(graph):
    path = graph.folder / "x.npy"
    x = np.load(path)
    x[3, 1] += 1
    np.save(path, x)


def test_an_altered_graph_leads_to_no_run(graph, model, tmp_path):
    alter(graph)
    with pytest.raises(DatasetError, match=r"x.npy: expected the values of its digest"):
        explain_many(model, graph.x, graph.edge_index, [1, 2], out=tmp_path / "run", **QUICK)
    assert not (tmp_path / "run").exists()


def test_a_run_is_not_resumed_on_an_altered_graph(graph, model, tmp_path):
    run = explain_many(model, graph.x, graph.edge_index, [1], out=tmp_path / "run", **QUICK)
    alter(graph)
    again = open_stored(graph.folder)
    assert again.digest == graph.digest
    with pytest.raises(DatasetError, match=r"x.npy: expected the values of its digest"):
        explain_many(model, again.x, again.edge_index, [1], out=tmp_path / "run", **QUICK)
    with pytest.raises(DatasetError, match=r"x.npy: expected the values of its digest"):
        refuse_other_data(run, OneGraph(again.x, again.edge_index), {})
    assert [e.node for e in open_run(tmp_path / "run")] == [1]


def test_the_graph_is_verified_once(graph, model, tmp_path, monkeypatch):
    verify, calls = verification.verify, []

    def counted(*args, **kwargs):
        calls.append(args)
        verify(*args, **kwargs)

    monkeypatch.setattr(verification, "verify", counted)
    run = explain_many(model, graph.x, graph.edge_index, [1, 2], out=tmp_path / "run", **QUICK)
    assert (len(run), len(calls)) == (2, 1)
