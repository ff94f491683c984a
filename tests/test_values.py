"""Models whose output is a value: closed forms, plain loops, and what is refused."""

import json
import math
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from scipy.stats import binom, binomtest
from torch import nn
from torch_geometric.data import Data

from zorro import Explanation, Zorro
from zorro.errors import InputError, ModelError

NEIGHBOURS, SHARE = 6, 0.4


class Sum(nn.Module):
    """A node's value: how many of its neighbours have a one in column 0; column 1 times two."""

    def forward(self, x, edge_index):
        total = torch.zeros_like(x)
        total.index_add_(0, edge_index[1], x[edge_index[0]])
        return total * torch.tensor([1.0, 2.0])


@pytest.fixture
def star():
    """Node 0 with six neighbours, and others from which noise is drawn: two in five are ones."""
    x = torch.zeros(50, 2)
    x[: int(50 * SHARE), 0] = 1.0
    x[30:, 1] = 1.0
    here = torch.arange(1, NEIGHBOURS + 1)  # all of them ones
    return x, torch.stack([here, torch.zeros_like(here)])


@pytest.mark.parametrize("kept", [0, 2, 5])
@pytest.mark.parametrize("side", ["both", "up", "down"])
@pytest.mark.parametrize("evaluator", ["auto", "any-model"])
def test_a_fidelity_known_in_closed_form(star, kept, side, evaluator):
    """All neighbours are ones, so that the value only falls: by the zeros among those redrawn."""
    zorro = Zorro(Sum(), *star, tolerance=1.5, side=side, evaluator=evaluator)
    measured = zorro.fidelity(0, nodes=range(1, 1 + kept), features=[0], samples=3000)
    ones = int(star[0][:, 0].sum())
    expected = 1.0
    if side != "down":
        expected = binom.cdf(1, NEIGHBOURS - kept, 1 - ones / 50)
    interval = binomtest(measured.hits, measured.samples).proportion_ci(0.9999)
    assert interval.low <= expected <= interval.high


class Lattice(nn.Module):
    """A node's value is a multiple of a step, computed in the type of its features."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def forward(self, x, edge_index):
        return x * self.step


@pytest.mark.parametrize("evaluator", ["auto", "any-model"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float, torch.double], ids=str)
@pytest.mark.parametrize(("step", "tolerance"), [(0.1, 0.1), (0.1, 0.3), (0.05, 0.1), (0.3, 0.6)])
def test_the_ends_of_a_band_belong_to_it_as_pythons_floats_compare(
    step, tolerance, dtype, evaluator
):
    """Ten values as frequent as each other: one that is judged differently is a tenth."""
    x = torch.arange(10).view(-1, 1).to(dtype)
    model, edge_index = Lattice(step), torch.empty(2, 0, dtype=torch.long)
    values = [float(row) for row in model(x, edge_index)]
    zorro = Zorro(model, x, edge_index, tolerance=tolerance, evaluator=evaluator)
    for node in (2, 4, 7):
        expected = sum(abs(value - values[node]) <= tolerance for value in values) / 10
        measured = zorro.fidelity(node, nodes=[], features=[], samples=500)
        interval = binomtest(measured.hits, measured.samples).proportion_ci(0.9999)
        assert interval.low <= expected <= interval.high


def test_several_outputs_one_at_a_time(star):
    x, edge_index = star
    first, second = (Zorro(Sum(), x, edge_index, tolerance=0.5, output=at) for at in (0, 1))
    one, other = first.explain(0).value, second.explain(0).value
    assert one is not None
    assert other is not None
    assert (one.value, other.value) == (NEIGHBOURS, 0.0)
    assert second.explain(0).features == (1,)


def plain_share(model, x, edge_index, node, explanation, samples=400):
    """The whole graph, every entry redrawn but the set's; the model as its owner calls it."""
    generator = torch.Generator().manual_seed(9)
    keep = torch.zeros_like(x, dtype=torch.bool)
    keep[torch.tensor(explanation.nodes).unsqueeze(1), torch.tensor(explanation.features)] = True
    with torch.no_grad():
        before = model(x, edge_index).flatten()[node]
        stayed = 0
        for _ in range(samples):
            rows = torch.randint(len(x), x.shape, generator=generator)
            moved = model(torch.where(keep, x, x.gather(0, rows)), edge_index).flatten()[node]
            stayed += int((moved - before).abs() <= explanation.value.tolerance)
    return stayed, samples


