"""Training on graphs: seeded, on batches, the best epoch kept."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import global_mean_pool

sys.path.append(str(Path(__file__).parent))
from graph_sets import random_graph, rings_and_paths

from zorro.data import GraphDataset, load_graphs
from zorro.errors import InputError, ModelError
from zorro.models import (
    GRAPH_MODELS,
    GraphTrainingSettings,
    build,
    checkpoint,
    graph_accuracy,
    train_graphs,
)
from zorro.models.graph_batches import batch_of
from zorro.models.graph_training import usual_settings

SHORT = GraphTrainingSettings(epochs=2, batch_size=16)
NONE = torch.empty(0, dtype=torch.int64)


@pytest.fixture(scope="module")
def dataset():
    return rings_and_paths()


def equal(first, second):
    states = first.state_dict(), second.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


class Softmax(nn.Module):
    """Multinomial regression on the mean of the features."""

    def __init__(self, features, classes):
        super().__init__()
        self.linear = nn.Linear(features, classes)

    def forward(self, x, edge_index, batch):
        return self.linear(global_mean_pool(x, batch))


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_seed_decides_the_trained_weights(dataset, name):
    first, again = (train_graphs(name, dataset, SHORT) for _ in range(2))
    assert equal(first, again)
    assert not equal(first, train_graphs(name, dataset, replace(SHORT, seed=1)))
    assert not first.training


def test_global_generator_neither_matters_nor_moves(dataset):
    first = train_graphs("gin", dataset, SHORT)
    torch.manual_seed(99)
    before = torch.get_rng_state()
    assert equal(first, train_graphs("gin", dataset, SHORT))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_rings_are_told_from_paths(dataset, name):
    heard = []
    settings = GraphTrainingSettings(epochs=30)
    model = train_graphs(name, dataset, settings, on_epoch=lambda *report: heard.append(report))
    assert graph_accuracy(model, dataset) == {"train": 1, "val": 1, "test": 1}
    assert [epoch for epoch, _ in heard] == list(range(1, 31))
    assert heard[-1][1] < heard[0][1]


def test_optimiser_is_adam_on_batches(dataset):
    """One step of Adam from known weights moves each by the learning rate against its gradient."""
    everything = replace_parts(dataset, train=dataset.train, val=NONE)
    settings = GraphTrainingSettings(epochs=1, learning_rate=0.02, batch_size=100, seed=4)
    trained = train_graphs(Softmax, everything, settings)
    with torch.random.fork_rng():
        torch.manual_seed(4)
        start = Softmax(2, 2)
    some = batch_of(dataset, dataset.train)
    scores = start(some.x, some.edge_index, some.batch)
    nn.functional.cross_entropy(scores, some.targets).backward()
    for before, after in zip(start.parameters(), trained.parameters(), strict=True):
        assert before.grad is not None
        step = before.detach() - 0.02 * before.grad.sign()
        torch.testing.assert_close(after, step, atol=1e-4, rtol=0)


def test_several_batches_are_several_steps(dataset):
    steps = []

    class Counting(Softmax):
        def forward(self, x, edge_index, batch):
            if self.training:
                steps.append(int(batch.max()) + 1)
            return super().forward(x, edge_index, batch)

    train_graphs(Counting, dataset, GraphTrainingSettings(epochs=1, batch_size=20))
    assert steps == [16, 16, 16]  # 48 graphs, evenly


def test_the_best_epoch_on_the_validation_graphs_is_kept():
    """Validation graphs have the opposite labels: what is learnt makes them worse."""
    whole = rings_and_paths(40)
    turned = [graph.clone() for graph in whole.graphs]
    for number in whole.val.tolist():
        turned[number].y = 1 - turned[number].y
    dataset = replace_parts(whole, graphs=turned)
    in_training, seen = [], []

    def watched(features, classes):
        in_training.append(Softmax(features, classes))
        return in_training[-1]

    def look(epoch, loss):
        (model,) = in_training
        seen.append((validation_loss(model, dataset), model.linear.weight.detach().clone()))

    settings = GraphTrainingSettings(epochs=30, learning_rate=0.1)
    kept: Any = train_graphs(watched, dataset, settings, on_epoch=look)
    best, weight = min(seen, key=lambda it: it[0])
    assert seen[-1][0] > best == validation_loss(kept, dataset)
    assert torch.equal(kept.linear.weight, weight)


def validation_loss(model, dataset):
    some = batch_of(dataset, dataset.val)
    with torch.no_grad():
        scores = model(some.x, some.edge_index, some.batch)
    return nn.functional.cross_entropy(scores, some.targets).item()


def replace_parts(dataset, **changed):
    parts = {"graphs": dataset.graphs, **dataset.parts}
    return GraphDataset(name=dataset.name, **{**parts, **changed})


def test_options_reach_the_architecture(dataset):
    model: Any = train_graphs("gcn", dataset, SHORT, options={"pooling": "max"})
    assert model.readout.pooling == "max"


class OfNodes(Softmax):
    def forward(self, x, edge_index, batch):
        return self.linear(x)


class TakesEdges(Softmax):
    """Takes the attributes of edges and needs the batch."""

    def forward(self, x, edge_index, batch, edge_attr):  # type: ignore[override]
        assert edge_attr.size(0) == edge_index.size(1)
        return super().forward(x, edge_index, batch) + edge_attr.mean()


def test_a_model_gets_what_it_takes_of_the_edges():
    dataset = load_graphs([random_graph(seed) for seed in range(20)])
    heard: list[Any] = []
    train_graphs(TakesEdges, dataset, SHORT, on_inputs=heard.append)
    assert (list(heard[0].passed), heard[0].ignored) == (["edge_attr"], ("edge_weight",))


class HasEdgeDim(Softmax):
    def __init__(self, features, classes, edge_dim=None):
        super().__init__(features, classes)
        self.edge_dim = edge_dim


def test_how_many_attributes_an_edge_has_is_read_off_the_graphs(tmp_path):
    dataset = load_graphs([random_graph(seed) for seed in range(20)])
    model: Any = train_graphs("gine", dataset, SHORT)
    assert model.conv1.lin.weight.shape == (4, 3)
    record = checkpoint.describe_graphs(model, "gine", dataset, settings=SHORT)
    assert (record["options"], record["edge_inputs"]) == ({"edge_dim": 3}, ["edge_attr"])
    checkpoint.save(tmp_path / "gine.safetensors", model, record)
    again = build("gine", 4, 2, level="graph", **record["options"])
    checkpoint.load(again, tmp_path / "gine.safetensors")
    assert equal(again, model)
    assert train_graphs(HasEdgeDim, dataset, SHORT).edge_dim == 3
    given = train_graphs(HasEdgeDim, dataset, SHORT, options={"edge_dim": 7})
    assert given.edge_dim == 7


def test_a_model_that_needs_attributes_is_refused_without():
    graphs = [random_graph(seed) for seed in range(20)]
    for graph in graphs:
        del graph.edge_attr
    dataset = load_graphs(graphs)
    with pytest.raises(InputError, match=r"edge_attr: expected a row per edge \(E, k\) in graphs"):
        train_graphs("gine", dataset, SHORT)
    assert train_graphs(HasEdgeDim, dataset, SHORT).edge_dim is None


def test_accuracy_is_the_share_of_right_graphs():
    graphs = [
        Data(x=torch.eye(2)[[guess]], edge_index=torch.empty(2, 0).long(), y=torch.tensor([y]))
        for guess, y in [(0, 0), (1, 1), (1, 0), (0, 1)]
    ]
    dataset = GraphDataset(
        name="four", graphs=graphs, train=torch.tensor([0, 1, 2]), val=NONE, test=torch.tensor([3])
    )
    model = Softmax(2, 2).train()
    model.linear.weight.data, model.linear.bias.data = torch.eye(2), torch.zeros(2)
    assert graph_accuracy(model, dataset) == {"train": pytest.approx(2 / 3), "test": 0}
    assert model.training


def test_what_cannot_be_trained_is_refused(dataset):
    values = load_graphs([random_graph(1).update({"y": torch.tensor([0.5])})])
    with pytest.raises(InputError, match="expected graphs with classes"):
        graph_accuracy(build("gcn", 4, 2, level="graph"), values)
    with pytest.raises(InputError, match="train: expected at least one graph"):
        train_graphs("gcn", replace_parts(dataset, train=NONE), SHORT)
    with pytest.raises(ModelError, match=r"per graph, \(16, classes\); it returned \(\d+, 2\)"):
        train_graphs(OfNodes, dataset, SHORT)
    with pytest.raises(
        ModelError, match=r"raised TypeError: .* unexpected keyword argument 'batch'"
    ):
        train_graphs("torch_geometric.nn:GCNConv", dataset, SHORT)
    with pytest.raises(
        InputError, match="batch_size: expected a whole number of at least 1, got 0"
    ):
        GraphTrainingSettings(batch_size=0)
    with pytest.raises(InputError, match="epochs: expected at least 1"):
        GraphTrainingSettings(epochs=0)


def test_settings_suit_the_data_set():
    assert usual_settings("MUTAG", seed=3) == GraphTrainingSettings(epochs=300, seed=3)
    assert usual_settings("mine") == GraphTrainingSettings()


def test_a_record_is_enough_to_build_the_model_again(dataset, tmp_path):
    options = {"pooling": "mean"}
    model = train_graphs("gin", dataset, SHORT, options=options)
    record = checkpoint.describe_graphs(model, "gin", dataset, settings=SHORT, options=options)
    path = tmp_path / "gin.safetensors"
    checkpoint.save(path, model, record)
    read = checkpoint.read_record(path)
    assert (read["level"], read["options"], read["dataset"]) == ("graph", options, "graphs")
    assert GraphTrainingSettings(**read["settings"]) == SHORT
    again = build(
        read["architecture"],
        read["in_channels"],
        read["out_channels"],
        level=read["level"],
        **read["options"],
    )
    checkpoint.load(again, path)
    graph = dataset.graphs[0]
    assert torch.equal(again.eval()(graph.x, graph.edge_index), model(graph.x, graph.edge_index))
    assert read["accuracy"] == graph_accuracy(model, dataset)


def test_mutagens_are_learnt(data_dir):
    """A fifth of the usual epochs beats the larger class, which is two thirds."""
    dataset = load_graphs("mutag")
    model = train_graphs("gin", dataset, replace(usual_settings("mutag"), epochs=60))
    found = graph_accuracy(model, dataset)
    assert found["train"] > 0.8
    assert found["test"] > 0.7
