"""A model gets what its signature asks for, and nothing else."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data

from zorro.data import open_stored, store
from zorro.errors import InputError
from zorro.models import build, edge_inputs


def graph(**tensors):
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    return Data(x=torch.eye(3), edge_index=edge_index, **tensors)


class Plain(nn.Module):
    def forward(self, x, edge_index): ...


class Weighted(nn.Module):
    def forward(self, nodes, edges, edge_weight=None): ...


class ByName(nn.Module):
    def forward(self, *args, edge_type, edge_attr=None): ...


class Anything(nn.Module):
    def forward(self, x, edge_index, **further): ...


class Strange(nn.Module):
    def forward(self, x, edge_index, batch): ...


WEIGHT, TYPE, ATTR = torch.rand(3), torch.tensor([0, 1, 0]), torch.rand(3, 2)


@pytest.mark.parametrize(
    ("model", "passed", "ignored"),
    [
        (Plain, set(), ("edge_weight", "edge_attr", "edge_type")),
        (Weighted, {"edge_weight"}, ("edge_attr", "edge_type")),
        (ByName, {"edge_attr", "edge_type"}, ("edge_weight",)),
        (Anything, {"edge_weight", "edge_attr", "edge_type"}, ()),
    ],
)
@pytest.mark.parametrize("stored", [False, True])
def test_what_forward_takes_is_passed(model, passed, ignored, stored, tmp_path):
    data = graph(edge_weight=WEIGHT, edge_attr=ATTR, edge_type=TYPE)
    if stored:
        store(data, tmp_path / "graph")
        data = open_stored(tmp_path / "graph")
    found = edge_inputs(model(), data)
    assert set(found.passed) == passed
    assert found.ignored == ignored
    assert all(found.passed[name] is data.get(name) for name in passed)


def test_a_graph_without_them_passes_nothing():
    found = edge_inputs(Weighted(), graph())
    assert not found.passed
    assert not found.ignored
    assert str(found) == ""


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        (ByName, graph(edge_weight=WEIGHT), r"edge_type: .* ByName.forward needs it, got none"),
        (Strange, graph(edge_weight=WEIGHT), r"model: expected Strange.forward .* got 'batch'"),
        (
            Weighted,
            graph(edge_weight=WEIGHT[:2]),
            r"edge_weight: expected .* per edge \(3\), got shape",
        ),
        (
            Weighted,
            graph(edge_weight=WEIGHT / 0),
            "edge_weight: expected finite numbers, got inf at edge 0",
        ),
    ],
)
def test_what_cannot_be_passed_is_refused(model, data, message):
    with pytest.raises(InputError, match=message):
        edge_inputs(model(), data)


@pytest.mark.parametrize("name", ["gcn", "gcn3", "appnp"])
def test_weights_of_the_papers_models_are_those_of_repeated_edges(name):
    """An edge of weight 2 is that edge twice, where layers weigh edges at all."""
    rng = np.random.default_rng(0)
    sender, step = rng.integers(0, 12, 40), rng.integers(1, 12, 40)
    edges = torch.from_numpy(np.stack([sender, (sender + step) % 12]))  # no self-loops
    weight = torch.from_numpy(rng.integers(1, 4, 40))
    x = torch.from_numpy(rng.normal(size=(12, 5))).float()
    model = build(name, 5, 3).eval()
    weighted = model(x, edges, weight.float())
    repeated = model(x, edges.repeat_interleave(weight, dim=1))
    assert torch.allclose(weighted, repeated, atol=1e-5)
    assert not torch.allclose(weighted, model(x, edges), atol=1e-3)
