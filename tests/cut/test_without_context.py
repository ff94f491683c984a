"""A large context is left out where the model has no use for it, and only there."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

from zorro import Zorro
from zorro.cut import extractor


def hub(*, leaves=60, features=6):
    """A path 0–1–2, whose last node is a hub with many neighbours that a model sees not of 0."""
    draw = torch.Generator().manual_seed(0)
    x = (torch.rand(leaves + 3, features, generator=draw) < 0.5).float()
    pairs = [(0, 1), (1, 2), *((2, leaf) for leaf in range(3, leaves + 3))]
    one_way = torch.tensor(pairs).t()
    return x, torch.cat([one_way, one_way.flip(0)], dim=1)


class TwoLayers(nn.Module):
    def __init__(self, conv):
        super().__init__()
        torch.manual_seed(1)
        self.first, self.second = conv(6, 8), conv(8, 3)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


class FarAway(nn.Module):
    """Looks at the hub's neighbours too, but only where node 0 has a feature that it has not."""

    def __init__(self):
        super().__init__()
        self.inner = TwoLayers(SAGEConv)
        self.conv = SAGEConv(6, 3)

    def forward(self, x, edge_index):
        out = self.inner(x, edge_index)
        heard = self.conv(self.inner.first(x, edge_index).relu()[:, :6], edge_index)
        further = SAGEConv.propagate(self.conv, edge_index, x=(heard, heard))
        return out + 5 * x[:, :1] * further


@pytest.fixture
def _every_context_is_large(monkeypatch):
    monkeypatch.setattr(extractor, "_LARGE_CONTEXT", 0)


def cut_of(model, **options):
    x, edge_index = hub()
    return Zorro(model.eval(), x, edge_index, **options).meter(0, samples=10).graph


@pytest.mark.parametrize("conv", [SAGEConv, GATConv])
@pytest.mark.usefixtures("_every_context_is_large")
def test_layers_that_read_no_degrees_need_none(conv):
    graph = cut_of(TwoLayers(conv))
    assert graph.candidates.tolist() == [0, 1, 2]
    assert graph.context.numel() == 0
    assert not graph.context_matters


@pytest.mark.usefixtures("_every_context_is_large")
def test_the_explanation_is_that_with_its_context(monkeypatch):
    x, edge_index = hub()
    model = TwoLayers(SAGEConv).eval()
    slim = Zorro(model, x, edge_index).explain(0)
    monkeypatch.setattr(extractor, "_LARGE_CONTEXT", 1 << 40)
    whole = Zorro(model, x, edge_index).explain(0)
    assert whole.graph.context > 0
    assert (slim.selected, slim.certificate) == (whole.selected, whole.certificate)
    assert slim.probabilities == whole.probabilities


@pytest.mark.usefixtures("_every_context_is_large")
def test_layers_that_read_degrees_keep_theirs():
    assert cut_of(TwoLayers(GCNConv)).context.numel() == 60


@pytest.mark.usefixtures("_every_context_is_large")
def test_it_stays_where_edges_can_be_kept_or_the_halo_is_asked_for():
    assert cut_of(TwoLayers(SAGEConv), keep=("edges",)).context.numel() == 60
    assert cut_of(TwoLayers(SAGEConv), halo=2).context.numel() == 60


@pytest.mark.usefixtures("_every_context_is_large")
def test_what_matters_for_some_inputs_alone_is_not_left_out():
    """The true input of node 0 hides it: found by redrawing, it is among the candidates."""
    torch.manual_seed(2)
    model = FarAway().eval()
    x, edge_index = hub()
    x[0, 0] = 0.0
    found = Zorro(model, x, edge_index).explain(0)
    assert found.graph.candidates == 63
