"""Models of several types: what they hear, and what training makes of them."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.data import HeteroData

sys.path.append(str(Path(__file__).parents[1]))

from made_hetero import library, with_classes

from zorro.errors import InputError, ModelError
from zorro.models import HeteroTrainingSettings, build_hetero, hetero_accuracy, train_hetero

ARCHITECTURES = ["hgt", "hetero-sage"]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_training_finds_what_the_fields_come_from(architecture):
    data = with_classes()
    settings = HeteroTrainingSettings(epochs=80, learning_rate=0.02, patience=30)
    model = train_hetero(architecture, data, "author", settings)
    assert hetero_accuracy(model, data, "author")["test"] >= 0.8  # of authors not trained on


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_venue_is_known_by_its_number_alone(architecture):
    data = library()
    model = build_hetero(architecture, data, "author", 3).eval()
    scores = model(data.x_dict, data.edge_index_dict)
    # Venues that exchange their numbers exchange their edges: nothing else tells them apart.
    order = torch.tensor([1, 0, 2, 3])
    x_dict = {**data.x_dict, "venue": order}
    edges = dict(data.edge_index_dict)
    paper, venue = edges["paper", "in", "venue"]
    edges["paper", "in", "venue"] = torch.stack([paper, order[venue]])
    venue, paper = edges["venue", "rev_in", "paper"]
    edges["venue", "rev_in", "paper"] = torch.stack([order[venue], paper])
    torch.testing.assert_close(model(x_dict, edges), scores)
    assert not torch.allclose(model(x_dict, data.edge_index_dict), scores)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_types_that_no_edges_lead_to_are_still_heard(architecture):
    data = library()
    for relation in [each for each in data.edge_types if each[2] in ("venue", "author")]:
        del data[relation]
    model = build_hetero(architecture, data, "paper", 3).eval()
    scores = model(data.x_dict, data.edge_index_dict)
    assert scores.shape == (40, 3)
    moved = {**data.x_dict, "venue": torch.tensor([1, 2, 3, 0])}
    assert not torch.allclose(model(moved, data.edge_index_dict), scores)


def test_training_is_reproducible_and_stops_early():
    data, seen = with_classes(), []
    settings = HeteroTrainingSettings(epochs=60, learning_rate=0.05, patience=2)
    one = train_hetero(
        "hetero-sage", data, "author", settings, on_epoch=lambda e, _: seen.append(e)
    )
    other = train_hetero("hetero-sage", data, "author", settings)
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) < 60
    for name, weights in one.state_dict().items():
        assert torch.equal(weights, other.state_dict()[name]), name


class Lazy(nn.Module):
    """A class as users write them, of which layers learn their sizes when they are first called."""

    def __init__(self, data: HeteroData, target: str, out_channels: int):
        super().__init__()
        self.target = target
        self.lin = nn.LazyLinear(out_channels)

    def forward(self, x_dict, edge_index_dict):
        return {self.target: self.lin(x_dict[self.target])}


class Silent(Lazy):
    """It answers for no author."""

    def forward(self, x_dict, edge_index_dict):
        return {"paper": x_dict["paper"]}


def test_classes_of_ones_own():
    data = with_classes()
    settings = HeteroTrainingSettings(epochs=2)
    model: Any = train_hetero(Lazy, data, "author", settings)
    assert model.lin.weight.shape == (2, 5)
    with pytest.raises(ModelError, match=r"must return class scores \(60, classes\) for 'author'"):
        train_hetero(Silent, data, "author", settings)


def test_what_cannot_be_trained_is_refused_in_one_line():
    data = with_classes()
    with pytest.raises(InputError, match=r"target: expected a type with classes y \(author\), got"):
        train_hetero("hgt", data, "paper")
    with pytest.raises(InputError, match="target: expected one of the types"):
        train_hetero("hgt", data, "editor")
    with pytest.raises(InputError, match="model: expected one of hetero-sage, hgt or"):
        train_hetero("gcn", data, "author")
    with pytest.raises(InputError, match="data: expected PyG's HeteroData"):
        train_hetero("hgt", data.to_homogeneous(), "author")
    del data["venue"].x
    data["venue"].num_nodes = 4
    with pytest.raises(InputError, match=r"data\['venue'\].x: expected features, or torch.arange"):
        train_hetero("hgt", data, "author")
    with pytest.raises(InputError, match="patience"):
        HeteroTrainingSettings(patience=0)
