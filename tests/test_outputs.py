"""What a model's output is taken for: what is ambiguous is refused, and the remedy works."""

import logging
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from scipy.stats import binomtest
from torch import nn

from zorro import Zorro
from zorro.errors import ModelError
from zorro.model.predictor import Predictor, probabilities

NODES, FEATURES = 20, 5
QUICK: dict[str, Any] = {"samples": 60, "fresh_samples": 100}


class Outputs(nn.Module):
    """A layer, and a function of what it gives."""

    def __init__(self, width, function):
        super().__init__()
        self.layer = gnn.GCNConv(FEATURES, width)
        self.function = function

    def forward(self, x, edge_index):
        return self.function(3 * self.layer(x, edge_index))


@pytest.fixture
def graph():
    torch.manual_seed(0)
    children = torch.arange(1, NODES)
    parents = (torch.rand(NODES - 1) * children).long()
    edge_index = torch.stack([torch.cat([children, parents]), torch.cat([parents, children])])
    return torch.randn(NODES, FEATURES), edge_index


def made(width, function):
    torch.manual_seed(3)
    return Outputs(width, function).eval()


@pytest.mark.parametrize("function", [torch.sigmoid, torch.abs, lambda out: out.squeeze(1)])
@pytest.mark.parametrize("check", ["whole", "local", "none"])
def test_one_column_is_refused_without_a_threshold(graph, function, check):
    with pytest.raises(ModelError, match=r"threshold=0.0 .* logit .*threshold=0.5 .*regression"):
        Zorro(made(1, function), *graph, check=check, **QUICK).explain(3)


def test_one_column_of_probabilities_and_of_logits_are_the_same_prediction(graph):
    logits, shares = made(1, lambda out: out), made(1, torch.sigmoid)
    true = shares(*graph)[:, 0] > 0.5
    assert true.any()
    assert not true.all()
    for node in (3, 9, 14):
        one = Zorro(logits, *graph, threshold=0.0, **QUICK).explain(node)
        other = Zorro(shares, *graph, threshold=0.5, **QUICK).explain(node)
        assert one.predicted_class == other.predicted_class == int(true[node])
        assert one.probability == pytest.approx(other.probability, abs=1e-5)
        assert (one.nodes, one.features) == (other.nodes, other.features)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float, torch.double], ids=str)
@pytest.mark.parametrize("threshold", [0.3, 0.1, 2.7, -0.7])
def test_what_is_above_a_threshold_is_what_pythons_floats_say(threshold, dtype):
    """The threshold rounded to the outputs' type is such an output, and those next to it are."""
    nearest = torch.tensor([threshold], dtype=dtype)
    above, below = (nearest.nextafter(torch.full_like(nearest, end)) for end in (9.0, -9.0))
    far = torch.tensor([-9.0, 9.0], dtype=dtype)
    x = torch.cat([below, nearest, above, far]).unsqueeze(1)
    edge_index = torch.empty(2, 0, dtype=torch.long)
    zorro = Zorro(lambda x, edge_index: x, x, edge_index, threshold=threshold)
    is_above = [float(value) > threshold for value in x]
    for node in (3, 4):  # far from the threshold, which what is drawn for them is not
        measured = zorro.fidelity(node, nodes=[], features=[], samples=400)
        interval = binomtest(measured.hits, measured.samples).proportion_ci(0.9999)
        assert interval.low <= is_above.count(is_above[node]) / 5 <= interval.high


def test_a_logits_threshold_on_what_looks_like_probabilities_is_said(graph, caplog):
    Zorro(made(1, torch.sigmoid), *graph, threshold=0.0, **QUICK).explain(3)
    assert "pass threshold=0.5" in caplog.text
    caplog.clear()
    Zorro(made(1, lambda out: out), *graph, threshold=0.0, **QUICK).explain(3)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("check", ["whole", "local"])
def test_a_probabilitys_threshold_on_logits_is_refused(graph, check):
    zorro = Zorro(made(1, lambda out: out), *graph, threshold=0.5, check=check, **QUICK)
    with pytest.raises(ModelError, match=r"threshold: 0.5 .* numbers from -.* threshold=0.0"):
        zorro.explain(3)


@pytest.mark.parametrize("check", ["whole", "local"])
def test_independent_labels_are_refused_and_both_remedies_work(graph, check):
    model = made(4, torch.sigmoid)
    with pytest.raises(ModelError, match=r"independent labels .*label=… and threshold=0\.5.*log"):
        Zorro(model, *graph, check=check, **QUICK).explain(0)
    label = 2
    one = Zorro(model, *graph, label=label, threshold=0.5, check=check, **QUICK).explain(3)
    share = float(model(*graph)[3, label].detach())
    assert one.predicted_class == int(share > 0.5)
    assert one.probability == pytest.approx(max(share, 1 - share), abs=1e-5)
    highest = Zorro(
        lambda x, edge_index: model(x, edge_index).log(), *graph, check=check, **QUICK
    ).explain(3)
    assert highest.predicted_class == int(model(*graph)[3].argmax())


@pytest.mark.parametrize(
    "function",
    [lambda out: out, lambda out: out.log_softmax(-1), lambda out: out.softmax(-1)],
    ids=["logits", "log-probabilities", "probabilities"],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_scores_of_classes_are_taken_as_they_are(graph, function, dtype):
    predictor = Predictor(made(3, function).to(dtype))
    x, edge_index = graph
    scores = predictor.scores(x.to(dtype), edge_index, {})
    predictor.settle(scores)
    logits = made(3, lambda out: out).to(dtype)(x.to(dtype), edge_index)
    assert torch.allclose(
        probabilities(scores).float(), logits.float().softmax(-1), atol=8 * torch.finfo(dtype).eps
    )
