import pytest
import torch
from torch import nn
from torch_geometric.data import Data

from zorro.errors import InputError, ModelError
from zorro.models import accuracy


class Echo(nn.Module):
    """Scores are the features; dropout and batch norm would change them in training mode."""

    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.9)
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x, edge_index):
        return self.dropout(self.norm(x))


@pytest.fixture
def data():
    """Four nodes of which Echo gets the first three right."""
    return Data(
        x=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]),
        edge_index=torch.empty(2, 0, dtype=torch.int64),
        y=torch.tensor([0, 1, 0, 1]),
    )


@pytest.mark.parametrize(
    ("nodes", "expected"), [([0, 1, 2, 3], 3 / 4), ([2, 3], 1 / 2), ([3], 0), ([0], 1)]
)
def test_share_of_right_predictions(data, nodes, expected):
    mask = torch.zeros(4, dtype=torch.bool)
    mask[nodes] = True
    assert accuracy(Echo(), data, mask) == expected


def test_every_modules_mode_is_restored(data):
    model = Echo().train()
    model.norm.eval()
    assert model.norm.running_mean is not None
    statistics = model.norm.running_mean.clone()
    accuracy(model, data, torch.ones(4, dtype=torch.bool))
    assert (model.training, model.dropout.training, model.norm.training) == (True, True, False)
    assert torch.equal(model.norm.running_mean, statistics)


class Raises(Echo):
    def forward(self, x, edge_index):
        raise KeyError("gone")


def test_mode_is_restored_after_an_error(data):
    model = Raises().train()
    with pytest.raises(ModelError, match="raised KeyError: 'gone'"):
        accuracy(model, data, torch.ones(4, dtype=torch.bool))
    assert model.dropout.training
    assert torch.is_grad_enabled()


def test_unusable_arguments(data):
    everyone = torch.ones(4, dtype=torch.bool)
    with pytest.raises(InputError, match="at least one node"):
        accuracy(Echo(), data, ~everyone)
    with pytest.raises(InputError, match="mask: expected a bool tensor"):
        accuracy(Echo(), data, torch.arange(4))
    with pytest.raises(InputError, match="y: expected "):
        accuracy(Echo(), Data(x=data.x, edge_index=data.edge_index), everyone)
    with pytest.raises(ModelError, match=r"\(4, classes\); it returned \(1, 2\)"):
        accuracy(_FirstRow(), data, everyone)


class _FirstRow(nn.Module):
    def forward(self, x, edge_index):
        return x[:1]
