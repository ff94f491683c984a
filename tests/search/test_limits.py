"""Whenever a limit ends a search, an explanation comes back and says so."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv, global_add_pool

from zorro import Explanation, Zorro
from zorro.search import Budget

FEATURES = 6
KEPT = {"entries": ("nodes", "features"), "edges": ("edges",), "both": ("features", "edges")}
Explained = Callable[..., Explanation]


class OfNodes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.first, self.second = SAGEConv(FEATURES, 8), SAGEConv(8, 3)

    def forward(self, x, edge_index):
        return 4 * self.second(self.first(x, edge_index).relu(), edge_index)


class OneLayer(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.layer = SAGEConv(features, 3)

    def forward(self, x, edge_index):
        return self.layer(x, edge_index)


class OfLinks(OfNodes):
    def forward(self, x, edge_index, edge_label_index):  # type: ignore[override]
        h = super().forward(x, edge_index)
        return (h[edge_label_index[0]] * h[edge_label_index[1]]).sum(-1)


class OfGraphs(OfNodes):
    def forward(self, x, edge_index, batch):  # type: ignore[override]
        return global_add_pool(super().forward(x, edge_index), batch)


@pytest.fixture(params=["traced", "any-model"])
def evaluator(request):
    return request.param


@pytest.fixture(params=["nodes", "links", "graphs"])
def explained(request, evaluator) -> Explained:
    """Explain one query under options, with mostly zeros, so that its noise is drawn sparsely."""
    torch.manual_seed(1)
    x = (torch.rand(14, FEATURES) < 0.08).float()
    edge_index = torch.randint(0, 14, (2, 40))
    edge_index = torch.cat([edge_index, edge_index.flip(0)], dim=1)
    # So few samples mislead a search, whose next attempt goes on with those that failed.
    common: dict[str, Any] = {"samples": 5, "tau": 0.9, "evaluator": evaluator}

    def explain(**options: Any) -> Explanation:
        options = {**common, **options}
        if request.param == "nodes":
            return Zorro(OfNodes(), x, edge_index, **options).explain(3)
        if request.param == "links":
            zorro = Zorro.of_links(OfLinks(), x, edge_index, threshold=0.0, **options)
            return zorro.explain((3, 4))
        graphs = [Data(x=each, edge_index=edge_index) for each in (x, x.flip(0))]
        return Zorro.of_graphs(OfGraphs(), graphs, **options).explain(0)

    return explain


def check(explanation: Explanation, finished: Explanation) -> None:
    """Check that an explanation is the finished one, or says that a limit has ended it."""
    if explanation.status != "budget exhausted":
        assert explanation.status == finished.status
        assert explanation.selected == finished.selected
    assert explanation.fidelity.samples > 0
    assert Explanation.from_json(explanation.to_json()) == explanation  # and its parts fit together


@pytest.mark.parametrize("beyond_chance", [False, True])
@pytest.mark.parametrize("keep", KEPT)
def test_evaluations_may_run_out_at_any_count(explained, keep, beyond_chance):
    options: dict[str, Any] = {"keep": KEPT[keep], "beyond_chance": beyond_chance}
    finished = explained(**options, max_evaluations=20_000)
    counts = {1, 2, 5, 6, 11, *range(50, finished.evaluations, max(1, finished.evaluations // 9))}
    for count in sorted(counts):
        check(explained(**options, max_evaluations=count), finished)


def _is_used_up(left, budget):
    return next(left, None) is None


@pytest.mark.parametrize("beyond_chance", [False, True])
def test_time_may_run_out_at_any_look_at_the_clock(explained, beyond_chance, monkeypatch):
    finished = explained(beyond_chance=beyond_chance, max_evaluations=20_000)
    for looks in (*range(8), 12, 20, 40):
        left = iter(range(looks))
        is_up = property(partial(_is_used_up, left))
        monkeypatch.setattr(Budget, "is_time_up", is_up)
        explanation = explained(beyond_chance=beyond_chance, max_evaluations=20_000)
        check(explanation, finished)
        if explanation.chance is not None:
            assert explanation.chance.samples > 0


def test_time_may_run_out_before_the_first_of_several(evaluator, monkeypatch):
    x, edge_index = torch.eye(FEATURES), torch.empty(2, 0, dtype=torch.long)
    zorro = Zorro(OfNodes(), x, edge_index, max_seconds=1.0, evaluator=evaluator)
    monkeypatch.setattr(Budget, "is_time_up", property(lambda self: True))
    assert [found.status for found in zorro.explain_multiple(0)] == ["budget exhausted"]


def test_evaluations_may_run_out_on_a_graph_of_millions_of_entries():
    """Whose samples are too large to be compared with the model's own, and were drawn in parts."""
    torch.manual_seed(0)
    nodes, features = 2200, 1000
    x = (torch.rand(nodes, features) < 0.02).float()
    x[0, :12] = 1.0
    star = torch.stack([torch.arange(nodes), torch.zeros(nodes, dtype=torch.long)])
    options: dict[str, Any] = {"samples": 5, "tau": 0.97, "max_evaluations": 1000}
    explanation = Zorro(OneLayer(features), x, star, **options).explain(0)
    assert explanation.graph.candidates == nodes
    assert explanation.certificate is not None
    assert explanation.certificate.attempts == 2
    assert explanation.status == "budget exhausted"