@pytest.fixture
def regressor():
    torch.manual_seed(3)
    x = torch.randn(60, 5)
    pairs = torch.randint(60, (2, 110))
    edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
    return gnn.GCN(5, 8, num_layers=2, out_channels=1, act="tanh").eval(), x, edge_index


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_a_certified_value_stays_by_a_plain_loop(regressor, evaluator):
    model, x, edge_index = regressor
    zorro = Zorro(model, x, edge_index, tau=0.8, tolerance_share=0.5, evaluator=evaluator)
    for node in (7, 20):
        explanation = zorro.explain(node)
        with torch.no_grad():
            outputs = model(x, edge_index)
        assert explanation.value is not None
        assert explanation.value.value == pytest.approx(float(outputs[node]), abs=1e-5)
        assert explanation.value.tolerance == pytest.approx(0.5 * float(outputs.std()), rel=1e-4)
        assert explanation.certified
        assert explanation.evaluator == evaluator
        stayed, samples = plain_share(model, x, edge_index, node, explanation)
        assert explanation.certificate is not None
        assert binom.cdf(stayed, samples, explanation.certificate.bound) > 1e-4
        hits, of = explanation.fidelity.hits, explanation.fidelity.samples
        assert abs(stayed / samples - hits / of) < 0.1


def test_both_evaluators_find_the_same(regressor):
    one, other = (
        Zorro(*regressor, tau=0.8, tolerance_share=0.5, evaluator=name).explain(20)
        for name in ("traced", "any-model")
    )
    assert one.selected == other.selected
    assert one.steps == other.steps


class FromAfar(nn.Module):
    """A large value of each node's own, and a little of all nodes'."""

    def forward(self, x, edge_index):
        return 1e5 + 0.01 * x[:, :1] + 4 * x[:, 1:2].mean()


def test_a_tolerance_that_is_no_more_than_a_rounding_is_refused(regressor):
    _, x, edge_index = regressor
    with pytest.raises(InputError, match=r"tolerance: expected more than 0\.76, .*double\(\)"):
        Zorro(FromAfar(), x, edge_index, tolerance=0.1).explain(0)
    model, finer = FromAfar(), x.double()
    explanation = Zorro(model, finer, edge_index, tau=0.8, tolerance=0.1, max_seconds=5).explain(0)
    assert explanation.graph.candidates == len(x)
    stayed, samples = plain_share(model, finer, edge_index, 0, explanation)
    assert not explanation.certified or binomtest(stayed, samples, 0.8, "less").pvalue > 1e-4


def test_the_least_tolerance_would_be_certified_and_no_much_smaller_one(regressor):
    model, x, edge_index = regressor
    explanation = Zorro(model, x, edge_index, tau=0.8, tolerance_share=0.5).explain(20)
    assert explanation.value is not None
    least = explanation.value.least_tolerance
    assert least is not None
    assert 0 < least <= 1.2 * explanation.value.tolerance
    kept: dict[str, Any] = {
        "nodes": explanation.nodes,
        "features": explanation.features,
        "samples": 4000,
    }

    def share(tolerance):
        return Zorro(model, x, edge_index, tolerance=tolerance).fidelity(20, **kept).value

    assert share(least) > 0.78
    assert share(0.8 * least) < share(least) < share(1.3 * least)


def test_a_value_round_trips_and_reads_well(regressor):
    model, x, edge_index = regressor
    explanation = Zorro(model, x, edge_index, tolerance=0.2, side="up", tau=0.8).explain(7)
    again = Explanation.from_json(explanation.to_json())
    assert again == explanation
    assert again.predicted_class is None
    assert again.value is not None
    assert again.value.side == "up"
    assert explanation.value is not None
    value = f"{explanation.value.value:.4g}"
    assert f"node 7 → {value} − 0.2" in repr(explanation)
    assert "from falling by more than 0.2" in explanation.sentence()
    with pytest.raises(InputError, match="expected one of a class"):
        _ = explanation.probability
    broken = {**json.loads(explanation.to_json()), "value": None}
    with pytest.raises(InputError, match="predicted_class: expected one of a class, a value"):
        Explanation.from_dict(broken)


class PooledSum(nn.Module):
    def forward(self, x, edge_index, batch):
        return gnn.global_add_pool(x[:, :1], batch)


