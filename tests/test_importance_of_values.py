"""What an element adds to a value: a closed form, and a plain loop on the same noise."""

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data

from zorro import Zorro
from zorro.errors import InputError
from zorro.graph.features import features_of
from zorro.noise import draws_of, resolve

SAMPLES, FEATURES = 200, 3
WEIGHTS = torch.tensor([2.0, -1.0, 0.0])


class Weighs(nn.Module):
    """The sum of a graph's features, each with a weight of its own."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(FEATURES, 1, bias=False)
        self.linear.weight.data = WEIGHTS.unsqueeze(0)

    def forward(self, x, edge_index, batch=None):
        return gnn.global_add_pool(self.linear(x), batch)


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.last = gnn.GCNConv(FEATURES, 8), nn.Linear(8, 1)

    def forward(self, x, edge_index, batch=None):
        return self.last(gnn.global_add_pool(self.conv(x, edge_index).tanh(), batch))


def rings():
    generator = torch.Generator().manual_seed(1)
    graphs = []
    for nodes in range(4, 9):
        pairs = torch.tensor([[i, (i + 1) % nodes] for i in range(nodes)]).t()
        x = torch.randn(nodes, FEATURES, generator=generator)
        graphs.append(Data(x=x, edge_index=torch.cat([pairs, pairs.flip(0)], dim=1)))
    return graphs


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_in_a_sum_a_node_adds_what_it_has_above_the_mean(evaluator):
    graphs = rings()
    zorro = Zorro.of_graphs(
        Weighs(), graphs, keep=("nodes",), tolerance=1.0, fresh_samples=20_000, evaluator=evaluator
    )
    mean = torch.cat([graph.x for graph in graphs]).mean(0)
    expected = (graphs[3].x - mean) @ WEIGHTS
    for explanation in (None, zorro.explain(3)):  # whatever else is kept
        found = zorro.importance(3, explanation).values("nodes")
        assert list(found.values()) == sorted(found.values(), reverse=True)
        for node, value in found.items():
            assert value == pytest.approx(float(expected[node]), abs=0.1)


@pytest.mark.parametrize("of_explanation", [True, False])
@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_what_a_node_adds_is_what_a_plain_loop_finds(evaluator, of_explanation):
    torch.manual_seed(0)
    model, graphs, query = Pooled().eval(), rings(), 4
    graph = graphs[query]
    zorro = Zorro.of_graphs(
        model, graphs, keep=("nodes",), tolerance_share=0.5, samples=50, evaluator=evaluator
    )
    explanation = zorro.explain(query) if of_explanation else None
    kept = set(range(graph.num_nodes)) if explanation is None else set(explanation.nodes)
    found = zorro.importance(query, explanation, samples=SAMPLES).values("nodes")
    noise = draws_of(
        resolve("column-marginals", features_of(torch.cat([each.x for each in graphs]))),
        graph.x,
        seed=0,
        query=query,
        samples=range(50, 50 + SAMPLES),  # after those of the search
        memory=1 << 30,
    ).matrices(torch.arange(SAMPLES))

    def mean_output(nodes):
        total = 0.0
        with torch.no_grad():
            for drawn in noise:
                x = drawn.clone()
                for node in nodes:
                    x[node] = graph.x[node]
                total += float(model(x, graph.edge_index)) / SAMPLES
        return total

    assert set(found) == set(range(graph.num_nodes))
    for node, value in found.items():
        expected = mean_output(kept | {node}) - mean_output(kept - {node})
        assert value == pytest.approx(expected, abs=1e-4)


def test_classes_have_no_value_to_add_to():
    class Votes(nn.Module):
        def forward(self, x, edge_index, batch=None):
            return gnn.global_add_pool(x, batch)

    found = Zorro.of_graphs(Votes(), rings(), keep=("nodes",)).importance(0, samples=10)
    assert all(it.value is None and it.kept for it in found.ranked)
    with pytest.raises(InputError, match="kind: expected one that adds to a value, got 'nodes'"):
        found.values("nodes")
