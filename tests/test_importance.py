"""In which order elements matter: closed forms, and a plain loop on the same noise."""

import dataclasses
import itertools
import math

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data

from zorro import Zorro
from zorro.errors import InputError
from zorro.explanation import Step
from zorro.graph.features import features_of
from zorro.noise import draws_of, resolve

FEATURES, SAMPLES = 4, 80
WEIGHTS = torch.tensor([3.0, 2.0, 1.0, 0.5, 0.0])
SHARE = 0.25  # of ones in each column


class Weighs(nn.Module):
    """Class 1 where the weighted sum of a node's features is above a limit."""

    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def forward(self, x, edge_index):
        total = x @ WEIGHTS - self.limit
        return torch.stack([torch.zeros_like(total), total], dim=1)


def of_one_node(**options):
    """Node 0 has all features; every column is one in a quarter of the nodes."""
    x = (torch.arange(40) < 40 * SHARE).float().unsqueeze(1).repeat(1, len(WEIGHTS))
    edge_index = torch.zeros(2, 0, dtype=torch.long)
    return Zorro(Weighs(3.6), x, edge_index, keep=("features",), **options)


def by_enumeration(kept):
    """The fidelity of a set of features, every outcome of the others with its probability."""
    free = [column for column in range(len(WEIGHTS)) if column not in kept]
    total = 0.0
    for outcome in itertools.product([0, 1], repeat=len(free)):
        chance = math.prod(SHARE if one else 1 - SHARE for one in outcome)
        ones = [*kept, *(column for column, one in zip(free, outcome, strict=True) if one)]
        total += chance * (float(WEIGHTS[ones].sum()) > 3.6)
    return total


@pytest.mark.parametrize("kept", [(), (0,), (0, 2), (1, 4), (0, 1, 2, 3, 4)])
def test_what_an_element_brings_is_known_in_closed_form(kept):
    zorro = of_one_node(fresh_samples=8000)
    explanation = dataclasses.replace(zorro.explain(0), selected={"features": kept})
    found = zorro.importance(0, explanation)
    assert found.samples == 8000
    assert len(found.ranked) == len(WEIGHTS)
    for column, value in found.of("features").items():
        others = set(kept) - {column}
        expected = by_enumeration({*others, column}) - by_enumeration(others)
        assert abs(value - expected) < 4 * math.sqrt(0.5 / 8000)
    values = list(found.of("features").values())
    assert values == sorted(values, reverse=True)
    assert found.of("features")[4] == 0  # it has no weight
    assert {it.members[0] for it in found.ranked if it.kept} == set(kept)


def moved_by_enumeration(column, kept):
    """E √|log p(with) − log p(without)| and how often the answer changes, over all outcomes."""
    others = [other for other in range(len(WEIGHTS)) if other != column]
    free = [other for other in others if other not in kept]
    moved = changed = 0.0
    for outcome in itertools.product([0, 1], repeat=len(free)):
        chance = math.prod(SHARE if one else 1 - SHARE for one in outcome)
        ones = [other for other in others if other in kept]
        ones += [other for other, one in zip(free, outcome, strict=True) if one]
        without = float(WEIGHTS[ones].sum()) - 3.6
        totals = (without + float(WEIGHTS[column]), without)
        logs = [-math.log1p(math.exp(-total)) for total in totals]
        chance *= 1 - SHARE  # redrawn it is a one, as it is, in a quarter of the samples
        moved += chance * math.sqrt(logs[0] - logs[1])
        changed += chance * ((totals[0] > 0) != (totals[1] > 0))
    return moved, changed


@pytest.mark.parametrize("kept", [(), (0, 2), (0, 1, 2, 3, 4)])
def test_how_far_an_element_moves_the_answer_is_known_in_closed_form(kept):
    zorro = of_one_node(fresh_samples=8000)
    explanation = dataclasses.replace(zorro.explain(0), selected={"features": kept})
    found = zorro.importance(0, explanation)
    moved, influence = found.moved("features"), found.influence("features")
    for column in range(len(WEIGHTS)):
        far, often = moved_by_enumeration(column, set(kept))
        assert abs(moved[column] - far) < 5 / math.sqrt(8000)  # roots are 1.7 at most
        assert abs(influence[column] - often) < 4 * math.sqrt(0.25 / 8000)
    assert moved[4] == influence[4] == 0  # it has no weight
    for values in (list(moved.values()), list(influence.values())):
        assert values == sorted(values, reverse=True)


def test_what_moves_the_answer_either_way_moves_it():
    """Its effects cancel out in the mean, not in how far they reach."""

    class Agree(nn.Module):
        def forward(self, x, edge_index):
            agree = 2.0 * (x[:, 0] == x[:, 1]) - 1.0
            return torch.stack([torch.zeros_like(agree), agree], dim=1)

    x = (torch.arange(40).unsqueeze(1) < torch.tensor([[20, 20, 20]])).float()
    zorro = Zorro(
        Agree(), x, torch.zeros(2, 0).long(), keep=("features",), hops=1, fresh_samples=4000
    )
    found = {it.members[0]: it for it in zorro.importance(0, beside="nothing").ranked}
    assert abs(found[0].probability) < 0.02
    assert found[0].moved == pytest.approx(0.5, abs=0.04)  # logs are 1 apart in half of them
    assert found[2].moved == 0


