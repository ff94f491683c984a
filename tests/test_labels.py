"""Models with several labels: one is explained at a time."""

import pytest
import torch
import torch_geometric.nn as gnn
from scipy.stats import binom
from torch import nn
from torch_geometric.data import Data

from zorro import Explanation, Zorro
from zorro.errors import InputError, ModelError

LABELS = 4


@pytest.fixture
def labelled():
    torch.manual_seed(1)
    x = torch.randn(50, 4)
    pairs = torch.randint(50, (2, 90))
    edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
    return gnn.GCN(4, 8, num_layers=2, out_channels=LABELS, act="tanh").eval(), x, edge_index


class Sigmoids(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, edge_index):
        return self.model(x, edge_index).sigmoid()


def plain_share(model, x, edge_index, node, label, threshold, explanation, samples=400):
    """The whole graph, every entry redrawn but the set's; the label there or not, as it was."""
    generator = torch.Generator().manual_seed(9)
    keep = torch.zeros_like(x, dtype=torch.bool)
    keep[torch.tensor(explanation.nodes).unsqueeze(1), torch.tensor(explanation.features)] = True
    with torch.no_grad():
        before = model(x, edge_index)[node, label] > threshold
        stayed = 0
        for _ in range(samples):
            rows = torch.randint(len(x), x.shape, generator=generator)
            output = model(torch.where(keep, x, x.gather(0, rows)), edge_index)
            stayed += int((output[node, label] > threshold) == before)
    return stayed, samples


@pytest.mark.parametrize("is_probability", [False, True], ids=["logits", "probabilities"])
@pytest.mark.parametrize("label", [0, 3])
def test_a_certified_label_stays_by_a_plain_loop(labelled, is_probability, label):
    model, x, edge_index = labelled
    threshold = 0.5 if is_probability else 0.0
    model = Sigmoids(model) if is_probability else model
    zorro = Zorro(model, x, edge_index, tau=0.8, label=label, threshold=threshold)
    for node in (3, 11):
        explanation = zorro.explain(node)
        with torch.no_grad():
            there = bool(model(x, edge_index)[node, label] > threshold)
        assert explanation.predicted_class == there
        assert explanation.label == label
        assert explanation.certified
        stayed, samples = plain_share(model, x, edge_index, node, label, threshold, explanation)
        assert explanation.certificate is not None
        assert binom.cdf(stayed, samples, explanation.certificate.bound) > 1e-4


def test_logits_and_their_probabilities_give_the_same_sets(labelled):
    model, x, edge_index = labelled
    one = Zorro(model, x, edge_index, tau=0.8, label=1, threshold=0.0).explain(3)
    other = Zorro(Sigmoids(model), x, edge_index, tau=0.8, label=1, threshold=0.5).explain(3)
    assert one.predicted_class == other.predicted_class
    assert one.probability == pytest.approx(other.probability, abs=1e-4)


def test_labels_of_whole_graphs():
    class Pooled(nn.Module):
        def forward(self, x, edge_index, batch):
            return gnn.global_add_pool(x, batch) - 1.5

    graphs = [
        Data(
            x=torch.eye(3)[torch.tensor([0, 1, 1])],
            edge_index=torch.zeros(2, 0).long(),
            y=torch.tensor([[0.0, 1.0, torch.nan]]),  # several labels, as data sets have them
        )
        for _ in range(5)
    ]
    explanation = Zorro.of_graphs(
        Pooled(), graphs, label=1, threshold=0.0, keep=("nodes",), tau=0.9
    ).explain(0)
    assert explanation.predicted_class == 1
    assert explanation.nodes == (1, 2)  # both are needed
    absent = Zorro.of_graphs(Pooled(), graphs, label=2, threshold=0.0).explain(0)
    assert (absent.predicted_class, absent.status) == (0, "nothing needed")


def test_a_label_round_trips_and_reads_well(labelled):
    explanation = Zorro(*labelled, tau=0.8, label=2, threshold=0.0).explain(3)
    assert Explanation.from_json(explanation.to_json()) == explanation
    there = "label 2" if explanation.predicted_class else "no label 2"
    assert f"node 3 → {there}" in repr(explanation)
    assert explanation.answer == there


def test_bad_labels_are_refused(labelled):
    with pytest.raises(InputError, match=r"^label: expected a column .* from 0 to 3, got 4"):
        Zorro(*labelled, label=4, threshold=0.0).explain(0)
    with pytest.raises(InputError, match=r"^label: expected a column"):
        Zorro(*labelled, label=-1, threshold=0.0)
    with pytest.raises(
        InputError, match=r"^why_not: expected None for a label, which is there or not"
    ):
        Zorro(*labelled, label=1, threshold=0.0).explain(0, why_not=2)
    with pytest.raises(ModelError, match=r"^threshold: 0\.5 is for a probability"):
        Zorro(*labelled, label=1, threshold=0.5).explain(0)


def test_independent_labels_are_pointed_to_the_option(labelled):
    model, x, edge_index = labelled
    with pytest.raises(ModelError, match="one label at a time, with label="):
        Zorro(Sigmoids(model), x, edge_index).explain(0)