def test_values_of_whole_graphs_in_closed_form():
    graphs = [
        Data(
            x=torch.tensor([[1.0], [1.0], [1.0], [float(n % 2)]]),
            edge_index=torch.zeros(2, 0).long(),
        )
        for n in range(10)
    ]  # 35 of 40 nodes are ones
    zorro = Zorro.of_graphs(PooledSum(), graphs, keep=("nodes",), tolerance=0.5)
    measured = zorro.fidelity(1, nodes=[0, 1], samples=4000)
    interval = binomtest(measured.hits, measured.samples).proportion_ci(0.9999)
    assert interval.low <= (35 / 40) ** 2 <= interval.high
    value = zorro.explain(1).value
    assert value is not None
    assert value.value == 4.0


def test_a_share_of_the_spread_is_that_of_all_graphs():
    graphs = [
        Data(x=torch.full((2, 1), float(n)), edge_index=torch.zeros(2, 0).long()) for n in range(90)
    ]
    explanation = Zorro.of_graphs(PooledSum(), graphs, tolerance_share=0.1).explain(3)
    spread = float(torch.tensor([2.0 * n for n in range(90)]).std())
    assert explanation.value is not None
    assert explanation.value.tolerance == pytest.approx(0.1 * spread)


def test_weights_that_change_change_the_spread(regressor):
    model, x, edge_index = regressor
    zorro = Zorro(model, x, edge_index, tolerance_share=0.5, tau=0.8)
    before = zorro.explain(7).value
    with torch.no_grad():
        for parameter in model.convs[-1].parameters():
            parameter.mul_(3)
    after = zorro.explain(7).value
    assert before is not None
    assert after is not None
    assert after.tolerance == pytest.approx(3 * before.tolerance, rel=1e-3)
    assert after.value == pytest.approx(3 * before.value, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tolerance": 0}, "tolerance: expected a number above 0, got 0"),
        ({"tolerance": -1.0}, "tolerance: expected a number above 0"),
        ({"tolerance": math.nan}, "tolerance: expected a number above 0"),
        ({"tolerance": "1"}, "tolerance: expected a number above 0"),
        ({"tolerance_share": 0.0}, "tolerance_share: expected a number above 0"),
        ({"tolerance": 1.0, "tolerance_share": 0.5}, "tolerance_share: expected None"),
        ({"tolerance": 1.0, "threshold": 0.5}, "threshold: expected None where a tolerance"),
        ({"tolerance": 1.0, "label": 1}, "label: expected None where a tolerance"),
        ({"tolerance": 1.0, "side": "left"}, "side: expected"),
        ({"tolerance": 1.0, "output": 1.5}, "output: expected a column"),
        ({"side": "up"}, "side: expected a value to be explained, got 'up'"),
        ({"output": 1}, "output: expected a value to be explained, got 1"),
        ({"label": 1}, "threshold: expected a number with label, got None"),
        ({"threshold": "0"}, "threshold: expected a number"),
    ],
)
def test_what_contradicts_itself_is_refused_at_the_door(star, options, said):
    with pytest.raises(InputError, match=f"^{said}"):
        Zorro(Sum(), *star, **options)


def test_what_the_output_does_not_have_is_refused(star):
    with pytest.raises(InputError, match=r"^output: expected a column .* from 0 to 1, got 2"):
        Zorro(Sum(), *star, tolerance=1.0, output=2).explain(0)
    with pytest.raises(InputError, match=r"^why_not: expected None for a value"):
        Zorro(Sum(), *star, tolerance=1.0).explain(0, why_not=1)
    with pytest.raises(InputError, match=r"^tolerance_share: expected check='whole'"):
        Zorro(Sum(), *star, tolerance_share=0.5, check="local").explain(0)

    class Constant(nn.Module):
        def forward(self, x, edge_index):
            return torch.ones(len(x)) + 0 * x[:, 0]

    with pytest.raises(ModelError, match=r"^tolerance_share: the model gives the same value"):
        Zorro(Constant(), *star, tolerance_share=0.5).explain(0)


def test_a_model_with_one_number_says_what_it_may_be(star):
    class One(nn.Module):
        def forward(self, x, edge_index):
            return x[:, 0]

    with pytest.raises(ModelError, match=r"threshold=0\.0 .* tolerance=… if it is a value"):
        Zorro(One(), *star).explain(0)
