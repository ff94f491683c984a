from dataclasses import FrozenInstanceError, replace

import pytest
import torch
from torch import nn

from zorro.data import ba_community
from zorro.errors import InputError, ModelError
from zorro.models import MODELS, TrainingSettings, accuracy, paper_settings, train

SHORT = TrainingSettings(epochs=3)


@pytest.fixture(scope="module")
def data():
    return ba_community.generate()


def equal(first, second):
    states = first.state_dict(), second.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


class Softmax(nn.Module):
    """Multinomial regression that returns scores, not log-probabilities."""

    def __init__(self, features, classes):
        super().__init__()
        self.linear = nn.Linear(features, classes)

    def forward(self, x, edge_index):
        return self.linear(x)


@pytest.mark.parametrize("name", MODELS)
def test_seed_decides_the_trained_weights(data, name):
    first, again = train(name, data, SHORT), train(name, data, SHORT)
    assert equal(first, again)
    assert not equal(first, train(name, data, replace(SHORT, seed=1)))
    assert not first.training


def test_global_generator_neither_matters_nor_moves(data):
    first = train("gat", data, SHORT)
    torch.manual_seed(99)
    before = torch.get_rng_state()
    assert equal(first, train("gat", data, SHORT))
    assert torch.equal(torch.get_rng_state(), before)


def test_callback_hears_every_epoch_and_a_falling_loss(data):
    heard = []
    train("gcn3", data, replace(SHORT, epochs=30), on_epoch=lambda *report: heard.append(report))
    assert [epoch for epoch, _ in heard] == list(range(1, 31))
    assert heard[-1][1] < heard[0][1]


def test_communities_are_learnt_first(data):
    """The informative features tell the two base classes apart long before the houses show."""
    model = train("gcn3", data, TrainingSettings(epochs=50))
    base_mask = data.test_mask & (data.y % 4 == 0)
    assert accuracy(model, data, base_mask) > 0.9


def test_citations_are_learnt_to_the_papers_accuracy(real_graph):
    """A quarter of the paper's epochs is enough for Cora."""
    graph = real_graph("cora")
    model = train("gcn", graph, replace(paper_settings("cora"), epochs=50))
    assert accuracy(model, graph, graph.test_mask) > 0.79


def test_optimiser_is_adam_with_decay_on_full_batches(data):
    """One step of Adam from known weights moves each by the learning rate against its gradient."""
    settings = TrainingSettings(epochs=1, learning_rate=0.02, weight_decay=0.5, seed=4)
    trained = train(Softmax, data, settings)
    with torch.random.fork_rng():
        torch.manual_seed(4)
        start = Softmax(10, 8)
    scores = start(data.x, data.edge_index)[data.train_mask]
    nn.functional.cross_entropy(scores, data.y[data.train_mask]).backward()
    for before, after in zip(start.parameters(), trained.parameters(), strict=True):
        assert before.grad is not None
        gradient = before.grad + 0.5 * before.detach()
        torch.testing.assert_close(after, before - 0.02 * gradient.sign(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("missing", ["y", "train_mask"])
def test_labels_and_training_nodes_are_needed(data, missing):
    lacking = data.clone()
    del lacking[missing]
    with pytest.raises(InputError, match=f"{missing}: expected"):
        train("gcn", lacking, SHORT)


def test_training_nodes_must_not_be_empty(data):
    lacking = data.clone()
    lacking.train_mask = torch.zeros_like(data.train_mask)
    with pytest.raises(InputError, match="train_mask: expected at least one node"):
        train("gcn", lacking, SHORT)


def test_diverging_training_stops(data):
    class Diverging(Softmax):
        def forward(self, x, edge_index):
            return super().forward(x, edge_index).log()

    with pytest.raises(ModelError, match="loss became nan in epoch 1: try a learning_rate below"):
        train(Diverging, data, SHORT)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epochs": 0}, "epochs: expected at least 1, got 0"),
        ({"learning_rate": 0}, "learning_rate: expected a number above 0, got 0"),
        ({"learning_rate": float("nan")}, "learning_rate: expected a number above 0, got nan"),
        ({"weight_decay": -1}, "weight_decay: expected a number ≥ 0, got -1"),
        ({"seed": -1}, "seed: expected a whole number ≥ 0, got -1"),
    ],
)
def test_settings_are_checked(wrong, message):
    with pytest.raises(InputError, match=message):
        TrainingSettings(**wrong)


def test_settings_are_frozen():
    with pytest.raises(FrozenInstanceError):
        SHORT.epochs = 4  # type: ignore[misc]


def test_paper_settings():
    real = TrainingSettings(epochs=200, learning_rate=0.01, weight_decay=0.005, seed=3)
    synthetic = TrainingSettings(epochs=2000, learning_rate=0.001, weight_decay=0.005, seed=3)
    for name in ("cora", "CiteSeer", "pubmed", "amazon_computers"):
        assert paper_settings(name, seed=3) == real
    for name in ("ba-community", "ba-community-paper"):
        assert paper_settings(name, seed=3) == synthetic
    with pytest.raises(InputError, match="dataset: expected one of"):
        paper_settings("reddit")