def test_a_probability_of_nought_is_a_distance_too():
    class Sure(nn.Module):
        def forward(self, x, edge_index):
            return torch.stack([1 - x[:, 0], x[:, 0]], dim=1).log()

    x = (torch.arange(40) < 10).float().unsqueeze(1).repeat(1, 2)
    zorro = Zorro(Sure(), x, torch.zeros(2, 0).long(), keep=("features",), hops=1, tau=0.6)
    moved = zorro.importance(0, beside="nothing", samples=2000).moved("features")
    least = math.log(torch.finfo(torch.float32).tiny)
    assert moved[0] == pytest.approx(0.75 * math.sqrt(-least), rel=0.06)
    assert moved[1] == 0


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, 8)
        self.last = nn.Linear(8, 3, bias=False)

    def forward(self, x, edge_index, batch=None):
        x = self.second(self.first(x, edge_index).tanh(), edge_index)
        return self.last(gnn.global_add_pool(x, batch))


def some_graphs():
    generator = torch.Generator().manual_seed(1)
    graphs = []
    for nodes in range(4, 12):
        pairs = torch.tensor([[i, (i + 1) % nodes] for i in range(nodes)]).t()
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        x = torch.randn(nodes, FEATURES, generator=generator)
        graphs.append(Data(x=x, edge_index=edge_index))
    return graphs


def plainly(model, graph, noise, held, event):
    """The shares of hits and the mean probability when all but some entries are noise."""
    nodes, columns = held["nodes"], held["features"]
    kept = torch.zeros_like(graph.x)
    for row in nodes:
        for column in columns:
            kept[row, column] = 1
    hits = probability = 0.0
    with torch.no_grad():
        for drawn in noise:
            scores = model(graph.x * kept + drawn * (1 - kept), graph.edge_index)[0]
            hit, chance = event(scores)
            hits += hit / len(noise)
            probability += chance / len(noise)
    return hits, probability


def predicts(a):
    return lambda scores: (int(scores.argmax()) == a, float(scores.softmax(0)[a]))


def beats(a, b):
    return lambda scores: (bool(scores[a] > scores[b]), float((scores[a] - scores[b]).sigmoid()))


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
@pytest.mark.parametrize("why_not", [False, True])
@pytest.mark.parametrize("groups", [None, [[0, 2]]])
def test_every_element_is_measured_as_a_plain_loop_does(evaluator, why_not, groups):
    torch.manual_seed(3)
    model, graphs = Pooled().eval(), some_graphs()
    zorro = Zorro.of_graphs(
        model, graphs, samples=60, tau=0.8, evaluator=evaluator, feature_groups=groups
    )
    query = 6
    predicted = zorro.explain(query).predicted_class
    assert predicted is not None
    other = (predicted + 1) % 3
    explanation = zorro.explain(query, why_not=other if why_not else None)
    found = zorro.importance(query, explanation, samples=SAMPLES)
    event = beats(predicted, other) if why_not else predicts(predicted)

    pool = features_of(torch.cat([graph.x for graph in graphs]))
    numbers = None if groups is None else torch.tensor([0, 1, 0, 2])
    drawn = draws_of(
        resolve("column-marginals", pool, groups=numbers),
        graphs[query].x,
        seed=0,
        query=query,
        samples=range(60, 60 + SAMPLES),  # after those of the search
        memory=1 << 30,
    ).matrices(torch.arange(SAMPLES))
    held = {kind: set(ids) for kind, ids in explanation.selected.items()}
    assert len(found.ranked) == graphs[query].num_nodes + (4 if groups is None else 3)
    for each in found.ranked:
        with_it = {**held, each.kind: held[each.kind] | set(each.members)}
        without = {**held, each.kind: held[each.kind] - set(each.members)}
        more, less = (
            plainly(model, graphs[query], drawn, some, event) for some in (with_it, without)
        )
        assert each.fidelity == pytest.approx(more[0] - less[0], abs=1e-9)
        assert each.probability == pytest.approx(more[1] - less[1], abs=1e-5)
        assert each.kept == (set(each.members) <= held[each.kind])
    if groups is not None:
        assert ("features", (0, 2)) in {(it.kind, it.members) for it in found.ranked}
        assert set(found.of("features")) == {0, 1, 2, 3}


def test_where_nothing_tells_elements_apart_the_order_of_addition_does():
    class SaysOne(nn.Module):
        def forward(self, x, edge_index):
            return torch.tensor([0.0, 1.0]).repeat(x.size(0), 1)

    x = torch.rand(6, 5)
    zorro = Zorro(SaysOne(), x, torch.zeros(2, 0).long(), keep=("features",), hops=1)
    nothing = zorro.explain(2)
    steps = tuple(Step("features", (column,), 1.0) for column in (3, 1))
    explanation = dataclasses.replace(nothing, selected={"features": (1, 3)}, steps=steps)
    found = zorro.importance(2, explanation, samples=10)
    assert [it.members[0] for it in found.ranked] == [3, 1, 0, 2, 4]
    assert all(it.fidelity == it.probability == 0 for it in found.ranked)


def test_what_is_no_explanation_of_the_query_is_refused():
    torch.manual_seed(3)
    model, graphs = Pooled().eval(), some_graphs()
    zorro = Zorro.of_graphs(model, graphs, samples=60, tau=0.8)
    explanation = zorro.explain(6)
    with pytest.raises(
        InputError, match="explanation: expected one of graph 5, got one of graph 6"
    ):
        zorro.importance(5, explanation)
    only = Zorro.of_graphs(model, graphs, keep=("nodes",))
    with pytest.raises(InputError, match=r"expected a set of nodes, .*, got one of nodes and feat"):
        only.importance(6, explanation)
    grouped = Zorro.of_graphs(model, graphs, feature_groups=[range(FEATURES)])
    part = dataclasses.replace(explanation, selected={"nodes": (0,), "features": (1,)})
    with pytest.raises(InputError, match="expected whole feature_groups, got a part of one"):
        grouped.importance(6, part)
