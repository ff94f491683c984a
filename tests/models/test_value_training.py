"""Models of graphs whose target is a value."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn
from torch_geometric.data import Data

sys.path.append(str(Path(__file__).parent))
from graph_sets import random_graph

from zorro.data import GraphDataset
from zorro.errors import InputError, ModelError
from zorro.models import (
    GraphTrainingSettings,
    build,
    checkpoint,
    graph_accuracy,
    graph_errors,
    train_graphs,
)
from zorro.models.graph_evaluation import graph_scores

SHORT = GraphTrainingSettings(epochs=3)


def sizes(count=60, dtype=torch.float32):
    """Graphs whose value is three less than their number of nodes."""
    graphs = []
    for number in range(count):
        graph = random_graph(number, nodes=3 + number % 5)
        graph.x = torch.ones_like(graph.x)
        graph.y = torch.tensor([float(number % 5)], dtype=dtype)
        graphs.append(graph)
    every = torch.arange(count)
    return GraphDataset(
        name="sizes", graphs=graphs, train=every[:40], val=every[40:50], test=every[50:]
    )


@pytest.mark.parametrize("model", ["gin", "gine"])
def test_values_are_learnt(model):
    dataset = sizes()
    trained = train_graphs(model, dataset, GraphTrainingSettings(epochs=60, learning_rate=0.005))
    found = graph_errors(trained, dataset)
    assert set(found) == {"train", "val", "test"}
    assert found["test"]["r2"] > 0.5  # a constant has 0 at most
    assert found["test"]["rmse"] < 1.0


def test_errors_are_those_of_a_plain_loop():
    dataset = replace(sizes(), val=torch.empty(0, dtype=torch.long))
    model = build("gcn", 4, 1, level="graph", regression=True)
    found = graph_errors(model, dataset)
    assert set(found) == {"train", "test"}
    for name, members in (("train", dataset.train), ("test", dataset.test)):
        values = [float(v) for v in graph_scores(model, dataset, members)]
        truth = [float(dataset.graphs[number].y) for number in members.tolist()]
        squares = [(a - b) ** 2 for a, b in zip(values, truth, strict=True)]
        middle = sum(truth) / len(truth)
        spread = sum((b - middle) ** 2 for b in truth)
        assert found[name]["rmse"] == pytest.approx(math.sqrt(sum(squares) / len(squares)))
        assert found[name]["r2"] == pytest.approx(1 - sum(squares) / spread)


def test_a_record_is_enough_to_build_the_model_again(tmp_path):
    dataset = sizes(dtype=torch.float64)
    model = train_graphs("gine", dataset, SHORT)
    record = checkpoint.describe_graphs(model, "gine", dataset, settings=SHORT)
    assert record["options"] == {"regression": True, "edge_dim": 3}
    assert record["out_channels"] == 1
    assert "accuracy" not in record
    path = tmp_path / "gine.safetensors"
    checkpoint.save(path, model, record)
    again = build("gine", 4, 1, level="graph", **record["options"])
    checkpoint.load(again, path)
    assert graph_errors(again, dataset) == record["errors"]


def test_the_epoch_with_the_least_error_is_kept():
    dataset, built, seen = sizes(), [], []

    def factory(features, outputs):
        built.append(build("gcn", features, outputs, level="graph", regression=True))
        return built[0]

    def look(epoch, loss):
        seen.append(graph_errors(built[0], dataset)["val"]["rmse"])

    model = train_graphs(factory, dataset, replace(SHORT, epochs=8), on_epoch=look)
    assert graph_errors(model, dataset)["val"]["rmse"] == pytest.approx(min(seen))


class TwoColumns(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.inner = build("gcn", features, 2, level="graph")

    def forward(self, x, edge_index, batch=None):
        return self.inner(x, edge_index, batch)


def test_what_cannot_be_trained_or_measured_is_refused():
    dataset = sizes()
    with pytest.raises(ModelError, match=r"one value per graph, \(\d+, 1\); it returned"):
        train_graphs(TwoColumns, dataset, SHORT)
    with pytest.raises(InputError, match="expected graphs with classes"):
        graph_accuracy(build("gcn", 4, 2, level="graph"), dataset)
    classes = replace(dataset, graphs=[random_graph(number) for number in range(60)])
    with pytest.raises(InputError, match="expected graphs with values, got sizes with classes"):
        graph_errors(build("gcn", 4, 1, level="graph", regression=True), classes)
    bare = [Data(x=graph.x, edge_index=graph.edge_index) for graph in dataset.graphs]
    with pytest.raises(InputError, match="expected graphs with a target y, got none"):
        train_graphs("gcn", replace(dataset, graphs=bare), SHORT)
